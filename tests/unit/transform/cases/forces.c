/* Bodies that go around a ring: each rank adds the forces of those that it has on its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

typedef struct { double x, y, z, m; } body;

static void forces(int n, const body *mine, const body *other, double *f)
{
    for (int i = 0; i < n; i++) {
        double fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < n; j++) {
            double dx = other[j].x - mine[i].x;
            double dy = other[j].y - mine[i].y;
            double dz = other[j].z - mine[i].z;
            double r2 = dx * dx + dy * dy + dz * dz + 1e-3;
            double s = other[j].m / (r2 * sqrt(r2));
            fx += s * dx;
            fy += s * dy;
            fz += s * dz;
        }
        f[3 * i] += fx;
        f[3 * i + 1] += fy;
        f[3 * i + 2] += fz;
    }
}

int main(int argc, char **argv)
{
    int rank, size, n = 300, steps = 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    body *mine = malloc(n * sizeof(body)), *buf = malloc(n * sizeof(body));
    double *f = malloc(3 * n * sizeof(double)), *v = calloc(3 * n, sizeof(double));
    MPI_Datatype body_type;
    MPI_Type_contiguous(4, MPI_DOUBLE, &body_type);
    MPI_Type_commit(&body_type);
    srand(rank + 1);
    for (int i = 0; i < n; i++) {
        mine[i].x = rand() / (double)RAND_MAX;
        mine[i].y = rand() / (double)RAND_MAX;
        mine[i].z = rand() / (double)RAND_MAX;
        mine[i].m = 1.0 / n;
    }
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < 3 * n; i++)
            f[i] = 0.0;
        memcpy(buf, mine, n * sizeof(body));
        for (int stage = 0; stage < size; stage++) {
            forces(n, mine, buf, f);
            MPI_Sendrecv_replace(buf, n, body_type, right, 0, left, 0, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < n; i++) {
            for (int d = 0; d < 3; d++)
                v[3 * i + d] += 1e-3 * f[3 * i + d];
            mine[i].x += 1e-3 * v[3 * i];
            mine[i].y += 1e-3 * v[3 * i + 1];
            mine[i].z += 1e-3 * v[3 * i + 2];
        }
    }
    double sum = 0, total;
    for (int i = 0; i < n; i++)
        sum += mine[i].x + mine[i].y + mine[i].z;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("checksum %.12f\n", total);
    MPI_Finalize();
    return 0;
}
