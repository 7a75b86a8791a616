/* How much of a message moves while only the sender computes, only the receiver, both (White and
 * Bova, section III). */
#include "engine/exchange.h"
#include "engine/pace.h"

#include <stdlib.h>

enum { situations = 4 };
static const char *const labels[situations] = {"none-compute", "sender-computes",
                                               "receiver-computes", "both-compute"};

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    double done = 0;
    int more = 1;
    for (size_t size = next_size(e, 0); size && more; size = next_size(e, size)) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const int count = repetitions(&s, transfer_ns, 11, 25, done);
        const side waiting = {0, 0, 0}, computing = {0, 30000 + 3 * transfer_ns, 0};
        for (int i = 0; i < situations; i++)
            enough_exchanges(&s, labels[i], size, i & 1 ? computing : waiting,
                             i & 2 ? computing : waiting, count, transfer_ns);
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
