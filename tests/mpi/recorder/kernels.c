/* Messages whose orders of production and consumption are known. Each kernel has its tag; ranks 0
 * and 1 exchange. The iterations are alike, so the orders are those of every one of them. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 24, ROWS = 8, ITERATIONS = 6 };

static double out[ROWS][N], in[ROWS][N], packed[N], work[N], second[N], unpacked[N], edge[N],
    third[N];
static double complex pair[N / 2], pair_edge[N / 2], pair_second[N / 2];
static MPI_Datatype a_column;
static int list[N];
static volatile double sink;
static int other;

static void exchange(const void *from, void *to, int count, MPI_Datatype type, int tag)
{
    MPI_Request requests[2];
    MPI_Irecv(to, count, type, other, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(from, count, type, other, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void read_forward(const double *from, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i];
    sink = sum;
}

static void simple(int step)
{
    for (int i = 0; i < N; i++)
        out[0][i] = step + i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 1);
    read_forward(in[0], N);

    for (int i = N - 1; i >= 0; i--)
        out[0][i] = step * i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 2);
    double sum = 0;
    for (int i = N - 1; i >= 0; i--)
        sum += in[0][i];
    sink = sum;

    /* Even elements, then odd ones. */
    for (int first = 0; first < 2; first++)
        for (int i = first; i < N; i += 2)
            out[0][i] = step + 2 * i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 3);
    sum = 0;
    for (int first = 1; first >= 0; first--)
        for (int i = first; i < N; i += 2)
            sum += in[0][i];
    sink = sum;
}

static void shapes(int step, MPI_Datatype column, MPI_Datatype block)
{
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < N; i++)
            out[j][i] = step + j * i;
    exchange(&out[0][3], &in[0][3], 1, column, 4);
    double sum = 0;
    for (int j = ROWS - 1; j >= 0; j--)
        sum += in[j][3];
    sink = sum;

    /* Column after column, so against the order in which the block lies. */
    for (int i = 0; i < N; i++)
        for (int j = 0; j < ROWS; j++)
            out[j][i] = step - j * i;
    exchange(out, in, 1, block, 5);
    sum = 0;
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < N; i++)
            sum += in[j][i];
    sink = sum;
}

static void boundaries(int step)
{
    for (int i = 0; i < N; i++)
        out[0][i] = step + i;
    for (int j = 1; j < ROWS; j++)
        for (int i = 0; i < N; i++)
            out[j][i] = step + i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 6);
    read_forward(in[0], N);

    for (int j = ROWS - 1; j > 0; j--)
        for (int i = 0; i < N; i++)
            out[j][i] = step - i;
    for (int i = 0; i < N; i++)
        out[0][i] = step - i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 7);
    for (int j = 1; j < ROWS; j++)
        read_forward(in[j], N);
    read_forward(in[0], N);
}

static void through_buffers(int step)
{
    for (int i = 0; i < N; i++)
        work[i] = step + i;
    for (int i = 0; i < N; i++)
        packed[list[i]] = work[i];
    double got[N];
    MPI_Sendrecv(packed, N, MPI_DOUBLE, other, 8, got, N, MPI_DOUBLE, other, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += got[list[i]];
    sink = sum;

    for (int i = 0; i < N; i++)
        out[0][i] = step + i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 9);
    read_forward(in[0], N / 2);

    /* One half set, the other copied, in this order. */
    memset(&out[0][N / 2], step, sizeof out[0] / 2);
    memcpy(out[0], work, sizeof out[0] / 2);
    exchange(out[0], in[0], N, MPI_DOUBLE, 10);
    memcpy(second, in[0], sizeof second);
    double last = 0;
    for (int i = N - 1; i >= 0; i--)
        last += second[i];
    sink = last;
}

/* Written backwards, packed through the list; unpacked through it, read forwards. Then the same
 * with arithmetic on the way, which is no copy. */
static void through_copies(int step)
{
    for (int i = N - 1; i >= 0; i--)
        work[i] = step + i;
    for (int i = 0; i < N; i++)
        edge[i] = work[list[i]];
    exchange(edge, second, N, MPI_DOUBLE, 16);
    for (int i = 0; i < N; i++)
        unpacked[list[i]] = second[i];
    read_forward(unpacked, N);

    for (int i = N - 1; i >= 0; i--)
        work[i] = step - i;
    for (int i = 0; i < N; i++)
        edge[i] = 2 * work[list[i]] + 1;
    exchange(edge, second, N, MPI_DOUBLE, 17);
    for (int i = 0; i < N; i++)
        unpacked[list[i]] = second[i] + 1;
    read_forward(unpacked, N);

    /* Packed into two buffers in turn. */
    static double turns[2][N];
    for (int i = N - 1; i >= 0; i--)
        work[i] = step + i;
    for (int i = 0; i < N; i++)
        turns[step % 2][i] = work[list[i]];
    exchange(turns[step % 2], second, N, MPI_DOUBLE, 22);
    read_forward(second, N);
}

