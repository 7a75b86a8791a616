/* Windows by post, start, complete and wait, of three ranks; what the call log must hold of them is
 * in test_group_epochs.py. Ranks have another order in the window than in MPI_COMM_WORLD. */
#include <mpi.h>

static MPI_Group all;

static MPI_Group group_of(int count, const int *ranks)
{
    MPI_Group group;
    MPI_Group_incl(all, count, ranks, &group);
    return group;
}

int main(int argc, char **argv)
{
    int rank, size, mine[2] = {0, 0}, value = 1, done = 0;
    MPI_Comm reversed;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, reversed, &win);
    MPI_Win_get_group(win, &all);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, root = 0;
    int both[2] = {next, previous}, origins[2] = {1, 2};
    MPI_Group origin = group_of(1, &next), target = group_of(1, &previous);
    MPI_Group neighbours = group_of(2, both);

    MPI_Win_post(origin, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Group_free(&origin); /* allowed; the epochs go on */
    MPI_Group_free(&target);
    MPI_Put(&value, 1, MPI_INT, previous, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);

    MPI_Win_post(neighbours, 0, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Win_complete(win);
    while (!done)
        MPI_Win_test(win, &done);

    MPI_Group few = rank ? group_of(1, &root) : group_of(2, origins);
    if (rank == 0)
        MPI_Win_post(few, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_wait(win);
    } else {
        MPI_Win_start(few, MPI_MODE_NOCHECK, win);
        MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }

    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&few);
    MPI_Group_free(&neighbours);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return mine[0] != 1;
}
