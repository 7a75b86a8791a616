#include "mpi/thread_level.h"

#include "mpi/lifecycle.h"

/* `asked` by the program and, behind its back, MPI_THREAD_MULTIPLE. */
static struct {
    int raised, asked;
} level;

/* Fortran's start may come back here in C, with the level that it was given. */
int ix_level_to_ask(int required)
{
    if (level.raised)
        return MPI_THREAD_MULTIPLE;
    level.asked = required;
    level.raised = required < MPI_THREAD_MULTIPLE && ix_job_wants_threads();
    return level.raised ? MPI_THREAD_MULTIPLE : required;
}

int ix_level_to_tell(int granted)
{
    return level.raised && level.asked < granted ? level.asked : granted;
}

int ix_init(int *argc, char ***argv)
{
    int required = ix_level_to_ask(MPI_THREAD_SINGLE), provided;
    return level.raised ? PMPI_Init_thread(argc, argv, required, &provided) : PMPI_Init(argc, argv);
}
