/* One blocking send at a known moment, against a receiver that is ready, interrupted, or late.
 * From the moments of both ranks on one clock follow tail (what still moves when the send has
 * returned), head (what moved before the receive was posted), whether the send returns before its
 * match, and the size where that ends. */
#include "engine/clocks.h"
#include "engine/pace.h"
#include "engine/stats.h"

#include <stdlib.h>

void pingpong_size(engine *e, const pair *p, size_t size);

enum kind {
    ready,       /* waiting in MPI_Recv when the send begins */
    interrupted, /* posted, making progress for a random while, then computing, then waiting */
    late,        /* computing when the send begins, posting later */
    polling,     /* the same, but making progress with MPI_Iprobe meanwhile */
    kind_count
};
static const char *const kind_names[kind_count] = {"ready", "interrupted", "late", "polling"};

/* Moments after the agreed start, on the leader's clock. */
typedef struct moments {
    int64_t valid;
    int64_t sent;
    int64_t posted;
    int64_t received;
    int64_t pause_begin, pause_end;
} moments;

typedef struct setting {
    engine *e;
    const pair *p;
    clock_difference clocks;
    char *buffer;
    double transfer_ns; /* about how long a transfer takes */
    double slice_s;     /* for one kind of one size */
    int round;
} setting;

/* Several rounds over all sizes, as of the ping-pong: what disturbs one of them is gone in the
 * next. Only their quietest counts. */
static int rounds_of(const engine *e)
{
    return e->quick ? 2 : 3;
}

/* What disturbs others is short beside such a transfer: it needs no third round. */
static const double long_transfer_ns = 5e6;

static moments receive(const setting *s, enum kind kind, int size, int64_t start,
                       int64_t progress_ns, int64_t delay_ns)
{
    const int tag = 5, from = s->p->leader;
    MPI_Comm data = s->e->data;
    MPI_Request request;
    int done = 0;
    moments m = {.valid = 1};
    switch (kind) {
    case ready:
        /* Posted now: the receiver waits inside MPI when the message starts. */
        m.valid = now_ns() < start;
        m.posted = now_ns();
        MPI_Recv(s->buffer, size, MPI_CHAR, from, tag, data, MPI_STATUS_IGNORE);
        break;
    case interrupted:
        m.posted = now_ns();
        MPI_Irecv(s->buffer, size, MPI_CHAR, from, tag, data, &request);
        m.valid = now_ns() < start;
        spin_until(start);
        while (!done && now_ns() < start + progress_ns)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            m.pause_begin = now_ns();
            spin_until(m.pause_begin + delay_ns);
            m.pause_end = now_ns();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        break;
    default:
        m.valid = now_ns() < start;
        while (now_ns() < start + delay_ns)
            if (kind == polling)
                MPI_Iprobe(from, 6, s->e->control, &done, MPI_STATUS_IGNORE);
        m.posted = now_ns();
        MPI_Recv(s->buffer, size, MPI_CHAR, from, tag, data, MPI_STATUS_IGNORE);
    }
    m.received = now_ns();
    return m;
}

/* One message; both ranks call this. The moments are complete at the leader. */
static moments trial(const setting *s, enum kind kind, int size, double share, double delay_ns)
{
    const int tag = 103;
    engine *e = s->e;
    moments m = {0};
    if (is_leader(e, s->p)) {
        char token;
        MPI_Recv(&token, 1, MPI_CHAR, s->p->partner, tag, e->control, MPI_STATUS_IGNORE);
        const int64_t start = now_ns() + 20000 + 2 * s->clocks.round_trip_ns;
        MPI_Send(&start, 1, MPI_INT64_T, s->p->partner, tag, e->control);
        spin_until(start);
        const int64_t begin = now_ns();
        MPI_Send(s->buffer, size, MPI_CHAR, s->p->partner, 5, e->data);
        const int64_t sent = now_ns();
        MPI_Recv(&m, 6, MPI_INT64_T, s->p->partner, tag, e->control, MPI_STATUS_IGNORE);
        m.sent = sent - start;
        /* Preempted while it was to start: another trial will tell. */
        m.valid = m.valid && begin - start < 5000 + (int64_t)(0.1 * delay_ns);
    } else {
        char token = 0;
        int64_t start;
        MPI_Send(&token, 1, MPI_CHAR, s->p->leader, tag, e->control);
        MPI_Recv(&start, 1, MPI_INT64_T, s->p->leader, tag, e->control, MPI_STATUS_IGNORE);
        start += s->clocks.ahead_ns;
        m = receive(s, kind, size, start, (int64_t)(share * s->transfer_ns), (int64_t)delay_ns);
        m.posted -= start;
        m.received -= start;
        m.pause_begin -= m.pause_begin ? start : 0;
        m.pause_end -= m.pause_end ? start : 0;
        MPI_Send(&m, 6, MPI_INT64_T, s->p->leader, tag, e->control);
    }
    return m;
}

static void print_trial(const setting *s, size_t size, enum kind kind, const moments *m)
{
    row(s->e, "trial %s %d %d %zu %s %lld %lld %lld %lld %lld %lld %d", path_name(s->p),
        s->p->leader, s->p->partner, size, kind_names[kind], (long long)s->clocks.error_ns,
        (long long)m->sent, (long long)m->posted, (long long)m->received, (long long)m->pause_begin,
        (long long)m->pause_end, s->round);
}

