#include "progress/pace.h"

static int64_t at_most(int64_t value, int64_t most)
{
    return value < most ? value : most;
}

static int64_t at_least(int64_t value, int64_t least)
{
    return value > least ? value : least;
}

static void keep_to_share(ix_pace *p)
{
    int64_t by_share = (int64_t)((double)p->turn_ns / p->share);
    p->least_ns = at_least(p->is_fixed ? p->first_ns : IX_PACE_LEAST_NS, by_share);
    p->interval_ns = at_least(p->interval_ns, p->least_ns);
}

static int64_t first_of(int64_t interval_ns, int64_t recommended_ns)
{
    if (interval_ns > 0)
        return interval_ns;
    return recommended_ns > 0 ? at_least(at_most(recommended_ns, IX_PACE_MOST_NS), IX_PACE_LEAST_NS)
                              : IX_PACE_FIRST_NS;
}

void ix_pace_start(ix_pace *p, int64_t interval_ns, int64_t recommended_ns, double share,
                   int64_t idle_ns)
{
    *p = (ix_pace){.first_ns = first_of(interval_ns, recommended_ns),
                   .is_fixed = interval_ns > 0,
                   .share = share,
                   .idle_ns = at_least(idle_ns, 1),
                   .turn_ns = at_least(idle_ns, 1),
                   .rest_ns = IX_PACE_REST_NS};
    p->interval_ns = p->first_ns;
    keep_to_share(p);
}

/* A hardware that moves data by itself once it is told to shows in a look that takes a little
 * longer; a copy, in one that takes much longer. Both are movement; what is idle drags the estimate
 * along slowly, so that a cache that cooled down is no movement for long. */
int ix_pace_looked(ix_pace *p, int64_t look_ns)
{
    int moved = look_ns > 2 * p->idle_ns + 2000, stirred = look_ns > p->idle_ns + p->idle_ns / 2;
    p->looks++;
    p->moving += stirred;
    if (look_ns < p->idle_ns)
        p->idle_ns = at_least(look_ns, 1);
    else if (!moved)
        p->idle_ns += (look_ns - p->idle_ns) / 32;
    return moved;
}

void ix_pace_turned(ix_pace *p, int moved, int64_t turn_ns)
{
    if (!moved)
        p->turn_ns = at_least(p->turn_ns + (turn_ns - p->turn_ns) / 8, 1);
    if (!p->is_fixed)
        p->interval_ns = moved ? p->interval_ns - p->interval_ns / 4
                               : at_most(p->interval_ns + p->interval_ns / 4, IX_PACE_MOST_NS);
    keep_to_share(p);
}

int64_t ix_pace_episode_over(ix_pace *p)
{
    int64_t rest = 0;
    if (p->moving)
        p->barren = 0;
    else if (p->looks)
        p->barren++;
    if (p->moving)
        p->rest_ns = IX_PACE_REST_NS;
    if (p->barren >= IX_PACE_BARREN) {
        rest = p->rest_ns;
        p->rest_ns = at_most(2 * rest, IX_PACE_REST_MOST_NS);
        p->barren = IX_PACE_BARREN - 4; /* a few episodes tell again */
    }
    p->looks = p->moving = 0;
    p->interval_ns = p->first_ns;
    keep_to_share(p);
    return rest;
}
