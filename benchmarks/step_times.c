/* How long the steps of a halo exchange take, preloaded into a program that takes no such times: a
 * step ends with its MPI_Waitall, or its fourth MPI_Sendrecv. The median tells what a step costs,
 * whatever the operating system did to some of them; the mean has that too. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 1 << 20, SENDRECVS = 4 };

static double took[MOST], last;
static int steps, sendrecvs;
static long switches;

static long involuntary_switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

static void step(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (last == 0)
        switches = involuntary_switches();
    else if (steps < MOST)
        took[steps++] = now - last;
    last = now;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int rc = PMPI_Waitall(count, requests, statuses);
    step();
    return rc;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void *in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    int rc = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                           in_tag, comm, status);
    if (++sendrecvs % SENDRECVS == 0)
        step();
    return rc;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int MPI_Finalize(void)
{
    int rank;
    long preempted = involuntary_switches() - switches;
    double sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    qsort(took, (size_t)steps, sizeof *took, compare);
    for (int i = 0; i < steps; i++)
        sum += took[i];
    if (rank == 0 && steps > 0)
        printf("steps: %d, median %.9f s, mean %.9f s, preempted %ld times\n", steps,
               took[steps / 2], sum / steps, preempted);
    return PMPI_Finalize();
}
