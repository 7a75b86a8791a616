/* Time per MPI call on MPI_COMM_SELF: Irecv + Isend + Waitall of 8 bytes (three calls), and Iprobe;
 * and of two readings of the time-stamp counter, which no recorded call can do without (0 where
 * there is none). Prints ns: the least of many short repetitions, which noise cannot lower.
 * Then the same two with a cold cache: before each, 8 MiB are swept, as by a program that computes
 * between its calls. Of these the median. Then MPI_Sendrecv of 8 bytes, as the first two.
 *   call_overhead [REPETITIONS [multiple]]     the latter: under MPI_THREAD_MULTIPLE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SWEPT_BYTES = 8 << 20, LINE_BYTES = 64 };
static char swept[SWEPT_BYTES];

static double exchange(int n)
{
    double in, out = 1;
    MPI_Request r[2];
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &r[0]);
        MPI_Isend(&out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    return (MPI_Wtime() - begin) * 1e9 / (3.0 * n);
}

static double probe(int n)
{
    int flag;
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Iprobe(0, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return (MPI_Wtime() - begin) * 1e9 / n;
}

static double sendrecv(int n)
{
    double in, out = 1;
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 0, &in, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    return (MPI_Wtime() - begin) * 1e9 / n;
}

static double two_readings(int n)
{
#if defined(__x86_64__)
    volatile unsigned long long ticks;
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        ticks = __builtin_ia32_rdtsc();
        ticks = __builtin_ia32_rdtsc();
    }
    (void)ticks;
    return (MPI_Wtime() - begin) * 1e9 / n;
#else
    (void)n;
    return 0;
#endif
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of one call in `times` runs of `calls`, each after a sweep. */
static double cold(double (*calls)(int), double *ns, int times)
{
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < SWEPT_BYTES; k += LINE_BYTES)
            swept[k]++;
        ns[i] = calls(1);
    }
    qsort(ns, (size_t)times, sizeof *ns, compare);
    return ns[times / 2];
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 200, n = 2000;
    double least_exchange = 1e30, least_probe = 1e30, least_readings = 1e30;
    double least_sendrecv = 1e30;
    int asked = argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided = asked;
    if (argc > 2)
        MPI_Init_thread(&argc, &argv, asked, &provided);
    else
        MPI_Init(&argc, &argv);
    if (provided < asked)
        MPI_Abort(MPI_COMM_WORLD, 2);
    exchange(n);
    probe(n);
    for (int i = 0; i < repetitions; i++) {
        double e = exchange(n), p = probe(n), t = two_readings(n), s = sendrecv(n / 10);
        least_exchange = e < least_exchange ? e : least_exchange;
        least_probe = p < least_probe ? p : least_probe;
        least_readings = t < least_readings ? t : least_readings;
        least_sendrecv = s < least_sendrecv ? s : least_sendrecv;
    }
    int times = 5 * repetitions;
    double *ns = malloc((size_t)times * sizeof *ns);
    double cold_exchange = cold(exchange, ns, times), cold_probe = cold(probe, ns, times);
    printf("%.2f %.2f %.2f %.2f %.2f %.2f\n", least_exchange, least_probe, least_readings,
           cold_exchange, cold_probe, least_sendrecv);
    MPI_Finalize();
    return 0;
}
