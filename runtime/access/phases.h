/* One run that is recorded first and measured then, of a program in which each function is there
 * twice, recorded and plain (imbrex cc --duplicate).
 *
 * It begins in recorded code, until its loops have been entered; then plain code tells how long
 * each interval between two calls takes; then accesses are recorded; and the rest of the run is
 * plain code, which is measured. Plain and recorded phase take IMBREX_ACCESS_ROUNDS each. A
 * function keeps the code in which it was entered, so that those which hold the loops stay
 * recorded. The time of a rank are its rounds: how often it has passed the interval that it passes
 * most. */
#ifndef IMBREX_ACCESS_PHASES_H
#define IMBREX_ACCESS_PHASES_H

#include <stdint.h>
#include <stdio.h>

#include "core/thread.h"

/* Whether this is such a run. */
extern IX_HIDDEN int ixa_phases;

/* 0 where the program has no plain code in it. */
IX_HIDDEN int ixa_phases_start(void);
/* Nothing is measured before the last phase. */
IX_HIDDEN void ixa_phases_begin(void);
/* Behind each interval of the first thread. */
IX_HIDDEN void ixa_phases_next(void);
/* The program ends: whether it came to be recorded. */
IX_HIDDEN int ixa_phases_end(void);

/* Calls, as an observer hears of them; and what this thread has computed between them, which the
 * engine does not know while nothing is measured. */
IX_HIDDEN void ixa_phases_entered(ix_thread *t);
IX_HIDDEN void ixa_phases_left(ix_thread *t);
IX_HIDDEN int64_t ixa_computed_ns(void);

/* One address for all calls of a place in the source, in recorded and plain code; the call's own
 * where its place is not known. */
IX_HIDDEN const void *ixa_place_of(const void *site);

/* An interval before recording, in which so many accesses were recorded; and one that is recorded:
 * how long plain code takes for it. `key` is that of its two calls, `buffers` of what the first of
 * them moved: calls of one site in a loop, as over faces, differ in that. */
IX_HIDDEN void ixa_before_recording(uint64_t key, uint64_t buffers, double length_ns,
                                    uint64_t accesses);
IX_HIDDEN double ixa_plain_length(uint64_t key, uint64_t buffers, double length_ns);

/* Members of access.R.json. */
IX_HIDDEN void ixa_phases_write(FILE *file);

#endif
