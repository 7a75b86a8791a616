/* A UCX worker that is closed while messages are under way through it: another one goes on. */
#include "workers.h"

/* UCX fails where a worker is closed that is still connecting, as it may be behind messages. */
static void settle(ucp_worker_h from, ucp_ep_h ep, ucp_worker_h to)
{
    int done = 0;
    ucp_request_param_t with_flush = WITH(sent, send, &done);
    void *flush = ucp_ep_flush_nbx(ep, &with_flush);
    while (UCS_PTR_IS_PTR(flush) && !done) {
        ucp_worker_progress(from);
        ucp_worker_progress(to);
    }
    if (UCS_PTR_IS_PTR(flush))
        ucp_request_free(flush);
}

int main(void)
{
    start_ucx();
    ucp_worker_h stays = new_worker(), closed = new_worker();
    ucp_worker_h peer = new_worker(); /* no more of it once the other side is gone */
    ucp_ep_h itself = connect_to(stays, stays), other = connect_to(closed, peer);

    talk(closed, other, peer);
    settle(closed, other, peer);

    static const char *const operations[] = {"MPI_Isend", "MPI_Put"};
    static const uint8_t data[2] = {1, 0}, one_sided[2] = {0, 1};
    ix_options options = {
        .ranks = 1, .operations = operations, .operation_count = 2, .library = "", .host = ""};
    need(ix_start(&options) == IX_START_FAILED, "ix_start");
    ix_ucx_use(IX_PATH_INTRA, NULL, 0, data);
    ix_onesided_use(IX_PATH_INTRA, one_sided);
    ix_measuring = 1;

    ix_thread *t = ix_enter(0, main);
    talk(stays, itself, stays);
    ucp_request_param_t with_send = WITH(sent, send, &late);
    ucp_request_param_t with_receive = WITH(received, recv, &late);
    ucp_tag_recv_nbx(closed, in, LARGE, 7, ~0ull, &with_receive); /* nobody sends it */
    void *s = ucp_tag_send_nbx(other, out, LARGE, 8, &with_send); /* nobody receives it */
    need(!UCS_PTR_IS_PTR(s), "the send was over at once");
    ix_leave(t);
    t = ix_enter(1, main);
    ucp_mem_h memory;
    ucp_rkey_h key = key_of(other, target, LARGE, &memory);
    ucp_put_nbx(other, out, LARGE, (uint64_t)(uintptr_t)target, key, &with_send);
    ix_onesided_begun(t, 1, 0, &(ix_transfer){.bytes = LARGE, .path = IX_PATH_INTRA});
    ucp_ep_flush_nbx(other, &with_send);
    ix_leave(t);

    t = ix_enter(0, main);
    ucp_rkey_destroy(key);
    ucp_worker_destroy(closed);
    talk(stays, itself, stays);
    ix_leave(t);
    ix_measuring = 0;
    ix_stop();

    ix_row rows[64];
    size_t count = ix_collect_rows(rows, 64);
    int64_t bytes[2] = {0}, transfers[2] = {0}, unknown[2] = {0};
    for (size_t i = 0; i < count; i++) {
        bytes[rows[i].operation] += rows[i].bytes;
        transfers[rows[i].operation] += rows[i].transfers;
        unknown[rows[i].operation] += rows[i].unknown_end;
    }
    for (int i = 0; i < 2; i++)
        printf("%s %lld %lld %lld\n", operations[i], (long long)transfers[i], (long long)bytes[i],
               (long long)unknown[i]);
    return 0;
}
