#define _GNU_SOURCE
#include "base/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

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
