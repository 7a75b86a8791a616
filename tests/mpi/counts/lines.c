/* The scripted program in C and C++: each call notes its own line, and what it must have counted as. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W MPI_COMM_WORLD
#define MOST 200

static struct {
    int line;
    const char *operation;
    int calls, transfers;
    long long bytes;
} sites[MOST];

static void note(int line, const char *operation, int transfers, long long bytes)
{
    int i = 0;
    while (sites[i].line && (sites[i].line != line || strcmp(sites[i].operation, operation)))
        i++;
    sites[i].line = line;
    sites[i].operation = operation;
    sites[i].calls++;
    sites[i].transfers += transfers;
    sites[i].bytes += bytes;
}

/* One line each, so that the call's line in the debug information is the macro's. */
#define CALL(name, arguments, transfers, bytes) (name arguments, note(__LINE__, #name, transfers, bytes))

static int inlined(double *data, int n, int other)
{
    MPI_Request r[2];
    CALL(MPI_Irecv, (data + 2048, 2048, MPI_DOUBLE, other, 5, W, &r[0]), 1, 8 * n);
    CALL(MPI_Isend, (data, n, MPI_DOUBLE, other, 5, W, &r[1]), 1, 8 * n);
    CALL(MPI_Waitall, (2, r, MPI_STATUSES_IGNORE), 0, 0);
    return n;
}

int main(int argc, char **argv)
{
    int me, np, flag = 0, which, some, indices[4];
    static double data[8192], in[8192];
    static char room[1 << 17];
    MPI_Request r[4];
    MPI_Status status, statuses[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &np);
    int other = 1 - me;
    CALL(MPI_Buffer_attach, (room, sizeof room), 0, 0);
    for (int i = 1; i <= 4; i++) {
        if (me == 0) {
            CALL(MPI_Send, (data, 500 * i, MPI_DOUBLE, 1, 1, W), 1, 4000 * i);
            CALL(MPI_Ssend, (data, i, MPI_DOUBLE, 1, 2, W), 1, 8 * i);
            CALL(MPI_Bsend, (data, 2 * i, MPI_DOUBLE, 1, 3, W), 1, 16 * i);
        } else {
            CALL(MPI_Recv, (in, 8192, MPI_DOUBLE, MPI_ANY_SOURCE, 1, W, MPI_STATUS_IGNORE), 1, 4000 * i);
            CALL(MPI_Recv, (in, 8192, MPI_DOUBLE, 0, MPI_ANY_TAG, W, &status), 1, 8 * i);
            CALL(MPI_Recv, (in, 2 * i, MPI_DOUBLE, 0, 3, W, MPI_STATUS_IGNORE), 1, 16 * i);
        }
    }
    inlined(data, 10, other);
    inlined(data, 2000, other);
    /* Two calls of one operation on one line are two places, yet one line. */
    CALL(MPI_Barrier, (W), 0, 0), CALL(MPI_Barrier, (W), 0, 0);
    CALL(MPI_Irecv, (in, 100, MPI_DOUBLE, other, 6, W, &r[0]), 1, 240);
    CALL(MPI_Irecv, (in + 100, 100, MPI_DOUBLE, other, 7, W, &r[1]), 1, 320);
    CALL(MPI_Isend, (data, 30, MPI_DOUBLE, other, 6, W, &r[2]), 1, 240);
    CALL(MPI_Issend, (data, 40, MPI_DOUBLE, other, 7, W, &r[3]), 1, 320);
    CALL(MPI_Waitany, (4, r, &which, MPI_STATUS_IGNORE), 0, 0);
    CALL(MPI_Waitsome, (4, r, &some, indices, MPI_STATUSES_IGNORE), 0, 0);
    while (!flag)
        CALL(MPI_Testall, (4, r, &flag, statuses), 0, 0);
    CALL(MPI_Send_init, (data, 25, MPI_DOUBLE, other, 8, W, &r[0]), 0, 0);
    CALL(MPI_Recv_init, (in, 50, MPI_DOUBLE, other, 8, W, &r[1]), 0, 0);
    for (int i = 0; i < 6; i++) {
        CALL(MPI_Startall, (2, r), 2, 400);
        CALL(MPI_Waitall, (2, r, MPI_STATUSES_IGNORE), 0, 0);
    }
    CALL(MPI_Request_free, (&r[0]), 0, 0);
    CALL(MPI_Request_free, (&r[1]), 0, 0);
    CALL(MPI_Sendrecv, (data, 70, MPI_DOUBLE, other, 9, in, 90, MPI_DOUBLE, other, 9, W, &status), 2, 1120);
    CALL(MPI_Sendrecv, (data, 70, MPI_DOUBLE, MPI_PROC_NULL, 9, in, 9, MPI_DOUBLE, MPI_PROC_NULL, 9, W, &status), 0, 0);
    MPI_Datatype column;
    MPI_Type_vector(10, 1, 20, MPI_DOUBLE, &column); /* of types only the commit is measured */
    CALL(MPI_Type_commit, (&column), 0, 0);
    if (me == 0)
        CALL(MPI_Send, (data, 3, column, 1, 10, W), 1, 240);
    else
        CALL(MPI_Recv, (in, 3, column, 0, 10, W, MPI_STATUS_IGNORE), 1, 240);
    MPI_Type_free(&column);
    for (int i = 1; i < 4; i++) {
        CALL(MPI_Bcast, (data, 100 * i, MPI_DOUBLE, 0, W), 1, 800 * i);
        CALL(MPI_Allreduce, (MPI_IN_PLACE, in, i, MPI_DOUBLE, MPI_SUM, W), 1, 8 * i);
        CALL(MPI_Alltoall, (data, 10 * i, MPI_DOUBLE, in, 10 * i, MPI_DOUBLE, W), 1, 160 * i);
        CALL(MPI_Iallgather, (data, i, MPI_DOUBLE, in, i, MPI_DOUBLE, W, &r[0]), 1, 16 * i);
        CALL(MPI_Wait, (&r[0], MPI_STATUS_IGNORE), 0, 0);
    }
    MPI_Win window;
    CALL(MPI_Win_create, (in, sizeof in, 8, MPI_INFO_NULL, W, &window), 0, 0);
    CALL(MPI_Win_fence, (0, window), 0, 0);
    CALL(MPI_Put, (data, 64, MPI_DOUBLE, other, 0, 64, MPI_DOUBLE, window), 1, 512);
    CALL(MPI_Get, (data + 4096, 32, MPI_DOUBLE, other, 1000, 32, MPI_DOUBLE, window), 1, 256);
    CALL(MPI_Win_fence, (0, window), 0, 0);
    CALL(MPI_Win_free, (&window), 0, 0);

    char name[4096];
    snprintf(name, sizeof name, "%s/lines.%d", getenv("IMBREX_DIR"), me);
    FILE *account = fopen(name, "w");
    for (int i = 0; sites[i].line; i++)
        fprintf(account, "%d %s %d %d %lld\n", sites[i].line, sites[i].operation, sites[i].calls, sites[i].transfers, sites[i].bytes);
    fclose(account);
    MPI_Finalize();
    return 0;
}
