/* The run directory's files, written by all ranks together. */
#ifndef IMBREX_OUTPUT_H
#define IMBREX_OUTPUT_H

#include <stddef.h>

#include "ix_mpi.h"
#include "part.h"
#include "thread.h"

/* numpy .npy of one-dimensional structured arrays: `rows` of this rank at its place behind those of
 * the ranks before it. Collective; 0 on every rank, or -1 on every rank. `path` is a temporary
 * name, which the caller renames or removes. */
IX_HIDDEN int ix_write_measures(MPI_Comm all, const char *path, const ix_row *rows, size_t count);
IX_HIDDEN int ix_write_ranks(MPI_Comm all, const char *path, const ix_rank_row *row);

#endif
