#define _GNU_SOURCE
#include "job/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/warnings.h"
#include "generated/operations.h"
#include "mpi/python_lines.h"

/* Also the parents. Errors show when the file is made. */
static void make_directory(const char *path)
{
    char *copy = strdup(path);
    for (char *c = copy ? copy + 1 : NULL; c && *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(copy, 0777);
            *c = '/';
        }
    mkdir(path, 0777);
    free(copy);
}

static void library_line(char *line, size_t room)
{
    line[0] = 0;
#if MPI_VERSION >= 3
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    snprintf(line, room, "%.*s", (int)strcspn(text, "\n"), text);
#endif
}

ix_profile ix_start_unkept_profile(const ix_job *job, enum ix_threading threading)
{
    ix_options options = {.rank = job->rank,
                          .ranks = job->ranks,
                          .threading = threading,
                          .operations = ix_operation_names,
                          .operation_count = IX_OP_COUNT,
                          .asks_sites = !ix_is_without_python()};
    return (ix_profile){.measured = ix_start(&options) != IX_START_FAILED};
}

ix_profile ix_start_profile(const ix_job *job, const char *parts, enum ix_threading threading)
{
    char host[65] = "", library[256], *part_path = NULL;
    gethostname(host, 64);
    library_line(library, sizeof library);
    make_directory(parts);
    if (asprintf(&part_path, "%s/rank-%d.part", parts, job->rank) < 0)
        part_path = NULL;
    ix_options options = {.part_path = part_path,
                          .rank = job->rank,
                          .ranks = job->ranks,
                          .host = host,
                          .library = library,
                          .threading = threading,
                          .operations = ix_operation_names,
                          .operation_count = IX_OP_COUNT,
                          .asks_sites = !ix_is_without_python()};
    enum ix_started started = ix_start(&options);
    int full = started == IX_START_FALLBACK && (errno == ENOSPC || errno == EDQUOT);
    if (started == IX_START_FALLBACK && !full) /* a full disk is said once, when it has cost all */
        ix_warn("rank %d: %s: %s: if the program crashes, this rank's profile is lost", job->rank,
                part_path ? part_path : parts, strerror(errno));
    free(part_path); /* the engine has a copy */
    if (started == IX_START_FAILED) {
        ix_warn("rank %d: no memory for its profile: not measured", job->rank);
        return (ix_profile){0};
    }
    return (ix_profile){.measured = 1, .has_part = started == IX_START_FILE, .disk_is_full = full};
}
