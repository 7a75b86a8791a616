/* Synchronization overlap (White and Bova, figures 1 and 2) and its mirror image, each also with
 * MPI_Test calls in the work, and the size at which it ends; the mirror image also against a sender
 * that comes before the receive is posted. */
#include "engine/exchange.h"

#include <stdlib.h>

typedef struct scheme {
    const char *label;
    int sender_computes; /* MPI_Isend, work, MPI_Wait against a late MPI_Recv; else the mirror image
                          */
    int tests;
    int early;   /* the blocking side comes first, the other is late */
    int bisects; /* where it ends is of interest to the byte */
} scheme;

static const scheme schemes[] = {
    {"isend-recv", 1, 0, 0, 1},          {"send-irecv", 0, 0, 0, 1},
    {"isend-recv-tested", 1, 100, 0, 0}, {"send-irecv-tested", 0, 100, 0, 0},
    {"send-irecv-early", 0, 0, 1, 0},
};
enum { scheme_count = sizeof schemes / sizeof schemes[0] };

static void sides(const scheme *w, double delay_ns, side *sender, side *receiver)
{
    const side computing = {w->early ? delay_ns : 0, 2 * delay_ns, w->tests};
    const side blocking = {w->early ? 0 : delay_ns, BLOCKING, 0};
    *sender = w->sender_computes ? computing : blocking;
    *receiver = w->sender_computes ? blocking : computing;
}

/* Of three messages, in how many the blocking side was done before the other came to its wait. */
static int overlaps(const exchange_setting *s, const scheme *w, size_t size)
{
    int early = 0;
    side sender, receiver;
    sides(w, 500000 + 3 * transfer_estimate(s, size), &sender, &receiver);
    /* Two of one kind decide. */
    for (int i = 0; i < 3 && agree(s->e, s->p, i < 2 || early == 1); i++) {
        const outcome o = exchange(s, size, sender, receiver);
        early +=
            w->sender_computes ? o.receiver.done < o.sender.wait : o.sender.done < o.receiver.wait;
    }
    return (int)agree(s->e, s->p, early);
}

static void bisect(const exchange_setting *s, const scheme *w, size_t last, size_t first)
{
    int more = 1;
    /* It takes little, and is worth a moment more than the experiment's time. */
    const int64_t grace_ns = now_ns() + 1500000000;
    while (more && first - last > 1) {
        const size_t middle = last + (first - last) / 2;
        if (overlaps(s, w, middle) >= 2)
            last = middle;
        else
            first = middle;
        more = (int)agree(s->e, s->p, !out_of_time(s->e) || now_ns() < grace_ns);
    }
    if (is_leader(s->e, s->p))
        row(s->e, "step %s %d %d %s %zu %zu", path_name(s->p), s->p->leader, s->p->partner,
            w->label, last, first);
}

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    int before[scheme_count] = {0}, more = 1;
    size_t last[scheme_count] = {0}, first[scheme_count] = {0}, previous = 0;
    for (size_t size = next_size(e, 0); size && more; size = next_size(e, size)) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const int count = transfer_ns > 1e6 ? (e->quick ? 4 : 7) : e->quick ? 5 : 11;
        for (int i = 0; i < scheme_count; i++) {
            side sender, receiver;
            sides(&schemes[i], 500000 + 3 * transfer_ns, &sender, &receiver);
            exchanges(&s, schemes[i].label, size, sender, receiver, count);
            if (!schemes[i].bisects)
                continue;
            const int now = overlaps(&s, &schemes[i], size);
            /* Only where it shows twice: noise is no step. */
            if (!first[i] && before[i] >= 2 && now < 2 &&
                overlaps(&s, &schemes[i], previous) >= 2 && overlaps(&s, &schemes[i], size) < 2) {
                last[i] = previous;
                first[i] = size;
            }
            before[i] = now;
        }
        previous = size;
        report_progress(e, "delay", progress_of_size(e, size));
        more = (int)agree(e, p, 1e-9 * transfer_ns < 3 * e->slice_s && !out_of_time(e));
    }
    for (int i = 0; i < scheme_count; i++)
        if (first[i])
            bisect(&s, &schemes[i], last[i], first[i]);
    free(s.buffer);
}

void run_delay(engine *e)
{
    for_first_pairs(e, all_sizes);
}
