/* Persistent requests and, where the library has them, partitioned ones: the shares that move while
 * who computes, as in moved.c. */
#include "engine/exchange.h"
#include "engine/pace.h"

#include <stdlib.h>

static const char *const labels[starters][4] = {
    {NULL},
    {"persistent-none-compute", "persistent-sender-computes", "persistent-receiver-computes",
     "persistent-both-compute"},
    {"partitioned-none-compute", "partitioned-sender-computes", "partitioned-receiver-computes",
     "partitioned-both-compute"},
};

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    const size_t smallest = 1024, factor = e->quick ? 32 : 8;
    double done = 0;
    int more = 1;
    for (size_t size = smallest; size <= e->max_bytes && more; size *= factor) {
        double transfer_ns = 0;
        s.clocks = compare_clocks(e, p);
        for (s.starter = persistent; s.starter < starters; s.starter++) {
            if (!has_starter(s.starter))
                continue;
            transfer_ns = transfer_estimate(&s, size);
            const int count = repetitions(&s, transfer_ns, 9, 21, done);
            const side waiting = {0, 0, 0}, computing = {0, 30000 + 3 * transfer_ns, 0};
            for (int i = 0; i < 4; i++)
                enough_exchanges(&s, labels[s.starter][i], size, i & 1 ? computing : waiting,
                                 i & 2 ? computing : waiting, count, transfer_ns);
        }
        done = progress_of_steps(smallest, factor, e->max_bytes, size);
        report_progress(e, "persistent", done);
        /* An exchange takes about four transfers. */
        more = agreed_to_go_on(e, p, 1e-9 * transfer_ns < e->slice_s,
                               4.0 * 4 * 5 * (starters - 1) * (double)factor * transfer_ns);
    }
    free(s.buffer);
}

void run_persistent(engine *e)
{
    for_first_pairs(e, all_sizes);
}
