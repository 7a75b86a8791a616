/* How much of a message moves while only the sender computes, only the receiver, both (White and
 * Bova, section III). */
#include "engine/exchange.h"

#include <stdlib.h>

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    int more = 1;
    for (size_t size = next_size(e, 0); size && more; size = next_size(e, size)) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const int count = repetitions(e, transfer_ns, 11, 25);
        const side waiting = {0, 0, 0}, computing = {0, 30000 + 3 * transfer_ns, 0};
        exchanges(&s, "none-compute", size, waiting, waiting, count);
        exchanges(&s, "sender-computes", size, computing, waiting, count);
        exchanges(&s, "receiver-computes", size, waiting, computing, count);
        exchanges(&s, "both-compute", size, computing, computing, count);
        report_progress(e, "moved", progress_of_size(e, size));
        more = (int)agree(e, p, 1e-9 * transfer_ns < 3 * e->slice_s && !out_of_time(e));
    }
    free(s.buffer);
}

void run_moved(engine *e)
{
    for_first_pairs(e, all_sizes);
}
