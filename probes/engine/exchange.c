#include "engine/exchange.h"

#include "engine/pace.h"
#include "engine/stats.h"

#include <stdio.h>

static const int data_tag = 7;

int64_t agreed_start(const exchange_setting *s)
{
    const int tag = 104;
    engine *e = s->e;
    int64_t start;
    char token = 0;
    if (is_leader(e, s->p)) {
        MPI_Recv(&token, 1, MPI_CHAR, s->p->partner, tag, e->control, MPI_STATUS_IGNORE);
        start = now_ns() + 20000 + 2 * s->clocks.round_trip_ns;
        MPI_Send(&start, 1, MPI_INT64_T, s->p->partner, tag, e->control);
        return start;
    }
    MPI_Send(&token, 1, MPI_CHAR, s->p->leader, tag, e->control);
    MPI_Recv(&start, 1, MPI_INT64_T, s->p->leader, tag, e->control, MPI_STATUS_IGNORE);
    return start + s->clocks.ahead_ns;
}

int has_starter(enum starter starter)
{
#if MPI_VERSION >= 4
    return starter < starters;
#else
    return starter != partitioned;
#endif
}

#if MPI_VERSION >= 4
enum { partitions = 4 };

static int partitions_of(size_t size)
{
    return size % partitions ? 1 : partitions;
}
#endif

/* A persistent or partitioned request; MPI_REQUEST_NULL where none is needed beforehand. */
static MPI_Request prepared(const exchange_setting *s, size_t size)
{
    const int sending = is_leader(s->e, s->p), other = other_of(s->e, s->p), bytes = (int)size;
    MPI_Comm data = s->e->data;
    MPI_Request request = MPI_REQUEST_NULL;
    if (s->starter == persistent && sending)
        MPI_Send_init(s->buffer, bytes, MPI_CHAR, other, data_tag, data, &request);
    else if (s->starter == persistent)
        MPI_Recv_init(s->buffer, bytes, MPI_CHAR, other, data_tag, data, &request);
#if MPI_VERSION >= 4
    const int parts = partitions_of(size), part = bytes / parts;
    if (s->starter == partitioned && sending)
        MPI_Psend_init(s->buffer, parts, part, MPI_CHAR, other, data_tag, data, MPI_INFO_NULL,
                       &request);
    else if (s->starter == partitioned)
        MPI_Precv_init(s->buffer, parts, part, MPI_CHAR, other, data_tag, data, MPI_INFO_NULL,
                       &request);
#endif
    return request;
}

static void start_transfer(const exchange_setting *s, size_t size, MPI_Request *request)
{
    const int sending = is_leader(s->e, s->p), other = other_of(s->e, s->p), bytes = (int)size;
    if (s->starter == immediate) {
        if (sending)
            MPI_Isend(s->buffer, bytes, MPI_CHAR, other, data_tag, s->e->data, request);
        else
            MPI_Irecv(s->buffer, bytes, MPI_CHAR, other, data_tag, s->e->data, request);
        return;
    }
    MPI_Start(request);
#if MPI_VERSION >= 4
    if (s->starter == partitioned && sending)
        for (int i = 0; i < partitions_of(size); i++)
            MPI_Pready(i, *request);
#endif
}

/* Messages of one byte that are begun besides. */
typedef struct small_messages {
    MPI_Request requests[2 * most_starts];
    char out, in[most_starts];
    int count; /* of those each way that were begun */
} small_messages;

static void start_small(const exchange_setting *s, small_messages *m)
{
    const int tag = 8, other = other_of(s->e, s->p), i = m->count++;
    MPI_Irecv(&m->in[i], 1, MPI_CHAR, other, tag, s->e->data, &m->requests[2 * i]);
    MPI_Isend(&m->out, 1, MPI_CHAR, other, tag, s->e->data, &m->requests[2 * i + 1]);
}

