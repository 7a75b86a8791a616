/* What this rank saw of the callers of its call sites, as it goes into call_paths.npy. */
#ifndef IMBREX_JOB_CALL_PATH_ROWS_H
#define IMBREX_JOB_CALL_PATH_ROWS_H

#include "job/numbering.h"

/* One caller of one path, byte for byte a row of call_paths.npy. */
typedef struct ix_call_path_row {
    int32_t rank;
    int32_t site;
    uint16_t call_path; /* number of the path among those of this rank */
    uint16_t level;     /* 0: the caller of the function in which the site is */
    int32_t frame;      /* its id in the frames of sites.json; 0: not known */
    int64_t samples;    /* of the whole path */
} ix_call_path_row;

/* The rows under the common numbers, and how many; the caller frees them. None where there is no
 * memory. */
IX_HIDDEN int64_t ix_call_path_rows(const ix_numbering *n, const ix_names *names,
                                    ix_call_path_row **rows);

#endif
