/* What the shadow of memory knows of copies, without MPI: the calls of its table stand for the
 * runtime's. Prints a line for each case: its name, and when (in the order of accesses, from 0 on)
 * each element was written at its origin, or read where it went; "direct" if it is no copy. */
#include "access/access.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

enum { N = 8 };
extern ixa_memory_t *imbrex_access_memory;

typedef struct {
    double v[N];
} whole_t;

static double work[N], edge[N], ghost[N], other[N];
static double complex pairs[N], pair_edge[N];
static float small[N], small_edge[N];
static whole_t whole, whole_edge;
static volatile double sink;

static __attribute__((noinline)) void fill_backwards(double *to, int step)
{
    for (int i = N - 1; i >= 0; i--)
        to[i] = step + i + 1;
}

static __attribute__((noinline)) void read_backwards(const double *from)
{
    double sum = 0;
    for (int i = N - 1; i >= 0; i--)
        sum += from[i];
    sink = sum;
}

/* What a library does, unseen. */
static __attribute__((noinline, no_sanitize("thread"))) void copy_unseen(void *to, const void *from,
                                                                         size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    imbrex_access_memory->copied((uintptr_t)to, (uintptr_t)from, bytes);
}

static void arrive(void *buffer, size_t bytes)
{
    imbrex_access_memory->watch((uintptr_t)buffer, bytes);
    imbrex_access_memory->write((uintptr_t)buffer, bytes);
    imbrex_access_memory->arm((uintptr_t)buffer, bytes);
}

static void show(const char *name, const void *buffer, size_t element, int packed)
{
    uint64_t stamp[N], rank[N];
    int copied = 1;
    for (int i = 0; i < N; i++) {
        ixa_copy_t copy;
        uintptr_t at = (uintptr_t)buffer + (size_t)i * element;
        copied &= (packed ? imbrex_access_memory->came_from
                          : imbrex_access_memory->went_to)(at, element, &copy);
        stamp[i] = copy.stamp;
    }
    printf("%s:", name);
    for (int i = 0; copied && i < N; i++) {
        rank[i] = 0;
        for (int k = 0; k < N; k++)
            rank[i] += stamp[k] < stamp[i];
        if (stamp[i] == IXA_UNREAD)
            printf(" unread");
        else if (stamp[i] == IXA_OVERWRITTEN)
            printf(" overwritten");
        else
            printf(" %d", (int)rank[i]);
    }
    puts(copied ? "" : " direct");
}

static void packing(void)
{
    ixa_memory_t *m = imbrex_access_memory;
    m->watch((uintptr_t)edge, sizeof edge);
    m->watch((uintptr_t)pair_edge, sizeof pair_edge);
    m->watch((uintptr_t)small_edge, sizeof small_edge);
    m->watch((uintptr_t)&whole_edge, sizeof whole_edge);
    m->follow((uintptr_t)work, sizeof work);
    m->follow((uintptr_t)pairs, sizeof pairs);
    m->follow((uintptr_t)small, sizeof small);
    m->follow((uintptr_t)&whole, sizeof whole);
    fill_backwards(work, 0);
    for (int i = 0; i < N; i++)
        edge[i] = work[i];
    show("loop", edge, sizeof *edge, 1);
    for (int i = 0; i < N; i++)
        edge[i] = 2 * work[i];
    show("arithmetic", edge, sizeof *edge, 1);
    memcpy(edge, work, sizeof edge);
    show("memcpy", edge, sizeof *edge, 1);
    edge[3] = 0;
    show("memcpy, one written again", edge, sizeof *edge, 1);
    for (int i = N - 1; i >= 0; i--)
        pairs[i] = i + 1 + i * I;
    memmove(pair_edge, pairs, sizeof pair_edge);
    show("elements of 16 bytes", pair_edge, sizeof *pair_edge, 1);
    for (int i = N - 1; i >= 0; i--)
        small[i] = (float)sink + (float)i;
    memcpy(small_edge, small, sizeof small_edge);
    show("elements of 4 bytes", small_edge, sizeof *small_edge, 1);
    fill_backwards(whole.v, 1);
    whole_edge = whole;
    show("structure", &whole_edge, sizeof(double), 1);
    fill_backwards(work, 2);
    copy_unseen(edge, work, sizeof edge);
    show("by MPI", edge, sizeof *edge, 1);
}

static void unpacking(void)
{
    ixa_memory_t *m = imbrex_access_memory;
    fill_backwards(ghost, 3);
    arrive(ghost, sizeof ghost);
    for (int i = 0; i < N; i++)
        work[i] = ghost[i];
    read_backwards(work);
    show("loop", ghost, sizeof *ghost, 0);

    arrive(ghost, sizeof ghost);
    read_backwards(ghost);
    show("only read", ghost, sizeof *ghost, 0);

    arrive(ghost, sizeof ghost);
    memmove(work, ghost, sizeof work);
    show("memmove, not yet read", ghost, sizeof *ghost, 0);
    read_backwards(work);
    show("memmove", ghost, sizeof *ghost, 0);

    arrive(ghost, sizeof ghost);
    memcpy(work, ghost, sizeof work);
    work[2] = 0;
    read_backwards(work);
    show("one written before it is read", ghost, sizeof *ghost, 0);

    /* The copy's memory is that of another message, which arrives before anybody asks. */
    arrive(other, sizeof other);
    arrive(ghost, sizeof ghost);
    memcpy(other, ghost, sizeof other);
    read_backwards(other);
    arrive(other, sizeof other);
    read_backwards(other);
    show("memory used again", ghost, sizeof *ghost, 0);

    /* The buffer, which has been read, is itself unpacked to: that hides no read of the message. */
    arrive(ghost, sizeof ghost);
    read_backwards(ghost);
    uint64_t before = m->first_read((uintptr_t)&ghost[4], sizeof *ghost);
    arrive(other, sizeof other);
    copy_unseen(&ghost[4], &other[0], sizeof *ghost);
    puts(m->first_read((uintptr_t)&ghost[4], sizeof *ghost) == before ? "first read: kept"
                                                                      : "first read: lost");
    sink = ghost[4];

    fill_backwards(whole_edge.v, 4);
    arrive(&whole_edge, sizeof whole_edge);
    whole = whole_edge;
    read_backwards(whole.v);
    show("structure", &whole_edge, sizeof(double), 0);
}

int main(void)
{
    packing();
    puts("--");
    unpacking();
    return 0;
}
