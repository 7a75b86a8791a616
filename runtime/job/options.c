#define _GNU_SOURCE
#include "job/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *absolute(const char *path)
{
    char *here = *path == '/' ? NULL : getcwd(NULL, 0), *full = NULL;
    if (!here)
        return strdup(path);
    if (asprintf(&full, "%s/%s", here, path) < 0)
        full = NULL;
    free(here);
    return full;
}

int ix_read_options(ix_run_options *options)
{
    const char *disabled = getenv("IMBREX_DISABLE");
    const char *dir = getenv("IMBREX_DIR"), *parts = getenv("IMBREX_PARTS");
    const char *paths = getenv("IMBREX_CALL_PATHS");
    *options = (ix_run_options){0};
    if ((disabled && *disabled && strcmp(disabled, "0")) || !dir || !*dir)
        return 0;
    options->directory = absolute(dir);
    options->call_paths = !paths || strcmp(paths, "off");
    options->is_attended = parts && *parts;
    if (options->is_attended)
        options->parts = absolute(parts);
    else if (!options->directory || asprintf(&options->parts, "%s/parts", options->directory) < 0)
        options->parts = NULL;
    return options->directory && options->parts;
}
