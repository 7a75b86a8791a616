/* How often the helper looks: shorter intervals while looks move data, longer ones while they do
 * not, never more of a core than its share, and hardly at all where transfers turn out to move by
 * themselves. Arithmetic alone: no clock, no thread, no MPI. Times are ns. */
#ifndef IMBREX_PROGRESS_PACE_H
#define IMBREX_PROGRESS_PACE_H

#include <stdint.h>

#include "base/attributes.h"

#define IX_PACE_FIRST_NS 500000    /* where no interval is given or recommended */
#define IX_PACE_LEAST_NS 200000    /* below this, looks cost some libraries more than they bring */
#define IX_PACE_MOST_NS 3000000    /* while something is open */
#define IX_PACE_REST_NS 1000000000 /* the first rest after barren episodes */
#define IX_PACE_REST_MOST_NS INT64_C(64000000000)
#define IX_PACE_BARREN 32 /* episodes in a row in which nothing moved, before a rest */

typedef struct ix_pace {
    int64_t first_ns, interval_ns; /* at the begin of an episode; now */
    int64_t least_ns;              /* by the share */
    int is_fixed;                  /* the user gave the interval */
    double share;                  /* of a core, for looks that move nothing: 0 to 1 */
    int64_t idle_ns;               /* processor time of a look that moves nothing */
    int64_t turn_ns;               /* the same with all around it: what one waking costs */
    int looks, moving;             /* in this episode */
    int barren;                    /* episodes without any movement, in a row */
    int64_t rest_ns;               /* the next rest */
} ix_pace;

/* interval_ns 0: Imbrex chooses, and begins with recommended_ns (0: unknown) as far as that lies
 * between its least and its most. `idle_ns` was measured beforehand. */
IX_HIDDEN void ix_pace_start(ix_pace *p, int64_t interval_ns, int64_t recommended_ns, double share,
                             int64_t idle_ns);

/* A look took this much processor time: whether it moved data. */
IX_HIDDEN int ix_pace_looked(ix_pace *p, int64_t look_ns);

/* A waking that moved nothing (`turn_ns` of processor time in all), or one that moved something. */
IX_HIDDEN void ix_pace_turned(ix_pace *p, int moved, int64_t turn_ns);

/* Nothing is open any more: 0, or for how long to rest whatever is opened. */
IX_HIDDEN int64_t ix_pace_episode_over(ix_pace *p);

#endif
