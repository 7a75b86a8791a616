/* Checks of the call log without MPI: requests that are open while the log goes on, of the usual
 * kind, whose streams are known. */
#include <pthread.h>

#include "call_log_checks.h"

static void know_streams(void)
{
    for (int i = 0; i < 2; i++) {
        start_receive(0x1000, 1, 1);
        wait_for(0x1000, 1, 1, 1, 0);
        blocking_send(1, 1, 1);
    }
}

static int64_t window_ns(void)
{
    return INT64_C(1) << ix_log()->window_shift;
}

static int is_logged_now(void)
{
    int64_t since = clock_ns - 1000 - ix_log()->origin_ns;
    return ((since >> ix_log()->window_shift) & ((INT64_C(1) << ix_log()->level) - 1)) == 0;
}

static void move_to(int is_logged)
{
    do
        clock_ns += window_ns();
    while (is_logged_now() != is_logged);
}

static void fill_to_level(uint32_t level)
{
    for (int i = 0; ix_log()->level < level; i++) {
        CHECK(i < 1000000);
        clock_ns += window_ns() / 100;
        blocking_send(1, 1, 1);
    }
}

static const ix_log_record *latest(const ix_log_reader *reader, uint8_t kind)
{
    ix_log_cursor cursor = {0};
    const ix_log_record *r, *found = NULL;
    uint32_t id;
    while ((r = ix_log_next(reader, &cursor, &id)))
        found = r->kind == kind ? r : found;
    return found;
}

/* Two with one handle end in the order in which they began. */
static void check_handles(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    know_streams();
    start_receive(0x1000, 1, 1);
    start_receive(0x1000, 1, 1);
    wait_for(0x1000, 1, 1, 10, 0);
    wait_for(0x1000, 1, 1, 20, 0);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r[12];
    uint32_t ids[12];
    for (int i = 0; i < 10; i++)
        CHECK((r[i] = ix_log_next(&reader, &cursor, &ids[i])));
    CHECK(r[6]->bytes == 10 && r[6]->end_call == ids[8] && r[6]->sequence == 3);
    CHECK(r[7]->bytes == 20 && r[7]->end_call == ids[9] && r[7]->sequence == 4);
    ix_log_close(&reader);
}

/* One ends in a window that is not logged. */
static void check_unlogged_end(void)
{
    begin(IX_LOG_LEAST, IX_ONE_THREAD, 0);
    know_streams();
    fill_to_level(2);
    move_to(1);
    start_receive(0x1000, 1, 1);
    move_to(0);
    blocking_send(1, 1, 1);
    wait_for(0x1000, 1, 1, 10, 0);
    ix_log_reader reader = open_own();
    const ix_log_record *r = latest(&reader, IX_LOG_RECV);
    CHECK(r && r->sequence == 3 && r->end_call == IX_LOG_END_UNSEEN);
    CHECK(!latest(&reader, IX_LOG_COMPLETION) ||
          latest(&reader, IX_LOG_COMPLETION)->enter_ns < r->enter_ns);
    ix_log_close(&reader);
}

/* The place of its record is another's when it ends. */
static void check_place_taken(void)
{
    begin(IX_LOG_LEAST, IX_ONE_THREAD, 0);
    know_streams();
    clock_ns += window_ns();
    for (uint64_t i = 0; i < 64; i++) {
        clock_ns += i % 4 ? 0 : 2 * window_ns(); /* windows that do not count for long */
        start_receive(0x1000 + 16 * i, 1, 1);
    }
    fill_to_level(5);
    move_to(1);
    for (uint64_t i = 0; i < 64; i++)
        wait_for(0x1000 + 16 * i, 1, 1, 12345, 0);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r;
    uint32_t id, count = 0;
    while ((r = ix_log_next(&reader, &cursor, &id)) && ++count)
        CHECK(r->bytes != 12345 && (r->kind != IX_LOG_SEND || r->end_call == id));
    CHECK(count > 200);
    ix_log_close(&reader);
}

static void *exchange_twice(void *unused)
{
    start_receive(0x1000, 1, 1);
    wait_for(0x1000, 1, 1, 10, 0);
    blocking_send(1, 1, 1);
    blocking_send(1, 1, 1);
    return unused;
}

/* Threads that take turns need nothing that several at once do. */
static void check_turns_of_threads(void)
{
    begin(1 << 20, IX_SERIALIZED, 0);
    know_streams();
    pthread_t second;
    CHECK(!pthread_create(&second, NULL, exchange_twice, NULL) && !pthread_join(second, NULL));
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r;
    uint32_t id, of_second = 0;
    for (int i = 0; (r = ix_log_next(&reader, &cursor, &id)); i++) {
        CHECK(r->thread == (i < 6 ? 0 : 1) && r->flags == IX_LOG_FIRST);
        of_second += r->thread;
    }
    CHECK(of_second == 4);
    ix_log_close(&reader);
}

int main(int argc, char **argv)
{
    static const named_check checks[] = {
        {"handles", check_handles},
        {"unlogged-end", check_unlogged_end},
        {"place-taken", check_place_taken},
        {"turns-of-threads", check_turns_of_threads},
        {NULL, NULL},
    };
    return run_check(checks, argc, argv);
}
