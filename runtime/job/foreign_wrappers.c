#define _GNU_SOURCE
#include "job/foreign_wrappers.h"

#ifndef IMBREX_DIRECT

#include <dlfcn.h>
#include <link.h>

#include "base/warnings.h"
#include "generated/ix_mpi.h"
#include "mpi/library.h"

typedef struct wrappers {
    const char *first; /* a function that someone else defines too */
    const char *file;  /* who */
    int count;
} wrappers;

/* Of an image: dladdr looks through all its symbols each time, which adds up to milliseconds. */
typedef struct range {
    uintptr_t of, low, high;
} range;

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    range *r = data;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = start + part->p_memsz > high ? start + part->p_memsz : high;
    }
    if (r->of < low || r->of >= high)
        return 0;
    r->low = low;
    r->high = high;
    return 1;
}

static range range_of(const void *symbol)
{
    range r = {.of = (uintptr_t)symbol};
    dl_iterate_phdr(find_range, &r);
    return r;
}

static int is_in(const range *r, const void *symbol)
{
    return (uintptr_t)symbol >= r->low && (uintptr_t)symbol < r->high;
}

static void note(wrappers *o, const char *name, const void *symbol)
{
    Dl_info where;
    ElfW(Sym) *entry = NULL;
    if (!dladdr1(symbol, &where, (void **)&entry, RTLD_DL_SYMENT))
        return;
    /* a program at fixed addresses has an entry of its own for a function that it only names */
    if ((entry && entry->st_shndx == SHN_UNDEF) || o->count++)
        return;
    o->first = name;
    o->file = where.dli_fname;
}

void ix_tell_of_other_wrappers(void)
{
    wrappers before = {0}, behind = {0};
    Dl_info where;
    range here = range_of((const void *)(uintptr_t)ix_tell_of_other_wrappers);
    void *own = dladdr((const void *)here.of, &where)
                    ? dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY)
                    : NULL;
    /* RTLD_DEFAULT would begin with this object, which is linked with -Bsymbolic. */
    void *program = dlopen(NULL, RTLD_LAZY);
    void *const *real = (void *const *)&ix_real;
    range library = {0};
    /* Some libraries have MPI_X and PMPI_X in two files; no tool has the interface for tools. */
    range front = range_of(dlsym(RTLD_NEXT, "MPI_T_init_thread"));
    for (size_t i = 0; own && program && ix_real_names[i]; i++) {
        const char *name = ix_real_names[i] + 1; /* PMPI_X */
        if (!is_in(&here, dlsym(own, name)))
            continue; /* not wrapped */
        const void *found = dlsym(program, name);
        if (found && !is_in(&here, found))
            note(&before, name, found);
        if (real[i] && !is_in(&library, real[i]))
            library = range_of(real[i]);
        found = dlsym(RTLD_NEXT, name);
        if (found && real[i] && !is_in(&here, found) && !is_in(&library, found) &&
            !is_in(&front, found))
            note(&behind, name, found);
    }
    if (own)
        dlclose(own);
    if (program)
        dlclose(program);
    if (before.count)
        ix_warn("%s has MPI functions of its own (%d, the first %s): calls of them are not "
                "measured, and count as computation",
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
