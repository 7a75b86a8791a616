/* Checks of the call log without MPI: what calls and messages are logged as. */
#include "call_log_checks.h"

static void check_exact(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    blocking_send(1, 4, 50);              /* 1010 to 1015 */
    start_receive(0x1000, 1, 5);          /* 1025 to 1028 */
    start_receive(0x2000, IX_LOG_ANY, 6); /* 1038 to 1041 */
    ix_thread *t = enter(OTHER);          /* 1051 to 1053: not logged */
    leave(t, 2);
    wait_for(0x2000, 1, 6, 33, 0); /* 1063 to 1070 */
    wait_for(0x1000, 1, 5, 44, 0); /* 1080 to 1087 */
    blocking_send(1, 4, 51);
    blocking_send(IX_LOG_PROC_NULL, 4, 52);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    uint32_t ids[8];
    const ix_log_record *r[8];
    for (int i = 0; i < 7; i++)
        CHECK((r[i] = ix_log_next(&reader, &cursor, &ids[i])) != NULL);
    CHECK(!ix_log_next(&reader, &cursor, &ids[7]));
    CHECK(r[0]->enter_ns == 10 && r[0]->exit_ns == 15 && r[0]->call_before_ns == 0);
    CHECK(r[0]->kind == IX_LOG_SEND && r[0]->bytes == 50 && r[0]->peer == 1 && r[0]->tag == 4);
    CHECK(r[0]->operation == SEND && r[0]->comm == WORLD && r[0]->sequence == 1);
    CHECK(r[0]->end_call == ids[0] && r[0]->flags == IX_LOG_FIRST && r[0]->path == IX_PATH_INTRA);
    CHECK(r[1]->bytes == 44 && r[1]->end_call == ids[4] && r[1]->sequence == 1);
    CHECK(r[2]->bytes == 33 && r[2]->end_call == ids[3] && r[2]->peer == 1 && r[2]->tag == 6);
    CHECK(r[2]->sequence == 1 && r[2]->flags == (IX_LOG_FIRST | IX_LOG_WILDCARD));
    CHECK(r[3]->kind == IX_LOG_COMPLETION && r[3]->enter_ns == 63 && r[3]->exit_ns == 70);
    CHECK(r[3]->call_before_ns == 5 + 3 + 3 + 2); /* also what is not logged */
    CHECK(r[5]->sequence == 2);
    CHECK(r[6]->peer == IX_LOG_PROC_NULL && r[6]->sequence == 0 && r[6]->end_call == ids[6]);
    CHECK(ix_log_find(&reader, ids[3]) == r[3] && !ix_log_find(&reader, 0));
    CHECK(!ix_log_find(&reader, ids[6] + 1) && !ix_log_find(&reader, IX_LOG_END_UNSEEN));
    CHECK(ix_log_position(&reader, ids[0], 5) == 0 && ix_log_position(&reader, ids[6], 0) == 6);
    CHECK(ix_log_covers(&reader, 10) && ix_log_covered_ns(&reader, 1000) == 1000);
    ix_log_close(&reader);
}

