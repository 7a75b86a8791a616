/* The run directory's tables: one rank makes a file, then each rank writes at its place. */
#ifndef IMBREX_JOB_TABLES_H
#define IMBREX_JOB_TABLES_H

#include <stddef.h>

#include "core/part.h"
#include "core/thread.h"
#include "generated/ix_mpi.h"

enum ix_table {
    IX_TABLE_MEASURES,
    IX_TABLE_RANKS,
    IX_TABLE_EVIDENCE, /* and so on: in the order of IX_EVIDENCE_ROWS (analysis/rows.h) */
    IX_TABLE_CAUSES,
    IX_TABLE_WAITS,
    IX_TABLE_PARTNERS,
    IX_TABLE_TIMELINE,
    IX_TABLE_OVERVIEW,
    IX_TABLE_CALL_PATHS,
    IX_TABLES
};

/* Make a numpy .npy file of `total` rows, the first `here` of them given.
 * 0, or -1 where it cannot be made or the disk has no room for it. Not collective. */
IX_HIDDEN int ix_create_table(const char *path, enum ix_table table, const void *rows, size_t here,
                              size_t total);

/* Write this rank's rows of a table, behind the `before` rows of the ranks before it, into a file
 * that is there. Not collective, and not by MPI-IO: a library that gets no memory to open a file
 * ends the program. 0 or -1. */
IX_HIDDEN int ix_write_rows(const char *path, enum ix_table table, const void *rows, size_t count,
                            size_t before);

#endif
