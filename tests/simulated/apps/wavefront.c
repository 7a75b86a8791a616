/* A sweep through a square grid of ranks from each of its corners: receive from the two upstream
 * neighbours, compute, send to the two downstream ones, block by block. The values at the last
 * corner are known: paths are counted, modulo 2^32.
 *
 *     wavefront BLOCKS BYTES */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, side, row, column, blocks, bytes;
static char *from_side, *from_above, *to_send;

static int at(int r, int c)
{
    return r < 0 || c < 0 || r >= side || c >= side ? MPI_PROC_NULL : r * side + c;
}

static uint32_t get(const char *buffer, int peer)
{
    return peer == MPI_PROC_NULL ? 0 : *(const uint32_t *)buffer;
}

/* `down`, `right`: the direction, 1 or -1. Returns the last block's value here. */
static uint32_t sweep(int down, int right)
{
    int above = at(row - down, column), beside = at(row, column - right);
    int below = at(row + down, column), next = at(row, column + right);
    uint32_t value = 0;
    for (int block = 0; block < blocks; block++) {
        MPI_Recv(from_above, bytes, MPI_BYTE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(from_side, bytes, MPI_BYTE, beside, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = get(from_above, above) + get(from_side, beside);
        if (above == MPI_PROC_NULL && beside == MPI_PROC_NULL)
            value = 1;
        usleep(20);
        *(uint32_t *)to_send = value;
        MPI_Send(to_send, bytes, MPI_BYTE, below, 0, MPI_COMM_WORLD);
        MPI_Send(to_send, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    }
    return value;
}

/* Paths from one corner to the opposite one: binomial(2 (side - 1), side - 1) modulo 2^32. */
static uint32_t paths(void)
{
    uint32_t *line = calloc((size_t)side, sizeof *line), last;
    line[0] = 1;
    for (int r = 0; r < side; r++)
        for (int c = 1; c < side; c++)
            line[c] += line[c - 1];
    last = line[side - 1];
    free(line);
    return last;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((side + 1) * (side + 1) <= ranks)
        side++;
    blocks = argc > 1 ? atoi(argv[1]) : 8;
    bytes = argc > 2 ? atoi(argv[2]) : 8192;
    row = rank / side;
    column = rank % side;
    from_side = calloc(1, (size_t)bytes);
    from_above = calloc(1, (size_t)bytes);
    to_send = calloc(1, (size_t)bytes);
    int fine = 1, everybody = 0;
    for (int corner = 0; rank < side * side && corner < 4; corner++) {
        int down = corner & 1 ? 1 : -1, right = corner & 2 ? 1 : -1;
        uint32_t value = sweep(down, right);
        int last = row == (down > 0 ? side - 1 : 0) && column == (right > 0 ? side - 1 : 0);
        fine = fine && (!last || value == paths());
    }
    MPI_Allreduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wavefront %s\n", everybody ? "PASSED" : "FAILED");
    MPI_Finalize();
    return !everybody;
}