/* Whole arrays: written in the order of the list, copied; copied, read odd elements first. The same
 * of elements of 16 bytes. Then a column, packed by MPI and unpacked. */
static void through_whole_copies(int step)
{
    for (int i = 0; i < N; i++)
        work[list[i]] = step + i;
    memcpy(edge, work, sizeof edge);
    exchange(edge, second, N, MPI_DOUBLE, 18);
    memmove(unpacked, second, sizeof unpacked);
    double sum = 0;
    for (int first = 1; first >= 0; first--)
        for (int i = first; i < N; i += 2)
            sum += unpacked[i];
    sink = sum;

    for (int i = N / 2 - 1; i >= 0; i--)
        pair[i] = step + i * I;
    memcpy(pair_edge, pair, sizeof pair_edge);
    exchange(pair_edge, pair_second, N / 2, MPI_C_DOUBLE_COMPLEX, 19);
    memcpy(pair, pair_second, sizeof pair);
    for (int i = 0; i < N / 2; i++)
        sum += creal(pair[i]) + cimag(pair[i]);
    sink = sum;

    int at = 0, from = 0;
    for (int j = ROWS - 1; j >= 0; j--)
        out[j][4] = step + j;
    MPI_Pack(&out[0][4], 1, a_column, packed, sizeof packed, &at, MPI_COMM_WORLD);
    exchange(packed, edge, at, MPI_PACKED, 20);
    MPI_Unpack(edge, at, &from, &in[0][4], 1, a_column, MPI_COMM_WORLD);
    for (int first = 0; first < 2; first++)
        for (int j = first; j < ROWS; j += 2)
            sum += in[j][4];
    sink = sum;
}

/* Elements that other code than this program's writes. */
static void unseen(int step)
{
    /* The compiler and the linker let the recorder see memcpy, not this. */
    for (int i = 0; i < N; i++)
        work[i] = step + i;
    FILE *file = fmemopen(work, sizeof work, "rb");
    if (!file || fread(third, sizeof *third, N, file) != N)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(file);
    exchange(third, second, N, MPI_DOUBLE, 21);
    read_forward(second, N);
}

static void again(int step)
{
    for (int i = 0; i < N; i++)
        out[0][i] = step + i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 11);
    exchange(out[0], in[1], N, MPI_DOUBLE, 12);
    /* Written again after the send, backwards: no producer of those two. */
    for (int i = N - 1; i >= 0; i--)
        out[0][i] = -1;
    read_forward(in[0], N);
    read_forward(in[1], N);

    /* All of it, then the first half again: that one is produced last. */
    for (int i = 0; i < N; i++)
        out[0][i] = step;
    for (int i = 0; i < N / 2; i++)
        out[0][i] += i;
    exchange(out[0], in[0], N, MPI_DOUBLE, 13);
    /* Odd elements are overwritten before anybody reads them. */
    for (int i = 1; i < N; i += 2)
        in[0][i] = 0;
    read_forward(in[0], N);
}

static void completions(int step, MPI_Request *persistent)
{
    for (int i = N - 1; i >= 0; i--)
        second[i] = step + i;
    MPI_Startall(2, persistent);
    int flag = 0;
    while (!flag)
        MPI_Testall(2, persistent, &flag, MPI_STATUSES_IGNORE);
    read_forward(work, N);

    for (int i = 0; i < N; i++)
        out[1][i] = step + i;
    MPI_Request requests[2];
    MPI_Irecv(in[1], N, MPI_DOUBLE, MPI_ANY_SOURCE, 15, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out[1], N, MPI_DOUBLE, other, 15, MPI_COMM_WORLD, &requests[1]);
    for (int k = 0, index; k < 2; k++)
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    read_forward(in[1], N);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int i = 0; i < N; i++)
        list[i] = i * 7 % N;
    MPI_Datatype column, block;
    MPI_Type_vector(ROWS, 1, N, MPI_DOUBLE, &column);
    MPI_Type_create_subarray(2, (int[]){ROWS, N}, (int[]){3, 4}, (int[]){2, 5}, MPI_ORDER_C,
                             MPI_DOUBLE, &block);
    MPI_Type_commit(&column);
    a_column = column;
    MPI_Type_commit(&block);
    MPI_Request persistent[2];
    MPI_Recv_init(work, N, MPI_DOUBLE, other, 14, MPI_COMM_WORLD, &persistent[0]);
    MPI_Send_init(second, N, MPI_DOUBLE, other, 14, MPI_COMM_WORLD, &persistent[1]);
    for (int step = 0; step < ITERATIONS; step++) {
        simple(step);
        shapes(step, column, block);
        boundaries(step);
        through_buffers(step);
        through_copies(step);
        through_whole_copies(step);
        unseen(step);
        again(step);
        completions(step, persistent);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Finalize();
    return 0;
}
