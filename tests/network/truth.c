/* One message at a time between two ranks, each in a section of its own:
 *
 *     truth SEED COUNT OUT
 *
 * Waits come late, tests are rare or many, sends return before their data has left, receives are
 * posted early and late. What is written: truth.h. */
#include "truth.h"

/* Work in pieces with a test after each. */
static void computation(double ms, int pieces, MPI_Request *request)
{
    for (int i = 0; i < pieces; i++) {
        int done;
        work(ms / pieces);
        if (pieces > 1 && *request != MPI_REQUEST_NULL)
            CALL(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

static void send(int how, int bytes, double ms, int pieces)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 0)
        CALL(MPI_Send(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD));
    else if (how == 1)
        CALL(MPI_Issend(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    else
        CALL(MPI_Isend(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    computation(ms, pieces, &request);
    if (how)
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void receive(int how, int bytes, double ms, int pieces)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (how == 2) /* late */
        work(ms / 2);
    if (how == 0)
        CALL(MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        CALL(MPI_Irecv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request));
    computation(ms, pieces, &request);
    if (how)
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {60000, 200000, 500000, 1000000, 2000000, MOST};
    static const int pieces[] = {1, 3, 40};
    truth_start(argc, argv);
    for (int k = 0; k < atoi(argv[2]); k++) {
        int bytes = sizes[draw(6)] + 16 * k, from = (int)draw(2), how = (int)draw(3);
        int then = (int)draw(3), tests = pieces[draw(3)], receive_pieces = pieces[draw(3)];
        double ms = draw(60), other_ms = draw(60);
        message_begin(k, bytes, from);
        if (rank == from)
            send(how, bytes, ms, tests);
        else
            receive(then, bytes, other_ms, receive_pieces);
        message_end(k);
    }
    fclose(out);
    MPI_Finalize();
    return 0;
}
