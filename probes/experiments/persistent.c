/* Persistent requests and, where the library has them, partitioned ones: the shares that move while
 * who computes, as in moved.c. */
#include "engine/exchange.h"

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
    int more = 1;
    for (size_t size = 1024; size <= e->max_bytes && more; size *= e->quick ? 32 : 8) {
        double transfer_ns = 0;
        s.clocks = compare_clocks(e, p);
        for (s.starter = persistent; s.starter < starters; s.starter++) {
            if (!has_starter(s.starter))
                continue;
            transfer_ns = transfer_estimate(&s, size);
            const int count = repetitions(e, transfer_ns, 9, 21);
            const side waiting = {0, 0, 0}, computing = {0, 30000 + 3 * transfer_ns, 0};
            for (int i = 0; i < 4; i++)
                exchanges(&s, labels[s.starter][i], size, i & 1 ? computing : waiting,
                          i & 2 ? computing : waiting, count);
        }
        report_progress(e, "persistent", progress_of_size(e, size));
        more = (int)agree(e, p, 1e-9 * transfer_ns < e->slice_s && !out_of_time(e));
    }
    free(s.buffer);
}

void run_persistent(engine *e)
{
    for_first_pairs(e, all_sizes);
}