static void check_requests(void)
{
    uint32_t id;
    begin(1 << 20, IX_ONE_THREAD, 0);
    ix_shared_handle(0x5000);
    ix_thread *t = enter(ISEND); /* complete when it begins */
    begin_message(t, 0x5000, 1, IX_LOG_SEND, 1, 1);
    leave(t, 1);
    start_receive(0x1000, 1, 1); /* the same handle twice: first in, first out */
    start_receive(0x1000, 1, 2);
    wait_for(0x1000, 1, 1, 10, 0);
    wait_for(0x1000, 1, 2, 20, 0);
    start_receive(0x1000, 1, 9);
    wait_for(0x1000, 0, 0, 0, IX_LOG_CANCELLED);
    start_receive(0x1000, 1, 9);
    t = enter(OTHER);
    ix_log_given_up(t, 0x1000);
    leave(t, 1);
    t = enter(OTHER); /* a persistent receive, started twice */
    ix_log_planned(t, 0x3000, 64, to(1), message(IX_LOG_RECV, 3, 0), 0, 0);
    leave(t, 1);
    for (int i = 0; i < 2; i++) {
        t = enter(START);
        ix_log_started(t, 0x3000);
        leave(t, 1);
        wait_for(0x3000, 1, 3, 60 + i, 0);
    }
    t = enter(OTHER); /* the third persistent collective of its communicator */
    ix_log_planned(t, 0x4000, 8, to(0), message(IX_LOG_FROM_ROOT, 0, 0), 3, 0);
    leave(t, 1);
    t = enter(START); /* two in one call */
    ix_log_started(t, 0x4000);
    ix_log_started(t, 0x3000);
    leave(t, 1);
    wait_for(0x4000, 0, 0, 0, 0);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r[20];
    uint32_t ids[20];
    int count = 0;
    while ((r[count] = ix_log_next(&reader, &cursor, &id)))
        ids[count++] = id;
    CHECK(count == 15);
    CHECK(r[0]->end_call == ids[0]);
    CHECK(r[1]->end_call == ids[3] && r[1]->bytes == 10);
    CHECK(r[2]->end_call == ids[4] && r[2]->bytes == 20);
    CHECK(r[5]->end_call == ids[6] && r[5]->flags & IX_LOG_CANCELLED && r[5]->bytes == 100);
    CHECK(r[7]->end_call == IX_LOG_END_UNSEEN);
    CHECK(r[8]->sequence == 1 && r[8]->bytes == 60 && r[8]->flags & IX_LOG_PERSISTENT);
    CHECK(r[8]->operation == START && r[8]->kind == IX_LOG_RECV);
    CHECK(r[10]->sequence == 2 && r[10]->bytes == 61 && r[10]->end_call == ids[11]);
    CHECK(r[12]->kind == IX_LOG_FROM_ROOT && r[12]->sequence == 3 && r[12]->tag == 1);
    CHECK(r[12]->flags & IX_LOG_FIRST && r[12]->end_call == ids[14]);
    CHECK(!(r[13]->flags & IX_LOG_FIRST) && r[13]->enter_ns == r[12]->enter_ns);
    CHECK(r[13]->sequence == 3 && r[13]->end_call == IX_LOG_OPEN);
    ix_log_close(&reader);
}

static void check_pause(void)
{
    uint32_t id;
    begin(1 << 20, IX_ONE_THREAD, 0);
    blocking_send(1, 1, 1);
    ix_pause();
    blocking_send(1, 1, 2);
    clock_ns += 500;
    ix_resume();
    blocking_send(1, 1, 3);
    blocking_send(1, 1, 4);
    ix_thread *t = enter(SEND); /* paused while it lasts, and resumed */
    ix_pause();
    clock_ns += 100;
    ix_resume();
    ix_log_message(t, 5, to(1), message(IX_LOG_SEND, 1, 0));
    leave(t, 5);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r;
    const int64_t bytes[] = {1, 3, 4, 5};
    const uint32_t sequences[] = {1, 3, 4, 5}; /* counted while paused too */
    const int after[] = {0, 1, 0, 1};
    int i = 0;
    for (; (r = ix_log_next(&reader, &cursor, &id)); i++) {
        CHECK(i < 4 && r->bytes == bytes[i] && r->sequence == sequences[i]);
        CHECK(!!(r->flags & IX_LOG_AFTER_PAUSE) == after[i]);
    }
    CHECK(i == 4);
    ix_log_close(&reader);
}

