/* Open transfers whose data moves only while somebody is inside MPI: what a progress thread is for.
 * They are counted, in all and by call site, and listed by request, from ix_count_those_in_need on;
 * before that nobody pays for it but with one branch.
 *
 * The list is written by threads inside MPI calls and by the progress thread while no thread is in
 * one: they exclude each other, so that a listed request is one that the program has not completed.
 */
#ifndef IMBREX_CORE_NEEDING_H
#define IMBREX_CORE_NEEDING_H

#include "core/descriptor.h"
#include "core/thread.h"

/* Of a profile that knows nothing of a size, what is shorter is taken to leave with the call. */
#define IX_NEEDS_PROGRESS_BYTES (16 << 10)
/* Of a calibrated one, what is over sooner gains nothing: a look and a change of context cost as
 * much. */
#define IX_NEEDS_PROGRESS_NS 20000

/* Begin to count, with `sites` places (the table of sites has that many). 0, or -1 without memory.
 * Transfers that are open now are not counted. */
IX_HIDDEN int ix_count_those_in_need(uint32_t sites);
/* Whether a transfer that begins now is one of them. */
IX_HIDDEN int ix_needs_progress(const ix_descriptor *d);

/* The same of a message, which a call would begin: of processes whose threads do not call at the
 * same time. Sizes that need none are kept. */
enum { IX_KEPT_SIZES = 64 };
extern IX_HIDDEN uint64_t ix_sizes_without_need[IX_KEPT_SIZES];
IX_HIDDEN IX_COLD int ix_ask_message_needs_progress(uint8_t path, int64_t bytes);

/* There is another table of transfer times. */
IX_HIDDEN void ix_forget_sizes_without_need(void);

static inline IX_ALWAYS uint64_t ix_size_on_path(uint8_t path, int64_t bytes)
{
    return (uint64_t)bytes << 3 | path;
}

static inline IX_ALWAYS uint64_t *ix_place_of_size(uint64_t size_on_path)
{
    return &ix_sizes_without_need[size_on_path * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static inline IX_ALWAYS int ix_message_needs_progress(uint8_t path, int64_t bytes)
{
    uint64_t asked = ix_size_on_path(path, bytes);
    if (bytes <= 0 || path == IX_PATH_SELF || IX_LIKELY(*ix_place_of_size(asked) == asked))
        return 0;
    return ix_ask_message_needs_progress(path, bytes);
}

/* One begins (by 1) or is over (by -1). */
IX_HIDDEN IX_COLD void ix_count_needing(const ix_descriptor *d, int by);
/* One that has begun has this request. */
IX_HIDDEN IX_COLD void ix_list_needing(ix_descriptor *d, uint64_t handle);

/* The progress thread asks for these. */

/* Whether any is open that was not seen complete. */
static inline int ix_any_needs_progress(void)
{
    return atomic_load_explicit(&ix_share.needing, memory_order_relaxed) > 0;
}
/* How many of a call site are open, complete or not. */
IX_HIDDEN int32_t ix_needing_at(int32_t site);

/* Whether a collective is open: a library may call the program's own reduction operations while it
 * makes progress. */
static inline int ix_any_takes_rounds(void)
{
    return atomic_load_explicit(&ix_share.needing_rounds, memory_order_relaxed) > 0;
}

/* The requests on the list that were not seen complete: 1 with one, 0 after the last. `place` is 0
 * at first. Where others are open, that have no request or found no place, *others is set: so where
 * a thread whose calls nobody sees might complete a listed one. */
IX_HIDDEN int ix_next_needing(uint32_t *place, uint64_t *handle, int *elsewhere);
/* The one that ix_next_needing gave last is complete: it needs no progress any more. Its site. */
IX_HIDDEN int32_t ix_seen_complete_at(uint32_t place);

#endif
