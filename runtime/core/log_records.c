#include "core/log_records.h"

static ix_log_chunk *chunk_at_hand(const ix_log_thread *l)
{
    return l->next ? ix_log_chunk_of(l->next - 1) : NULL;
}

static void give_back(ix_log_chunk *chunk)
{
    __atomic_store_n(&chunk->in_use, 0, __ATOMIC_RELEASE);
}

static IX_COLD void use_next_chunk(ix_thread *t)
{
    ix_log_thread *l = &t->log;
    if (l->next && !l->first) /* else ix_log_leave still writes there */
        give_back(chunk_at_hand(l));
    l->next = NULL;
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
    l->next_id = chunk->order * IX_LOG_CHUNK_RECORDS + 1;
    l->stamp = (uint64_t)(uint8_t)t->slot << 48 | (uint64_t)IX_LOG_FIRST << 56;
    if (!l->first)
        return;
    l->next->enter_ns = (int64_t)(uintptr_t)l->first;
    l->first = l->next - 1;
}

int ix_log_make_room(ix_thread *t)
{
    const ix_log_thread *l = &t->log;
    int is_new = t->last_ns >= l->window_end_ns;
    if (!ix_log_is_on || (!is_new && !l->next))
        return 0; /* nothing is logged in this window */
    use_next_chunk(t);
    return l->next != NULL;
}

/* What all records of a call have alike. */
typedef struct call_facts {
    int64_t enter_ns, exit_ns, before_ns;
    uint64_t place;
} call_facts;

/* A call of several records, which may lie in several chunks: those in the last one first. All but
 * that were left behind full. */
static void complete_all(ix_thread *t, const call_facts *call, int counts)
{
    ix_log_thread *l = &t->log;
    ix_log_chunk *at_hand = chunk_at_hand(l);
    for (ix_log_record *first = l->first, *before; first; first = before) {
        ix_log_chunk *chunk = ix_log_chunk_of(first);
        ix_log_record *end = (ix_log_record *)(void *)chunk + IX_LOG_CHUNK_RECORDS;
        if (chunk == at_hand)
            end = l->next;
        before = NULL;
        if (ix_log_is_chunk(first)) {
            first++;
            before = (ix_log_record *)(uintptr_t)first->enter_ns;
        }
        for (ix_log_record *r = first; r < end; r++) {
            ix_log_complete(r, call->enter_ns, call->exit_ns, call->before_ns, call->place);
            if (!counts)
                r->kind = IX_LOG_NONE;
        }
        if (!before && t->paused_ns != l->paused_ns) {
            first->flags |= IX_LOG_AFTER_PAUSE;
            l->paused_ns = t->paused_ns;
        }
        ix_log_publish(end - 1);
        if (chunk != at_hand)
            give_back(chunk);
    }
    l->first = NULL;
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
