/* Call paths: through which callers a call site was reached, from samples of the stack. A site's
 * first calls are looked at and then four consecutive ones in each doubling of their number, so
 * that a look costs a program nothing that can be measured. */
#ifndef IMBREX_CORE_CALL_PATHS_H
#define IMBREX_CORE_CALL_PATHS_H

#include "core/thread.h"

/* Look from now on. Not on the hot path: what unwinds is loaded here. */
IX_HIDDEN void ix_call_paths_start(void);

/* The call in progress, which is counted in `row`, is one to look at. */
IX_HIDDEN IX_COLD void ix_call_path_look(ix_thread *t, const ix_row *row);

/* An image was unloaded: addresses may mean other functions. Under the engine's lock. */
IX_HIDDEN void ix_call_paths_forget(void);

/* What all looks have taken. */
IX_HIDDEN int64_t ix_call_paths_ns(void);

IX_HIDDEN void ix_call_paths_stop(void);

/* Whether the call with this number (from 1 on) of a row is one to look at: the first three, then
 * four consecutive ones where the leading bits of the number are those of the golden ratio. Such
 * places have no period, as the callers of a program have; callers in turns come together. */
static inline IX_ALWAYS int ix_call_path_is_due(int64_t number)
{
    uint64_t four = ((uint64_t)number + 4) >> 2;
    return UINT64_C(0x9e3779b97f4a7c15) >> __builtin_clzll(four) == four;
}

#endif
