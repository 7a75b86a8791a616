/* Half a ping-pong over all sizes, with a warm buffer and with buffers that the caches do not hold.
 */
#include "engine/roundtrip.h"

#include <stdlib.h>

/* Returns the shortest half round trip at the leader, seconds. */
double pingpong_size(engine *e, const pair *p, size_t size)
{
    double shortest = 0;
    const size_t cold_bytes = e->quick ? (size_t)16 << 20 : (size_t)64 << 20;
    const size_t stride = (size + 127) / 64 * 64;
    for (int cold = 0; cold < 2; cold++) {
        const size_t slots = cold && cold_bytes > 2 * stride ? cold_bytes / stride : 1;
        if (cold && slots == 1)
            break;
        char *send = touched(slots * stride), *receive = touched(slots * stride);
        samples half = {0};
        half_round_trips(e, p, size, send, receive, slots, stride, &half);
        if (is_leader(e, p))
            row(e, "pingpong %s %d %d %zu %s %zu %.0f %.0f %.0f %.0f", path_name(p), p->leader,
                p->partner, size, cold ? "cold" : "warm", half.count, samples_quantile(&half, 0),
                samples_quantile(&half, 0.05), samples_quantile(&half, 0.5),
                samples_quantile(&half, 0.95));
        shortest = cold ? shortest : samples_quantile(&half, 0);
        samples_free(&half);
        free(send);
        free(receive);
    }
    return 1e-9 * shortest;
}

/* Several rounds over all sizes: what disturbs one of them is gone in the next. */
static void all_sizes(engine *e, const pair *p)
{
    const int rounds = e->quick ? 3 : 4;
    size_t most = e->max_bytes;
    for (int round = 0; round < rounds; round++)
        for (size_t size = next_size(e, 0); size && size <= most; size = next_size(e, size)) {
            /* Slow networks need not wait for 64 MiB: this size is the last of all rounds. But one
             * disturbed round must not end a profile early: up to 1 MiB only a crawl does. */
            const double half_s = pingpong_size(e, p, size);
            if (is_leader(e, p) && p->leader == 0)
                report_progress(e, "pingpong", (round + progress_of_size(e, size)) / rounds);
            const double patience_s = (size < (size_t)1 << 20 ? 8 : 0.4) * e->slice_s;
            if (agree(e, p, half_s > patience_s || out_of_time(e)))
                most = size;
        }
}

void run_pingpong(engine *e)
{
    for_each_pair(e, all_sizes);
}
