/* The transfer-time table: lookup. */
#include "core/times_table.h"

#include "core/engine.h"

ix_times_table ix_times;

size_t ix_times_bytes(void)
{
    return sizeof ix_times;
}

int64_t ix_progress_interval_ns(void)
{
    return ix_times.progress_ns;
}

static int64_t divide(unsigned __int128 numerator, int64_t denominator, int up)
{
    if (up)
        numerator += (uint64_t)denominator - 1;
    uint64_t small = (uint64_t)numerator;
    unsigned __int128 quotient =
        small == numerator ? small / (uint64_t)denominator : numerator / (uint64_t)denominator;
    return quotient > (uint64_t)IX_LONGEST_NS ? IX_LONGEST_NS : (int64_t)quotient;
}

static int64_t between(int64_t a, int64_t b, const ix_point *p, int64_t size, int up)
{
    if (a < 0 || b < 0)
        return IX_UNKNOWN;
    unsigned __int128 sum = (unsigned __int128)a * (uint64_t)(p[1].size - size) +
                            (unsigned __int128)b * (uint64_t)(size - p[0].size);
    return divide(sum, p[1].size - p[0].size, up);
}

static int64_t scaled(int64_t value, const ix_point *p, int64_t size, int up)
{
    if (value < 0)
        return IX_UNKNOWN;
    return divide((unsigned __int128)value * (uint64_t)size, p->size, up);
}

static ix_time of_point(const ix_point *p)
{
    return (ix_time){p->x_lo, p->x_hi, p->tail, p->head, p->most, 1};
}

static ix_time lookup(const ix_curve *c, int64_t size)
{
    const ix_point *p = ix_times.points + c->first;
    int32_t last = (int32_t)c->count - 1;
    int32_t i = c->below[63 - __builtin_clzll((uint64_t)size)];
    while (i < last && p[i + 1].size <= size)
        i++;
    if (i < 0) { /* below the smallest size */
        ix_time time = of_point(p);
        time.x_lo_ns = scaled(p->x_lo, p, size, 0);
        return time;
    }
    p += i;
    if (p->size == size)
        return of_point(p);
    ix_time time = {.calibrated = 1};
    if (i == last) {
        time.x_lo_ns = scaled(p->x_lo, p, size, 0);
        time.x_hi_ns = scaled(p->x_hi, p, size, 1);
        time.tail_ns = scaled(p->tail, p, size, 1);
        time.head_ns = scaled(p->head, p, size, 1);
    } else {
        time.x_lo_ns = between(p[0].x_lo, p[1].x_lo, p, size, 0);
        time.x_hi_ns = between(p[0].x_hi, p[1].x_hi, p, size, 1);
        time.tail_ns = between(p[0].tail, p[1].tail, p, size, 1);
        time.head_ns = between(p[0].head, p[1].head, p, size, 1);
    }
    time.most_ns = time.x_hi_ns > p->most ? time.x_hi_ns : p->most;
    return time;
}

static const ix_time nothing = {.tail_ns = IX_UNKNOWN, .head_ns = IX_UNKNOWN};

ix_time ix_path_time(uint8_t path, int64_t bytes)
{
    if (path > IX_PATH_INTER || !ix_times.path_curve[path])
        return nothing;
    return lookup(ix_times.curves + ix_times.path_curve[path] - 1, bytes);
}

int64_t ix_path_least_ns(uint8_t path, int64_t bytes)
{
    if (path > IX_PATH_INTER || !ix_times.path_curve[path])
        return 0;
    const ix_curve *c = ix_times.curves + ix_times.path_curve[path] - 1;
    const ix_point *p = ix_times.points + c->first;
    uint32_t i = 0;
    while (i < c->count && p[i].size <= bytes)
        i++;
    if (i == 0)
        return 0;
    p += i - 1;
    return i == c->count || p[1].least < p->least ? p->least
                                                  : between(p->least, p[1].least, p, bytes, 0);
}

ix_time ix_any_path_time(int64_t bytes)
{
    ix_time time = nothing;
    for (uint8_t path = IX_PATH_SELF; path <= IX_PATH_INTER; path++) {
        ix_time one = ix_path_time(path, bytes);
        if (one.calibrated && one.most_ns >= time.most_ns) {
            time.calibrated = 1;
            time.most_ns = one.most_ns;
        }
    }
    return time;
}

