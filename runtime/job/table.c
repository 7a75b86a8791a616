#include "job/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/warnings.h"
#include "generated/operations.h"

/* The whole file, null-terminated, or NULL with errno. */
static char *read_file(const char *path, int *length)
{
    FILE *f = fopen(path, "r");
    size_t size = 0, room = 1 << 16;
    char *text = f ? malloc(room) : NULL;
    while (text) {
        size += fread(text + size, 1, room - size, f);
        if (size < room)
            break;
        char *more = room < (1u << 28) ? realloc(text, room *= 2) : NULL;
        if (!more)
            free(text);
        text = more;
    }
    if (text && ferror(f)) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    if (text)
        text[size] = 0;
    *length = (int)size;
    return text;
}

/* The text of the table, or NULL and length -1 where there is none. */
static char *read_table(const ix_job *job, int *length)
{
    const char *path = getenv("IMBREX_TABLE");
    char *text = path && *path ? read_file(path, length) : NULL;
    if (text)
        return text;
    *length = -1;
    if (path && *path && job->rank == 0)
        ix_warn("%s: %s: transfer times are unknown", path, strerror(errno));
    return NULL;
}

static void use_table(const ix_job *job, const char *text, int length)
{
    char error[256];
    if (ix_load_times(text, (size_t)length, ix_operation_names, IX_OP_COUNT, error, sizeof error) &&
        job->rank == 0)
        ix_warn("%s: %s: transfer times are unknown", getenv("IMBREX_TABLE"), error);
}

/* What rank 0 has read, on every rank; NULL on all of them where one has no memory for it. */
static char *share(const ix_job *job, char *text, int *length)
{
    PMPI_Bcast(length, 1, MPI_INT, 0, job->all);
    if (*length < 0)
        return NULL;
    if (job->rank)
        text = malloc((size_t)*length + 1);
    int fine = text != NULL, everybody = 0;
    PMPI_Allreduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, job->all);
    if (!everybody) {
        free(text);
        return NULL;
    }
    PMPI_Bcast(text, *length, MPI_BYTE, 0, job->all);
    text[*length] = 0;
    return text;
}

void ix_load_table(const ix_job *job)
{
    int collective = job->all != MPI_COMM_NULL, length = -1;
    char *text = !collective || job->rank == 0 ? read_table(job, &length) : NULL;
    if (collective)
        text = share(job, text, &length);
    if (text)
        use_table(job, text, length);
    free(text);
}
