/* What a recorded call costs, measured on a thread state of its own. */
#include "core/call_logging.h"
#include "core/plans.h"

enum { ROWS = 8, INDEX = 16, PLANS_BITS = 4 };

/* A chunk that is no part of the log. */
static _Alignas(IX_LOG_CHUNK_BYTES) ix_log_record chunk[IX_LOG_CHUNK_RECORDS];

static void empty_chunk(ix_thread *t)
{
    t->log = (ix_log_thread){.next = chunk + 1, .window_end_ns = INT64_MAX, .next_id = 1};
}

/* One that alternately begins and finishes a transfer. */
static void call(uint32_t i, int logged)
{
    const ix_transfer transfer = {.bytes = 8, .path = IX_PATH_INTRA};
    const uint64_t handle = UINT64_C(0x7ffffffffff0);
    ix_thread *t = ix_enter(0, NULL);
    if (logged && i % (IX_LOG_CHUNK_RECORDS / 2) == 0)
        empty_chunk(t);
    if (i % 2 == 0) {
        if (logged) /* of no known communicator: a stream that nobody matches */
            ix_begin_logged(t, handle, transfer.bytes, ix_pack(&transfer), ix_log_where(0, 1),
                            ix_log_envelope(0, IX_LOG_SEND, 0, 0));
        else
            ix_begin(t, handle, &transfer);
    } else {
        if (logged)
            ix_finish_logged(t, handle, 0, IX_AS_POSTED, IX_AS_POSTED);
        else
            ix_finish(t, handle, IX_AS_POSTED, IX_AS_POSTED);
    }
    ix_leave(t);
}

double ix_measure_overhead(uint32_t calls)
{
    static ix_thread scratch;
    static ix_part_thread part;
    static ix_row rows[ROWS];
    static uint32_t index[INDEX];
    static ix_plan plans[1 << PLANS_BITS];
    ix_thread *own = ix_current();
    if (!own || ix_depth(own) || own->muted || !calls)
        return 0;
    memset(&scratch, 0, sizeof scratch);
    memset(rows, 0, sizeof rows);
    memset(index, 0, sizeof index);
    memset(plans, 0, sizeof plans);
    scratch.slot = UINT32_MAX;
    scratch.site = -1;
    scratch.state = ix_state_between_calls();
    scratch.part = &part;
    scratch.plans = (char *)plans;
    scratch.plan_mask = ix_plan_mask(1 << PLANS_BITS);
    ix_rows_start(&scratch, rows, ROWS, index, INDEX);
    ix_unpaused(&scratch, ix_now());
    ix_self = &scratch;

    const int logged = ix_log() != NULL;
    empty_chunk(&scratch);
    int64_t begin = ix_now();
    for (uint32_t i = 0; i < calls; i++)
        call(i, logged);
    int64_t spent = ix_now() - begin;
    if (calls % 2)
        call(calls, logged);
    if (ix_share.concurrent) /* no other thread owes for these */
        ix_add(&ix_share.debt_ns, 0 - scratch.debt_paid_ns);
    ix_self = own;
    ix_engine.call_cost_ns = (double)spent / calls;
    double ps = ix_engine.call_cost_ns * 1000;
    ix_engine.part->call_cost_ps = ps < UINT32_MAX ? (uint32_t)ps : UINT32_MAX;
    return ix_engine.call_cost_ns;
}
