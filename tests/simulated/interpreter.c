/* Runs random message programs on a simulated cluster with the measurement engine on the simulated
 * clock. Each message has a size of its own, so that the network's log can be matched to it.
 *
 *     interpreter calibrate OUT               half ping-pongs: "size ns" lines
 *     interpreter FIRST COUNT TABLE OUT       programs of the seeds FIRST..FIRST+COUNT-1; rank R
 *                                             writes OUT.R: rows, compute intervals, messages */
#include <math.h>
#include <mpi.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { SEND, RECV, ISEND, IRECV, WAIT, TEST, OPERATIONS };
enum { MESSAGES = 12, BIG = 1 << 22, ROUNDS = 4, SERIALS = 2000 };
static const char *const operations[] = {"MPI_Send",  "MPI_Recv", "MPI_Isend",
                                         "MPI_Irecv", "MPI_Wait", "MPI_Test"};
static char *buffer;
static FILE *out;
static int rank, ranks;
static int64_t last_exit;

static int64_t simulated_ns(void)
{
    return llround(simgrid_get_clock() * 1e9);
}

/* ---- The few wrappers that the programs need: as in engine.h */

static ix_thread *enter(int operation)
{
    fprintf(out, "compute %lld %lld\n", (long long)last_exit, (long long)simulated_ns());
    return ix_enter((uint32_t)operation, NULL);
}

static void leave(ix_thread *t)
{
    ix_leave(t);
    last_exit = simulated_ns();
}

static ix_transfer transfer(int64_t bytes, int slack)
{
    return (ix_transfer){.bytes = bytes, .path = IX_PATH_INTER, .slack = (uint8_t)slack};
}

static void do_send(int bytes, int to, int tag)
{
    ix_thread *t = enter(SEND);
    MPI_Send(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    ix_transfer x = transfer(bytes, IX_SLACK_TAIL);
    ix_blocking(t, &x);
    leave(t);
}

static void do_recv(int bytes, int from, int tag)
{
    ix_thread *t = enter(RECV);
    MPI_Recv(buffer, bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ix_transfer x = transfer(bytes, IX_SLACK_HEAD);
    ix_blocking(t, &x);
    leave(t);
}

static void do_begin(int operation, int bytes, int peer, int tag, MPI_Request *request)
{
    ix_thread *t = enter(operation);
    if (operation == ISEND)
        MPI_Isend(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
    else
        MPI_Irecv(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
    ix_transfer x = transfer(bytes, operation == ISEND ? IX_SLACK_TAIL : IX_SLACK_HEAD);
    ix_begin(t, (uint64_t)(uintptr_t)*request, &x);
    leave(t);
}

static void do_end(int operation, MPI_Request *request)
{
    uint64_t handle = (uint64_t)(uintptr_t)*request;
    int done = 1;
    ix_thread *t = enter(operation);
    if (operation == WAIT)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done)
        ix_finish(t, handle, IX_AS_POSTED, IX_AS_POSTED);
    leave(t);
}

/* ---- Random programs: every rank draws the same numbers and does its own part */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % below);
}

typedef struct message {
    int from, to, bytes, blocking_send, late_receive, blocking_receive;
    MPI_Request request;
} message;

static void compute(void)
{
    static const double most[] = {0, 2e-6, 50e-6, 1e-3, 20e-3};
    double s = most[draw(5)] * draw(1000) / 1000;
    int who = (int)draw((uint32_t)ranks), all = (int)draw(2);
    if (s > 0 && (who == rank || all))
        usleep((useconds_t)(s * 1e6));
}

static void own_part(message *m, int step)
{
    int tag = m->bytes % SERIALS, receives = m->to == rank, sends = m->from == rank;
    if (receives && step == m->late_receive * 2 && !m->blocking_receive)
        do_begin(IRECV, m->bytes, m->from, tag, &m->request);
    if (sends && step == 1) {
        if (m->blocking_send)
            do_send(m->bytes, m->to, tag);
        else
            do_begin(ISEND, m->bytes, m->to, tag, &m->request);
        fprintf(out, "message %d %s\n", m->bytes, m->blocking_send ? "MPI_Send" : "MPI_Isend");
    }
    if (receives && step == 3 && m->blocking_receive)
        do_recv(m->bytes, m->from, tag);
    if (receives && step == 3)
        fprintf(out, "message %d %s\n", m->bytes, m->blocking_receive ? "MPI_Recv" : "MPI_Irecv");
}

static void run_round(int *serial)
{
    message messages[MESSAGES];
    int count = 1 + (int)draw(MESSAGES);
    for (int i = 0; i < count; i++) {
        message *m = &messages[i];
        *m = (message){.request = MPI_REQUEST_NULL};
        m->from = (int)draw((uint32_t)ranks);
        m->to = (m->from + 1 + (int)draw((uint32_t)ranks - 1)) % ranks;
        int eager = (int)draw(2);
        m->bytes = (eager ? 2000 + 2000 * (int)draw(29) : 66000 + 2000 * (int)draw(1500)) +
                   (*serial)++ % SERIALS;
        m->blocking_send = eager && draw(2);
        m->late_receive = (int)draw(2);
        m->blocking_receive = draw(3) == 0;
    }
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < count; i++) {
            own_part(&messages[i], step);
            if (draw(3) == 0)
                compute();
            message *m = &messages[draw((uint32_t)count)];
            if (draw(3) == 0 && m->request != MPI_REQUEST_NULL)
                do_end(TEST, &m->request);
        }
        compute();
    }
    for (int i = count - 1, reverse = (int)draw(2), k; i >= 0; i--) {
        k = reverse ? i : count - 1 - i;
        if (messages[k].request != MPI_REQUEST_NULL)
            do_end(WAIT, &messages[k].request);
    }
}

