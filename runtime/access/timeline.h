/* The clock of computation: what passes between MPI calls, in the clean run's nanoseconds. */
#ifndef IMBREX_ACCESS_TIMELINE_H
#define IMBREX_ACCESS_TIMELINE_H

#include <stdint.h>

#include "core/thread.h"

/* CLEAN: the program as the user builds it; its intervals are measured. RECORD: the instrumented
 * program; each interval is given the length that it had in the clean run. PREPARE: before RECORD,
 * of a run that records itself (phases.h). */
enum ixa_mode { IXA_OFF, IXA_CLEAN, IXA_RECORD, IXA_PREPARE };
extern IX_HIDDEN enum ixa_mode ixa_mode;

/* The directory of results and the rank, valid unless ixa_mode is IXA_OFF. */
extern IX_HIDDEN const char *ixa_directory;
extern IX_HIDDEN int ixa_rank;

/* What one thread that calls MPI has computed. The first is that of the thread that started MPI. */
typedef struct ixa_timeline {
    const ix_thread *thread;
    int number;
    /* Computation so far, as of its last MPI call entered, and the accesses that were made: of the
     * thread that made most between every two calls. */
    double now_ns;
    uint64_t position;
    /* Intervals so far; the call at which the two runs first differ, -1 if they do not. */
    uint64_t intervals;
    int64_t diverged_at;
    /* The recorded run's call there: its function and caller; NULL if it ended before. */
    const char *diverged_in;
    const void *diverged_site;
    struct ixa_history *history;
} ixa_timeline_t;

/* Of the thread whose MPI call is looked at; never NULL while recording. */
extern IX_HIDDEN ixa_timeline_t *ixa_timeline;

/* The thread's, made at its first call; NULL where it has none, for lack of memory or of threads
 * in the timed run. */
IX_HIDDEN ixa_timeline_t *ixa_timeline_of(const ix_thread *t);
/* How many there are; and by number. */
IX_HIDDEN int ixa_timelines(void);
IX_HIDDEN ixa_timeline_t *ixa_timeline_at(int number);

/* As IMBREX_ACCESS (clean, record, switched) and IMBREX_ACCESS_DIR in the environment say: whether
 * there is anything to do. With IMBREX_ACCESS_WATCH=off no watchpoint disturbs a clean run. */
IX_HIDDEN int ixa_times_start(int rank);
/* The first interval of this thread begins: all before it was the runtime's own. */
IX_HIDDEN void ixa_times_begin(void);
/* Every outermost MPI function of ixa_timeline's thread, from entry to exit. `compute_ns`: what
 * that thread has computed so far; `site`: the caller. A function that polls enters once it is
 * known that it found something; otherwise it ends no interval: ixa_times_in_vain. */
IX_HIDDEN void ixa_times_enter(int64_t compute_ns, uint32_t operation, const void *site);
/* The call moves a buffer, which tells it from others of its site. */
IX_HIDDEN void ixa_times_moves(uint64_t buffer);
IX_HIDDEN void ixa_times_exit(void);
IX_HIDDEN void ixa_times_in_vain(const ix_thread *t);
/* From PREPARE to RECORD. */
IX_HIDDEN void ixa_times_record(void);
IX_HIDDEN void ixa_times_finish(void);

/* Position and clean time, on ixa_timeline, of a stamp of the recorded run; 0 if its interval is
 * forgotten. */
IX_HIDDEN int ixa_time_of(uint64_t stamp, uint64_t *position, double *ns);

IX_HIDDEN int64_t ixa_clock_ns(void);

#endif
