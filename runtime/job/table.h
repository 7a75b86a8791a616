/* The transfer times of this machine: IMBREX_TABLE. */
#ifndef IMBREX_JOB_TABLE_H
#define IMBREX_JOB_TABLE_H

#include "mpi/observers.h"

/* Read it into the engine: rank 0 for everybody (collective over job->all), or each rank its own
 * where they cannot talk. Without it, transfer times are unknown, which rank 0 says. */
IX_HIDDEN void ix_load_table(const ix_job *job);

#endif