/* As many calls as fill the log several times over. */
static void check_windows(void)
{
    begin(IX_LOG_LEAST, IX_ONE_THREAD, 0);
    int64_t window = INT64_C(1) << ix_log()->window_shift;
    uint32_t id, count = 0, ends = 0;
    const uint32_t calls = 60000;
    for (uint32_t i = 0; i < calls; i++) {
        start_receive(0x1000 + 16 * i, 1, 1);
        clock_ns += window / 100;
        wait_for(0x1000 + 16 * i, 1, 1, i + 1, 0);
    }
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r, *end;
    uint32_t level = ix_log()->level;
    int64_t period = window << level, before = 0;
    CHECK(level >= 4 && ix_log()->lost == 0);
    while ((r = ix_log_next(&reader, &cursor, &id))) {
        count++;
        CHECK(r->enter_ns >= before && (r->enter_ns - ix_log()->origin_ns) % period < window);
        CHECK(ix_log_covers(&reader, r->enter_ns) && ix_log_find(&reader, id) == r);
        before = r->enter_ns;
        if (r->kind != IX_LOG_RECV)
            continue;
        end = ix_log_find(&reader, r->end_call);
        if (end) { /* the very call, not another in its place */
            CHECK(end->kind == IX_LOG_COMPLETION &&
                  end->enter_ns == r->exit_ns + window / 100 + 10);
            ends++;
        } /* the number of the receive, whatever was logged of those before it */
        CHECK(r->end_call == IX_LOG_END_UNSEEN || !end || r->bytes == r->sequence);
    }
    CHECK(count > 1000 && ends > count / 4);
    CHECK(ix_log_covered_ns(&reader, clock_ns) <= clock_ns / (1 << level) + window);
    ix_log_close(&reader);
    char error[100]; /* as another rank would compare: fewer windows */
    CHECK(!ix_log_open(&reader, ix_log(), ix_log()->bytes, level + 2, error, sizeof error));
    cursor = (ix_log_cursor){0};
    uint32_t fewer = 0;
    while ((r = ix_log_next(&reader, &cursor, &id)) && ++fewer)
        CHECK((r->enter_ns - ix_log()->origin_ns) % (period * 4) < window);
    CHECK(fewer > 0 && fewer < count);
    ix_log_close(&reader);
}

/* Sizes of blocks behind the record of their collective, and alone in the call of an init. */
static void check_blocks(void)
{
    const uint32_t sizes[] = {1, UINT32_MAX, 3, UINT32_MAX - 1, 5, 0, 0, 0};
    uint32_t id;
    begin(IX_LOG_LEAST, IX_ONE_THREAD, 0);
    ix_thread *t = enter(OTHER);
    CHECK(ix_log_has_room_for_blocks());
    ix_log_done(t, 1000, to(IX_LOG_NOBODY), message(IX_LOG_ALL, 0, 0), 7);
    ix_log_blocks(t, WORLD, 7, 0, 2, sizes);
    ix_log_blocks(t, WORLD, 7, 0, 2, sizes + 4);
    leave(t, 5);
    t = enter(OTHER);
    ix_log_blocks(t, WORLD, 1, IX_LOG_PERSISTENT, IX_LOG_UNTOLD, sizes + 4);
    leave(t, 1);
    blocking_send(1, 4, 50);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r[6];
    int count = 0;
    while ((r[count] = ix_log_next(&reader, &cursor, &id)))
        count++;
    CHECK(count == 5);
    CHECK(r[0]->kind == IX_LOG_ALL && r[0]->flags == IX_LOG_FIRST && r[0]->exit_ns == 15);
    for (int i = 1; i < 3; i++) {
        uint32_t found[IX_LOG_BLOCK_SIZES];
        memcpy(found, &r[i]->bytes, sizeof r[i]->bytes);
        memcpy(found + 2, &r[i]->peer, sizeof r[i]->peer);
        memcpy(found + 3, &r[i]->tag, sizeof r[i]->tag);
        CHECK(!memcmp(found, sizes + IX_LOG_BLOCK_SIZES * (i - 1), sizeof found));
        CHECK(r[i]->kind == IX_LOG_BLOCKS && r[i]->path == 2 && r[i]->flags == 0);
        CHECK(r[i]->comm == WORLD && r[i]->sequence == 7 && r[i]->end_call == IX_LOG_OPEN);
        CHECK(r[i]->enter_ns == r[0]->enter_ns && r[i]->exit_ns == r[0]->exit_ns);
    }
    CHECK(r[3]->path == IX_LOG_UNTOLD && r[3]->flags == (IX_LOG_FIRST | IX_LOG_PERSISTENT));
    CHECK(r[4]->kind == IX_LOG_SEND && r[4]->call_before_ns == 5 + 1);
    ix_log_close(&reader);
    for (int i = 0; ix_log()->chunks_used <= ix_log()->chunks / 2; i++) {
        CHECK(i < 10000 && ix_log_has_room_for_blocks());
        blocking_send(1, 4, 50);
    }
    CHECK(!ix_log_has_room_for_blocks() && ix_log()->level == 0);
}

