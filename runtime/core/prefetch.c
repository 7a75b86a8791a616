/* After much computation the lines that the end of a call needs are fetched into the cache while
 * the library is at work. */
#include "core/plans.h"

static inline IX_ALWAYS void prefetch_code(const char *code, int lines)
{
    for (int i = 0; i < lines; i++)
        __builtin_prefetch(code + 64 * i, 0, 2);
}

static inline IX_ALWAYS void prefetch_data(const void *data, int lines)
{
    for (int i = 0; i < lines; i++)
        __builtin_prefetch((const char *)data + 64 * i, 1, 3);
}

IX_HOT void ix_prefetch(ix_thread *t)
{
    const ix_plan *p = t->home;
    prefetch_data(p, 2);
    prefetch_code((const char *)__builtin_return_address(0) + 64, 8); /* the rest of the wrapper */
    prefetch_data(&t->finished, 1);
    prefetch_code((const char *)(uintptr_t)ix_leave_with, 7);
    prefetch_data(&t->part->compute_ns, 1);
    prefetch_code((const char *)(uintptr_t)ix_begin_packed, 5);
    prefetch_data(p->row, 3);
    /* prefetches alone are no effect that a compiler keeps a call for */
    __asm__ volatile("" ::: "memory");
}
