/* Synchronization overlap (White and Bova, figures 1 and 2) and its mirror image, each also with
 * MPI_Test calls in the work, and the size at which it ends; the mirror image also against a sender
 * that comes before the receive is posted. */
#include "engine/exchange.h"
#include "engine/pace.h"

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

/* Whether the blocking side was done before the other came to its wait. */
static int completed(const scheme *w, const outcome *o)
{
    return w->sender_computes ? o->receiver.done < o->sender.wait
                              : o->sender.done < o->receiver.wait;
}

/* At least `count` valid messages, printed; up to three times as many where they disagree, until
 * the verdict over them is clear (three quarters, by Laplace's rule). Whether most overlapped. */
static int trials(const exchange_setting *s, const scheme *w, size_t size, double delay_ns,
                  int count)
{
    int valid = 0, early = 0, tried = 0, more;
    side sender, receiver;
    sides(w, delay_ns, &sender, &receiver);
    do {
        const outcome o = exchange(s, size, sender, receiver);
        if (is_leader(s->e, s->p) && o.sender.valid && o.receiver.valid) {
            print_exchange(s, w->label, size, sender, receiver, &o);
            valid++;
            early += completed(w, &o);
        }
        const int same = 2 * early > valid ? early : valid - early;
        const int clear = 4 * (same + 1) >= 3 * (valid + 2);
        tried++;
        more = (valid < count || (!clear && valid < 3 * count)) && tried < 5 * count &&
               !out_of_time(s->e);
    } while (agree(s->e, s->p, more));
    return (int)agree(s->e, s->p, 2 * early > valid);
}

/* Two of three messages decide. `transfer_ns`: of this size or a larger one. */
static int overlaps(const exchange_setting *s, const scheme *w, size_t size, double transfer_ns)
{
    int early = 0;
    side sender, receiver;
    sides(w, 500000 + 3 * transfer_ns, &sender, &receiver);
    for (int i = 0; i < 3 && agree(s->e, s->p, i < 2 || early == 1); i++) {
        const outcome o = exchange(s, size, sender, receiver);
        early += completed(w, &o);
    }
    return (int)agree(s->e, s->p, early >= 2);
}

/* The sizes between which it ends: it overlaps at `last`, and not at `first`; 0: it does not end.
 */
typedef struct border {
    size_t last, first;
} border;

/* Halve the distance between the two sizes of `at`, and begin anew where the end does not show
 * again; another scheme's end, `guess`, comes first. Whether it came to its end, which may be after
 * the experiment's, until `grace_ns`. */
static int bisect(const exchange_setting *s, const scheme *w, border *at, border guess,
                  int64_t grace_ns)
{
    const border whole = *at;
    const double transfer_ns = transfer_estimate(s, whole.first);
    int more = 1, found = 0;
    for (int attempt = 0; attempt < 3 && more && !found; attempt++) {
        const int guessed = attempt == 0 && guess.last >= whole.last && guess.first <= whole.first;
        *at = guessed && guess.last ? guess : whole;
        while (more && at->first - at->last > 1) {
            const size_t middle = at->last + (at->first - at->last) / 2;
            if (overlaps(s, w, middle, transfer_ns))
                at->last = middle;
            else
                at->first = middle;
            more = (int)agree(s->e, s->p, !out_of_time(s->e) || now_ns() < grace_ns);
        }
        found = more && overlaps(s, w, at->last, transfer_ns) &&
                !overlaps(s, w, at->first, transfer_ns);
    }
    if (is_leader(s->e, s->p))
        row(s->e, "step %s %d %d %s %zu %zu", path_name(s->p), s->p->leader, s->p->partner,
            w->label, at->last, at->first);
    return more;
}

/* How often a scheme is tried at a size at least. Long transfers are noisy by less and cost more;
 * three that agree are a verdict, and where trials disagree there are more. */
static int trials_of(const engine *e, const scheme *w, double transfer_ns)
{
    const double long_ns = 1e6, very_long_ns = 1e7;
    if (e->quick)
        return transfer_ns > long_ns || !w->bisects ? 4 : 5;
    return transfer_ns > very_long_ns ? 5 : transfer_ns > long_ns ? 7 : 11;
}

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    const double share_of_sizes = 0.95; /* of the time; then steps are bisected */
    enum { enough = 3 };                /* for a verdict, if they agree */
    int before[scheme_count] = {0}, more = 1;
    border ends[scheme_count] = {{0, 0}};
    size_t previous = 0;
    for (size_t size = next_size(e, 0); size && more; size = next_size(e, size)) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const double done = previous ? progress_of_size(e, previous) : 0;
        for (int i = 0; i < scheme_count; i++) {
            const scheme *w = &schemes[i];
            const int count = agreed_affordable(e, p, share_of_sizes * done,
                                                trials_of(e, w, transfer_ns), enough);
            const int now = trials(&s, w, size, 500000 + 3 * transfer_ns, count);
            /* Only where it shows twice: noise is no step. */
            if (w->bisects && !ends[i].first && before[i] && !now &&
                overlaps(&s, w, previous, transfer_ns) && !overlaps(&s, w, size, transfer_ns))
                ends[i] = (border){previous, size};
            before[i] = now;
        }
        previous = size;
        report_progress(e, "delay", share_of_sizes * progress_of_size(e, size));
        /* A trial takes about seven transfers. */
        more = agreed_to_go_on(e, p, 1e-9 * transfer_ns < 3 * e->slice_s,
                               7.0 * enough * scheme_count * growth(e, size) * transfer_ns);
    }
    int whole = (int)agree(e, p, !out_of_time(e));
    border known = {0, 0};
    /* It takes little, and is worth a moment more than the experiment's time. */
    const int64_t grace_ns = now_ns() + 1500000000;
    for (int i = 0; i < scheme_count; i++)
        if (ends[i].first) {
            whole &= bisect(&s, &schemes[i], &ends[i], known, grace_ns);
            known = ends[i];
        }
    if (whole)
        report_progress(e, "delay", 1);
    free(s.buffer);
}

void run_delay(engine *e)
{
    for_first_pairs(e, all_sizes);
}
