/* Puts and gets that nobody flushes: whether they are seen over once both sides have made progress,
 * within the call that began them or a later one. Prints what each operation may have hidden. */
#include "workers.h"

static const char *const operations[] = {"MPI_Wait", "MPI_Put", "MPI_Get"};

static void load_table(void)
{
    static const char table[] = "imbrex-table 1\npath intra-node\n"
                                "point 1 1 100 -1 -1\npoint 8000000 8 8000000000 0 0\n"
                                "collective MPI_Put 2 any intra-node\n"
                                "point 1 1 1000000 0 0\npoint 8000000 8 8000000 0 0\n"
                                "collective MPI_Get 2 any intra-node\n"
                                "point 1 1 1000000 0 0\npoint 8000000 8 8000000 0 0\nend\n";
    char error[200];
    need(ix_load_times(table, sizeof table - 1, operations, 3, error, sizeof error), error);
}

int main(void)
{
    start_ucx();
    ucp_worker_h origin = new_worker(), peer = new_worker();
    ucp_ep_h to = connect_to(origin, peer), back = connect_to(peer, origin);
    talk(origin, to, peer);
    talk(peer, back, origin);
    static const uint8_t data[3] = {0}, one_sided[3] = {0, IX_PIECES, IX_PIECES};
    ix_options options = {
        .ranks = 1, .operations = operations, .operation_count = 3, .library = "", .host = ""};
    need(ix_start(&options) == IX_START_FAILED, "ix_start");
    load_table();
    ix_ucx_use(IX_PATH_INTRA, NULL, 0, data);
    ix_onesided_use(IX_PATH_INTRA, one_sided);
    ix_measuring = 1;

    ucp_mem_h memory;
    ucp_rkey_h key = key_of(to, target, LARGE, &memory);
    uint64_t remote = (uint64_t)(uintptr_t)target;
    ucp_request_param_t with_send = WITH(sent, send, &late);
    for (uint32_t operation = 1; operation < 3; operation++) {
        ix_thread *t = ix_enter(operation, main);
        for (int i = 0; i < 3; i++) { /* the second and third while the first is looked for */
            if (operation == 1)
                ucp_put_nbx(to, out, LARGE, remote, key, &with_send);
            else
                ucp_get_nbx(to, in, LARGE, remote, key, &with_send);
        }
        ix_transfer x = {.bytes = 3 * LARGE, .path = IX_PATH_INTRA};
        need(!ix_onesided_begun(t, 1, 0, &x), "not all of it was seen");
        ix_leave(t);
        t = ix_enter(0, main);
        for (long i = 0; i < 50000000 && ix_onesided_waits(to, 0); i++) {
            ucp_worker_progress(origin);
            ucp_worker_progress(peer);
        }
        need(ix_onesided_waits(to, 0), "the end was not seen");
        ix_leave(t);
    }
    struct timespec pause = {.tv_nsec = 100000000}; /* work, before the epoch is closed */
    nanosleep(&pause, NULL);
    ix_thread *t = ix_enter(0, main);
    ix_onesided_closed(t, 1, IX_ALL, IX_SLACK_NONE);
    ix_leave(t);
    ix_measuring = 0;
    ix_stop();
    ix_row rows[64];
    size_t count = ix_collect_rows(rows, 64);
    for (size_t i = 0; i < count; i++)
        if (rows[i].transfers)
            printf("%s %lld %lld %lld %lld\n", operations[rows[i].operation],
                   (long long)rows[i].transfers, (long long)rows[i].bytes,
                   (long long)rows[i].overlap_max_ns, (long long)rows[i].transfer_max_ns);
    return 0;
}
