/* What the programs share that use UCX without MPI, with the source and the engine linked in. */
#ifndef WORKERS_H
#define WORKERS_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucp/api/ucp.h>

#include "core/internal.h"
#include "transport/onesided.h"
#include "transport/ucx.h"

int ix_measuring;

void *ix_next_symbol(const char *name)
{
    return dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), name);
}

enum { LARGE = 4 << 20, SMALL = 1000 };

static char out[LARGE], in[LARGE], target[LARGE];
static ucp_context_h context;
static int late; /* callbacks of what was open: as many as UCX likes */

static void need(int wrong, const char *complaint)
{
    if (wrong) {
        fprintf(stderr, "%s\n", complaint);
        _Exit(2);
    }
}

static ucp_worker_h new_worker(void)
{
    ucp_worker_params_t parameters = {0};
    ucp_worker_h worker;
    need(ucp_worker_create(context, &parameters, &worker), "ucp_worker_create");
    return worker;
}

static ucp_ep_h connect_to(ucp_worker_h from, ucp_worker_h to)
{
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;
    need(ucp_worker_get_address(to, &address, &length), "ucp_worker_get_address");
    ucp_ep_params_t parameters = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                  .address = address};
    need(ucp_ep_create(from, &parameters, &ep), "ucp_ep_create");
    ucp_worker_release_address(to, address);
    return ep;
}

static void sent(void *request, ucs_status_t status, void *data)
{
    (void)request, (void)status;
    ++*(int *)data;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info,
                     void *data)
{
    (void)request, (void)status, (void)info;
    ++*(int *)data;
}

#define WITH(callback, member, counter)                                                            \
    {                                                                                              \
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,                  \
        .cb.member = callback, .user_data = counter                                                \
    }

static ucp_rkey_h key_of(ucp_ep_h ep, void *memory, size_t bytes, ucp_mem_h *handle)
{
    ucp_mem_map_params_t parameters = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                     UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                       .address = memory,
                                       .length = bytes};
    void *packed;
    size_t length;
    ucp_rkey_h key;
    need(ucp_mem_map(context, &parameters, handle), "ucp_mem_map");
    need(ucp_rkey_pack(context, *handle, &packed, &length), "ucp_rkey_pack");
    need(ucp_ep_rkey_unpack(ep, packed, &key), "ucp_ep_rkey_unpack");
    ucp_rkey_buffer_release(packed);
    return key;
}

/* 10 messages through an endpoint of `from` to `to`. */
static void talk(ucp_worker_h from, ucp_ep_h ep, ucp_worker_h to)
{
    for (int i = 0; i < 10; i++) {
        int done = 0;
        ucp_request_param_t with_send = WITH(sent, send, &done);
        ucp_request_param_t with_receive = WITH(received, recv, &done);
        with_receive.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
        void *r = ucp_tag_recv_nbx(to, in, SMALL, 1, ~0ull, &with_receive);
        void *s = ucp_tag_send_nbx(ep, out, SMALL, 1, &with_send);
        int wanted = 1 + (UCS_PTR_IS_PTR(s) != 0);
        for (long k = 0; done < wanted && k < 50000000; k++) {
            ucp_worker_progress(from);
            ucp_worker_progress(to);
        }
        need(done != wanted, "a message was lost");
        ucp_request_free(r);
        if (UCS_PTR_IS_PTR(s))
            ucp_request_free(s);
    }
}

static void start_ucx(void)
{
    ucp_params_t parameters = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                               .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA};
    ucp_config_t *configuration;
    need(ucp_config_read(NULL, NULL, &configuration), "ucp_config_read");
    need(ucp_init(&parameters, configuration, &context), "ucp_init");
}

#endif
