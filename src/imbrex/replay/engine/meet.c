/* Collectives as the messages of their algorithms. MPICH's and Open MPI's are those of Thakur,
 * Rabenseifner and Gropp (2005). */
#include "engine.h"

#include <stddef.h>

/* A member on its way: where its time comes from, and what the way from there was made of. */
typedef struct ix_member {
    double at_ns, link_ns; /* its clock; when its link is free */
    double from;
    double latency_ns, bandwidth_ns, overhead_ns, latencies, bytes;
} ix_member;
_Static_assert(sizeof(ix_member) == 8 * sizeof(double), "two fit into the scratch of a member");

typedef struct ix_round {
    const ix_schedule *schedule;
    const ix_network *network;
    const ix_meeting *meeting;
    const uint32_t *members;
    const double *blocks; /* NULL: all the same */
    uint32_t count;
    int is_free;
    ix_member *now, *coming;
} ix_round;

static const ix_route nothing = {0};

static const ix_route *between(const ix_round *x, uint32_t a, uint32_t b)
{
    const ix_op *ops = x->schedule->ops;
    if (x->is_free)
        return &nothing;
    return ix_route_of(x->schedule, x->network, ops[x->members[a]].peer, ops[x->members[b]].peer);
}

/* Bytes of the blocks of `count` members from `first` on, around the end. */
static double held(const ix_round *x, uint32_t first, uint32_t count)
{
    double sum = 0;
    if (!x->blocks)
        return x->meeting->bytes * count / x->count;
    for (uint32_t k = 0; k < count; k++)
        sum += x->blocks[(first + k) % x->count];
    return sum;
}

/* Bytes that `a` has for `b`. */
static double from_to(const ix_round *x, uint32_t a, uint32_t b)
{
    return x->blocks ? x->blocks[(uint64_t)a * x->count + b] : x->meeting->bytes / x->count;
}

/* `a` sends to `b`, which takes it later. */
static void put(ix_round *x, uint32_t a, uint32_t b, double bytes)
{
    const ix_route *route = between(x, a, b);
    ix_member *sender = &x->now[a], *message = &x->coming[b];
    bytes = ix_as_bytes(route, bytes);
    double moves = route->byte_ns * bytes;
    sender->at_ns += route->send_ns;
    sender->overhead_ns += route->send_ns;
    double start = sender->at_ns > sender->link_ns ? sender->at_ns : sender->link_ns;
    *message = *sender;
    sender->link_ns = start + route->gap_ns + moves;
    message->bandwidth_ns += start - sender->at_ns + moves;
    if (route->counted && route->byte_ns > 0)
        message->bytes += (start - sender->at_ns) / route->byte_ns + bytes;
    message->latency_ns += route->latency_ns;
    message->latencies += route->counted;
    message->at_ns = start + route->latency_ns + moves;
}

static void take(ix_round *x, uint32_t a, uint32_t b)
{
    ix_member *taker = &x->now[b];
    double link = taker->link_ns, receive = between(x, a, b)->receive_ns;
    if (x->coming[b].at_ns > taker->at_ns)
        *taker = x->coming[b];
    taker->link_ns = link;
    taker->at_ns += receive;
    taker->overhead_ns += receive;
}

static void send(ix_round *x, uint32_t a, uint32_t b, double bytes)
{
    put(x, a, b, bytes);
    take(x, a, b);
}

/* Everybody sends to the one `distance` further on, all at once. */
static void shift(ix_round *x, uint32_t distance, double bytes)
{
    uint32_t p = x->count;
    for (uint32_t a = 0; a < p; a++)
        put(x, a, (a + distance) % p, bytes);
    for (uint32_t a = 0; a < p; a++)
        take(x, a, (a + distance) % p);
}

static void ring(ix_round *x, uint32_t rounds, double bytes)
{
    for (uint32_t k = 0; k < rounds; k++)
        shift(x, 1, bytes);
}

static uint32_t power_within(uint32_t p)
{
    uint32_t power = 1;
    while (power <= p / 2)
        power *= 2;
    return power;
}

