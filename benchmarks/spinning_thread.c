/* A progress thread as the field knows it (APSM, arXiv 1302.4280): preloaded, it initializes MPI
 * with MPI_THREAD_MULTIPLE and calls MPI_Iprobe without end. SPINNING=0: the level alone. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_t thread;
static atomic_int ending;
static int spins;
static MPI_Comm alone;

static void *spin(void *unused)
{
    int found;
    while (!ending)
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, alone, &found, MPI_STATUS_IGNORE);
    return unused;
}

int MPI_Init(int *argc, char ***argv)
{
    int level, result = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    const char *text = getenv("SPINNING");
    spins = level == MPI_THREAD_MULTIPLE && !(text && !strcmp(text, "0"));
    PMPI_Comm_dup(MPI_COMM_WORLD, &alone);
    if (spins)
        spins = pthread_create(&thread, NULL, spin, NULL) == 0;
    return result;
}

int MPI_Finalize(void)
{
    ending = 1;
    if (spins)
        pthread_join(thread, NULL);
    PMPI_Comm_free(&alone);
    return PMPI_Finalize();
}
