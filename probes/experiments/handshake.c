/* Who has to be inside MPI before a message moves between hosts, at two sizes of a rendezvous: one
 * side leaves after its start, computes, and starts other messages meanwhile, while the other side
 * waits inside MPI. How long the message takes once it is back tells whether any of it had moved.
 */
#include "engine/exchange.h"
#include "engine/pace.h"

#include <stdlib.h>

static const size_t sizes[] = {256 << 10, 2 << 20};
enum { size_count = sizeof sizes / sizeof sizes[0] };

static void all_situations(const exchange_setting *s, size_t size, double transfer_ns, int count)
{
    /* So much later comes the second side: the announcement has arrived by then. */
    const double later = 100000 + 4 * (double)s->clocks.round_trip_ns;
    const double away = 30000 + 1.5 * transfer_ns;
    const side waits = {0, 0, 0}, waits_late = {later, 0, 0};
    const side leaves = {0, later + away, 0};
    const side leaves_late = {later, away, 0};
    enough_exchanges(s, "handshake-sender-leaves", size, leaves_late, waits, count, transfer_ns);
    enough_exchanges(s, "handshake-receiver-late", size, leaves, waits_late, count, transfer_ns);
    enough_exchanges(s, "handshake-receiver-leaves", size, waits_late, leaves, count, transfer_ns);
}

static void all_sizes(engine *e, const pair *p)
{
    const size_t largest = sizes[size_count - 1];
    const size_t room = largest < e->max_bytes ? largest : e->max_bytes;
    exchange_setting s = {.e = e, .p = p, .buffer = NULL, .flavour = registers, .starts = 3};
    int more = !p->same_node;
    if (more)
        s.buffer = touched(room);
    for (int i = 0; i < size_count && more; i++) {
        if (sizes[i] > room)
            continue;
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, sizes[i]), done = (double)i / size_count;
        const int count = repetitions(&s, transfer_ns, 9, 18, done);
        all_situations(&s, sizes[i], transfer_ns, count);
        report_progress(e, "handshake", (i + 1.0) / size_count);
        /* Each of three situations takes two transfers and a half. */
        const double grows = i + 1 < size_count ? (double)sizes[i + 1] / (double)sizes[i] : 0;
        more = agreed_to_go_on(e, p, 1, 7.5 * count / 2 * grows * transfer_ns);
    }
    free(s.buffer);
}

void run_handshake(engine *e)
{
    for_first_pairs(e, all_sizes);
}
