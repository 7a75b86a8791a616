/* What the variants of halo3d share: a brick of the grid, its neighbours, and the kernel. */
#ifndef HALO3D_H
#define HALO3D_H

#include <mpi.h>
#include <stddef.h>

struct brick {
    MPI_Comm comm;
    int n[3];         /* interior points of this rank; one ghost layer around */
    int peer[6];      /* face 2*d: lower neighbour in dimension d, 2*d+1: upper; or MPI_PROC_NULL */
    int face_size[3]; /* values in a face normal to dimension d */
    double *send[6], *recv[6];
    /* The same for halo3d_faces.c, each by a name of its own: x is west to east, y south to north,
     * z down to up. */
    double *to_west, *to_east, *to_south, *to_north, *to_down, *to_up;
    double *from_west, *from_east, *from_south, *from_north, *from_down, *from_up;
    double diffusion;
};

static inline size_t at(const struct brick *b, int i, int j, int k)
{
    return ((size_t)i * (size_t)(b->n[1] + 2) + (size_t)j) * (size_t)(b->n[2] + 2) + (size_t)k;
}

/* One explicit step of the heat equation on the points lower..upper (inclusive). */
void sweep(const struct brick *b, const double *u, double *unew, const int lower[3],
           const int upper[3]);
/* The whole brick, only its inside (which needs no ghost), and only its outermost layer. */
void sweep_all(const struct brick *b, const double *u, double *unew);
void sweep_inside(const struct brick *b, const double *u, double *unew);
void sweep_rim(const struct brick *b, const double *u, double *unew);

/* Copies the outermost interior layer at a face to `values`; `values` to the ghosts at a face.
 * Both do nothing at a face without a neighbour. */
void pack(const struct brick *b, const double *u, int face, double *values);
void unpack(const struct brick *b, double *u, int face, const double *values);

/* One time step, ghosts and all. */
void step_blocking(const struct brick *b, double *u, double *unew);
void step_late_wait(const struct brick *b, double *u, double *unew);
void step_overlapped(const struct brick *b, double *u, double *unew);
void step_faces(const struct brick *b, double *u, double *unew);

#endif