/* Trials of one kind until the slice is over; returns the share in which the send returned before
 * the post. */
static double trials(const setting *s, size_t size, enum kind kind, int most, int print)
{
    engine *e = s->e;
    const double delay_ns = 2.5 * s->transfer_ns + 30000;
    const int64_t end = now_ns() + (int64_t)(s->slice_s * 1e9);
    int tried = 0, valid = 0, early = 0, more;
    do {
        const moments m = trial(s, kind, (int)size, (double)((tried * 7) % 16) / 12, delay_ns);
        if (is_leader(e, s->p) && m.valid) {
            valid++;
            early += m.sent + s->clocks.error_ns < m.posted;
            if (print)
                print_trial(s, size, kind, &m);
        }
        tried++;
        more =
            (valid < 5 || (valid < most && now_ns() < end)) && tried < 8 * most && !out_of_time(e);
    } while (agree(e, s->p, more));
    return valid ? (double)early / valid : 0;
}

/* Both ranks learn about how long a transfer takes: it sets the delays. */
static void estimate(setting *s, size_t size)
{
    samples time = {0};
    for (int i = 0; i < 5; i++) {
        const moments m = trial(s, ready, (int)size, 0, 0);
        samples_add(&time, (double)m.received);
    }
    s->transfer_ns = (double)agree(s->e, s->p, (int64_t)samples_quantile(&time, 0.5));
    samples_free(&time);
}

/* The kinds in which the receiver is not there when the message starts: computing, and making
 * progress. */
enum { late_kinds = 2 };
static const enum kind late_kind[late_kinds] = {late, polling};

/* All trials of one size; bit i of the answer, at both ranks: sends returned before their match in
 * late_kind[i]. */
static int one_size(setting *s, size_t size)
{
    int early = 0;
    const int most = s->e->quick ? 10 : 16;
    s->clocks = compare_clocks(s->e, s->p);
    estimate(s, size);
    for (enum kind kind = ready; kind < kind_count; kind++) {
        const double share = trials(s, size, kind, most, 1);
        for (int i = 0; i < late_kinds; i++)
            early |= (kind == late_kind[i] && share > 0.5) << i;
    }
    return (int)agree(s->e, s->p, early);
}

/* The send returned before its match at `last` and not at `first`: halve the distance, add both
 * ends. */
static void bisect(setting *s, enum kind kind, size_t last, size_t first)
{
    const size_t below = last, above = first;
    while (first - last > 1) {
        const size_t middle = last + (first - last) / 2;
        estimate(s, middle);
        if (agree(s->e, s->p, trials(s, middle, kind, 5, 0) > 0.5))
            last = middle;
        else
            first = middle;
        if (agree(s->e, s->p, out_of_time(s->e)))
            break;
    }
    if (is_leader(s->e, s->p))
        row(s->e, "limit %s %d %d %s %zu %zu", path_name(s->p), s->p->leader, s->p->partner,
            kind_names[kind], last, first);
    const size_t ends[2] = {last, first};
    for (s->round = 0; s->round < rounds_of(s->e); s->round++)
        for (int i = 0; i < 2; i++)
            if (ends[i] != below && ends[i] != above) {
                pingpong_size(s->e, s->p, ends[i]);
                one_size(s, ends[i]);
            }
}

/* One round over all sizes up to `most`; returns the largest that is worth another round. The first
 * round says after which size sends no longer return before their match, and which size came next.
 */
static size_t one_round(setting *s, size_t most, size_t last[late_kinds], size_t first[late_kinds])
{
    engine *e = s->e;
    size_t before = 0, worth = most;
    for (size_t size = next_size(e, 0); size && size <= most; size = next_size(e, size)) {
        const double left = (rounds_of(e) - s->round) * (sizes_up_to(e, most) + 1.0);
        s->slice_s = slice_of(e, kind_count * (left - sizes_up_to(e, size)));
        const int early = one_size(s, size);
        for (int i = 0; i < late_kinds && s->round == 0; i++) {
            if (early & (1 << i)) {
                last[i] = size;
                first[i] = 0;
            } else if (last[i] && before == last[i])
                first[i] = size;
        }
        if (is_leader(e, s->p) && s->p->leader == 0)
            report_progress(e, "earlylate",
                            0.95 * (s->round + progress_of_size(e, size)) / rounds_of(e));
        /* Each trial takes about four transfers, and there are some 20 of them at the least. */
        if (agree(e, s->p, 100e-9 * s->transfer_ns > 60 * e->slice_s || out_of_time(e)))
            most = worth = size < worth ? size : worth;
        if (s->round > 0 && s->transfer_ns > long_transfer_ns && before < worth)
            worth = before;
        before = size;
    }
    return worth;
}

static void all_sizes(engine *e, const pair *p)
{
    setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .slice_s = e->slice_s};
    size_t last[late_kinds] = {0, 0}, first[late_kinds] = {0, 0}, most = e->max_bytes;
    for (s.round = 0; s.round < rounds_of(e); s.round++) {
        most = one_round(&s, most, last, first);
        if (agree(e, p, out_of_time(e)))
            break;
    }
    s.slice_s = e->slice_s;
    for (int i = 0; i < late_kinds; i++)
        if (first[i])
            bisect(&s, late_kind[i], last[i], first[i]);
    free(s.buffer);
}

void run_earlylate(engine *e)
{
    for_first_pairs(e, all_sizes);
}
