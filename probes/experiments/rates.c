/* At what rate a message moves within a node while its sender, its receiver or both compute, at one
 * eager size and two of a rendezvous: what a calibration says of a path's class. Work that lasts
 * three transfers shows whether data moves at all, work of one transfer how fast. Between hosts no
 * rate follows from who is inside MPI: there handshake.c asks. */
#include "engine/pace.h"
#include "engine/situations.h"

#include <stdlib.h>

/* What is worth most first, in case the time is short. */
static const size_t sizes[] = {256 << 10, 2048, 2 << 20};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void all_sizes(engine *e, const pair *p)
{
    const size_t largest = sizes[size_count - 1];
    const size_t room = largest < e->max_bytes ? largest : e->max_bytes;
    exchange_setting s = {.e = e, .p = p, .buffer = touched(room), .flavour = registers};
    int more = p->same_node;
    for (int i = 0; i < size_count && more; i++) {
        if (sizes[i] > room)
            continue;
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, sizes[i]), done = (double)i / size_count;
        const int count = repetitions(&s, transfer_ns, 7, 21, done);
        exchange_situations(&s, "-long", sizes[i], 30000 + 3 * transfer_ns, count, transfer_ns);
        exchange_situations(&s, "-short", sizes[i], transfer_ns, count, transfer_ns);
        report_progress(e, "rates", (i + 1.0) / size_count);
        /* An exchange takes three transfers on average. */
        const double grows = i + 1 < size_count ? (double)sizes[i + 1] / (double)sizes[i] : 0;
        more = agreed_to_go_on(e, p, 1, 6.0 * situations * count / 2 * grows * transfer_ns);
    }
    free(s.buffer);
}

void run_rates(engine *e)
{
    for_first_pairs(e, all_sizes);
}
