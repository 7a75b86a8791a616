/* The observers of a job: observers.def lists them. */
#ifndef IMBREX_JOB_OBSERVER_LIST_H
#define IMBREX_JOB_OBSERVER_LIST_H

#include "mpi/observers.h"

/* Tell each that the job starts, and register those that want to be told more. Collective. */
IX_HIDDEN void ix_observers_start(const ix_job *job);

#endif