/* What holds at one of two sizes, where both are possible. */
static ix_class either(ix_class a, ix_class b)
{
    for (int i = 0; i < 4; i++) {
        a.rate_lo[i] = a.rate_lo[i] < b.rate_lo[i] ? a.rate_lo[i] : b.rate_lo[i];
        a.rate_hi[i] = a.rate_hi[i] > b.rate_hi[i] ? a.rate_hi[i] : b.rate_hi[i];
    }
    a.returns = a.returns == b.returns ? a.returns : IX_UNKNOWN;
    a.known = a.known && b.known;
    return a;
}

/* Between two measured sizes the library may change its protocol anywhere. */
ix_class ix_path_class(uint8_t path, int64_t bytes)
{
    int count = path <= IX_PATH_INTER ? ix_times.class_count[path] : 0;
    const ix_class_point *points = ix_times.classes[count ? path : 0];
    if (!count)
        return (ix_class){.rate_hi = {IX_RATE_ONE, IX_RATE_ONE, IX_RATE_ONE, IX_RATE_ONE},
                          .returns = IX_UNKNOWN};
    int i = 0;
    while (i < count && points[i].size < bytes)
        i++;
    if (i == count)
        return points[count - 1].of_size;
    if (i == 0 || points[i].size == bytes)
        return points[i].of_size;
    return either(points[i - 1].of_size, points[i].of_size);
}

/* Both of two measured sizes have shown it; of a smaller one than all of them nothing is known. */
ix_handshake ix_path_handshake(uint8_t path, int64_t bytes)
{
    int count = path <= IX_PATH_INTER ? ix_times.handshake_count[path] : 0, i = 0;
    const ix_handshake_point *points = ix_times.handshakes[count ? path : 0];
    while (i < count && points[i].size <= bytes)
        i++;
    if (i == 0)
        return (ix_handshake){0};
    ix_handshake h = points[i - 1].of_size;
    if (i == count || points[i - 1].size == bytes)
        return h;
    const ix_handshake *next = &points[i].of_size;
    h.needs &= next->needs;
    h.before_ns = h.before_ns > next->before_ns ? h.before_ns : next->before_ns;
    h.latency_ns = h.latency_ns < next->latency_ns ? h.latency_ns : next->latency_ns;
    return h;
}

uint32_t ix_collective_hash(uint32_t operation, int32_t ranks, uint8_t role, uint8_t path)
{
    uint32_t key = operation * 0x9e3779b1u ^ (uint32_t)ranks * 0x85ebca6bu ^ role * 0xc2b2ae35u ^
                   path * 0x27d4eb2fu;
    return (key ^ key >> 15) & (IX_TIMES_HASH - 1);
}

const ix_curve *ix_find_collective(uint32_t operation, int32_t ranks, uint8_t role, uint8_t path)
{
    for (uint32_t h = ix_collective_hash(operation, ranks, role, path); ix_times.hash[h];
         h = (h + 1) & (IX_TIMES_HASH - 1)) {
        const ix_curve *c = ix_times.curves + ix_times.hash[h] - 1;
        if (c->operation == (int32_t)operation && c->ranks == ranks && c->role == role &&
            c->path == path)
            return c;
    }
    return NULL;
}

/* Ranks that enter apart make the messages of one rank come one after the other, each of which X_hi
 * (all enter together) may have counted as going on with the others: theory.md, "Wait". */
static int64_t entered_apart(int32_t ranks, uint8_t path, int64_t bytes, int64_t x_hi_ns)
{
    ix_time one = ix_path_time(path, bytes);
    int64_t message_ns = one.calibrated ? one.most_ns : x_hi_ns;
    int64_t messages = 2 * (int64_t)(ranks > 2 ? ranks - 1 : 1);
    int64_t all_ns = message_ns < IX_LONGEST_NS / messages ? messages * message_ns : IX_LONGEST_NS;
    return all_ns > x_hi_ns ? all_ns : x_hi_ns;
}

ix_time ix_collective_time(uint32_t operation, int32_t ranks, uint8_t role, uint8_t path,
                           int64_t bytes)
{
    const ix_curve *c = ix_find_collective(operation, ranks, role, path);
    if (!c && role != IX_ROLE_ANY)
        c = ix_find_collective(operation, ranks, IX_ROLE_ANY, path);
    if (!c)
        return nothing;
    ix_time time = lookup(c, bytes);
    time.most_ns = entered_apart(ranks, path, bytes, time.x_hi_ns);
    return time;
}
