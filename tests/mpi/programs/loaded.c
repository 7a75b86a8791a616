/* Not linked with MPI: loaded PLUGIN WHAT... calls `program` of a plugin that is (a program of this
 * folder, built with -shared -Dmain=program); loaded --library FILE takes the functions out of the
 * MPI library itself, and prints the level of threads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *opened(const char *file, int flags)
{
    void *object = dlopen(file, RTLD_NOW | flags);
    if (!object) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return object;
}

static void *function(void *object, const char *name)
{
    void *found = dlsym(object, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

static int past_the_wrappers(const char *file)
{
    void *library = opened(file, RTLD_GLOBAL);
    int level = -1;
    ((int (*)(int *, char ***))function(library, "MPI_Init"))(NULL, NULL);
    ((int (*)(int *))function(library, "MPI_Query_thread"))(&level);
    ((int (*)(void))function(library, "MPI_Finalize"))();
    printf("told %d\n", level);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--library"))
        return past_the_wrappers(argv[2]);
    if (argc < 2)
        return 2;
    void *plugin = opened(argv[1], RTLD_LOCAL);
    return ((int (*)(int, char **))function(plugin, "program"))(argc - 1, argv + 1);
}