/* A side that blocks cannot have a request prepared: only immediate exchanges have such sides. */
static moments take_part(const exchange_setting *s, size_t size, side mine, int64_t start,
                         MPI_Request *request)
{
    const int sending = is_leader(s->e, s->p), other = other_of(s->e, s->p), bytes = (int)size;
    MPI_Comm data = s->e->data;
    const int64_t other_threads = other_threads_ns();
    small_messages small = {.count = 0};
    moments m = {.valid = now_ns() < start};
    spin_until(start);
    work(s->flavour, units_of(s->flavour, mine.delay_ns));
    m.enter = now_ns();
    if (mine.work_ns < 0) {
        if (sending)
            MPI_Send(s->buffer, bytes, MPI_CHAR, other, data_tag, data);
        else
            MPI_Recv(s->buffer, bytes, MPI_CHAR, other, data_tag, data, MPI_STATUS_IGNORE);
        m.wait = m.enter;
        m.started = m.done = now_ns();
    } else {
        int done = 0;
        const int64_t units = units_of(s->flavour, mine.work_ns);
        const int64_t parts = (mine.tests > s->starts ? mine.tests : s->starts) + 1;
        start_transfer(s, size, request);
        m.started = now_ns();
        for (int64_t i = 0; i < parts; i++) {
            work(s->flavour, units * (i + 1) / parts - units * i / parts);
            if (i < mine.tests && !done)
                MPI_Test(request, &done, MPI_STATUS_IGNORE);
            if (i < s->starts && units > 0)
                start_small(s, &small);
        }
        m.wait = now_ns();
        if (!done)
            MPI_Wait(request, MPI_STATUS_IGNORE);
        m.done = now_ns();
        if (*request != MPI_REQUEST_NULL)
            MPI_Request_free(request);
    }
    m.other_threads = other_threads_ns() - other_threads;
    while (small.count < s->starts)
        start_small(s, &small);
    for (int i = 0; i < 2 * small.count; i++)
        MPI_Wait(&small.requests[i], MPI_STATUS_IGNORE);
    m.enter -= start;
    m.started -= start;
    m.wait -= start;
    m.done -= start;
    return m;
}

/* One side of an exchange in both directions: its send in m[0], its receive in m[1]. */
static void take_part_both_ways(const exchange_setting *s, size_t size, side mine, int64_t start,
                                moments m[2])
{
    const int other = other_of(s->e, s->p), bytes = (int)size;
    MPI_Comm data = s->e->data;
    MPI_Request requests[2];
    const int64_t other_threads = other_threads_ns();
    m[0] = (moments){.valid = now_ns() < start};
    spin_until(start);
    m[0].enter = now_ns() - start;
    MPI_Isend(s->buffer, bytes, MPI_CHAR, other, data_tag, data, &requests[0]);
    MPI_Irecv(s->back, bytes, MPI_CHAR, other, data_tag, data, &requests[1]);
    m[0].started = now_ns() - start;
    work(s->flavour, units_of(s->flavour, mine.work_ns));
    m[0].wait = now_ns() - start;
    m[1] = m[0];
    for (int i = 0; i < 2; i++) {
        int which;
        MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
        m[which].done = now_ns() - start;
    }
    m[0].other_threads = m[1].other_threads = other_threads_ns() - other_threads;
}

void exchange_both_ways(const exchange_setting *s, size_t size, side mine, outcome there[2])
{
    const int tag = 106;
    moments own[2], far[2];
    take_part_both_ways(s, size, mine, agreed_start(s), own);
    if (is_leader(s->e, s->p)) {
        MPI_Recv(far, 2 * moments_words, MPI_INT64_T, s->p->partner, tag, s->e->control,
                 MPI_STATUS_IGNORE);
        there[0] = (outcome){.sender = own[0], .receiver = far[1]};
        there[1] = (outcome){.sender = far[0], .receiver = own[1]};
    } else {
        MPI_Send(own, 2 * moments_words, MPI_INT64_T, s->p->leader, tag, s->e->control);
    }
}

outcome exchange(const exchange_setting *s, size_t size, side sender, side receiver)
{
    const int tag = 105;
    outcome o = {{0}, {0}};
    MPI_Request request = prepared(s, size);
    const int64_t start = agreed_start(s);
    if (is_leader(s->e, s->p)) {
        o.sender = take_part(s, size, sender, start, &request);
        MPI_Recv(&o.receiver, moments_words, MPI_INT64_T, s->p->partner, tag, s->e->control,
                 MPI_STATUS_IGNORE);
    } else {
        o.receiver = take_part(s, size, receiver, start, &request);
        MPI_Send(&o.receiver, moments_words, MPI_INT64_T, s->p->leader, tag, s->e->control);
    }
    return o;
}

