/* A farm as textbooks have it: rank 0 sends each worker a task, and another to whoever sends a
 * result; results come with MPI_Recv from any source and are requests for more. Tasks differ in
 * length by two orders of magnitude.
 *
 *   mpirun -n 4 ./task_farm TASKS [LONGER]
 *
 * Results are LONGER times as long. Compiled with TASK_POINT_NS a task is a wait, as if an
 * accelerator computed it: more ranks than cores then take what they would take on cores of their
 * own. TASK_LONG: points of the few long ones. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../apps/common/work.h"

#ifndef TASK_LONG
#define TASK_LONG 60000
#endif

enum { TAG_TASK = 1, TAG_RESULT, TAG_STOP, LONGEST = 40 };

static int longer = 1;

/* Points of a task: a few are a hundred times as long as most. */
static long points(long task)
{
    unsigned long x = ((unsigned long)task + 1) * 2654435761UL % 4294967296UL;
    return 200 + (long)(x % 800) + (x % 61 == 0 ? TASK_LONG : 0);
}

static int length(long task)
{
    return (1 + (int)(points(task) % LONGEST)) * longer;
}

static void compute(long task)
{
#ifdef TASK_POINT_NS
    long ns = points(task) * TASK_POINT_NS;
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
#else
    WORK(points(task));
#endif
}

static void work(double *result)
{
    MPI_Status status;
    long task;
    for (;;) {
        MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_STOP)
            return;
        compute(task);
        result[0] = (double)points(task);
        MPI_Send(result, length(task), MPI_DOUBLE, 0, TAG_RESULT, MPI_COMM_WORLD);
    }
}

static double lead(double *result, long tasks, int workers)
{
    double sum = 0.0;
    long next = 0;
    MPI_Status status;
    for (int w = 1; w <= workers && next < tasks; w++, next++)
        MPI_Send(&next, 1, MPI_LONG, w, TAG_TASK, MPI_COMM_WORLD);
    for (long done = 0; done < tasks; done++) {
        MPI_Recv(result, LONGEST * longer, MPI_DOUBLE, MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD,
                 &status);
        sum += result[0];
        if (next < tasks) {
            MPI_Send(&next, 1, MPI_LONG, status.MPI_SOURCE, TAG_TASK, MPI_COMM_WORLD);
            next++;
        }
    }
    for (int w = 1; w <= workers; w++)
        MPI_Send(&next, 1, MPI_LONG, w, TAG_STOP, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, passed = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long tasks = argc > 1 ? atol(argv[1]) : 1000;
    longer = argc > 2 ? atoi(argv[2]) : 1;
    double *result = calloc((size_t)(LONGEST * longer), sizeof *result);
    if (!result)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) {
        double sum = lead(result, tasks, size - 1), expected = 0.0;
        for (long task = 0; task < tasks; task++)
            expected += (double)points(task);
        passed = sum == expected;
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    } else {
        work(result);
    }
    free(result);
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return passed ? 0 : 1;
}
