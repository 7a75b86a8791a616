/* The clock of computation: what passes between MPI calls, in the clean run's nanoseconds. */
#ifndef IMBREX_ACCESS_TIMES_H
#define IMBREX_ACCESS_TIMES_H

#include <stdint.h>

/* CLEAN: the program as the user builds it; its intervals are measured. RECORD: the instrumented
 * program; each interval is given the length that it had in the clean run. */
enum ixa_mode { IXA_OFF, IXA_CLEAN, IXA_RECORD };
extern enum ixa_mode ixa_mode;

/* The directory of results and the rank, valid unless ixa_mode is IXA_OFF. */
extern const char *ixa_directory;
extern int ixa_rank;

/* Computation so far, as of the last MPI call entered. */
extern double ixa_now_ns;
/* Intervals so far; the call at which the two runs first differ, -1 if they do not. */
extern uint64_t ixa_intervals;
extern int64_t ixa_diverged_at;

void ixa_start(int rank);
/* Every MPI function from entry to exit; they nest, the outermost counts. `site`: the caller. */
void ixa_enter(const char *function, const void *site);
void ixa_exit(void);
/* In place of ixa_enter for a call that may find nothing done, and once that is known. In vain, it
 * ends no interval: its time is left out. */
void ixa_poll(void);
void ixa_polled(int found, const char *function, const void *site);
/* How many MPI functions are open; whether it is the outermost. */
extern int ixa_inside;
int ixa_outermost(void);
void ixa_times_finish(void);

/* The clean time of an access of the recorded run; 0 if its interval is forgotten. */
int ixa_time_of(uint64_t clock, double *ns);

int64_t ixa_clock_ns(void);

#endif
