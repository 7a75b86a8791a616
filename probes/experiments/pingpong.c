/* Half a ping-pong over all sizes, with a warm buffer and with buffers that the caches do not hold.
 */
#include "engine/pace.h"
#include "engine/roundtrip.h"

#include <math.h>
#include <stdlib.h>

enum { most_sizes = 64, temperatures = 2 };
static const char *const temperature_names[temperatures] = {"warm", "cold"};

/* Of one size and buffer; 0 where it was not measured. Known at the leader. */
typedef struct spread {
    double shortest_ns, high_ns;
} spread;

static spread measure(engine *e, const pair *p, size_t size, int cold, double slice_s)
{
    const size_t cold_bytes = e->quick ? (size_t)16 << 20 : (size_t)64 << 20;
    const size_t stride = (size + 127) / 64 * 64;
    const size_t slots = cold && cold_bytes > 2 * stride ? cold_bytes / stride : 1;
    if (cold && slots == 1)
        return (spread){0, 0};
    char *send = touched(slots * stride), *receive = touched(slots * stride);
    samples half = {0};
    half_round_trips(e, p, size, send, receive, slots, stride, slice_s, &half);
    const spread found = {samples_quantile(&half, 0), samples_quantile(&half, 0.95)};
    if (is_leader(e, p))
        row(e, "pingpong %s %d %d %zu %s %zu %.0f %.0f %.0f %.0f", path_name(p), p->leader,
            p->partner, size, temperature_names[cold], half.count, found.shortest_ns,
            samples_quantile(&half, 0.05), samples_quantile(&half, 0.5), found.high_ns);
    samples_free(&half);
    free(send);
    free(receive);
    return found;
}

/* One size with both buffers. */
void pingpong_size(engine *e, const pair *p, size_t size)
{
    for (int cold = 0; cold < temperatures; cold++)
        measure(e, p, size, cold, e->slice_s);
}

/* Whether a further round would hardly lower what is known: two agree. */
static int alike(const spread *known, const spread *found)
{
    return fabs(known->high_ns - found->high_ns) <= 0.1 * known->high_ns &&
           fabs(known->shortest_ns - found->shortest_ns) <= 0.03 * known->shortest_ns;
}

/* Several rounds over all sizes: what disturbs one of them is gone in the next. Only the quietest
 * counts, so that a size is done with as soon as another round found the same as the quietest. */
static void all_sizes(engine *e, const pair *p)
{
    const int rounds = e->quick ? 3 : 4;
    spread known[most_sizes][temperatures] = {{{0, 0}}};
    int settled[most_sizes][temperatures] = {{0}};
    size_t most = e->max_bytes;
    for (int round = 0; round < rounds; round++)
        for (size_t size = next_size(e, 0); size && size <= most; size = next_size(e, size)) {
            const int index = sizes_up_to(e, size) % most_sizes;
            const double left = (rounds - round) * (sizes_up_to(e, most) + 1) - index;
            double half_s = 0;
            for (int cold = 0; cold < temperatures; cold++) {
                spread *const best = &known[index][cold];
                if (agree(e, p, settled[index][cold]))
                    continue;
                const spread found =
                    measure(e, p, size, cold, slice_of(e, temperatures * left - cold));
                settled[index][cold] = round > 0 && alike(best, &found);
                if (round == 0 || found.high_ns < best->high_ns)
                    best->high_ns = found.high_ns;
                if (round == 0 || found.shortest_ns < best->shortest_ns)
                    best->shortest_ns = found.shortest_ns;
                half_s = cold ? half_s : 1e-9 * found.shortest_ns;
            }
            if (is_leader(e, p) && p->leader == 0)
                report_progress(e, "pingpong", (round + progress_of_size(e, size)) / rounds);
            /* Slow networks need not wait for 64 MiB: this size is the last of all rounds. But one
             * disturbed round must not end a profile early: up to 1 MiB only a crawl does. */
            const double patience_s = (size < (size_t)1 << 20 ? 8 : 0.4) * e->slice_s;
            if (agree(e, p, half_s > patience_s || out_of_time(e)))
                most = size;
        }
}

void run_pingpong(engine *e)
{
    for_each_pair(e, all_sizes);
}
