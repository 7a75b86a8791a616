/* Two coupled diffusing fields in a periodic cube, solved by a three-dimensional FFT in each step:
 * planes are distributed, so a transform is x and y in the planes, an MPI_Alltoall that transposes,
 * and z. The transposes of the two fields are independent of each other's transforms.
 *
 *   u' = a lap u + c (v - u)     v' = b lap v + c (u - v)
 *
 * The solution for a few plane waves is known exactly; the FFT is also checked by its inverse. */
#include "../common/options.h"
#include "fft1d.h"
#include <stdint.h>

struct field {
    double complex *planes;  /* [z of this rank][y][x] */
    double complex *columns; /* [x of this rank][y][z], in Fourier space */
    double complex *send, *recv;
};

static int n, size, rank, mine; /* mine = n / size planes, and as many columns */
static struct fft_plan plan;
static const double diffuse_u = 0.01, diffuse_v = 0.002, couple = 0.3;
static const int waves[4][3] = {{1, 0, 0}, {0, 2, 1}, {1, 1, 1}, {3, 2, 0}};

static void fft_xy(double complex *planes, int sign)
{
    for (int z = 0; z < mine; z++) {
        double complex *plane = planes + (long)z * n * n;
        for (int y = 0; y < n; y++)
            fft_line(&plan, plane + (long)y * n, 1, sign);
        for (int x = 0; x < n; x++)
            fft_line(&plan, plane + x, n, sign);
    }
}

static void fft_z(double complex *columns, int sign)
{
    for (long line = 0; line < (long)mine * n; line++)
        fft_line(&plan, columns + line * n, 1, sign);
}

/* A block for each rank: [its x][y][my z]. */
static void pack_planes(const double complex *planes, double complex *send)
{
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < mine; z++)
                *send++ = planes[((long)z * n + y) * n + x];
}

static void unpack_columns(const double complex *recv, double complex *columns)
{
    for (int r = 0; r < size; r++)
        for (int x = 0; x < mine; x++)
            for (int y = 0; y < n; y++)
                for (int z = 0; z < mine; z++)
                    columns[((long)x * n + y) * n + r * mine + z] = *recv++;
}

static void pack_columns(const double complex *columns, double complex *send)
{
    for (int r = 0; r < size; r++)
        for (int x = 0; x < mine; x++)
            for (int y = 0; y < n; y++)
                for (int z = 0; z < mine; z++)
                    *send++ = columns[((long)x * n + y) * n + r * mine + z];
}

static void unpack_planes(const double complex *recv, double complex *planes)
{
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < mine; z++)
                planes[((long)z * n + y) * n + x] = *recv++;
}