/* The place of the k-th of those that take part where p is no power of two: the first `rest` pairs
 * send one of theirs. */
static uint32_t place(uint32_t k, uint32_t rest)
{
    return k < rest ? 2 * k + 1 : k + rest;
}

static void exchange(ix_round *x, uint32_t power, uint32_t rest, uint32_t mask, double bytes)
{
    for (uint32_t k = 0; k < power; k++)
        put(x, place(k, rest), place(k ^ mask, rest), bytes);
    for (uint32_t k = 0; k < power; k++)
        take(x, place(k, rest), place(k ^ mask, rest));
}

static void doubling(ix_round *x, double bytes, int by_halves)
{
    uint32_t power = power_within(x->count), rest = x->count - power;
    for (uint32_t k = 0; k < rest; k++)
        send(x, 2 * k, 2 * k + 1, bytes);
    if (by_halves) {
        for (uint32_t mask = power / 2; mask; mask /= 2)
            exchange(x, power, rest, mask, bytes * mask / power);
        for (uint32_t mask = 1; mask < power; mask *= 2)
            exchange(x, power, rest, mask, bytes * mask / power);
    } else {
        for (uint32_t mask = 1; mask < power; mask *= 2)
            exchange(x, power, rest, mask, bytes);
    }
    for (uint32_t k = 0; k < rest; k++)
        send(x, 2 * k + 1, 2 * k, bytes);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Down a binomial tree; `parts`: each subtree gets its own part of the buffer. */
static void down(ix_round *x, uint32_t root, double bytes, int parts)
{
    uint32_t p = x->count;
    for (uint32_t mask = power_within(p); mask; mask /= 2)
        for (uint32_t v = 0; v + mask < p; v += 2 * mask) {
            uint32_t child = (v + mask + root) % p;
            double size = parts ? held(x, child, smaller(mask, p - v - mask)) : bytes;
            send(x, (v + root) % p, child, size);
        }
}

static void up(ix_round *x, uint32_t root, double bytes, int parts)
{
    uint32_t p = x->count;
    for (uint32_t mask = 1; mask < p; mask *= 2)
        for (uint32_t v = 0; v + mask < p; v += 2 * mask) {
            uint32_t child = (v + mask + root) % p;
            double size = parts ? held(x, child, smaller(mask, p - v - mask)) : bytes;
            send(x, child, (v + root) % p, size);
        }
}

/* Everybody hands on what came in the round before, at first its own. */
static void ring_allgather(ix_round *x)
{
    uint32_t p = x->count;
    for (uint32_t k = 0; k + 1 < p; k++) {
        for (uint32_t a = 0; a < p; a++)
            put(x, a, (a + 1) % p, held(x, a + p - k, 1));
        for (uint32_t a = 0; a < p; a++)
            take(x, a, (a + 1) % p);
    }
}

/* Everybody has the blocks of itself and of those before it, twice as many after each round. */
static void doubling_allgather(ix_round *x)
{
    uint32_t p = x->count;
    for (uint32_t distance = 1; distance < p; distance *= 2) {
        uint32_t blocks = smaller(distance, p - distance);
        for (uint32_t a = 0; a < p; a++)
            put(x, a, (a + distance) % p, held(x, a + p + 1 - blocks, blocks));
        for (uint32_t a = 0; a < p; a++)
            take(x, a, (a + distance) % p);
    }
}

static void pairwise(ix_round *x)
{
    uint32_t p = x->count;
    int in_pairs = (p & (p - 1)) == 0;
    for (uint32_t k = 1; k < p; k++) {
        for (uint32_t a = 0; a < p; a++) {
            uint32_t b = in_pairs ? a ^ k : (a + k) % p;
            put(x, a, b, from_to(x, a, b));
        }
        for (uint32_t a = 0; a < p; a++)
            take(x, a, in_pairs ? a ^ k : (a + k) % p);
    }
}

static void all_there(ix_round *x)
{
    uint32_t last = 0;
    for (uint32_t a = 1; a < x->count; a++)
        last = x->now[a].at_ns > x->now[last].at_ns ? a : last;
    for (uint32_t a = 0; a < x->count; a++)
        if (a != last)
            x->now[a] = x->now[last];
}

/* One message to all neighbours, who are not known: when all are there. */
static void direct(ix_round *x, double bytes)
{
    all_there(x);
    if (x->count > 1)
        shift(x, 1, bytes);
}

static void all_rounds(ix_round *x, const ix_meeting *m)
{
    uint32_t p = x->count;
    double part = m->bytes / p;
    switch (m->algorithm) {
    case IX_RECURSIVE_DOUBLING:
        doubling(x, m->bytes, 0);
        break;
    case IX_TREE_UP_DOWN:
        up(x, 0, m->bytes, 0);
        down(x, 0, m->bytes, 0);
        break;
    case IX_DISSEMINATION:
        for (uint32_t distance = 1; distance < p; distance *= 2)
            shift(x, distance, m->bytes);
        break;
    case IX_RING_ALLREDUCE:
        ring(x, 2 * (p - 1), part);
        break;
    case IX_RABENSEIFNER:
        doubling(x, m->bytes, 1);
        break;
    case IX_BINOMIAL_FROM_ROOT:
        down(x, m->root, m->bytes, 0);
        break;
    case IX_SCATTER_ALLGATHER:
        down(x, m->root, m->bytes, 1);
        ring(x, p - 1, part);
        break;
    case IX_BINOMIAL_TO_ROOT:
        up(x, m->root, m->bytes, 0);
        break;
    case IX_BINOMIAL_SCATTER:
        down(x, m->root, m->bytes, 1);
        break;
    case IX_BINOMIAL_GATHER:
        up(x, m->root, m->bytes, 1);
        break;
    case IX_RING_ALLGATHER:
        ring_allgather(x);
        break;
    case IX_DOUBLING_ALLGATHER:
        doubling_allgather(x);
        break;
    case IX_BRUCK:
        for (uint32_t distance = 1; distance < p; distance *= 2)
            shift(x, distance, m->bytes / 2);
        break;
    case IX_PAIRWISE:
        pairwise(x);
        break;
    case IX_CHAIN_SCAN:
        for (uint32_t a = 0; a + 1 < p; a++)
            send(x, a, a + 1, m->bytes);
        break;
    case IX_LINEAR_SCAN:
        /* All of a member's messages leave before it takes one. */
        for (uint32_t b = p; b-- > 1;)
            for (uint32_t a = 0; a < b; a++)
                send(x, a, b, m->bytes);
        break;
    case IX_NO_MESSAGES:
        all_there(x);
        break;
    default:
        direct(x, m->bytes);
    }
}

void ix_meet(const ix_schedule *schedule, const ix_network *network, const ix_meeting *meeting,
             const double *enter, double *leave, uint32_t *from, double *parts, double *scratch)
{
    const uint32_t *members = schedule->members + meeting->first;
    ix_round x = {
        .schedule = schedule,
        .network = network,
        .meeting = meeting,
        .members = members,
        .blocks = meeting->layout == IX_EQUAL ? NULL : schedule->blocks + meeting->blocks,
        .count = meeting->count,
        .is_free = schedule->site && network->free_site >= 0 &&
                   schedule->site[members[0]] == network->free_site,
        .now = (ix_member *)scratch,
        .coming = (ix_member *)scratch + meeting->count,
    };
    for (uint32_t a = 0; a < x.count; a++)
        x.now[a] = (ix_member){.at_ns = enter[a], .from = a};
    all_rounds(&x, meeting);
    for (uint32_t a = 0; a < x.count; a++) {
        const ix_member *m = &x.now[a];
        leave[a] = m->at_ns;
        if (!from)
            continue;
        from[a] = (uint32_t)m->from;
        double *part = parts + 5 * (uint64_t)a;
        part[0] = m->latency_ns;
        part[1] = m->bandwidth_ns;
        part[2] = m->overhead_ns;
        part[3] = m->latencies;
        part[4] = m->bytes;
    }
}
