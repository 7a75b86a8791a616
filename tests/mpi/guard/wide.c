/* Accesses without a hook: a mask (both compilers), 32 bytes (clang), a structure's return (gcc). */
#include <immintrin.h>
#include <mpi.h>

struct point {
    double x, y, z;
};

static double out[8] __attribute__((aligned(32))), in[8];
static struct point points[2];

__attribute__((noinline)) struct point moved(double by)
{
    return (struct point){by, by, by};
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request q[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(in, 3, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[0]);
    MPI_Isend(out, 3, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, &q[1]);
#ifdef MASKED
    _mm256_maskstore_pd(out, _mm256_set1_epi64x(-1), _mm256_set1_pd(1)); /* masked */
#endif
#ifdef WIDE
    _mm256_store_pd(out, _mm256_set1_pd(2)); /* wide */
#endif
#ifdef RETURNED
    points[rank] = moved(rank); /* returned */
#endif
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return points[0].x < 0;
}
