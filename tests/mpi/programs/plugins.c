/* Loads the plugins that its arguments name one after the other, each where the last one was. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        ((void (*)(int))dlsym(plugin, "work"))(10 * i);
        dlclose(plugin);
    }
    MPI_Finalize();
    return 0;
}
