/* What `imbrex run` says in the environment. */
#ifndef IMBREX_JOB_OPTIONS_H
#define IMBREX_JOB_OPTIONS_H

#include "base/attributes.h"

/* Paths are absolute: the program may change its working directory before they are used. */
typedef struct ix_run_options {
    char *directory; /* IMBREX_DIR: of the run */
    char *parts;     /* IMBREX_PARTS: of the ranks' profiles on this node; else DIRECTORY/parts */
    int is_attended; /* `imbrex run` started the program: it merges what the ranks leave apart, and
                      * says what is missing */
    int call_paths;  /* IMBREX_CALL_PATHS: look now and then who calls (core/call_paths.h) */
} ix_run_options;

/* 1, or 0 where this program is not to be measured (IMBREX_DISABLE, no IMBREX_DIR). */
IX_HIDDEN int ix_read_options(ix_run_options *options);

#endif
