/* Data-transfer overlap over size and work (Shet et al., section 3): growing work between start and
 * wait. */
#include "engine/exchange.h"

#include <stdlib.h>

static const double work_per_transfer[] = {0, 0.25, 0.5, 1, 1.5, 2, 3};
enum { works = sizeof work_per_transfer / sizeof work_per_transfer[0] };

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes)};
    const int count = e->quick ? 7 : 11;
    int more = 1;
    for (size_t size = 1024; size <= e->max_bytes && more; size *= e->quick ? 32 : 8) {
        s.clocks = compare_clocks(e, p);
        double transfer_ns = 0;
        for (s.flavour = registers; s.flavour < flavours; s.flavour++) {
            transfer_ns = transfer_estimate(&s, size);
            for (int w = 0; w < works; w++) {
                const side waiting = {0, 0, 0}, blocking = {0, BLOCKING, 0};
                const side computing = {0, work_per_transfer[w] * transfer_ns, 0};
                exchanges(&s, "grid-isend-recv", size, computing, blocking, count);
                exchanges(&s, "grid-send-irecv", size, blocking, computing, count);
                exchanges(&s, "grid-isend-irecv", size, computing, w ? computing : waiting, count);
            }
        }
        report_progress(e, "grid", progress_of_size(e, size));
        more = (int)agree(e, p, 1e-9 * transfer_ns < e->slice_s && !out_of_time(e));
    }
    free(s.buffer);
}

void run_grid(engine *e)
{
    for_first_pairs(e, all_sizes);
}
