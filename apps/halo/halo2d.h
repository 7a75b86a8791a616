/* What the variants of halo2d share: a block of the grid, its neighbours, and the kernel. */
#ifndef HALO2D_H
#define HALO2D_H

#include <mpi.h>
#include <stddef.h>

struct block {
    MPI_Comm comm;
    int nx, ny;                    /* interior points of this rank; one ghost layer around */
    int north, south, west, east;  /* ranks, or MPI_PROC_NULL at the edge of the plate */
    double *send_west, *send_east; /* columns are not contiguous: nx values each */
    double *recv_west, *recv_east;
    double diffusion; /* kappa * dt / h^2 */
};

/* Row i and column j, ghosts included: 0 .. nx+1 and 0 .. ny+1. */
static inline size_t at(const struct block *b, int i, int j)
{
    return (size_t)i * (size_t)(b->ny + 2) + (size_t)j;
}

/* One explicit step of the heat equation on the rows i0..i1 and columns j0..j1. */
void sweep(const struct block *b, const double *u, double *unew, int i0, int i1, int j0, int j1);

/* One time step, ghosts and all. */
void step_blocking(const struct block *b, double *u, double *unew);
void step_late_wait(const struct block *b, double *u, double *unew);
void step_overlapped(const struct block *b, double *u, double *unew);
void step_boundary_first(const struct block *b, double *u, double *unew);

#endif
