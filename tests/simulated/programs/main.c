/*     simulated calibrate OUT        half ping-pongs, and collectives after a barrier
 *     simulated FIRST COUNT [polls] OUT   programs of the seeds FIRST..FIRST+COUNT-1; rank R writes
 *                                    OUT.R: compute intervals, messages, rows of the profile;
 *                                    polls: they test and probe until they find, and do not wait */
#include "program.h"

#include <math.h>
#include <simgrid/engine.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };

int rank, ranks, polling;
char *buffer, *other;
FILE *out;
static int64_t last_enter, last_exit;
static uint64_t state;
static int collectives;

extern void imbrex_section_begin(const char *name, size_t length);
extern void imbrex_section_end(const char *name, size_t length);

static int64_t simulated_ns(void)
{
    return llround(simgrid_get_clock() * 1e9);
}

void before_call(void)
{
    last_enter = simulated_ns();
    if (last_enter > last_exit)
        fprintf(out, "compute %lld %lld\n", (long long)last_exit, (long long)last_enter);
}

void after_call(void)
{
    last_exit = simulated_ns();
}

void note_message(const char *operation, int bytes, int section)
{
    fprintf(out, "message %d m%d %s %lld\n", bytes, section, operation, (long long)simulated_ns());
}

void begin_message(const char *operation, int bytes)
{
    char name[32];
    note_message(operation, bytes, bytes);
    imbrex_section_begin(name, (size_t)snprintf(name, sizeof name, "m%d", bytes));
}

void end_message(int bytes)
{
    char name[32];
    imbrex_section_end(name, (size_t)snprintf(name, sizeof name, "m%d", bytes));
}

void begin_joining(const char *operation, int bytes, int root)
{
    char name[32];
    fprintf(out, "collective %d %s %d %lld\n", bytes, operation, root, (long long)simulated_ns());
    imbrex_section_begin(name, (size_t)snprintf(name, sizeof name, "c%d", bytes));
}

void end_joining(int bytes)
{
    char name[32];
    imbrex_section_end(name, (size_t)snprintf(name, sizeof name, "c%d", bytes));
}

int64_t last_entered(void)
{
    return last_enter;
}

static void say_completed(int64_t enter_ns, const char *operation, int any, int count,
                          const int *bytes)
{
    fprintf(out, "completed %s %d %lld %lld", operation, any, (long long)enter_ns,
            (long long)last_exit);
    for (int i = 0; i < count; i++)
        fprintf(out, " %d", bytes[i]);
    fprintf(out, "\n");
}

void completed(const char *operation, int any, int count, const int *bytes)
{
    say_completed(last_enter, operation, any, count, bytes);
}

void found_by_polls(int64_t since_ns, const char *operation, int count, const int *bytes)
{
    if (since_ns < last_enter)
        say_completed(since_ns, operation, 0, count, bytes);
}
uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % below);
}

int unique_size(int *serial, int rendezvous)
{
    int rest = (*serial)++ % 100;
    return rest + (rendezvous ? 66000 + 2000 * (int)draw(1500) : 2000 + 2000 * (int)draw(29));
}

int unique_block(int rendezvous)
{
    static const int primes[] = {101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157,
                                 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227};
    int rest = primes[collectives++ % (int)(sizeof primes / sizeof *primes)];
    return rest + 2000 * (rendezvous ? 33 + (int)draw(150) : 1 + (int)draw(7));
}

void compute(void)
{
    static const double most[] = {0, 2e-6, 50e-6, 1e-3, 20e-3};
    double s = most[draw(5)] * draw(1000) / 1000;
    int who = (int)draw((uint32_t)ranks), all = (int)draw(2);
    if (s > 0 && (who == rank || all))
        usleep((useconds_t)(s * 1e6));
}

/* Everything but the one-sided rounds, which leave no wait to claim. */
static void one_round(int *serial)
{
    int late = (int)draw(2), nonblocking = draw(3) == 0;
    if (draw(3) == 0)
        blocking_collective();
    if (nonblocking)
        begin_collective();
    round_of_messages(serial);
    if (nonblocking && !late)
        end_collective();
    if (draw(2))
        blocking_collective();
    if (nonblocking && late)
        end_collective();
}

static void one_program(void)
{
    int serial = 0, one_sided = draw(4) == 0;
    collectives = 0;
    profile_begin();
    fprintf(out, "%s\n", one_sided ? "exposed" : "closed");
    last_exit = simulated_ns() - 50000000; /* others may have begun a little before */
    for (int i = 0; i < ROUNDS; i++)
        if (one_sided && draw(2))
            round_of_puts(&serial);
        else
            one_round(&serial);
    fprintf(out, "compute %lld %lld\n", (long long)last_exit,
            (long long)simulated_ns() + 1000000000);
    profile_write();
    fprintf(out, "end %lld\n", (long long)simulated_ns() + 500000000);
}

static void run_programs(int first, int count)
{
    MPI_Comm own;
    PMPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int seed = first; seed < first + count; seed++) {
        state = 0x9e3779b97f4a7c15u * (uint64_t)(seed + 1);
        PMPI_Barrier(MPI_COMM_WORLD);
        usleep(100000); /* nothing of the barrier is under way */
        fprintf(out, "program %d %lld\n", seed, (long long)simulated_ns());
        one_program();
        usleep(1000000); /* nor anything of this program */
        PMPI_Barrier(MPI_COMM_WORLD);
        profile_match(own);
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
    other = calloc(1, BIG);
    if (!out || !buffer || !other)
        abort();
    polling = argc == 5;
    if (argc == 3)
        calibrate();
    else
        run_programs(atoi(argv[1]), atoi(argv[2]));
    fclose(out);
    MPI_Finalize();
    return 0;
}
