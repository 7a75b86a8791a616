/* Ping-pong of one size on one pair: the half round trips, at the leader. */
#ifndef IMBREX_PROBES_ROUNDTRIP_H
#define IMBREX_PROBES_ROUNDTRIP_H

#include "engine/engine.h"
#include "engine/stats.h"

/* Both ranks of the pair call this. `send` and `receive` hold `slots` buffers of `stride` bytes
 * each and are used in turn: one slot re-uses a warm buffer, many evict it from the caches. For
 * `slice_s` (the leader's counts), or until the samples are stable. */
void half_round_trips(engine *e, const pair *p, size_t size, char *send, char *receive,
                      size_t slots, size_t stride, double slice_s, samples *half_ns);
#endif
