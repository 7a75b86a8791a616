/* Puts and gets that a source inside the library sees posted: open until a flush, or until their
 * epoch is closed. */
#ifndef IMBREX_ONESIDED_H
#define IMBREX_ONESIDED_H

#include "engine.h"

/* From now on puts and gets posted in calls of the operations in `one_sided` are transfers on
 * `path`. */
IX_HIDDEN void ix_onesided_use(int path, const uint8_t *one_sided);

/* The thread, if what it posts now is a put or a get of the program's. */
IX_HIDDEN ix_thread *ix_onesided_poster(void);
/* `bytes` (-1: not known) were posted at `time_ns` through an endpoint of `worker` (NULL: not
 * known). */
IX_HIDDEN void ix_onesided_posted(ix_thread *t, const void *endpoint, const void *worker,
                                  int64_t bytes, int64_t time_ns);
/* Before a flush: the last that it is behind; 0 where nothing is open. */
IX_HIDDEN uint64_t ix_onesided_last(void);
/* The flush of an endpoint or a worker is complete. */
IX_HIDDEN void ix_onesided_flushed(const void *object, uint64_t last);

/* In the call that began it: whether all its bytes were posted, so that they stand for it. */
IX_HIDDEN int ix_onesided_begun(ix_thread *t, uint64_t group, int32_t target,
                                const ix_transfer *transfer);
/* As ix_finish_group: what of it no flush has ended is over now. */
IX_HIDDEN void ix_onesided_closed(ix_thread *t, uint64_t group, int32_t target, int slack);

#endif
