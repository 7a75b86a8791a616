/* The unstructured mesh of the cg app and the part of the linear system that one rank owns. */
#ifndef CG_MESH_H
#define CG_MESH_H

#include <mpi.h>

/* Rows of the matrix that this rank owns, in compressed rows. Columns are local: owned rows first
 * (those that need no ghost before the others), then the ghosts, grouped by the rank that owns
 * them. */
struct matrix {
    int owned, inside; /* rows; the first `inside` of them have no ghost column */
    int ghosts;
    int *row_start, *column;
    double *value;
    double *x, *y; /* coordinates of the owned vertices */

    int neighbours;
    int *neighbour;  /* ranks, ascending */
    int *send_start; /* send_list[send_start[k]] ..: owned rows that neighbour k needs */
    int *send_list;
    int *ghost_start; /* ghosts ghost_start[k] .. ghost_start[k+1]-1 come from neighbour k */
    double *buffer;   /* as long as send_list */
};

/* Finite elements (P1) for -div grad u + u on the unit square, Dirichlet edges, n x n free vertices
 * moved by up to `jitter` of the mesh width, each cell cut along a diagonal chosen by chance.
 * Vertices are divided among the ranks by recursive coordinate bisection. */
void matrix_make(struct matrix *m, MPI_Comm comm, int n, double jitter);
void matrix_free(struct matrix *m);

#endif
