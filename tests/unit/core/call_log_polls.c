/* Checks of the call log without MPI: calls that look for messages again and again. */
#include "call_log_checks.h"

static void poll_in_vain(uint32_t operation, int64_t before, int64_t lasted)
{
    clock_ns += before - 10;
    ix_thread *t = enter(operation);
    ix_log_found_nothing(t);
    leave(t, lasted);
}

/* The next record; its number of polls, their time and when they began. */
static void next_polls(const ix_log_reader *reader, ix_log_cursor *cursor, uint32_t calls,
                       int64_t call_ns, int64_t since_ns)
{
    uint32_t id;
    const ix_log_record *r = ix_log_next(reader, cursor, &id);
    CHECK(r && r->kind == IX_LOG_POLLS && !(r->flags & IX_LOG_FIRST) && r->end_call == IX_LOG_OPEN);
    CHECK(r->sequence == calls && r->bytes == call_ns);
    CHECK((r->comm | (int64_t)(uint32_t)r->peer << 32) == since_ns);
}

static const ix_log_record *next_of(const ix_log_reader *reader, ix_log_cursor *cursor,
                                    uint32_t kind)
{
    uint32_t id;
    const ix_log_record *r = ix_log_next(reader, cursor, &id);
    CHECK(r && r->kind == kind && r->flags & IX_LOG_FIRST);
    return r;
}

/* Calls that found nothing are told by the one that found something, if nothing came between. */
static void check_polls(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    start_receive(0x1000, 1, 5); /* 10 to 13 */
    poll_in_vain(OTHER, 10, 4);  /* 23 to 27: another operation */
    for (int i = 0; i < 3; i++)
        poll_in_vain(WAIT, 10, 20); /* 37 to 57, 67 to 87, 97 to 117 */
    wait_for(0x1000, 1, 5, 44, 0);  /* 127 to 134 */
    start_receive(0x1000, 1, 5);    /* 144 to 147 */
    poll_in_vain(WAIT, 10, 20);     /* 157 to 177 */
    poll_in_vain(WAIT, 2001, 20);   /* 2178: it computed meanwhile */
    poll_in_vain(WAIT, 2000, 3000); /* 4198 to 7198: no longer than a loop needs */
    poll_in_vain(WAIT, 2500, 1);    /* 9698 to 9699: interrupted, for less than it had polled */
    wait_for(0x1000, 1, 5, 44, 0);  /* 9709 to 9716 */
    start_receive(0x1000, 1, 5);
    poll_in_vain(WAIT, 10, 20);
    leave(enter(OTHER), 2); /* something else */
    wait_for(0x1000, 1, 5, 44, 0);
    start_receive(0x1000, 1, 5);
    poll_in_vain(WAIT, 10, 20);
    ix_pause();
    clock_ns += 50;
    ix_resume();
    wait_for(0x1000, 1, 5, 44, 0);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    next_of(&reader, &cursor, IX_LOG_RECV);
    CHECK(next_of(&reader, &cursor, IX_LOG_COMPLETION)->enter_ns == 127);
    next_polls(&reader, &cursor, 3, 60, 37);
    next_of(&reader, &cursor, IX_LOG_RECV);
    CHECK(next_of(&reader, &cursor, IX_LOG_COMPLETION)->enter_ns == 9709);
    next_polls(&reader, &cursor, 3, 20 + 3000 + 1, 2178);
    for (int i = 0; i < 2; i++) {
        next_of(&reader, &cursor, IX_LOG_RECV);
        next_of(&reader, &cursor, IX_LOG_COMPLETION);
    }
    uint32_t id;
    CHECK(!ix_log_next(&reader, &cursor, &id));
    ix_log_close(&reader);
}

static void poll_at(uintptr_t site, uint64_t handle, int found)
{
    clock_ns += 10;
    ix_thread *t = ix_enter(WAIT, (const void *)site);
    if (found)
        complete(t, handle, 1, 5, 44, 0);
    else
        ix_log_found_nothing(t);
    leave(t, 20);
}

/* The same of calls that look for several things in turn: each site has its own. */
static void check_turns(void)
{
    begin(1 << 20, IX_ONE_THREAD, 0);
    start_receive(0x1000, 1, 5); /* 10 to 13 */
    start_receive(0x2000, 1, 5); /* 23 to 26 */
    for (int i = 0; i < 2; i++) {
        poll_in_vain(WAIT, 10, 20);  /* 36 to 56, 106 to 126 */
        poll_in_vain(START, 10, 30); /* 66 to 96, 136 to 166 */
    }
    wait_for(0x1000, 1, 5, 44, 0); /* 176 to 183 */
    poll_in_vain(START, 10, 5);    /* 193 to 198 */
    ix_thread *t = enter(START);   /* 208 to 211 */
    complete(t, 0x2000, 1, 5, 44, 0);
    leave(t, 3);
    start_receive(0x1000, 1, 5);
    poll_in_vain(WAIT, 10, 20);
    poll_in_vain(START, 10, 20);
    leave(enter(OTHER), 2); /* something else */
    wait_for(0x1000, 1, 5, 44, 0);
    for (uintptr_t site = 1; site <= IX_POLLED_SITES + 2; site++)
        start_receive(0x1000 * site, 1, 5);
    int64_t since_ns = clock_ns + 10 - 1000;
    for (int i = 0; i < 2; i++)
        for (uintptr_t site = 2; site <= IX_POLLED_SITES + 2; site++)
            poll_at(site, 0, 0);
    poll_at(1, 0, 0); /* one more than are remembered: the last but one is forgotten */
    poll_at(3, 0x3000, 1);
    poll_at(8, 0x8000, 1);
    ix_log_reader reader = open_own();
    ix_log_cursor cursor = {0};
    next_of(&reader, &cursor, IX_LOG_RECV);
    next_of(&reader, &cursor, IX_LOG_RECV);
    CHECK(next_of(&reader, &cursor, IX_LOG_COMPLETION)->enter_ns == 176);
    next_polls(&reader, &cursor, 2, 40, 36);
    CHECK(next_of(&reader, &cursor, IX_LOG_COMPLETION)->enter_ns == 208);
    next_polls(&reader, &cursor, 3, 65, 66);
    next_of(&reader, &cursor, IX_LOG_RECV);
    next_of(&reader, &cursor, IX_LOG_COMPLETION);
    for (int i = 0; i < IX_POLLED_SITES + 2; i++)
        next_of(&reader, &cursor, IX_LOG_RECV);
    next_of(&reader, &cursor, IX_LOG_COMPLETION);
    next_polls(&reader, &cursor, 2, 40, since_ns + 30);
    next_of(&reader, &cursor, IX_LOG_COMPLETION);
    uint32_t id;
    CHECK(!ix_log_next(&reader, &cursor, &id));
    ix_log_close(&reader);
}

int main(int argc, char **argv)
{
    static const named_check checks[] = {
        {"polls", check_polls},
        {"turns", check_turns},
        {NULL, NULL},
    };
    return run_check(checks, argc, argv);
}