void print_exchange(const exchange_setting *s, const char *label, size_t size, side sender,
                    side receiver, const outcome *o)
{
    row(s->e,
        "exchange %s %d %d %s %zu %s %d %d %.0f %.0f %lld %lld %lld %lld %lld %lld %lld %lld %lld "
        "%lld %lld",
        path_name(s->p), s->p->leader, s->p->partner, label, size, flavour_names[s->flavour],
        sender.tests, receiver.tests, sender.work_ns, receiver.work_ns,
        (long long)s->clocks.error_ns, (long long)o->sender.enter, (long long)o->sender.started,
        (long long)o->sender.wait, (long long)o->sender.done, (long long)o->receiver.enter,
        (long long)o->receiver.started, (long long)o->receiver.wait, (long long)o->receiver.done,
        (long long)o->sender.other_threads, (long long)o->receiver.other_threads);
}

double transfer_estimate(const exchange_setting *s, size_t size)
{
    samples time = {0};
    const side immediate = {0, 0, 0};
    const int count = s->e->quick ? 3 : 5;
    for (int i = 0; i < count; i++) {
        const outcome o = exchange(s, size, immediate, immediate);
        samples_add(&time, (double)o.receiver.done);
    }
    const double median = (double)agree(s->e, s->p, (int64_t)samples_quantile(&time, 0.5));
    samples_free(&time);
    return median < 100 ? 100 : median;
}

int repetitions(const exchange_setting *s, double transfer_ns, int quick, int full, double done)
{
    const double long_ns = 1e6, very_long_ns = 1e7;
    const int intended = transfer_ns > very_long_ns             ? 2 * quick / 3
                         : s->e->quick || transfer_ns > long_ns ? quick
                                                                : full;
    return agreed_affordable(s->e, s->p, done, intended, (intended + 1) / 2);
}

static double time_left(const moments *m, side of)
{
    return of.work_ns < 0 ? 0 : (double)(m->started - m->enter + m->done - m->wait);
}

static double longer(double a, double b)
{
    return a > b ? a : b;
}

/* The median at both ranks; the samples are the leader's. */
static double agreed_median(const exchange_setting *s, samples *of)
{
    const double median = (double)agree(s->e, s->p, (int64_t)samples_quantile(of, 0.5));
    samples_free(of);
    return median;
}

double exchanges(const exchange_setting *s, const char *label, size_t size, side sender,
                 side receiver, int count)
{
    return enough_exchanges(s, label, size, sender, receiver, count, 0);
}

/* Whether the middle half of the samples differs by little beside a transfer. Short ones cost next
 * to nothing: they are never left out. */
static int agree_well(const samples *left, int least, double transfer_ns)
{
    const double little = 0.05, short_ns = 50000;
    return (int)left->count >= least && transfer_ns > short_ns &&
           samples_quantile(left, 0.75) - samples_quantile(left, 0.25) < little * transfer_ns;
}

double enough_exchanges(const exchange_setting *s, const char *label, size_t size, side sender,
                        side receiver, int count, double transfer_ns)
{
    int valid = 0, tried = 0, more;
    samples left = {0};
    do {
        const outcome o = exchange(s, size, sender, receiver);
        if (is_leader(s->e, s->p) && o.sender.valid && o.receiver.valid) {
            print_exchange(s, label, size, sender, receiver, &o);
            samples_add(&left,
                        longer(time_left(&o.sender, sender), time_left(&o.receiver, receiver)));
            valid++;
        }
        tried++;
        more = valid < count && !agree_well(&left, (count + 1) / 2, transfer_ns) &&
               tried < 4 * count && !out_of_time(s->e);
    } while (agree(s->e, s->p, more));
    return agreed_median(s, &left);
}

double exchanges_both_ways(const exchange_setting *s, const char *label, size_t size, side mine,
                           int count)
{
    int valid = 0, tried = 0, more;
    char back[64];
    samples left = {0};
    snprintf(back, sizeof back, "%s-back", label);
    do {
        outcome there[2];
        exchange_both_ways(s, size, mine, there);
        if (is_leader(s->e, s->p) && there[0].sender.valid && there[1].sender.valid) {
            print_exchange(s, label, size, mine, mine, &there[0]);
            print_exchange(s, back, size, mine, mine, &there[1]);
            for (int i = 0; i < 2; i++)
                samples_add(&left, longer(time_left(&there[i].sender, mine),
                                          time_left(&there[i].receiver, mine)));
            valid++;
        }
        tried++;
        more = valid < count && tried < 4 * count && !out_of_time(s->e);
    } while (agree(s->e, s->p, more));
    return agreed_median(s, &left);
}
