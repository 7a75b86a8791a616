/* How much of a message moves while only the sender computes, only the receiver, both (White and
 * Bova, section III), by size. */
#include "engine/pace.h"
#include "engine/situations.h"

#include <stdlib.h>

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    double done = 0;
    int more = 1;
    for (size_t size = next_size(e, 0); size && more; size = next_size(e, size)) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const int count = repetitions(&s, transfer_ns, 11, 25, done);
        exchange_situations(&s, "", size, 30000 + 3 * transfer_ns, count, transfer_ns);
        done = progress_of_size(e, size);
        report_progress(e, "moved", done);
        /* An exchange takes about four transfers. */
        more = agreed_to_go_on(e, p, 1e-9 * transfer_ns < 3 * e->slice_s,
                               4.0 * situations * count / 2 * growth(e, size) * transfer_ns);
    }
    free(s.buffer);
}

void run_moved(engine *e)
{
    for_first_pairs(e, all_sizes);
}