/* Many transfers that one call begins and one completes, across chunks. */
static void check_many(void)
{
    uint32_t id, count = 0, first = 0, last = 0;
    begin(1 << 20, IX_ONE_THREAD, 0);
    ix_thread *t = enter(START);
    for (uint32_t i = 0; i < 300; i++)
        begin_message(t, 0x9000 + 64 * i, i, IX_LOG_RECV, 1, (int32_t)i);
    leave(t, 5);
    t = enter(WAIT);
    for (uint32_t i = 0; i < 300; i++)
        complete(t, 0x9000 + 64 * i, 1, (int32_t)i, i, 0);
    leave(t, 5);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    const ix_log_record *r, *end;
    while ((r = ix_log_next(&reader, &cursor, &id))) {
        count++;
        first += !!(r->flags & IX_LOG_FIRST);
        last = id;
        CHECK(r->kind == IX_LOG_COMPLETION || (r->enter_ns == 10 && r->exit_ns == 15));
        end = ix_log_find(&reader, r->end_call);
        CHECK(end && end->kind == IX_LOG_COMPLETION);
    }
    CHECK(count == 301 && first == 2 && ix_log_find(&reader, last)->kind == IX_LOG_COMPLETION);
    ix_log_close(&reader);
}

/* The usual calls by the counter, again and again: an exchange by requests, of which a shared one
 * is complete at once, and one by a blocking call with two records. Those lie at each place of a
 * chunk once. */
static void exchange(int32_t i)
{
    ix_thread *t = ix_enter(IRECV, NULL);
    begin_message(t, 0x1000, 100, IX_LOG_RECV, 1, i % 3);
    ix_leave(t);
    t = ix_enter(ISEND, NULL);
    begin_message(t, i % 2 ? 0x2000 : 0x5000, i + 1, IX_LOG_SYNC_SEND, 1, 7);
    ix_leave(t);
    t = ix_enter(WAIT, NULL);
    complete(t, 0x1000, 1, i % 3, 50, 0);
    complete(t, i % 2 ? 0x2000 : 0x5000, 0, 0, 0, 0);
    ix_leave(t);
    t = ix_enter(SEND, NULL);
    ix_log_message(t, 8, to(1), message(IX_LOG_SEND, 1, 0));
    ix_log_message(t, 9, to(1), message(IX_LOG_RECV, 5, 0));
    ix_leave(t);
}

