/* The run directory's tables: one rank makes a file, then each rank writes at its place. */
#ifndef IMBREX_OUTPUT_H
#define IMBREX_OUTPUT_H

#include <stddef.h>

#include "ix_mpi.h"
#include "part.h"
#include "thread.h"

enum ix_table { IX_TABLE_MEASURES, IX_TABLE_RANKS };

/* Make a numpy .npy file of `total` rows (ix_row or ix_rank_row), the first `here` of them given.
 * 0, or -1 where it cannot be made or the disk has no room for it. Not collective. */
IX_HIDDEN int ix_create_table(const char *path, enum ix_table table, const void *rows, size_t here,
                              size_t total);

/* Write this rank's rows of measures, behind the `before` rows of the ranks before it, into a file
 * that is there. By MPI-IO, whose drivers know what each file system needs, but not collective: a
 * rank that waits for another one costs more than its few kilobytes. 0 or -1. */
IX_HIDDEN int ix_write_rows(const char *path, const ix_row *rows, size_t count, size_t before);

#endif
