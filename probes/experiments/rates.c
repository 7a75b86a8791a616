/* At what rate a message moves within a node while its sender, its receiver or both compute, at one
 * eager size and three that a rendezvous may have: what a calibration says of a path's class. Work
 * that lasts three transfers shows whether data moves at all, work of one transfer how fast. Then
 * both compute and the receiver returns first, to a message that has long been announced. Between
 * hosts no rate follows from who is inside MPI: there handshake.c asks. */
#include "engine/pace.h"
#include "engine/situations.h"

#include <stdlib.h>

/* What is worth most first, in case the time is short. */
static const size_t sizes[] = {256 << 10, 16 << 10, 2048, 2 << 20};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void receiver_returns(const exchange_setting *s, size_t size, double transfer_ns, int count)
{
    const side receiver = {0, 30000 + transfer_ns, 0};
    const side sender = {0, receiver.work_ns + 30000 + 3 * transfer_ns, 0};
    enough_exchanges(s, "receiver-returns", size, sender, receiver, count, transfer_ns);
}

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
        receiver_returns(&s, sizes[i], transfer_ns, count);
        report_progress(e, "rates", (i + 1.0) / size_count);
        /* An exchange takes three transfers on average, one whose receiver returns first four. */
        const double grows = i + 1 < size_count ? (double)sizes[i + 1] / (double)sizes[i] : 0;
        more = agreed_to_go_on(e, p, 1, (6.0 * situations + 4) * count / 2 * grows * transfer_ns);
    }
    free(s.buffer);
}

void run_rates(engine *e)
{
    for_first_pairs(e, all_sizes);
}
