#include "core/log_records.h"

static IX_COLD void use_next_chunk(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (l->end && !l->last) /* else ix_log_leave still writes there */
        __atomic_store_n(&ix_log_chunk_of(l->end - 1)->in_use, 0, __ATOMIC_RELEASE);
    l->next = l->end = NULL;
    int64_t since = t->last_ns - ix_log_memory.origin_ns;
    uint32_t window = since > 0 ? (uint32_t)(since >> ix_log_memory.shift) : 0;
    l->window_end_ns = ix_log_memory.origin_ns + ((int64_t)(window + 1) << ix_log_memory.shift);
    ix_log_chunk *chunk = ix_log_counts(window) ? ix_log_take_chunk(t->slot, window) : NULL;
    if (!chunk) {
        if (ix_log_counts(window))
            ix_count(&ix_log_memory.header->lost);
        return;
    }
    l->next = (ix_log_record *)(void *)chunk + 1;
    l->end = l->next + IX_LOG_CHUNK_RECORDS - 1;
    l->next_id = chunk->order * IX_LOG_CHUNK_RECORDS + 1;
}

int ix_log_make_room(ix_thread *t)
{
    const ix_log_thread *l = &t->log;
    int is_new = t->last_ns >= l->window_end_ns;
    if (!ix_log_is_on || (!is_new && !l->end))
        return 0; /* nothing is logged in this window */
    use_next_chunk(t);
    return l->end != NULL;
}

static void after_pause(ix_thread *t, ix_log_record *first)
{
    first->flags |= IX_LOG_AFTER_PAUSE;
    t->log.paused_ns = t->paused_ns;
}

/* What all records of a call have alike. */
typedef struct call_facts {
    int64_t enter_ns, exit_ns, before_ns;
    uint64_t place;
} call_facts;

static void complete(ix_log_record *r, const call_facts *call)
{
    r->enter_ns = call->enter_ns;
    r->exit_ns = call->exit_ns;
    r->call_before_ns = call->before_ns;
    ix_log_put(r, IX_LOG_WORD_CALL, call->place);
}

static void give_back(ix_log_chunk *chunk)
{
    __atomic_store_n(&chunk->in_use, 0, __ATOMIC_RELEASE);
}

/* A call of several records, the last one first, which may lie in several chunks. */
static void complete_all(ix_thread *t, const call_facts *call, int counts)
{
    ix_log_thread *l = &t->log;
    const ix_log_chunk *at_hand = l->end ? ix_log_chunk_of(l->end - 1) : NULL;
    ix_log_chunk *chunk = NULL;
    for (ix_log_record *r = l->last, *previous; r; r = previous) {
        previous = (ix_log_record *)(uintptr_t)r->enter_ns;
        complete(r, call);
        if (!counts)
            r->kind = IX_LOG_NONE;
        if (!previous && t->paused_ns != l->paused_ns)
            after_pause(t, r);
        if (ix_log_chunk_of(r) == chunk)
            continue;
        if (chunk && chunk != at_hand) /* all of the call's that lay there are done */
            give_back(chunk);
        chunk = ix_log_chunk_of(r);
        ix_log_publish(r);
    }
    if (chunk != at_hand)
        give_back(chunk);
    l->last = NULL;
}

IX_APART void ix_log_leave_slowly(ix_thread *t, int64_t enter_ns, int64_t exit_ns,
                                  int64_t before_ns, uint64_t place)
{
    const call_facts call = {enter_ns, exit_ns, before_ns, place};
    complete_all(t, &call, 1);
}

void ix_log_drop(ix_thread *t, int64_t now)
{
    int64_t now_ns = now - ix_engine.start_ns;
    const call_facts call = {now_ns, now_ns, t->call_ns, 0};
    complete_all(t, &call, 0);
}
