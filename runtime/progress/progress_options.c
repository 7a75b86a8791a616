#include "progress/progress_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ten seconds: what is longer helps nobody. */
#define LONGEST_US 10000000.0

static int is_off(const char *text)
{
    return !text || !*text || !strcmp(text, "0") || !strcmp(text, "off");
}

/* The number that is all of `text`; 0, or -1. */
static int number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return *text && !*end && *value == *value ? 0 : -1;
}

ix_progress_options ix_progress_read_options(void)
{
    ix_progress_options o = {.share = IX_PROGRESS_SHARE};
    const char *wanted = getenv("IMBREX_PROGRESS"), *share = getenv("IMBREX_PROGRESS_SHARE");
    const char *disabled = getenv("IMBREX_DISABLE");
    double value;
    if (!wanted && ix_progress_unasked)
        wanted = ix_progress_unasked;
    if (is_off(wanted) || !is_off(disabled))
        return o;
    o.wanted = 1;
    if (strcmp(wanted, "on")) {
        if (number(wanted, &value) || value < 1 || value > LONGEST_US)
            snprintf(o.fault, sizeof o.fault,
                     "IMBREX_PROGRESS=%.40s: write on, off, or microseconds from 1 to 10000000",
                     wanted);
        else
            o.interval_ns = (int64_t)(value * 1e3);
    }
    if (share && *share) {
        if (number(share, &value) || value <= 0 || value > 100)
            snprintf(o.fault, sizeof o.fault,
                     "IMBREX_PROGRESS_SHARE=%.40s: write a share of a core in per cent, above 0 "
                     "and up to 100",
                     share);
        else
            o.share = value / 100;
    }
    if (o.fault[0])
        o.wanted = 0;
    return o;
}
