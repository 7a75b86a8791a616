/* Ranks in a ring, each of which puts a block into both neighbours' windows, or gets it from there,
 * while it computes:
 *
 *     windows post|get|fence [doubles] [steps]
 *
 * post: first from even to odd ranks, then from odd to even ones, by MPI_Win_post, start, complete
 * and wait, which takes an even number of ranks: no window is accessed while its own process
 * completes something, for which SimGrid's simulator would lock it. get: the same with MPI_Get.
 * fence: all at once between two fences. Ranks compute differently long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../apps/common/work.h"

enum { LEFT, RIGHT, SIDES };

static int rank, ranks, doubles = 1000, steps = 10, gets, fences;
static double *own, *come[SIDES], *window; /* of a get the window has what is got */
static MPI_Win win;

static double value_of(int of, int step)
{
    return of + 1000.0 * step;
}

static void move(const int *near)
{
    for (int side = 0; side < SIDES; side++)
        if (gets)
            MPI_Get(come[side], doubles, MPI_DOUBLE, near[side], 0, doubles, MPI_DOUBLE, win);
        else /* on their other side */
            MPI_Put(own, doubles, MPI_DOUBLE, near[side], (MPI_Aint)(1 - side) * doubles, doubles,
                    MPI_DOUBLE, win);
    WORK(500 + 100 * (rank * 7 % 5));
}

static void exchange(const int *near, MPI_Group neighbours)
{
    if (fences) {
        MPI_Win_fence(0, win);
        move(near);
        MPI_Win_fence(0, win);
        return;
    }
    for (int origins = 0; origins < 2; origins++) {
        WORK(100 * (rank * 3 % 7));
        if (rank % 2 == origins) {
            MPI_Win_start(neighbours, 0, win);
            move(near);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(neighbours, 0, win);
            WORK(300 + 100 * (rank % 3));
            MPI_Win_wait(win);
        }
    }
}

/* What has come from both sides is theirs of this step. */
static int is_right(const int *near, int step)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < doubles; i++)
            if (come[side][i] != value_of(near[side], step))
                return 0;
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    gets = argc > 1 && !strcmp(argv[1], "get");
    fences = argc > 1 && !strcmp(argv[1], "fence");
    doubles = argc > 2 ? atoi(argv[2]) : doubles;
    steps = argc > 3 ? atoi(argv[3]) : steps;
    if (!fences && ranks % 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    size_t bytes = (size_t)doubles * sizeof(double);
    own = malloc(bytes);
    window = malloc(SIDES * bytes);
    for (int side = 0; side < SIDES; side++)
        come[side] = gets ? malloc(bytes) : window + (size_t)side * (size_t)doubles;
    double *exposed = gets ? own : window;
    MPI_Win_create(exposed, (MPI_Aint)(gets ? bytes : SIDES * bytes), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Comm ring;
    int one_ring = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &one_ring, 0, &ring);
    int near[SIDES] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks}, right = 1;
    MPI_Group all, neighbours;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, SIDES, near, &neighbours);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < doubles; i++)
            own[i] = value_of(rank, step);
        exchange(near, neighbours);
        right = right && is_right(near, step);
        if (fences)
            MPI_Win_fence(0, win);
    }
    int all_right = 0;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("verification: %s\n", all_right ? "PASSED" : "FAILED");
    MPI_Group_free(&neighbours);
    MPI_Group_free(&all);
    MPI_Comm_free(&ring);
#ifndef APPS_POINT_NS /* what ends a window takes messages that no replay knows, nor judges */
    MPI_Win_free(&win);
#endif
    MPI_Finalize();
    return !all_right;
}
