/* dlclose, so that the next image at the same addresses is not taken for the one that was there. */
#ifndef IMBREX_DIRECT
#include <dlfcn.h>

#include "core/engine.h"

IX_EXPORT int dlclose(void *handle)
{
    static int (*_Atomic next)(void *);
    int (*real)(void *) = next;
    if (!real)
        next = real = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int rc = real(handle);
    ix_images_changed();
    return rc;
}
#endif