static void transform(struct field *u, struct field *v)
{
    int count = mine * mine * n;

    fft_xy(u->planes, -1);
    pack_planes(u->planes, u->send);
    MPI_Alltoall(u->send, count, MPI_C_DOUBLE_COMPLEX, u->recv, count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    fft_xy(v->planes, -1);
    pack_planes(v->planes, v->send);
    MPI_Alltoall(v->send, count, MPI_C_DOUBLE_COMPLEX, v->recv, count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    unpack_columns(u->recv, u->columns);
    fft_z(u->columns, -1);
    unpack_columns(v->recv, v->columns);
    fft_z(v->columns, -1);
}

static void transform_back(struct field *u, struct field *v)
{
    int count = mine * mine * n;

    fft_z(u->columns, 1);
    pack_columns(u->columns, u->send);
    MPI_Alltoall(u->send, count, MPI_C_DOUBLE_COMPLEX, u->recv, count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    fft_z(v->columns, 1);
    pack_columns(v->columns, v->send);
    MPI_Alltoall(v->send, count, MPI_C_DOUBLE_COMPLEX, v->recv, count, MPI_C_DOUBLE_COMPLEX,
                 MPI_COMM_WORLD);
    unpack_planes(u->recv, u->planes);
    fft_xy(u->planes, 1);
    unpack_planes(v->recv, v->planes);
    fft_xy(v->planes, 1);
    for (long i = 0; i < (long)mine * n * n; i++) {
        u->planes[i] /= (double)n * n * n;
        v->planes[i] /= (double)n * n * n;
    }
}

/* The exponential of t times the symmetric matrix ((-a k2 - c, c), (c, -b k2 - c)). */
static void propagator(double k2, double t, double e[3])
{
    double mean = -0.5 * (diffuse_u + diffuse_v) * k2 - couple;
    double half = 0.5 * (diffuse_v - diffuse_u) * k2, root = sqrt(half * half + couple * couple);
    double c = cosh(root * t), s = sinh(root * t) / root;
    e[0] = exp(mean * t) * (c + half * s);
    e[1] = exp(mean * t) * couple * s;
    e[2] = exp(mean * t) * (c - half * s);
}

static void evolve(struct field *u, struct field *v, double t)
{
    for (int x = 0; x < mine; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++) {
                int gx = rank * mine + x;
                double kx = gx <= n / 2 ? gx : gx - n, ky = y <= n / 2 ? y : y - n;
                double kz = z <= n / 2 ? z : z - n, e[3];
                long i = ((long)x * n + y) * n + z;
                double complex a = u->columns[i], b = v->columns[i];
                propagator(kx * kx + ky * ky + kz * kz, t, e);
                u->columns[i] = e[0] * a + e[1] * b;
                v->columns[i] = e[1] * a + e[2] * b;
            }
}

/* The two fields at time t at a point of the cube: wave w starts as 1/(w+1) in u, w/4 in v. */
static void exact(double t, int x, int y, int z, double value[2])
{
    value[0] = value[1] = 0.0;
    for (int w = 0; w < 4; w++) {
        const int *k = waves[w];
        double e[3], u0 = 1.0 / (w + 1), v0 = 0.25 * w;
        double shape = cos(2.0 * M_PI * (k[0] * x + k[1] * y + k[2] * z) / n + 0.3 * w);
        propagator(k[0] * k[0] + k[1] * k[1] + k[2] * k[2], t, e);
        value[0] += (e[0] * u0 + e[1] * v0) * shape;
        value[1] += (e[1] * u0 + e[2] * v0) * shape;
    }
}

static double noise(uint64_t i)
{
    uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

static double largest(double local)
{
    double all;
    MPI_Allreduce(&local, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Noise must survive there and back. */
static double round_trip(struct field *u, struct field *v)
{
    long points = (long)mine * n * n, first = rank * points;
    double error = 0.0;
    for (long i = 0; i < points; i++) {
        u->planes[i] = noise((uint64_t)(first + i));
        v->planes[i] = I * u->planes[i];
    }
    transform(u, v);
    transform_back(u, v);
    for (long i = 0; i < points; i++) {
        double complex value = noise((uint64_t)(first + i));
        error = fmax(error, cabs(u->planes[i] - value) + cabs(v->planes[i] - I * value));
    }
    return largest(error);
}

static void field_make(struct field *f)
{
    size_t bytes = (size_t)mine * (size_t)n * (size_t)n * sizeof(double complex);
    f->planes = malloc(bytes);
    f->columns = malloc(bytes);
    f->send = malloc(bytes);
    f->recv = malloc(bytes);
    if (!f->planes || !f->columns || !f->send || !f->recv)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static void field_free(struct field *f)
{
    free(f->planes);
    free(f->columns);
    free(f->send);
    free(f->recv);
}

int main(int argc, char **argv)
{
    long points = 64, steps = 10;
    double dt = 0.1;
    struct app_option options[] = {
        {"n", OPTION_LONG, &points, "points in each dimension, a power of two"},
        {"steps", OPTION_LONG, &steps, "time steps"},
        {"dt", OPTION_DOUBLE, &dt, "length of a step"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "fft: two coupled diffusing fields by a distributed FFT", options, 3);

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (points < 8 || points > 1024 || (points & (points - 1)) || points % size || steps < 1)
        options_refuse(rank, "--n must be a power of two that the ranks divide, in", argv[0]);
    n = (int)points;
    mine = n / size;
    fft_plan_make(&plan, n);
    struct field u, v;
    field_make(&u);
    field_make(&v);
    double there_and_back = round_trip(&u, &v);

    for (int z = 0; z < mine; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double value[2];
                exact(0.0, x, y, rank * mine + z, value);
                u.planes[((long)z * n + y) * n + x] = value[0];
                v.planes[((long)z * n + y) * n + x] = value[1];
            }
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long s = 0; s < steps; s++) {
        transform(&u, &v);
        evolve(&u, &v, dt);
        transform_back(&u, &v);
    }
    double seconds = MPI_Wtime() - start;

    double error = 0.0, square = 0.0, total;
    for (int z = 0; z < mine; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double value[2];
                long i = ((long)z * n + y) * n + x;
                exact(dt * (double)steps, x, y, rank * mine + z, value);
                error = fmax(error, cabs(u.planes[i] - value[0]) + cabs(v.planes[i] - value[1]));
                square += creal(u.planes[i]) * creal(u.planes[i]) +
                          creal(v.planes[i]) * creal(v.planes[i]);
            }
    error = largest(error);
    MPI_Allreduce(&square, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("fft: %d^3 points, %ld steps, %d ranks\n"
               "time: %.6f s, largest error %.3e, there and back %.3e\n",
               n, steps, size, seconds, error, there_and_back);
    int passed = error < 1e-12 * (double)(steps + 1) && there_and_back < 1e-13;
    int status = verification(rank, passed, sqrt(total / ((double)n * n * n)));
    field_free(&u);
    field_free(&v);
    fft_plan_free(&plan);
    MPI_Finalize();
    return status;
}
