#define _GNU_SOURCE
#include "mpi/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/symbols.h"
#include "generated/ix_mpi.h"
#include "mpi/library_family.h"

int ix_resolved;

#ifndef IMBREX_DIRECT
/* All from the image that has PMPI_Init: two libraries in one process are not mixed. */
void ix_resolve(void)
{
    void *init = ix_next_symbol("PMPI_Init");
    Dl_info where;
    if (!init || !dladdr(init, &where)) {
        fprintf(stderr, "imbrex: no MPI library is loaded, but an MPI function was called\n");
        abort();
    }
    void *image = dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (image)
        ix_refuse_other_family(image, where.dli_fname);
    void **functions = (void **)&ix_real;
    for (size_t i = 0; ix_real_names[i]; i++) {
        void *symbol = image ? dlsym(image, ix_real_names[i]) : NULL;
        functions[i] = symbol ? symbol : ix_next_symbol(ix_real_names[i]);
    }
    for (size_t i = 0; ix_data_names[i]; i++) {
        /* The global scope first: a program may hold the copy that counts (copy relocation). */
        void *symbol = dlsym(RTLD_DEFAULT, ix_data_names[i]);
        if (!symbol && image)
            symbol = dlsym(image, ix_data_names[i]);
        ix_data[i] = symbol ? symbol : ix_next_symbol(ix_data_names[i]);
    }
    if (image)
        dlclose(image);
    __atomic_store_n(&ix_resolved, 1, __ATOMIC_RELEASE);
}
#endif
