/* Particles in a box: those that leave go to the neighbours; MPI_Type_create_struct. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define MAX 4096
typedef struct { double x, y, vx, vy; int id; } particle;
typedef struct { int n; particle p[MAX]; } bag;

static MPI_Datatype make_type(void)
{
    MPI_Datatype t, r;
    int len[2] = {4, 1};
    MPI_Aint at[2] = {offsetof(particle, x), offsetof(particle, id)};
    MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Type_create_struct(2, len, at, types, &t);
    MPI_Type_create_resized(t, 0, sizeof(particle), &r);
    MPI_Type_commit(&r);
    MPI_Type_free(&t);
    return r;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype type = make_type();
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    bag *mine = malloc(sizeof(bag)), *out = malloc(sizeof(bag)), *in = malloc(sizeof(bag));
    double *field = calloc(MAX, sizeof(double));
    mine->n = 200;
    for (int i = 0; i < mine->n; i++) {
        mine->p[i].x = (i % 17) / 17.0;
        mine->p[i].y = i / 200.0;
        mine->p[i].vx = 0.05 + 0.001 * i;
        mine->p[i].vy = 0.0;
        mine->p[i].id = rank * 1000 + i;
    }
    for (int step = 0; step < 10; step++) {
        out->n = 0;
        int kept = 0;
        for (int i = 0; i < mine->n; i++) {
            particle q = mine->p[i];
            q.x += q.vx;
            if (q.x >= 1.0) {
                q.x -= 1.0;
                out->p[out->n++] = q;
            } else
                mine->p[kept++] = q;
        }
        mine->n = kept;
        MPI_Status status;
        MPI_Sendrecv(out->p, out->n, type, right, 3, in->p, MAX, type, left, 3, MPI_COMM_WORLD,
                     &status);
        MPI_Get_count(&status, type, &in->n);
        for (int i = 0; i < MAX; i++)
            field[i] = 0.9 * field[i] + sin(0.01 * i * step);
        for (int i = 0; i < in->n; i++)
            mine->p[mine->n++] = in->p[i];
    }
    double s = 0, all;
    for (int i = 0; i < mine->n; i++) s += mine->p[i].x * mine->p[i].id;
    for (int i = 0; i < MAX; i++) s += field[i];
    MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.10f\n", all);
    MPI_Type_free(&type);
    free(mine); free(out); free(in); free(field);
    MPI_Finalize();
    return 0;
}
