/* Loops of many shapes over memory of which parts are communicated, without MPI. Prints, for each
 * call, how many accesses there were, and of each grain of what is watched for which that changed,
 * when it was last written and first read, and what is known of copies: the same however hooks are
 * put into the loops. */
#include "access/access.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, BYTES = N * 8 };
extern ixa_memory_t *imbrex_access_memory;

typedef struct {
    double x, y, z;
    float mass;
    int kind;
} body_t;

static _Alignas(16) double a[N + 8], b[N + 8], c[N + 8];
static float f[N + 8], g[N + 8];
static int order[N + 8];
static char text[BYTES], other_text[BYTES];
static body_t bodies[N + 8];
static volatile double sink;
static volatile int flag;

#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
#define LOOP static __attribute__((noinline)) void

LOOP fill(double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = i;
}
LOOP fill_backwards(double *to, int n)
{
    for (int i = n - 1; i >= 0; i--)
        to[i] = i;
}
LOOP copy(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
LOOP copy_floats(float *to, const float *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[i];
}
LOOP average(double *to, const double *from, int n)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = 0.25 * (from[i - 1] + from[i + 1]) + 0.5 * from[i];
}
LOOP in_place(double *to, int n)
{
    for (int i = 1; i < n; i++)
        to[i] += to[i - 1];
}
LOOP strided(double *to, const double *from, int n)
{
    for (int i = 0; i + 3 < n; i += 3)
        to[i] = from[n - 1 - i] + 1;
}
LOOP by_step(double *to, const double *from, int n, int step)
{
    for (int i = 0; i < n; i += step)
        to[i] = from[i] * 2;
}
LOOP pack(double *to, const double *from, const int *at, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[at[i]];
}
LOOP unpack(double *to, const double *from, const int *at, int n)
{
    for (int i = 0; i < n; i++)
        to[at[i]] = from[i];
}
LOOP gather_sum(double *to, const double *from, const int *at, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from[at[i]] + to[i + 1] + from[i];
}
LOOP move_bodies(body_t *all, int n)
{
    for (int i = 0; i < n; i++) {
        all[i].x += all[i].mass;
        all[i].y += all[i].x;
        all[i].z = all[i].kind;
    }
}
LOOP bytes(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (char)(from[n - 1 - i] + 1);
}
LOOP sum(const double *from, int n)
{
    double total = 0;
    for (int i = 0; i < n; i++)
        total += from[i];
    sink = total;
}
LOOP until(const double *from, double value)
{
    int i = 0;
    while (from[i] != value)
        i++;
    flag = i;
}
LOOP into_one(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        *to += from[i];
}
LOOP wait_for(int n)
{
    do
        n--;
    while (flag != -1 && n > 0);
}
LOOP unaligned(char *to, const char *from, int n)
{
    for (int i = 0; i < n; i++) {
        int value;
        memcpy(&value, from + 4 * i + 1, sizeof value);
        value++;
        memcpy(to + 4 * i + 2, &value, sizeof value);
    }
}
LOOP rows(double *to, const double *from, int n, int width)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < width; j++)
            to[i * width + j] = from[j * n + i];
}

#include "branches.h"

#define EACH(make) make(a) make(b) make(c) make(f) make(g) make(text) make(other_text) make(bodies)
#define GRAINS(memory) +sizeof memory / IXA_GRAIN

typedef struct {
    uint64_t written, read, from, to;
    int came, went;
} grain_t;

/* What was last shown of each grain of all memory. */
static grain_t shown[0 EACH(GRAINS)];

static UNSEEN grain_t *show_range(const void *memory, size_t size, grain_t *before)
{
    for (size_t at = 0; at < size; at += IXA_GRAIN, before++) {
        uintptr_t address = (uintptr_t)memory + at;
        ixa_copy_t from = {0}, to = {0};
        grain_t now = {
            .written = imbrex_access_memory->last_write(address, IXA_GRAIN),
            .read = imbrex_access_memory->first_read(address, IXA_GRAIN),
            .came = imbrex_access_memory->came_from(address, IXA_GRAIN, &from),
            .went = imbrex_access_memory->went_to(address, IXA_GRAIN, &to),
        };
        now.from = now.came ? from.stamp : 0;
        now.to = now.went ? to.stamp : 0;
        if (memcmp(&now, before, sizeof now))
            printf(" %zu:%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",%d,%" PRIu64, at, now.written,
                   now.read, now.came, now.from, now.went, now.to);
        *before = now;
    }
    return before;
}

/* What was communicated so far, and when: of that later stamps do not depend on what was copied. */
static struct {
    uintptr_t at;
    size_t bytes;
    uint64_t since;
} communicated[4096];
static int ranges;

