/* ns per tagged message of one UCX worker to itself: receive and send posted, then progress until
 * both are complete. With -DMEASURED the event source stands in front of UCX, and each round is one
 * recorded call. No MPI: what is timed is the source alone. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#ifdef MEASURED
#include "core/internal.h"
#include "transport/ucx.h"

int ix_measuring;

void *ix_next_symbol(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    return dlsym(library, name);
}

static void start(void)
{
    static const char *const operations[] = {"MPI_Sendrecv"};
    static const char table[] = "imbrex-table 1\npath intra-node\npoint 1 1 400 200 200\nend\n";
    static const uint8_t data[] = {1};
    ix_options options = {.ranks = 1, .operations = operations, .operation_count = 1};
    char error[200];
    if (ix_start(&options) == IX_START_FAILED ||
        ix_load_times(table, strlen(table), operations, 1, error, sizeof error))
        abort();
    ix_ucx_use(IX_PATH_INTRA, NULL, 0, data);
    ix_measuring = 1;
}

static void stop(long rounds)
{
    ix_measuring = 0;
    ix_stop();
    ix_row rows[16];
    int64_t transfers = 0;
    size_t count = ix_collect_rows(rows, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        transfers += rows[i].transfers;
    if (transfers != 2 * rounds)
        abort();
}
#define ENTER() ix_thread *t = ix_enter(0, main)
#define LEAVE() ix_leave(t)
#else
#define ENTER()
#define LEAVE()
#endif

static int done;

static void sent(void *request, ucs_status_t status, void *data)
{
    (void)request, (void)status, (void)data;
    done++;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                     void *data)
{
    (void)request, (void)status, (void)info, (void)data;
    done++;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 300000;
    ucp_params_t parameters = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t none = {0};
    ucp_config_t *config;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    ucp_ep_h endpoint;
    size_t length;
    if (ucp_config_read(NULL, NULL, &config) || ucp_init(&parameters, config, &context) ||
        ucp_worker_create(context, &none, &worker) ||
        ucp_worker_get_address(worker, &address, &length))
        return 1;
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
    if (ucp_ep_create(worker, &to, &endpoint))
        return 1;
#ifdef MEASURED
    start();
#endif
    ucp_request_param_t send = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = sent};
    ucp_request_param_t receive = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.recv = received};
    char out[8] = "", in[8];
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < rounds; i++) {
        ENTER();
        int wanted = 0;
        done = 0;
        void *r = ucp_tag_recv_nbx(worker, in, sizeof in, 5, UINT64_MAX, &receive);
        void *s = ucp_tag_send_nbx(endpoint, out, sizeof out, 5, &send);
        wanted = (r != NULL) + (s != NULL);
        while (done < wanted)
            ucp_worker_progress(worker);
        if (r)
            ucp_request_free(r);
        if (s)
            ucp_request_free(s);
        LEAVE();
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.2f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
                         (double)rounds);
#ifdef MEASURED
    stop(rounds);
#endif
    return 0;
}
