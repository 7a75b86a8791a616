#define _GNU_SOURCE
#include "others.h"

#ifndef IMBREX_DIRECT

#include <dlfcn.h>

#include "ix_mpi.h"
#include "job.h"
#include "resolve.h"

typedef struct others {
    const char *first; /* a function that someone else defines too */
    const char *file;  /* who */
    int count;
} others;

static const void *image_of(const void *symbol, const char **file)
{
    Dl_info where;
    if (!symbol || !dladdr(symbol, &where))
        return NULL;
    *file = where.dli_fname;
    return where.dli_fbase;
}

static void note(others *o, const char *name, const char *file)
{
    if (o->count++)
        return;
    o->first = name;
    o->file = file;
}

void ix_tell_of_other_wrappers(void)
{
    others before = {0}, behind = {0};
    const char *here_file, *file;
    const void *here = image_of((const void *)(uintptr_t)ix_tell_of_other_wrappers, &here_file);
    void *own = dlopen(here_file, RTLD_NOLOAD | RTLD_LAZY);
    /* RTLD_DEFAULT would begin with this object, which is linked with -Bsymbolic. */
    void *program = dlopen(NULL, RTLD_LAZY);
    void *const *real = (void *const *)&ix_real;
    for (size_t i = 0; own && program && ix_real_names[i]; i++) {
        const char *name = ix_real_names[i] + 1, *library; /* PMPI_X */
        if (image_of(dlsym(own, name), &file) != here)
            continue; /* not wrapped */
        if (image_of(dlsym(program, name), &file) != here)
            note(&before, name, file);
        const void *image = image_of(dlsym(RTLD_NEXT, name), &file);
        if (image && image != here && image != image_of(real[i], &library))
            note(&behind, name, file);
    }
    if (own)
        dlclose(own);
    if (program)
        dlclose(program);
    if (before.count)
        ix_warn(
            "%s has MPI functions of its own (%d, the first %s): calls of them are not measured, "
            "and count as computation",
            before.file, before.count, before.first);
    if (behind.count)
        ix_warn(
            "%s has MPI functions of its own (%d, the first %s): in this run they are not called",
            behind.file, behind.count, behind.first);
}

#else

void ix_tell_of_other_wrappers(void)
{
}

#endif
