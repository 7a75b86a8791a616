/* Preloaded between Imbrex and the MPI library, a library that gives less than the one there is:
 *   LESSER_LEVEL=N     it grants threads up to this level only
 *   LESSER_LOOK_US=N   a look at a request takes so long
 *   LESSER_FAILS=N     each look from the one of this number on fails */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*real)(int *, char ***, int, int *) =
        (int (*)(int *, char ***, int, int *))dlsym(RTLD_NEXT, "PMPI_Init_thread");
    int most = number("LESSER_LEVEL", MPI_THREAD_MULTIPLE);
    return real(argc, argv, required < most ? required : most, provided);
}

/* Of a program without Imbrex. */
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return PMPI_Init_thread(argc, argv, required, provided);
}

/* Imbrex takes the image that has this one for the library. */
int PMPI_Init(int *argc, char ***argv)
{
    int (*real)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init");
    return real(argc, argv);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static int looks, fails, look_us, is_set;
    int (*real)(MPI_Request, int *, MPI_Status *) =
        (int (*)(MPI_Request, int *, MPI_Status *))dlsym(RTLD_NEXT, "PMPI_Request_get_status");
    if (!is_set++) {
        fails = number("LESSER_FAILS", 0);
        look_us = number("LESSER_LOOK_US", 0);
    }
    for (double end = now_us() + look_us; look_us && now_us() < end;)
        continue;
    if (fails && ++looks >= fails)
        return MPI_ERR_OTHER;
    return real(request, flag, status);
}
