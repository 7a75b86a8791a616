#include "engine/engine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void spin_until(int64_t when_ns)
{
    while (now_ns() < when_ns)
        ;
}

static int64_t processor_time_ns(clockid_t whose)
{
    struct timespec t;
    clock_gettime(whose, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t other_threads_ns(void)
{
    const int64_t mine = processor_time_ns(CLOCK_THREAD_CPUTIME_ID);
    return processor_time_ns(CLOCK_PROCESS_CPUTIME_ID) - mine;
}

int out_of_time(const engine *e)
{
    return now_ns() >= e->end_ns;
}

const char *path_name(const pair *p)
{
    return p->same_node ? "intra-node" : "inter-node";
}

int is_leader(const engine *e, const pair *p)
{
    return e->rank == p->leader;
}

int in_pair(const engine *e, const pair *p)
{
    return e->rank == p->leader || e->rank == p->partner;
}

int other_of(const engine *e, const pair *p)
{
    return e->rank == p->leader ? p->partner : p->leader;
}

int64_t agree(const engine *e, const pair *p, int64_t value)
{
    const int tag = 100;
    if (is_leader(e, p))
        MPI_Send(&value, 1, MPI_INT64_T, p->partner, tag, e->control);
    else
        MPI_Recv(&value, 1, MPI_INT64_T, p->leader, tag, e->control, MPI_STATUS_IGNORE);
    return value;
}

void sleepy_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    /* A short spin first: most barriers end within it. */
    for (int i = 0; i < 200 && !done; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        const struct timespec nap = {0, 200000};
        nanosleep(&nap, NULL);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void for_pair(engine *e, const pair *p, void (*work)(engine *e, const pair *p))
{
    if (in_pair(e, p))
        work(e, p);
    sleepy_barrier(e->control);
    send_rows(e, p->leader);
}

void for_each_pair(engine *e, void (*work)(engine *e, const pair *p))
{
    e->parts = e->npairs;
    for (e->part = 0; e->part < e->parts; e->part++)
        for_pair(e, &e->pairs[e->part], work);
    e->parts = 0;
}

void for_first_pairs(engine *e, void (*work)(engine *e, const pair *p))
{
    const pair *first[2] = {NULL, NULL};
    int count = 0;
    for (int i = 0; i < e->npairs; i++)
        if (count == 0 || (count == 1 && first[0]->same_node != e->pairs[i].same_node))
            first[count++] = &e->pairs[i];
    e->parts = count;
    for (e->part = 0; e->part < e->parts; e->part++)
        for_pair(e, first[e->part], work);
    e->parts = 0;
}

size_t next_size(const engine *e, size_t size)
{
    const size_t factor = e->quick ? 4 : 2, largest = e->max_bytes;
    const size_t next = size == 0 ? 1 : size * factor;
    /* The last step is up to twice as wide: half of the largest says nothing new, and costs most.
     */
    if (next > largest || (e->quick && 2 * next >= largest))
        return size < largest ? largest : 0;
    return next;
}

double growth(const engine *e, size_t size)
{
    return (double)next_size(e, size) / (double)size;
}

int sizes_up_to(const engine *e, size_t size)
{
    int count = 0;
    for (size_t s = next_size(e, 0); s && s <= size; s = next_size(e, s))
        count++;
    return count;
}

double progress_of_steps(size_t first, size_t factor, size_t largest, size_t size)
{
    int steps = 0, done = 0;
    for (size_t s = first; s <= largest; s *= factor) {
        steps++;
        done += s <= size;
    }
    return steps > 0 ? (double)done / steps : 1;
}

double progress_of_size(const engine *e, size_t size)
{
    return (double)sizes_up_to(e, size) / sizes_up_to(e, e->max_bytes);
}

/* Rows wait here at ranks other than 0. */
static char *waiting;
static size_t waiting_bytes, waiting_room;

void row(engine *e, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (e->rank == 0) {
        puts(line);
        return;
    }
    size_t length = strlen(line);
    if (waiting_bytes + length + 2 > waiting_room) {
        waiting_room = 2 * waiting_room + 65536;
        waiting = realloc(waiting, waiting_room);
        if (!waiting)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memcpy(waiting + waiting_bytes, line, length);
    waiting_bytes += length;
    waiting[waiting_bytes++] = '\n';
}

void send_rows(engine *e, int owner)
{
    const int tag = 101;
    if (owner == 0) {
        if (e->rank == 0)
            fflush(stdout);
        return;
    }
    if (e->rank == owner) {
        MPI_Send(waiting, (int)waiting_bytes, MPI_CHAR, 0, tag, e->control);
        waiting_bytes = 0;
    } else if (e->rank == 0) {
        MPI_Status status;
        int bytes;
        MPI_Probe(owner, tag, e->control, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        char *text = malloc((size_t)bytes + 1);
        if (!text)
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Recv(text, bytes, MPI_CHAR, owner, tag, e->control, MPI_STATUS_IGNORE);
        fwrite(text, 1, (size_t)bytes, stdout);
        fflush(stdout);
        free(text);
    }
}

static double last_reported;

void report_progress(const engine *e, const char *stage, double fraction)
{
    last_reported = e->parts > 0 ? (e->part + fraction) / e->parts : fraction;
    if (e->rank == 0) {
        printf("# progress %s %.3f\n", stage, last_reported);
        fflush(stdout);
    }
}

int reported_whole(void)
{
    return last_reported > 0.999;
}

char *touched(size_t bytes)
{
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 4096, bytes ? bytes : 1) != 0) {
        fprintf(stderr, "imbrex-probes: no memory for %zu bytes; use a smaller --max-bytes\n",
                bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(memory, 1, bytes);
    return memory;
}
