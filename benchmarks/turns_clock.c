/* For benchmarks/turns.py: what the program takes for the time is the processor time that its
 * process has used, which stands still while the process is stopped. */
#include <time.h>

double MPI_Wtime(void);
double mpi_wtime_(void);
double mpi_wtime_f08_(void);

double MPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

double mpi_wtime_(void)
{
    return MPI_Wtime();
}

double mpi_wtime_f08_(void)
{
    return MPI_Wtime();
}
