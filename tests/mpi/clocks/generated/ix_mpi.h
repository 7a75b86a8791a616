/* Stands for the header that the runtime's build makes: the clocks need MPI's declarations only. */
#include <mpi.h>
