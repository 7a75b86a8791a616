#ifndef IMBREX_DIRECT
#include "transport/inflight.h"

void ix_inflight_lock(ix_inflight *table)
{
    while (atomic_flag_test_and_set_explicit(&table->busy, memory_order_acquire))
        ;
}

void ix_inflight_unlock(ix_inflight *table)
{
    atomic_flag_clear_explicit(&table->busy, memory_order_release);
}

static uint32_t home_of(uint64_t id)
{
    return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 52);
}

ix_message *ix_inflight_find(ix_inflight *table, uint64_t id)
{
    uint32_t i = home_of(id);
    while (table->messages[i].id && table->messages[i].id != id)
        i = (i + 1) % IX_INFLIGHT_SLOTS;
    return &table->messages[i];
}

/* Those behind it move up, so that each stays reachable from its home. */
void ix_inflight_forget(ix_inflight *table, ix_message *message)
{
    ix_message *all = table->messages;
    uint32_t hole = (uint32_t)(message - all);
    for (uint32_t i = (hole + 1) % IX_INFLIGHT_SLOTS; all[i].id; i = (i + 1) % IX_INFLIGHT_SLOTS) {
        uint32_t home = home_of(all[i].id);
        if ((i - home) % IX_INFLIGHT_SLOTS >= (i - hole) % IX_INFLIGHT_SLOTS) {
            all[hole] = all[i];
            hole = i;
        }
    }
    all[hole].id = 0;
    table->count--;
}

void ix_end_unknown(ix_thread *t, uint32_t token)
{
    ix_complete(t, token, ix_now(), IX_AS_POSTED, IX_SLACK_UNKNOWN, IX_SOURCE_CALLBACK);
}

int ix_inflight_add(ix_inflight *table, ix_thread *t, ix_message message)
{
    ix_inflight_lock(table);
    ix_message *m = ix_inflight_find(table, message.id);
    if (m->id) {
        ix_end_unknown(t, m->token);
        ix_inflight_forget(table, m);
        m = ix_inflight_find(table, message.id);
    }
    int room = table->count < IX_INFLIGHT_MOST;
    if (room) {
        *m = message;
        table->count++;
    }
    ix_inflight_unlock(table);
    if (!room)
        ix_end_unknown(t, message.token);
    return room;
}

#endif
