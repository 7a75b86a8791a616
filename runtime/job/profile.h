/* The profile of this process: the engine and its part file. */
#ifndef IMBREX_JOB_PROFILE_H
#define IMBREX_JOB_PROFILE_H

#include "mpi/observers.h"

typedef struct ix_profile {
    int measured;       /* the engine runs */
    int has_part;       /* into a file that survives the process */
    int disk_is_full;   /* that is why it has none */
    double overhead_ns; /* of one recorded call */
} ix_profile;

/* Start the engine, with a part file in `parts`. Says what goes wrong. */
IX_HIDDEN ix_profile ix_start_profile(const ix_job *job, const char *parts,
                                      enum ix_threading threading);

/* Start it in memory that nobody reads afterwards: only to know what is open. */
IX_HIDDEN ix_profile ix_start_unkept_profile(const ix_job *job, enum ix_threading threading);

#endif
