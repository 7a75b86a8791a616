/* How much of its measurements an experiment can afford: on a busy machine all take longer, and
 * each is to give something rather than the last ones nothing. */
#ifndef IMBREX_PROBES_PACE_H
#define IMBREX_PROBES_PACE_H

#include "engine/engine.h"

/* Seconds for one of `left` like measurements of the pair at hand: the slice, or less where the
 * experiment's share of the time would not do for all of them. */
double slice_of(const engine *e, double left);
/* `intended`, or `least` where the experiment, of which `done` (of the pair at hand) is measured,
 * is behind its share of the time. This rank's own view: ranks must agree. */
int affordable(const engine *e, double done, int intended, int least);
/* The same for both ranks of a pair. */
int agreed_affordable(const engine *e, const pair *p, double done, int intended, int least);
/* The same for all ranks. */
int common_affordable(const engine *e, double done, int intended, int least);
/* Whether the experiment's time allows for about `cost_ns` more, and `more` is true besides: larger
 * messages are left out where a network is too slow for them. Both ranks of a pair come to the same
 * answer; all ranks do. */
int agreed_to_go_on(const engine *e, const pair *p, int more, double cost_ns);
int common_to_go_on(const engine *e, int more, double cost_ns);
#endif
