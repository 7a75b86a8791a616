#define _GNU_SOURCE
#include "resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "family.h"
#include "ix_mpi.h"

int ix_resolved;

/* An image that is loaded but outside the global scope, e.g. under a Python module. */
typedef struct search {
    const char *name;
    void *found;
} search;

static int ask_image(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    search *s = data;
    if (!info->dlpi_name || !info->dlpi_name[0])
        return 0;
    void *image = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
    if (!image)
        return 0;
    void *symbol = dlsym(image, s->name);
    dlclose(image);
    Dl_info where, here;
    if (!symbol || !dladdr(symbol, &where) || !dladdr((void *)(uintptr_t)ask_image, &here) ||
        where.dli_fbase == here.dli_fbase)
        return 0;
    s->found = symbol;
    return 1;
}

void *ix_next_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol)
        return symbol;
    search s = {.name = name};
    dl_iterate_phdr(ask_image, &s);
    return s.found;
}

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
