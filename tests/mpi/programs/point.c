/* Point to point in all modes and completions, on two ranks; counts for itself. */
#include "expect.h"

#define W MPI_COMM_WORLD

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int other = 1 - rank_, flag, index, some, indices[8];
    double in[512], out[512];
    for (int i = 0; i < 512; i++)
        out[i] = rank_ + i;
    MPI_Status status, statuses[8];
    MPI_Request r[8];
    static char space[1 << 16];
    MPI_Buffer_attach(space, sizeof space);

    /* Blocking, all modes, with statuses ignored and a receive with room to spare. */
    for (int i = 0; i < 5; i++) {
        if (rank_ == 0) {
            MPI_Send(out, 10, MPI_DOUBLE, 1, 1, W);
            MPI_Bsend(out, 11, MPI_DOUBLE, 1, 2, W);
            MPI_Ssend(out, 12, MPI_DOUBLE, 1, 3, W);
            MPI_Recv(in, 0, MPI_BYTE, 1, 9, W, &status);
            MPI_Rsend(out, 13, MPI_DOUBLE, 1, 4, W);
        } else {
            MPI_Recv(in, 512, MPI_DOUBLE, 0, 1, W, MPI_STATUS_IGNORE);
            MPI_Recv(in, 512, MPI_DOUBLE, MPI_ANY_SOURCE, 2, W, MPI_STATUS_IGNORE);
            MPI_Recv(in, 512, MPI_DOUBLE, 0, MPI_ANY_TAG, W, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &index);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 3 && index == 12);
            MPI_Irecv(in, 13, MPI_DOUBLE, 0, 4, W, r);
            MPI_Send(in, 0, MPI_BYTE, 0, 9, W);
            MPI_Wait(r, MPI_STATUS_IGNORE);
            CHECK(in[12] == 12);
        }
    }
    if (rank_ == 0) {
        EXPECT("MPI_Send", 5, 5, 5 * 80);
        EXPECT("MPI_Bsend", 5, 5, 5 * 88);
        EXPECT("MPI_Ssend", 5, 5, 5 * 96);
        EXPECT("MPI_Rsend", 5, 5, 5 * 104);
        EXPECT("MPI_Recv", 5, 0, 0);
    } else {
        EXPECT("MPI_Recv", 15, 15, 5 * (80 + 88 + 96));
        EXPECT("MPI_Send", 5, 0, 0);
        EXPECT("MPI_Irecv", 5, 5, 5 * 104);
    }
    MPI_Barrier(W);

    /* Nonblocking modes; completion of any, some, all, with and without statuses. */
    MPI_Irecv(in, 512, MPI_DOUBLE, other, 1, W, &r[0]);
    MPI_Irecv(in + 32, 480, MPI_DOUBLE, other, 2, W, &r[1]);
    MPI_Irecv(in + 64, 448, MPI_DOUBLE, MPI_ANY_SOURCE, 3, W, &r[2]);
    MPI_Isend(out, 20, MPI_DOUBLE, other, 1, W, &r[3]);
    MPI_Ibsend(out, 21, MPI_DOUBLE, other, 2, W, &r[4]);
    MPI_Issend(out, 22, MPI_DOUBLE, other, 3, W, &r[5]);
    r[6] = MPI_REQUEST_NULL;
    MPI_Waitany(7, r, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < 6 && r[index] == MPI_REQUEST_NULL);
    MPI_Waitsome(7, r, &some, indices, MPI_STATUSES_IGNORE);
    CHECK(some > 0);
    MPI_Waitall(7, r, MPI_STATUSES_IGNORE);
    CHECK(in[0] == other && in[32 + 20] == other + 20 && in[64 + 21] == other + 21);
    EXPECT("MPI_Isend", 1, 1, 160);
    EXPECT("MPI_Ibsend", 1, 1, 168);
    EXPECT("MPI_Issend", 1, 1, 176);
    EXPECT("MPI_Irecv", 3, 3, 160 + 168 + 176);
    EXPECT("MPI_Waitany", 1, 0, 0);
    EXPECT("MPI_Waitsome", 1, 0, 0);

    /* Tests of all kinds until done; the number of calls is only known afterwards. */
    int tests[4] = {0};
    MPI_Irecv(in, 512, MPI_DOUBLE, other, 1, W, &r[0]);
    MPI_Irecv(in + 32, 480, MPI_DOUBLE, other, 2, W, &r[1]);
    MPI_Irecv(in + 64, 448, MPI_DOUBLE, other, 3, W, &r[2]);
    MPI_Irecv(in + 96, 416, MPI_DOUBLE, other, 4, W, &r[3]);
    for (int i = 0; i < 4; i++)
        MPI_Isend(out, 30 + i, MPI_DOUBLE, other, 1 + i, W, &r[4 + i]);
    do {
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        tests[0]++;
    } while (!flag);
    do {
        MPI_Testany(1, &r[1], &index, &flag, &status);
        tests[1]++;
    } while (!flag);
    CHECK(index == 0 && status.MPI_SOURCE == other);
    do {
        MPI_Testsome(1, &r[2], &some, indices, statuses);
        tests[2]++;
    } while (!some);
    do {
        MPI_Testall(5, &r[3], &flag, MPI_STATUSES_IGNORE);
        tests[3]++;
    } while (!flag);
    EXPECT("MPI_Irecv", 4, 4, 8 * (30 + 31 + 32 + 33));
    EXPECT("MPI_Isend", 4, 4, 8 * (30 + 31 + 32 + 33));
    EXPECT("MPI_Test", tests[0], 0, 0);
    EXPECT("MPI_Testany", tests[1], 0, 0);
    EXPECT("MPI_Testsome", tests[2], 0, 0);
    EXPECT("MPI_Testall", tests[3], 0, 0);
    MPI_Barrier(W);

    /* Persistent: many starts of one request, one of them a wildcard. */
    MPI_Send_init(out, 40, MPI_DOUBLE, other, 1, W, &r[0]);
    MPI_Recv_init(in, 512, MPI_DOUBLE, other, 1, W, &r[1]);
    MPI_Bsend_init(out, 41, MPI_DOUBLE, other, 2, W, &r[2]);
    MPI_Recv_init(in, 512, MPI_DOUBLE, MPI_ANY_SOURCE, 2, W, &r[3]);
    for (int i = 0; i < 7; i++) {
        MPI_Start(&r[1]);
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Wait(&r[1], &status);
        MPI_Startall(2, &r[2]);
        MPI_Waitall(2, &r[2], MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    EXPECT("MPI_Send_init", 1, 0, 0);
    EXPECT("MPI_Recv_init", 2, 0, 0);
    EXPECT("MPI_Start", 14, 14, 7 * (320 + 320));
    EXPECT("MPI_Startall", 7, 14, 7 * (328 + 328));
    EXPECT("MPI_Request_free", 4, 0, 0);

    /* Probes and matched messages. */
    MPI_Isend(out, 50, MPI_DOUBLE, other, 5, W, &r[0]);
    MPI_Isend(out, 51, MPI_DOUBLE, other, 6, W, &r[1]);
    MPI_Isend(out, 52, MPI_DOUBLE, other, 7, W, &r[2]);
    MPI_Message message;
    MPI_Probe(MPI_ANY_SOURCE, 5, W, &status);
    MPI_Recv(in, 512, MPI_DOUBLE, status.MPI_SOURCE, 5, W, MPI_STATUS_IGNORE);
    MPI_Mprobe(other, 6, W, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 512, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    CHECK(in[50] == other + 50);
    do
        MPI_Improbe(MPI_ANY_SOURCE, 7, W, &flag, &message, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Imrecv(in, 512, MPI_DOUBLE, &message, &r[3]);
    do
        MPI_Request_get_status(r[3], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(in[51] == other + 51);
    EXPECT("MPI_Mrecv", 1, 1, 408);
    EXPECT("MPI_Imrecv", 1, 1, 416);
    EXPECT("MPI_Recv", 1, 1, 400);
    EXPECT("MPI_Isend", 3, 3, 8 * (50 + 51 + 52));
    MPI_Barrier(W);

    /* Both ways at once. */
    MPI_Sendrecv(out, 60, MPI_DOUBLE, other, 8, in, 512, MPI_DOUBLE, other, 8, W,
                 MPI_STATUS_IGNORE);
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace(in, 61, MPI_DOUBLE, other, 8, MPI_ANY_SOURCE, 8, W, &status);
    CHECK(in[60] == other + 60);
    EXPECT("MPI_Sendrecv", 1, 2, 960);
    EXPECT("MPI_Sendrecv_replace", 1, 2, 976);
#if MPI_VERSION >= 4
    MPI_Isendrecv(out, 62, MPI_DOUBLE, other, 8, in, 512, MPI_DOUBLE, other, 8, W, r);
    MPI_Wait(r, &status);
    /* MPICH 4.0 leaves the size of the receive out of the status. */
    MPI_Get_count(&status, MPI_BYTE, &index);
    EXPECT("MPI_Isendrecv", 1, 2, index == 496 ? 992 : 496);
#endif

    /* Nothing moves: MPI_PROC_NULL, zero bytes, a cancelled receive. */
    MPI_Send(out, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W);
    MPI_Recv(in, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, MPI_STATUS_IGNORE);
    MPI_Isend(out, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, &r[0]);
    MPI_Irecv(in, 10, MPI_DOUBLE, MPI_PROC_NULL, 1, W, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 0, MPI_DOUBLE, other, 8, in, 512, MPI_DOUBLE, other, 8, W, MPI_STATUS_IGNORE);
    EXPECT("MPI_Send", 1, 0, 0);
    EXPECT("MPI_Recv", 1, 0, 0);
    EXPECT("MPI_Isend", 1, 0, 0);
    EXPECT("MPI_Irecv", 1, 0, 0);
    EXPECT("MPI_Sendrecv", 1, 0, 0);
    MPI_Irecv(in, 10, MPI_DOUBLE, other, 77, W, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    EXPECT("MPI_Irecv", 1, 1, 0);
    EXPECT("MPI_Cancel", 1, 0, 0);

    /* A derived datatype: user data is what it holds, not what it spans. */
    MPI_Datatype strided, pairs;
    MPI_Type_vector(8, 2, 5, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Type_dup(MPI_DOUBLE_INT, &pairs);
    MPI_Sendrecv(out, 2, strided, other, 8, in, 2, strided, other, 8, W, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 3, pairs, other, 8, in, 3, pairs, other, 8, W, MPI_STATUS_IGNORE);
    EXPECT("MPI_Sendrecv", 2, 4, 2 * (2 * 64 + 3 * 12));
    MPI_Type_free(&strided);
    MPI_Type_free(&pairs);
    void *back;
    MPI_Buffer_detach(&back, &index);
    MPI_Finalize();
    return 0;
}
