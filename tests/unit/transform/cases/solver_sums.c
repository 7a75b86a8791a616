/* Sums over all ranks asked for in lists of declarations, in bodies without braces, and made of
 * one of two vectors that a loop sets. */
#include <mpi.h>
#include <stdio.h>
#define N 3000
static long x[N], r[N], p[N], q[N];

static long dot(const long *a, const long *b, int n)
{
    long local = 0, sum;
    for (int i = 0; i < n; i++)
        local += (a[i] * b[i]) % 1009;
    MPI_Allreduce(&local, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void multiply(const long *a, long *b, int n)
{
    b[0] = a[0];
    for (int i = 1; i < n - 1; i++)
        b[i] = (2 * a[i] - a[i - 1] + a[i + 1]) % 509;
    b[n - 1] = a[n - 1];
}

int main(int argc, char **argv)
{
    int rank;
    long worst = 0, steps = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        r[i] = p[i] = (i * 7 + rank * 3) % 101;
    long scale = 3, rho = dot(r, r, N), limit = rho % 7 - 100;
    while (steps < 20 && rho > limit) {
        multiply(p, q, N);
        long alpha = (rho + dot(p, q, N)) % 5, pair[2] = {alpha, 1};
        for (int i = 0; i < N; i++) {
            x[i] = (x[i] + pair[0] * p[i]) % 997;
            r[i] = (r[i] - alpha * q[i]) % 997;
        }
        long next = dot(r, r, N), beta = (next + scale) % 11;
        rho = next;
        for (int i = 0; i < N; i++)
            p[i] = (r[i] + beta * p[i]) % 997;
        if (steps % 5 == 0)
            worst = 2 * dot(x, x, N);
        else if (steps % 5 == 1) worst += dot(x, x, N);
        steps++;
    }
    if (worst > 0)
        scale = dot(p, p, N);
    multiply(x, q, N);
    printf("%d %ld %ld %ld %ld\n", rank, rho, worst, scale, q[N / 2]);
    MPI_Finalize();
    return 0;
}
