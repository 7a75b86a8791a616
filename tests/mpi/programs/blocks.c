/* Collectives with lists of blocks, of which the call log must hold the sizes:
 *
 *     blocks CASE
 *
 * Each makes one call on MPI_COMM_WORLD; what the blocks are is in test_block_sizes.py too. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, MOST = 16 };

static int rank, size, counts[MOST], displs[MOST], theirs[MOST], their_displs[MOST];
static char out[ROOM * MOST], in[ROOM * MOST];

/* Elements from a to b: none to the next but one. */
static int block(int a, int b)
{
    return b == (a + 2) % size ? 0 : 1 + 3 * a + 7 * b;
}

static void lists(int symmetric)
{
    for (int k = 0; k < size; k++) {
        int low = rank < k ? rank : k, high = rank < k ? k : rank;
        counts[k] = symmetric ? 1 + low + 5 * high : block(rank, k);
        theirs[k] = symmetric ? counts[k] : block(k, rank);
        displs[k] = their_displs[k] = k * 32;
    }
}

static void with_types(int in_place)
{
    MPI_Datatype types[MOST], pair;
    int bytes[MOST];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    lists(in_place);
    for (int k = 0; k < size; k++) {
        int wide = in_place || (rank + k) % 2;
        types[k] = wide ? pair : MPI_SHORT;
        bytes[k] = k * ROOM;
    }
    MPI_Alltoallw(in_place ? MPI_IN_PLACE : out, counts, bytes, types, in, theirs, bytes, types,
                  MPI_COMM_WORLD);
    MPI_Type_free(&pair);
}

static void between_groups(void)
{
    MPI_Comm half, inter;
    int color = rank % 2, peers;
    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - color, 0, &inter);
    MPI_Comm_remote_size(inter, &peers);
    for (int k = 0; k < peers; k++) {
        counts[k] = 1 + rank / 2 + 3 * k;
        theirs[k] = 1 + k + 3 * (rank / 2);
        displs[k] = their_displs[k] = 32 * k;
    }
    MPI_Alltoallv(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void started_twice(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Alltoallv_init(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int k = 0; k < 2; k++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#endif
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Datatype vector;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(3, 1, 2, MPI_SHORT, &vector); /* 6 bytes, 10 wide */
    MPI_Type_commit(&vector);
    lists(!strcmp(name, "inplace"));
    if (!strcmp(name, "alltoallv")) {
        MPI_Alltoallv(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT,
                      MPI_COMM_WORLD);
    } else if (!strcmp(name, "many")) {
        for (int k = 0; k < 4000; k++)
            MPI_Alltoallv(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT,
                          MPI_COMM_WORLD);
    } else if (!strcmp(name, "derived")) {
        MPI_Alltoallv(out, counts, displs, vector, in, theirs, their_displs, vector,
                      MPI_COMM_WORLD);
    } else if (!strcmp(name, "ialltoallv")) {
        MPI_Ialltoallv(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT,
                       MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(name, "inplace")) {
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT,
                      MPI_COMM_WORLD);
    } else if (!strcmp(name, "equal")) {
        for (int k = 0; k < size; k++)
            counts[k] = theirs[k] = k == rank ? 0 : 9;
        MPI_Alltoallv(out, counts, displs, MPI_INT, in, theirs, their_displs, MPI_INT,
                      MPI_COMM_WORLD);
    } else if (!strcmp(name, "alltoallw")) {
        with_types(0);
    } else if (!strcmp(name, "winplace")) {
        with_types(1);
    } else if (!strcmp(name, "allgatherv")) {
        for (int k = 0; k < size; k++)
            theirs[k] = 2 + k * k;
        MPI_Allgatherv(out, theirs[rank], MPI_INT, in, theirs, their_displs, MPI_INT,
                       MPI_COMM_WORLD);
    } else if (!strcmp(name, "gatherv")) {
        for (int k = 0; k < size; k++)
            theirs[k] = 2 + k * k;
        MPI_Gatherv(out, theirs[rank], MPI_INT, in, theirs, their_displs, MPI_INT, 1,
                    MPI_COMM_WORLD);
    } else if (!strcmp(name, "scatterv")) {
        for (int k = 0; k < size; k++)
            counts[k] = 2 + k * k;
        MPI_Scatterv(out, counts, displs, MPI_INT, in, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    } else if (!strcmp(name, "groups")) {
        between_groups();
    } else if (!strcmp(name, "persistent")) {
        started_twice();
    }
    MPI_Type_free(&vector);
    MPI_Finalize();
    return 0;
}
