#define _GNU_SOURCE
#include "base/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 8 };

static struct {
    char *lines[KEPT];
    int count;
} kept;

void ix_keep_warning(const char *line)
{
    if (kept.count < KEPT && (kept.lines[kept.count] = strdup(line)))
        kept.count++;
}

void ix_warn(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "imbrex: %s\n", line);
    ix_keep_warning(line);
}

ix_warnings ix_kept_warnings(void)
{
    return (ix_warnings){.lines = (const char *const *)kept.lines, .count = kept.count};
}
