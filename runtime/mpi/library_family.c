#define _GNU_SOURCE
#include "mpi/library_family.h"

#ifndef IMBREX_DIRECT
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(OPEN_MPI)
enum { FOR_OPEN_MPI = 1, KNOWN_FAMILY = 1 };
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
enum { FOR_OPEN_MPI = 0, KNOWN_FAMILY = 1 };
#else
enum { FOR_OPEN_MPI = 0, KNOWN_FAMILY = 0 };
#endif

static const char *const names[] = {"of the MPICH family", "Open MPI"};

static int is_of_other_family(void *image)
{
    int is_open_mpi = dlsym(image, "ompi_mpi_comm_world") != NULL;
    return KNOWN_FAMILY && is_open_mpi != FOR_OPEN_MPI;
}

void ix_refuse_other_family(void *image, const char *file)
{
    if (!is_of_other_family(image))
        return;
    fprintf(stderr,
            "imbrex: the program loaded %s, which is %s, but this run's MPI is %s: start it with "
            "the launcher of its own library, or name its mpicc with --mpicc\n",
            file, names[!FOR_OPEN_MPI], names[FOR_OPEN_MPI]);
    _exit(1);
}

/* Takes this object out of LD_PRELOAD. 0 where it is not there: another exec would load it again.
 */
static int leave_preload(void)
{
    Dl_info here;
    const char *preload = getenv("LD_PRELOAD");
    if (!preload || !dladdr((void *)(uintptr_t)leave_preload, &here))
        return 0;
    char *words = strdup(preload), *kept = calloc(1, strlen(preload) + 1), *rest = NULL;
    int left = 0;
    if (words && kept)
        for (char *entry = strtok_r(words, ": ", &rest); entry;
             entry = strtok_r(NULL, ": ", &rest)) {
            if (!strcmp(entry, here.dli_fname)) {
                left = 1;
                continue;
            }
            if (*kept)
                strcat(kept, ":");
            strcat(kept, entry);
        }
    if (left && (*kept ? setenv("LD_PRELOAD", kept, 1) : unsetenv("LD_PRELOAD")))
        left = 0;
    free(words);
    free(kept);
    return left;
}

/* The words that the process was started with, ended by NULL: also those of `ld.so PROGRAM`. */
static char **own_words(void)
{
    FILE *file = fopen("/proc/self/cmdline", "r");
    char **words = NULL, *entry = NULL;
    size_t count = 0, room = 0;
    while (file && getdelim(&entry, &room, '\0', file) > 0) {
        char **more = realloc(words, (count + 2) * sizeof *words);
        if (!more)
            break;
        words = more;
        words[count++] = entry;
        words[count] = NULL;
        entry = NULL;
        room = 0;
    }
    if (file)
        fclose(file);
    return words;
}

static int is_first_rank(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank)
            return !strcmp(rank, "0");
    }
    return 1;
}

/* A script may start programs of another library than that of this run: these go on unmeasured. */
static __attribute__((constructor)) void leave_program_of_other_family(void)
{
    Dl_info where;
    void *init = dlsym(RTLD_NEXT, "PMPI_Init");
    if (!init || !dladdr(init, &where))
        return;
    void *image = dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    int other = image && is_of_other_family(image);
    if (image)
        dlclose(image);
    char **words = other ? own_words() : NULL;
    if (!words || !leave_preload())
        return;
    if (is_first_rank())
        fprintf(stderr,
                "imbrex: %s is not measured: its library %s is %s, but this run's MPI is %s; name "
                "its mpicc with --mpicc\n",
                words[0], where.dli_fname, names[!FOR_OPEN_MPI], names[FOR_OPEN_MPI]);
    execv("/proc/self/exe", words);
}
#endif