static UNSEEN uint64_t stamps_of_communicated(void)
{
    uint64_t all = 0;
    for (int i = 0; i < ranges; i++)
        for (size_t by = 0; by < communicated[i].bytes; by += IXA_GRAIN) {
            uintptr_t at = communicated[i].at + by;
            uint64_t written = imbrex_access_memory->last_write(at, IXA_GRAIN);
            all = all * 31 + (written > communicated[i].since ? written : 0);
            all = all * 31 + imbrex_access_memory->first_read(at, IXA_GRAIN);
        }
    return all;
}

static UNSEEN void show(int call)
{
    uint64_t counts[IXA_THREADS];
    imbrex_access_memory->clocks(counts);
    printf("%d %" PRIu64 " %" PRIx64, call, counts[0], stamps_of_communicated());
    grain_t *before = shown;
#define SHOW(memory)                                                                               \
    printf(" " #memory);                                                                           \
    before = show_range(memory, sizeof memory, before);
    EACH(SHOW)
    puts("");
}

/* Code in which hooks are calls reads elements, which the next write may unpack. */
void __tsan_read8(void *);
static void (*volatile read_elsewhere)(void *) = __tsan_read8;

static unsigned long long state;

static UNSEEN int below(int n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)n);
}

static UNSEEN void communicate(void *memory, size_t size)
{
    int parts = below(4);
    for (int i = 0; i < parts; i++) {
        size_t from = (size_t)below((int)size / 8) * 8, bytes = 8u << below(6);
        uintptr_t at = (uintptr_t)memory + from;
        if (bytes > size - from)
            bytes = size - from;
        imbrex_access_memory->watch(at, bytes);
        if (ranges < 4096) {
            uint64_t counts[IXA_THREADS];
            imbrex_access_memory->clocks(counts);
            communicated[ranges].at = at;
            communicated[ranges].since = counts[0];
            communicated[ranges++].bytes = bytes;
        }
        if (below(2))
            imbrex_access_memory->write(at, bytes);
        imbrex_access_memory->arm(at, bytes);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    state = (unsigned long long)atoi(argv[1]);
    for (int i = 0; i < N; i++)
        order[i] = below(N);
    for (int call = 0; call < 240; call++) {
#define COMMUNICATE(memory) communicate(memory, sizeof memory);
        if (call % 10 == 0) {
            EACH(COMMUNICATE)
        }
        double *arrays[3] = {a, b, c};
        double *to = arrays[below(3)], *from = arrays[below(3)];
        int n = below(4) ? below(N) : below(8);
        if (below(3) == 0)
            read_elsewhere(from + below(N));
        switch (below(38)) {
        case 0:
            fill(to, n);
            break;
        case 1:
            fill_backwards(to, n);
            break;
        case 2:
            copy(to, from, n);
            break;
        case 3:
            copy_floats(below(2) ? f : g, below(2) ? f : g, n);
            break;
        case 4:
            average(to, from, n);
            break;
        case 5:
            in_place(to, n);
            break;
        case 6:
            strided(to, from, n);
            break;
        case 7:
            by_step(to, from, n, 1 + below(70));
            break;
        case 8:
            pack(to, from, order, n);
            break;
        case 9:
            unpack(to, from, order, n);
            break;
        case 10:
            gather_sum(to, from, order, n);
            break;
        case 11:
            move_bodies(bodies, n);
            break;
        case 12:
            bytes(text, other_text, n * 8);
            break;
        case 13:
            sum(from, n);
            break;
        case 14:
            from[n] = 1e300;
            until(from, 1e300);
            from[n] = 1;
            break;
        case 15:
            into_one(to + n, from, n);
            break;
        case 16:
            wait_for(n);
            break;
        case 17:
            unaligned(text, other_text, n);
            break;
        case 18:
            rows(to, from, 1 + n % 19, N / (1 + n % 19));
            break;
        case 19:
            masked(to, from, order, n);
            break;
        case 20:
            either(to, from, order, n);
            break;
        case 21:
            copy_some(to, from, order, n);
            break;
        case 22:
            most(from, order, n);
            break;
        case 23:
            call_of_values(to, from, n);
            break;
        case 24:
            call_of_pointers(to, from, n);
            break;
        case 25:
            sink = depth(from, n);
            break;
        case 26:
            sparse(to, from, order, n);
            break;
        case 27:
            flag = find(from, n, from[n / 2]);
            break;
        case 28:
            two_ways_back(to, from, n);
            break;
        case 29:
            by_kind(bodies, order, n);
            break;
        case 30:
            walk(to, order, n);
            break;
        case 31:
            reflect(bodies, n);
            break;
        case 32:
            until_jump(to, from, n);
            break;
        case 33:
            communicate_within(to, from, n);
            break;
        case 34:
            nested(to, from, order, 1 + n % 19, N / (1 + n % 19));
            break;
        case 35:
            floats_if(below(2) ? f : g, below(2) ? f : g, n);
            break;
        case 36:
            by_pointer(to, from, n, smooth);
            break;
        default:
            if (below(2))
                copy(to + 1, to, n);
            else
                long_doubles((long double *)to, (long double *)from, n / 2);
            break;
        }
        show(call);
    }
    return 0;
}
