/* The plans of call sites: where each is kept, and what makes room for what. */
#include "core/plans.h"

static ix_plan *second_place(const ix_thread *t, const void *address, int64_t bytes,
                             ix_packed packed)
{
    uint64_t transfer = ix_scatter((uint64_t)bytes ^ packed << 17 ^ packed >> 47);
    return ix_plan_at(t, (uint32_t)(ix_scatter((uint64_t)(uintptr_t)address ^ transfer) >> 32));
}

ix_plan *ix_plan_elsewhere(const ix_thread *t, int64_t bytes, ix_packed packed)
{
    ix_plan *p = second_place(t, t->address, bytes, packed);
    return (bytes ? ix_is_plan(t, p, bytes, packed) : ix_is_plain_plan(t, p)) ? p : NULL;
}

/* A call in progress counts its own transfers by the descriptors in their plans. */
static int is_in_use(const ix_thread *t, const ix_plan *p)
{
    for (uint32_t i = 0; i < t->own_count; i++)
        if (t->own[i] == &p->transfer)
            return 1;
    return 0;
}

ix_plan *ix_plan_new(ix_thread *t, int64_t bytes, ix_packed packed)
{
    ix_plan *home = t->home, *p = home;
    if (is_in_use(t, home)) {
        p = second_place(t, t->address, bytes, packed);
        if (is_in_use(t, p))
            return NULL;
    } else if (home->key) { /* the newest stays at home */
        ix_plan *second = second_place(t, home->address, home->transfer.bytes, home->packed);
        if (second != home && !is_in_use(t, second))
            *second = *home;
    }
    uint64_t key = t->key | (bytes ? IX_KEY_MOVES : 0);
    *p = (ix_plan){.address = t->address, .key = key, .packed = packed};
    return p;
}

int32_t ix_call_site(ix_thread *t)
{
    if (t->site >= 0)
        return t->site;
    const ix_plan *p = t->home;
    if (p->key && p->address == t->address)
        return p->transfer.site;
    ix_to_settle(t);
    return t->site = ix_site_find((uint64_t)(uintptr_t)t->address);
}

void ix_plans_forget(ix_thread *t)
{
    ix_plan *plans = (void *)t->plans;
    for (uint32_t i = 0; i <= t->plan_mask / sizeof *plans; i++)
        plans[i].key = 0;
}

void ix_plans_forget_all(void)
{
    uint64_t used = ix_engine.part ? ix_engine.part->threads.used : 0;
    for (uint64_t i = 0; i < used; i++)
        ix_plans_forget(&ix_engine.threads[i]);
}
