/* The event source over real libfabric, without MPI: one endpoint that talks to itself. Puts and
 * gets are over where an MPI call says so (source call). */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/internal.h"
#include "transport/ofi.h"
#include "transport/onesided.h"

int ix_measuring;

void *ix_next_symbol(const char *name)
{
    void *library = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return dlsym(library, name);
}

enum { ROOM = 1 << 21 };

static char out[ROOM], in[ROOM];
static struct fid_cq *cq;
static int errors;

static void need(long result, const char *function)
{
    if (result) {
        fprintf(stderr, "%s: %s\n", function, fi_strerror((int)-result));
        exit(2);
    }
}

/* Read so many completions. */
static void complete(int wanted)
{
    struct fi_cq_tagged_entry entries[8];
    struct fi_cq_err_entry error = {0};
    for (long tries = 0; wanted > 0 && tries < 200000000; tries++) {
        ssize_t n = fi_cq_read(cq, entries, 8);
        if (n == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) > 0) {
            errors++;
            wanted--;
        } else if (n > 0) {
            wanted -= (int)n;
        }
    }
    if (wanted > 0)
        exit(3);
}

#define POST(call)                                                                                 \
    do {                                                                                           \
        ssize_t result;                                                                            \
        while ((result = (call)) == -FI_EAGAIN)                                                    \
            fi_cq_read(cq, NULL, 0);                                                               \
        need(result, #call);                                                                       \
    } while (0)

/* A put of two pieces, a small one and a get, as one MPI call and its closing call; their bytes. */
static int64_t move_one_sided(struct fid_ep *ep, fi_addr_t self, uint64_t address, uint64_t key,
                              void *context)
{
    ix_thread *t = ix_enter(2, complete);
    POST(fi_write(ep, out, 50000, NULL, self, address, key, context));
    complete(1);
    POST(fi_write(ep, out, 3000, NULL, self, address, key, context));
    complete(1);
    if (!ix_onesided_begun(t, 7, 0, &(ix_transfer){.bytes = 53000, .path = IX_PATH_INTRA}))
        exit(10);
    ix_leave(t);
    t = ix_enter(2, complete);
    POST(fi_inject_write(ep, out, 16, self, address, key));
    if (!ix_onesided_begun(t, 7, 0, &(ix_transfer){.bytes = 16, .path = IX_PATH_INTRA}))
        exit(11);
    ix_leave(t);
    t = ix_enter(2, complete);
    POST(fi_read(ep, out, 70000, NULL, self, address, key, context));
    complete(1);
    /* not all of it: stays with the calls */
    if (ix_onesided_begun(t, 7, 0, &(ix_transfer){.bytes = 70001, .path = IX_PATH_INTRA}))
        exit(12);
    ix_leave(t);
    t = ix_enter(1, complete);
    ix_onesided_closed(t, 7, IX_ALL, IX_SLACK_NONE);
    ix_leave(t);
    return 53016;
}

/* An accumulate of two pieces, one that fetches, and one whose request ends it; their bytes. */
static int64_t update(struct fid_ep *ep, fi_addr_t self, uint64_t address, uint64_t key,
                      void *context)
{
    size_t most = 0;
    if (fi_atomicvalid(ep, FI_INT64, FI_SUM, &most) || most < 100 ||
        fi_fetch_atomicvalid(ep, FI_INT64, FI_SUM, &most) || most < 10)
        return 0; /* this provider has none */
    ix_thread *t = ix_enter(3, complete);
    for (int i = 0; i < 2; i++) {
        POST(fi_atomic(ep, out, 100, NULL, self, address, key, FI_INT64, FI_SUM, context));
        complete(1);
    }
    if (!ix_onesided_begun(t, 7, 0, &(ix_transfer){.bytes = 1600, .path = IX_PATH_INTRA}))
        exit(13);
    ix_leave(t);
    t = ix_enter(4, complete);
    POST(fi_fetch_atomic(ep, out, 10, NULL, out + 800, NULL, self, address, key, FI_INT64, FI_SUM,
                         context));
    complete(1);
    if (!ix_onesided_begun(t, 7, 0, &(ix_transfer){.bytes = 80, .path = IX_PATH_INTRA}))
        exit(14);
    ix_leave(t);
    t = ix_enter(3, complete);
    POST(fi_atomic(ep, out, 100, NULL, self, address, key, FI_INT64, FI_SUM, context));
    complete(1);
    if (ix_onesided_over(t, &(ix_transfer){.bytes = 800, .path = IX_PATH_INTRA}))
        exit(15);
    ix_leave(t);
    t = ix_enter(1, complete);
    ix_onesided_closed(t, 7, IX_ALL, IX_SLACK_NONE);
    ix_leave(t);
    return 1680;
}

int main(int argc, char **argv)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_ep *ep;
    hints->caps = FI_TAGGED | FI_RMA | FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = 0;
    hints->fabric_attr->prov_name = strdup(argc > 1 ? argv[1] : "tcp;ofi_rxm");
    if (fi_getinfo(FI_VERSION(1, 14), "127.0.0.1", NULL, FI_SOURCE, hints, &info)) {
        puts("no such provider");
        return 77;
    }
    need(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    need(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 128};
    need(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
    need(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
    need(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    need(fi_ep_bind(ep, &av->fid, 0), "bind av");
    need(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV), "bind cq");
    need(fi_enable(ep), "fi_enable");
    char name[256];
    size_t length = sizeof name;
    fi_addr_t self;
    need(fi_getname(&ep->fid, name, &length), "fi_getname");
    if (fi_av_insert(av, name, 1, &self, 0, NULL) != 1)
        return 4;

    static const char *const operations[] = {"MPI_Isend", "MPI_Wait", "MPI_Put", "MPI_Accumulate",
                                             "MPI_Get_accumulate"};
    static const uint8_t data[] = {1, 1, 0, 0, 0};
    static const uint8_t one_sided[] = {0, 0, IX_PIECES, IX_PUTS, IX_GETS};
    ix_options o = {
        .ranks = 1, .operations = operations, .operation_count = 5, .library = "", .host = ""};
    if (ix_start(&o) == IX_START_FAILED)
        return 5;
    const char *table = "imbrex-table 1\npath intra-node\npoint 1 1 100 -1 -1\n"
                        "point 8000000 8 8000000000 0 0\nend\n";
    char error[200];
    if (ix_load_times(table, strlen(table), operations, 5, error, sizeof error))
        return 6;

    struct fid_mr *memory;
    need(fi_mr_reg(domain, in, ROOM, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 42, 0, &memory, NULL),
         "fi_mr_reg");
    int virtual = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    uint64_t address = virtual ? (uint64_t)(uintptr_t)in : 0;
    struct fi_context2 contexts[4];
    struct fi_context2 *next = contexts;
    /* one message, before anything is measured: the source is there */
    POST(fi_trecv(ep, in, 100, NULL, FI_ADDR_UNSPEC, 1, 0, next));
    POST(fi_tsend(ep, out, 100, NULL, self, 1, next + 1));
    complete(2);
    if (!ix_ofi_present())
        return 7;
    ix_ofi_use(IX_PATH_INTRA, 0, 0, 0, data);
    ix_onesided_use(IX_PATH_INTRA, one_sided);
    ix_measuring = 1;
    ix_thread *t = ix_enter(0, main);

    int64_t bytes = 0, transfers = 0;
    static const size_t sizes[] = {8, 3000, 100000, 1500000};
    for (int i = 0; i < 4; i++) { /* the receive has more room than is sent */
        POST(fi_trecv(ep, in, sizes[i] + 50, NULL, FI_ADDR_UNSPEC, 2, 0, next));
        POST(fi_tsend(ep, out, sizes[i], NULL, self, 2, next + 1));
        complete(2);
        struct iovec iov[2] = {{out, sizes[i] / 2}, {out + sizes[i] / 2, sizes[i] / 2}};
        struct fi_msg_tagged message = {
            .msg_iov = iov, .iov_count = 2, .addr = self, .tag = 3, .context = next + 1};
        POST(fi_trecv(ep, in, sizes[i], NULL, FI_ADDR_UNSPEC, 3, 0, next));
        POST(fi_tsendmsg(ep, &message, FI_COMPLETION));
        complete(2);
        bytes += 4 * (int64_t)sizes[i];
        transfers += 4;
    }
    if (info->tx_attr->inject_size >= 16) {
        POST(fi_trecv(ep, in, 16, NULL, FI_ADDR_UNSPEC, 4, 0, next));
        POST(fi_tinject(ep, out, 16, self, 4));
        complete(1);
        bytes += 32;
        transfers += 2;
    }
    /* cancelled: nothing is known of it but that it ended */
    POST(fi_trecv(ep, in, 1000, NULL, FI_ADDR_UNSPEC, 5, 0, next));
    need(fi_cancel(&ep->fid, next), "fi_cancel");
    complete(1);
    transfers++;
    ix_leave(t);
    bytes += move_one_sided(ep, self, address, fi_mr_key(memory), next);
    transfers += 3;
    int64_t updated = update(ep, self, address, fi_mr_key(memory), next);
    bytes += updated;
    transfers += updated ? 3 : 0;
    /* still open when measuring ends; its completion comes later, and so does a closed queue */
    t = ix_enter(0, main);
    POST(fi_trecv(ep, in, 1000, NULL, FI_ADDR_UNSPEC, 6, 0, next));
    transfers++;
    ix_leave(t);
    ix_measuring = 0;
    ix_stop();
    ix_row rows[256];
    size_t count = ix_collect_rows(rows, 256);
    int64_t seen_bytes = 0, seen = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        seen_bytes += rows[i].bytes;
        seen += rows[i].transfers;
        unknown += rows[i].unknown_end;
        if (rows[i].transfers && (rows[i].source == IX_SOURCE_CALL) != (rows[i].operation >= 2))
            return 8;
    }
    printf("bytes %ld of %ld, transfers %ld of %ld, unknown %ld of 2, errors %d of 1\n",
           (long)seen_bytes, (long)bytes, (long)seen, (long)transfers, (long)unknown, errors);
    ix_release(0);
    POST(fi_tsend(ep, out, 1000, NULL, self, 6, next + 1));
    complete(2);
    fi_close(&ep->fid);
    fi_close(&memory->fid);
    fi_close(&cq->fid);
    fi_close(&av->fid);
    fi_close(&domain->fid);
    fi_close(&fabric->fid);
    return seen_bytes == bytes && seen == transfers && unknown == 2 && errors == 1 ? 0 : 9;
}
