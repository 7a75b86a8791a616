/* What imbrex/imbrex.h and imbrex.f90 look up in the process. */
#include <string.h>

#include "core/engine.h"

#define NAME_BYTES 256

typedef void section_call(const char *name);

/* The engine takes C strings; Fortran has none. */
static void with_name(section_call *call, const char *name, size_t length)
{
    char text[NAME_BYTES];
    if (!name || length == 0) {
        call("(unnamed)");
        return;
    }
    if (length >= sizeof text)
        length = sizeof text - 1;
    memcpy(text, name, length);
    text[length] = '\0';
    call(text);
}

IX_EXPORT void imbrex_section_begin(const char *name, size_t length)
{
    with_name(ix_section_begin, name, length);
}

IX_EXPORT void imbrex_section_end(const char *name, size_t length)
{
    with_name(ix_section_end, name, length);
}
