/* One put or get at a time between two ranks, each in a section of its own:
 *
 *     truth_onesided SEED COUNT OUT
 *
 * The epoch or the request is closed late, polls are none, rare or many on both sides, and local
 * completion is asked for before the data has left. What is written: truth.h. */
#include "truth.h"

static MPI_Win win;

/* Work in pieces with a poll after each: of the request, or of messages that nobody sends. */
static void computation(double ms, int pieces, MPI_Request *request)
{
    for (int i = 0; i < pieces; i++) {
        int yes;
        work(ms / pieces);
        if (pieces == 1)
            continue;
        if (request && *request != MPI_REQUEST_NULL)
            CALL(MPI_Test(request, &yes, MPI_STATUS_IGNORE));
        else
            CALL(MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &yes, MPI_STATUS_IGNORE));
    }
}

static void origin(int how, int bytes, double ms, int pieces)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int peer = 1 - rank;
    if (how < 2)
        CALL(MPI_Put(buffer, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win));
    else if (how == 2)
        CALL(MPI_Rput(buffer, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win, &request));
    else if (how == 3)
        CALL(MPI_Get(buffer, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win));
    else
        CALL(MPI_Rget(buffer, bytes, MPI_BYTE, peer, 0, bytes, MPI_BYTE, win, &request));
    if (how == 1)
        CALL(MPI_Win_flush_local(peer, win));
    computation(ms, pieces, &request);
    if (request != MPI_REQUEST_NULL)
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (how == 2)
        computation(ms / 2, pieces, NULL);
    CALL(MPI_Win_flush(peer, win));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {60000, 200000, 500000, 1000000, 2000000, MOST};
    static const int pieces[] = {1, 3, 40};
    char *window;
    truth_start(argc, argv);
    MPI_Win_allocate(MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_lock_all(0, win);
    for (int k = 0; k < atoi(argv[2]); k++) {
        int bytes = sizes[draw(6)] - 16 * k, from = (int)draw(2), how = k % 5;
        int polls = pieces[draw(3)], target_pieces = pieces[draw(3)];
        double ms = draw(60), other_ms = draw(60);
        message_begin(k, bytes, from);
        if (rank == from)
            origin(how, bytes, ms, polls);
        else
            computation(other_ms, target_pieces, NULL);
        message_end(k);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    fclose(out);
    MPI_Finalize();
    return 0;
}
