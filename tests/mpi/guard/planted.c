/* Forbidden uses of buffers in flight, one to a function, and uses that are allowed. The line of each
 * forbidden use ends with how it is found: exactly, and without instrumentation. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 64, ROWS = 8 };

static double out[ROWS][N], in[ROWS][N], copy[N];
static int other, rank;
static volatile double sink;

static void begin(MPI_Request q[2], void *to, const void *from, int n, MPI_Datatype type, int tag)
{
    MPI_Irecv(to, n, type, other, tag, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(from, n, type, other, tag, MPI_COMM_WORLD, &q[1]);
}

static void end(MPI_Request q[2])
{
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void writes(void)
{
    MPI_Request q[2];
    begin(q, in[0], out[0], N, MPI_DOUBLE, 1);
    out[0][7] = -1; /* access write send; checksum */
    end(q);
    begin(q, in[0], out[0], N, MPI_DOUBLE, 2);
    in[0][N - 1] = 1; /* access write receive */
    end(q);
    begin(q, in[0], out[0], N, MPI_DOUBLE, 3);
    sink = in[0][0]; /* access read receive */
    sink = out[0][0];
    end(q);
    begin(q, in[0], out[0], N, MPI_DOUBLE, 4);
    memcpy(copy, in[0], sizeof copy); /* access read receive */
    end(q);
    begin(q, in[0], out[0], N, MPI_DOUBLE, 5);
    memset(out[0], 0, sizeof out[0]); /* access write send; checksum */
    end(q);
}

/* A column is in flight: its neighbours are not. */
static void columns(MPI_Datatype column)
{
    MPI_Request q[2];
    begin(q, &in[0][3], &out[0][3], 1, column, 6);
    for (int j = 0; j < ROWS; j++)
        out[j][2] = in[j][4] + j;
    out[ROWS - 1][3] += 2; /* access write send; checksum */
    end(q);
}

static void calls(void)
{
    MPI_Request q[2];
    MPI_Status status;
    begin(q, in[1], out[1], N, MPI_DOUBLE, 7);
    MPI_Sendrecv(in[1], 1, MPI_DOUBLE, rank, 8, copy, 1, MPI_DOUBLE, rank, 8, MPI_COMM_WORLD,
                 &status); /* call read receive */
    end(q);
    begin(q, in[1], out[1], N, MPI_DOUBLE, 9);
    MPI_Sendrecv(copy, 1, MPI_DOUBLE, rank, 10, &out[1][4], 1, MPI_DOUBLE, rank, 10, MPI_COMM_WORLD,
                 &status); /* call write send */
    end(q);
}

static void persistent(void)
{
    MPI_Request q[2];
    MPI_Recv_init(in[2], N, MPI_DOUBLE, other, 11, MPI_COMM_WORLD, &q[0]);
    MPI_Send_init(out[2], N, MPI_DOUBLE, other, 11, MPI_COMM_WORLD, &q[1]);
    for (int step = 0; step < 3; step++) {
        out[2][1] = in[2][1] + 1;
        MPI_Startall(2, q);
        if (step == 2)
            out[2][0] += 1; /* access write send; checksum */
        int done = 0;
        while (!done)
            MPI_Testall(2, q, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

static void collectives(void)
{
    MPI_Request q;
    int counts[2] = {3, 5}, places[2] = {0, 20};
    MPI_Iallgatherv(out[3], counts[rank], MPI_DOUBLE, in[3], counts, places, MPI_DOUBLE,
                    MPI_COMM_WORLD, &q);
    in[3][10] = 1;
    sink = in[3][22]; /* access read receive */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iallreduce(MPI_IN_PLACE, in[4], N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
    in[4][5] = 0; /* access write receive */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void windows(MPI_Win window)
{
    MPI_Win_fence(0, window);
    MPI_Put(out[5], 4, MPI_DOUBLE, other, 0, 4, MPI_DOUBLE, window);
    out[5][2] = 8; /* access write send; checksum */
    MPI_Win_fence(0, window);
    out[5][2] = 9;
    MPI_Get(in[5], 4, MPI_DOUBLE, other, 0, 4, MPI_DOUBLE, window);
    sink = in[5][3]; /* access read receive */
    MPI_Win_fence(0, window);
}

/* Handles that repeat, waits in another order and through copies of the handles: nothing is wrong. */
static void allowed(void)
{
    MPI_Request q[8], moved[8];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(in[i], 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(out[i], 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &q[4 + i]);
    for (int i = 7; i >= 4; i--) {
        MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        out[i - 4][0] = i;
    }
    memcpy(moved, q, sizeof moved);
    for (int done = 0, index; done < 4; done++) {
        MPI_Waitany(4, moved, &index, MPI_STATUS_IGNORE);
        in[index][0] += 1;
    }
    for (int i = 0; i < 4; i++)
        MPI_Irecv(in[i], 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(out[i], 1, MPI_DOUBLE, other, i, MPI_COMM_WORLD, &q[4 + i]);
    memcpy(moved, q, sizeof moved);
    MPI_Wait(&moved[5], MPI_STATUS_IGNORE);
    out[1][0] = 5;
    for (int i = 0; i < 8; i++)
        if (i != 5)
            MPI_Wait(&moved[i], MPI_STATUS_IGNORE);
    out[3][0] = in[3][0];
}

static void lost(void)
{
    MPI_Request q[2];
    MPI_Irecv(in[6], N, MPI_DOUBLE, other, 12, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out[6], N, MPI_DOUBLE, other, 12, MPI_COMM_WORLD, &q[1]); /* lost; lost */
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    sink = in[6][0];
    out[6][1] = 4; /* access write send */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, N, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    static double memory[8];
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < ROWS; j++)
            out[j][i] = i + j + 1;
    writes();
    columns(column);
    calls();
    persistent();
    collectives();
    windows(window);
    allowed();
    lost();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