static void start_engine(const char *table_file)
{
    static char table[1 << 16];
    char error[200];
    FILE *file = fopen(table_file, "r");
    size_t length = file ? fread(table, 1, sizeof table, file) : 0;
    if (file)
        fclose(file);
    if (!length || ix_load_times(table, length, operations, OPERATIONS, error, sizeof error))
        abort();
    ix_clock_start(simulated_ns);
    ix_options options = {.rank = rank,
                          .ranks = ranks,
                          .operations = operations,
                          .operation_count = OPERATIONS,
                          .limits = {.main_rows = 512, .images = 2, .requests = 256}};
    if (ix_start(&options) != IX_START_ANONYMOUS)
        abort();
    last_exit = simulated_ns();
}

static void write_rows(void)
{
    static ix_row rows[512];
    fprintf(out, "compute %lld %lld\n", (long long)last_exit,
            (long long)simulated_ns() + 1000000000);
    ix_stop();
    size_t count = ix_collect_rows(rows, 512);
    for (size_t i = 0; i < count; i++) {
        const ix_row *r = &rows[i];
        fprintf(out, "row %s %d", operations[r->operation], r->size_class);
        for (const int64_t *value = &r->count; value <= &r->unknown_end; value++)
            fprintf(out, " %lld", (long long)*value);
        fprintf(out, "\n");
    }
    ix_release(0);
}

static void run_programs(int first, int count, const char *table)
{
    int serial = 0;
    for (int seed = first; seed < first + count; seed++) {
        state = 0x9e3779b97f4a7c15u * (uint64_t)(seed + 1);
        serial = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(100000); /* nothing of the barrier is under way */
        fprintf(out, "program %d %lld\n", seed, (long long)simulated_ns());
        start_engine(table);
        for (int i = 0; i < ROUNDS; i++)
            run_round(&serial);
        write_rows();
        usleep(1000000); /* nor anything of this program */
    }
}

static void calibrate(void)
{
    for (int bytes = 1024; bytes <= BIG; bytes *= 2)
        for (int extra = 0; extra < 2; extra++) {
            int n = bytes == 65536 && !extra ? bytes - 1 : bytes;
            if (extra && bytes != 65536)
                continue;
            MPI_Barrier(MPI_COMM_WORLD);
            usleep(100000);
            double start = simgrid_get_clock();
            for (int i = 0; i < 10; i++) {
                if (rank == 0)
                    MPI_Send(buffer, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                if (rank <= 1)
                    MPI_Recv(buffer, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank == 1)
                    MPI_Send(buffer, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            if (rank == 0)
                fprintf(out, "%d %.3f\n", n, (simgrid_get_clock() - start) / 20 * 1e9);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[argc - 1], rank);
    out = fopen(name, "w");
    buffer = calloc(1, BIG);
    if (!out || !buffer)
        abort();
    if (argc == 3)
        calibrate();
    else
        run_programs(atoi(argv[1]), atoi(argv[2]), argv[3]);
    fclose(out);
    MPI_Finalize();
    return 0;
}
