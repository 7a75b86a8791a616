/* Command line of the C mini-apps: `--name value`, a --help text, and the verification line. */
#ifndef APPS_OPTIONS_H
#define APPS_OPTIONS_H

#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { OPTION_LONG, OPTION_DOUBLE, OPTION_TEXT };

struct app_option {
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *value; /* long *, double * or const char **, holding the default */
    const char *help;
};

static inline void options_help(const char *about, const struct app_option *options, int count)
{
    printf("%s\n\noptions (default):\n", about);
    for (int i = 0; i < count; i++) {
        const struct app_option *o = &options[i];
        printf("  --%-12s %s", o->name, o->help);
        if (o->kind == OPTION_LONG)
            printf(" (%ld)\n", *(long *)o->value);
        else if (o->kind == OPTION_DOUBLE)
            printf(" (%g)\n", *(double *)o->value);
        else
            printf(" (%s)\n", *(const char **)o->value);
    }
}

/* Leaves the program on every rank: with 0 after --help, with 2 for bad usage. */
static inline void options_leave(int status)
{
    fflush(stdout);
    MPI_Finalize();
    exit(status);
}

/* Says on rank 0 what is wrong with the command line, and ends the program with exit code 2. */
static inline void options_refuse(int rank, const char *fault, const char *detail)
{
    if (rank == 0)
        fprintf(stderr, "error: %s '%s' (see --help)\n", fault, detail);
    options_leave(2);
}

/* To be called after MPI_Init. */
static inline void options_parse(int argc, char **argv, const char *about,
                                 const struct app_option *options, int count)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            if (rank == 0)
                options_help(about, options, count);
            options_leave(0);
        }
        const struct app_option *found = NULL;
        for (int k = 0; k < count && strncmp(argv[i], "--", 2) == 0; k++)
            if (strcmp(argv[i] + 2, options[k].name) == 0)
                found = &options[k];
        if (!found)
            options_refuse(rank, "unknown option", argv[i]);
        if (i + 1 == argc)
            options_refuse(rank, "no value for option", argv[i]);
        char *end = "";
        const char *text = argv[++i];
        if (found->kind == OPTION_LONG)
            *(long *)found->value = strtol(text, &end, 10);
        else if (found->kind == OPTION_DOUBLE)
            *(double *)found->value = strtod(text, &end);
        else
            *(const char **)found->value = text;
        if (*end)
            options_refuse(rank, "not a number", text);
    }
}

/* Prints the verification line on rank 0; returns the program's exit code (the same on all). */
static inline int verification(int rank, int passed, double value)
{
    if (rank == 0)
        printf("verification: %s value=%.15e\n", passed ? "PASSED" : "FAILED", value);
    return passed ? 0 : 1;
}

#endif