static void check_by_counter(void)
{
    enum { ROUNDS = 400, RECORDS = 5 };
    const uint8_t logged_kinds[RECORDS] = {IX_LOG_RECV, IX_LOG_SYNC_SEND, IX_LOG_COMPLETION,
                                           IX_LOG_SEND, IX_LOG_RECV};
    const int64_t sizes[RECORDS] = {50, 0, 0, 8, 9};
    begin(1 << 20, IX_ONE_THREAD, 1);
    ix_shared_handle(0x5000);
    for (int32_t i = 0; i < ROUNDS; i++)
        exchange(i);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    int64_t before_ns = 0, exit_ns = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const ix_log_record *r[RECORDS];
        uint32_t id[RECORDS];
        for (int k = 0; k < RECORDS; k++) {
            CHECK((r[k] = ix_log_next(&reader, &cursor, &id[k])) && r[k]->kind == logged_kinds[k]);
            CHECK(r[k]->flags == (k == 4 ? 0 : IX_LOG_FIRST) && r[k]->thread == 0);
            CHECK(r[k]->bytes == (k == 1 ? i + 1 : sizes[k]));
            CHECK(r[k]->path == (k == 2 ? IX_PATH_NONE : IX_PATH_INTRA));
            CHECK(k == 2 || (r[k]->comm == WORLD && r[k]->peer == 1));
            if (k == 4)
                break;
            CHECK(r[k]->enter_ns >= exit_ns && r[k]->exit_ns >= r[k]->enter_ns);
            CHECK(r[k]->call_before_ns == before_ns);
            exit_ns = r[k]->exit_ns;
            before_ns += exit_ns - r[k]->enter_ns;
        }
        CHECK(r[4]->enter_ns == r[3]->enter_ns && r[4]->exit_ns == r[3]->exit_ns);
        CHECK(r[4]->call_before_ns == r[3]->call_before_ns && r[4]->operation == SEND);
        CHECK(r[0]->operation == IRECV && r[1]->operation == ISEND && r[2]->operation == WAIT);
        CHECK(r[0]->end_call == id[2] && r[1]->end_call == id[i % 2 ? 2 : 1]);
        CHECK(r[2]->end_call == id[2] && r[3]->end_call == id[3] && r[4]->end_call == id[4]);
        CHECK(r[0]->sequence == i / 3 + 1 && r[0]->tag == (int32_t)i % 3);
        CHECK(r[1]->sequence == i + 1 && r[1]->tag == 7 && r[2]->sequence == 0);
        CHECK(r[3]->sequence == i + 1 && r[4]->sequence == i + 1 && r[4]->tag == 5);
    }
    CHECK(!ix_log_next(&reader, &cursor, &(uint32_t){0}));
    ix_log_close(&reader);
}

static void check_communicators(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    const int32_t own[] = {4, 2}, remote[] = {1, -1, 3};
    const ix_log_comm inter = {
        .number = 5, .flags = IX_LOG_INTER, .rank = 1, .size = 2, .peers = 3};
    const ix_log_comm intra = {.number = 6, .rank = 0, .size = 2, .peers = 2};
    ix_log_enter_comm(&inter, own, remote);
    ix_log_enter_comm(&intra, own, own);
    ix_log_enter_comm(&intra, remote, remote); /* there already */
    const ix_log_comm *c = ix_log_comm_numbered(ix_log(), 5);
    CHECK(c == ix_log_own_comm(5) && ix_log_own_comm(6) == c + 1 && !ix_log_own_comm(7));
    CHECK(c && ix_log_world_rank(ix_log(), c, 2) == 3 && ix_log_world_rank(ix_log(), c, 1) == -1);
    CHECK(ix_log_own_world_rank(ix_log(), c, 0) == 4 && ix_log_world_rank(ix_log(), c, 3) == -1);
    c = ix_log_comm_numbered(ix_log(), 6);
    CHECK(c && ix_log_world_rank(ix_log(), c, 1) == 2 && ix_log()->comms.used == 2);
    CHECK(!ix_log_comm_numbered(ix_log(), 7));
    static int32_t many[1 << 20]; /* more than there is room for */
    const ix_log_comm large = {.number = 8, .size = 1 << 20, .peers = 1 << 20};
    ix_log_enter_comm(&large, many, many);
    c = ix_log_comm_numbered(ix_log(), 8);
    CHECK(c && ix_log_world_rank(ix_log(), c, 0) == -1);
}

/* What measuring its own cost counts is in no stream of the program, wherever that has its place.
 */
static void check_overhead(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    ix_measure_overhead(2000);
    const uint64_t key = ix_log_stream_key(to(1), IX_LOG_OUT);
    for (uint32_t place = 0; place < 64; place++) {
        int32_t tag = 0;
        while (ix_log_stream_home(key, tag) != place)
            tag++;
        CHECK(ix_log_count(to(1), tag, IX_LOG_OUT) == 1);
    }
}

int main(int argc, char **argv)
{
    static const named_check checks[] = {
        {"exact", check_exact},           {"requests", check_requests},
        {"pause", check_pause},           {"windows", check_windows},
        {"blocks", check_blocks},         {"many", check_many},
        {"by-counter", check_by_counter}, {"communicators", check_communicators},
        {"overhead", check_overhead},     {NULL, NULL},
    };
    return run_check(checks, argc, argv);
}
