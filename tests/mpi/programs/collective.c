/* Collectives of all kinds on any number of ranks; counts for itself. */
#include "expect.h"

#define W MPI_COMM_WORLD
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Elements of equal blocks that move as much as `all`, of which a rank's own stay with it. */
static int equal(int all, int own)
{
    return size_ < 2 ? all : all - own + (all - own) / (size_ - 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int n = size_, counts[64], displacements[64], total = 0;
    double *in = calloc(64 * 64, 8), *out = calloc(64 * 64, 8);
    MPI_Request r[4];
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        displacements[i] = total;
        total += i + 1;
    }
    MPI_Barrier(W);
    EXPECT("MPI_Barrier", 1, 0, 0);
    MPI_Bcast(in, 10, MPI_DOUBLE, 0, W);
    MPI_Bcast(in, 0, MPI_DOUBLE, 0, W);
    EXPECT("MPI_Bcast", 2, 1, 80);
    MPI_Allreduce(in, out, 5, MPI_DOUBLE, MPI_SUM, W);
    MPI_Allreduce(MPI_IN_PLACE, out, 6, MPI_DOUBLE, MPI_SUM, W);
    EXPECT("MPI_Allreduce", 2, 2, 88);
    MPI_Reduce(in, out, 7, MPI_DOUBLE, MPI_MAX, n - 1, W);
    EXPECT("MPI_Reduce", 1, 1, 56);
    MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, W);
    MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, W);
    EXPECT("MPI_Scan", 1, 1, 12);
    EXPECT("MPI_Exscan", 1, 1, 16);
    MPI_Gather(in, 9, MPI_INT, out, 9, MPI_INT, 0, W);
    EXPECT("MPI_Gather", 1, 1, rank_ == 0 ? 36 * n : 36);
    MPI_Gatherv(in, rank_ + 1, MPI_INT, out, counts, displacements, MPI_INT, 0, W);
    EXPECT("MPI_Gatherv", 1, 1, rank_ == 0 ? 4 * equal(total, 1) : 4 * (rank_ + 1));
    MPI_Scatter(in, 9, MPI_INT, rank_ == 0 ? MPI_IN_PLACE : out, 9, MPI_INT, 0, W);
    EXPECT("MPI_Scatter", 1, 1, rank_ == 0 ? 36 * n : 36);
    MPI_Scatterv(in, counts, displacements, MPI_INT, out, rank_ + 1, MPI_INT, 0, W);
    EXPECT("MPI_Scatterv", 1, 1, rank_ == 0 ? 4 * equal(total, 1) : 4 * (rank_ + 1));
    MPI_Allgather(in, 5, MPI_INT, out, 5, MPI_INT, W);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 6, MPI_INT, W);
    EXPECT("MPI_Allgather", 2, 2, 44 * n);
    MPI_Allgatherv(in, rank_ + 1, MPI_INT, out, counts, displacements, MPI_INT, W);
    EXPECT("MPI_Allgatherv", 1, 1, 4 * MAX(rank_ + 1, equal(total, rank_ + 1)));
    MPI_Alltoall(in, 3, MPI_INT, out, 3, MPI_INT, W);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 4, MPI_INT, W);
    EXPECT("MPI_Alltoall", 2, 2, 28 * n);
    /* Rank i sends i + 1 elements to everybody. */
    int mine[64], places[64];
    for (int i = 0; i < n; i++) {
        mine[i] = rank_ + 1;
        places[i] = i * (rank_ + 1);
    }
    MPI_Alltoallv(in, mine, places, MPI_INT, out, counts, displacements, MPI_INT, W);
    EXPECT("MPI_Alltoallv", 1, 1, 4 * MAX(n * (rank_ + 1), equal(total, rank_ + 1)));
    MPI_Datatype types[64];
    int bytes[64];
    for (int i = 0; i < n; i++) {
        types[i] = MPI_SHORT;
        bytes[i] = 64 * i;
        mine[i] = 5;
    }
    MPI_Alltoallw(in, mine, bytes, types, out, mine, bytes, types, W);
    EXPECT("MPI_Alltoallw", 1, 1, 10 * n);
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, W);
    EXPECT("MPI_Reduce_scatter", 1, 1, 4 * total);
    MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, W);
    EXPECT("MPI_Reduce_scatter_block", 1, 1, 8 * n);

    MPI_Ibarrier(W, &r[0]);
    MPI_Iallreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, W, &r[1]);
    MPI_Ibcast(in, 11, MPI_DOUBLE, 0, W, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Ialltoall(in, 3, MPI_INT, out, 3, MPI_INT, W, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    EXPECT("MPI_Ibarrier", 1, 0, 0);
    EXPECT("MPI_Iallreduce", 1, 1, 64);
    EXPECT("MPI_Ibcast", 1, 1, 88);
    EXPECT("MPI_Ialltoall", 1, 1, 12 * n);
#if MPI_VERSION >= 4
    MPI_Allreduce_init(in, out, 9, MPI_DOUBLE, MPI_SUM, W, MPI_INFO_NULL, r);
    for (int i = 0; i < 3; i++) {
        MPI_Start(r);
        MPI_Wait(r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(r);
    EXPECT("MPI_Allreduce_init", 1, 0, 0);
    EXPECT("MPI_Start", 3, 3, 3 * 72);
    MPI_Allreduce_c(in, out, 9, MPI_DOUBLE, MPI_SUM, W);
    EXPECT("MPI_Allreduce_c", 1, 1, 72);
    MPI_Count big[64];
    MPI_Aint far[64];
    for (int i = 0; i < n; i++) {
        big[i] = 2;
        far[i] = 2 * i;
    }
    MPI_Alltoallv_c(in, big, far, MPI_INT, out, big, far, MPI_INT, W);
    EXPECT("MPI_Alltoallv_c", 1, 1, 8 * n);
#endif

    /* Neighbours on a ring: two sources and two destinations. */
    int periodic = 1;
    MPI_Comm ring;
    MPI_Cart_create(W, 1, &n, &periodic, 0, &ring);
    MPI_Neighbor_allgather(in, 4, MPI_INT, out, 4, MPI_INT, ring);
    MPI_Neighbor_alltoall(in, 6, MPI_INT, out, 6, MPI_INT, ring);
    MPI_Ineighbor_alltoall(in, 7, MPI_INT, out, 7, MPI_INT, ring, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    EXPECT("MPI_Neighbor_allgather", 1, 1, 32);
    EXPECT("MPI_Neighbor_alltoall", 1, 1, 48);
    EXPECT("MPI_Ineighbor_alltoall", 1, 1, 56);
    MPI_Comm_free(&ring);

    /* An open line: at its ends one place is nobody's, and its counts are not read. */
    int open = 0, beside = (rank_ > 0) + (rank_ < n - 1);
    int two[2] = {3, 3}, apart[2] = {0, 8};
    MPI_Aint far_away[2] = {0, 64};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    MPI_Comm line;
    MPI_Cart_create(W, 1, &n, &open, 0, &line);
    MPI_Neighbor_allgather(in, 4, MPI_INT, out, 4, MPI_INT, line);
    MPI_Neighbor_alltoall(in, 6, MPI_INT, out, 6, MPI_INT, line);
    MPI_Neighbor_allgatherv(in, 3, MPI_INT, out, two, apart, MPI_INT, line);
    MPI_Neighbor_alltoallw(in, two, far_away, ints, out, two, far_away, ints, line);
    MPI_Ineighbor_alltoallv(in, two, apart, MPI_INT, out, two, apart, MPI_INT, line, r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    EXPECT("MPI_Neighbor_allgather", 1, 1, 16 * beside);
    EXPECT("MPI_Neighbor_alltoall", 1, 1, 24 * beside);
    EXPECT("MPI_Neighbor_allgatherv", 1, 1, 12 * beside);
    EXPECT("MPI_Neighbor_alltoallw", 1, 1, 12 * beside);
    EXPECT("MPI_Ineighbor_alltoallv", 1, 1, 12 * beside);
    MPI_Comm_free(&line);

    /* Nobody beside: nothing moves, though one block is named. */
    MPI_Comm loose;
    MPI_Dist_graph_create_adjacent(W, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &loose);
    MPI_Neighbor_allgather(in, 4, MPI_INT, out, 4, MPI_INT, loose);
    EXPECT("MPI_Neighbor_allgather", 1, 0, 0);
    MPI_Comm_free(&loose);

    /* An intercommunicator: the first half against the second; rooted, and towards all. */
    int first = rank_ < n / 2, remote_ranks = first ? n - n / 2 : n / 2;
    MPI_Comm half, inter;
    MPI_Comm_split(W, first, rank_, &half);
    MPI_Intercomm_create(half, 0, W, first ? n / 2 : 0, 5, &inter);
    MPI_Bcast(in, 10, MPI_DOUBLE, first ? (rank_ == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    EXPECT("MPI_Bcast", 1, rank_ == 0 || !first, rank_ == 0 || !first ? 80 : 0);
    MPI_Allgather(in, 5, MPI_INT, out, 5, MPI_INT, inter);
    EXPECT("MPI_Allgather", 1, 1, 20 * remote_ranks);
    if (remote_ranks == n / 2) {
        int peer = first ? rank_ : rank_ - n / 2;
        MPI_Sendrecv(in, 3, MPI_INT, peer, 0, out, 3, MPI_INT, peer, 0, inter, MPI_STATUS_IGNORE);
        EXPECT("MPI_Sendrecv", 1, 2, 24);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    /* Many communicators come and go: handles are used again. */
    for (int i = 0; i < 300; i++) {
        MPI_Comm copy;
        MPI_Comm_split(W, 0, i % 2 ? rank_ : -rank_, &copy);
        int me;
        MPI_Comm_rank(copy, &me);
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, copy);
        EXPECT("MPI_Gather", 1, 1, me == 0 ? 4 * n : 4);
        MPI_Comm_free(&copy);
    }
    EXPECT("MPI_Comm_split", 301, 0, 0);

    /* Alone nothing moves between processes, in whatever form and role. */
    MPI_Comm alone;
    MPI_Comm_split(W, rank_, 0, &alone);
    MPI_Allreduce(in, out, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    MPI_Bcast(in, 10, MPI_DOUBLE, 0, alone);
    MPI_Allgather(in, 5, MPI_INT, out, 5, MPI_INT, alone);
    MPI_Iallreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, &r[0]);
    MPI_Ialltoall(in, 3, MPI_INT, out, 3, MPI_INT, alone, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    EXPECT("MPI_Comm_split", 1, 0, 0);
    EXPECT("MPI_Allreduce", 1, 0, 0);
    EXPECT("MPI_Bcast", 1, 0, 0);
    EXPECT("MPI_Allgather", 1, 0, 0);
    EXPECT("MPI_Iallreduce", 1, 0, 0);
    EXPECT("MPI_Ialltoall", 1, 0, 0);
#if MPI_VERSION >= 4
    MPI_Allreduce_init(in, out, 9, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, MPI_INFO_NULL, r);
    MPI_Start(r);
    MPI_Wait(r, MPI_STATUS_IGNORE);
    MPI_Request_free(r);
    EXPECT("MPI_Allreduce_init", 1, 0, 0);
    EXPECT("MPI_Start", 1, 0, 0);
#endif
    MPI_Comm_free(&alone);
    MPI_Finalize();
    return 0;
}
