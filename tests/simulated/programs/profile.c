/* One profile per program: the engine starts anew under the wrappers, and its rows are written as
 * MPI_Finalize would merge them. That of the last program is left to MPI_Finalize itself. */
#include <stdlib.h>

#include "engine.h"
#include "job.h"
#include "learn.h"
#include "operations.h"
#include "program.h"

enum { ROWS = 1024 };

void profile_begin(void)
{
    /* Wrappers that the program's calls pass by would measure nothing and break no bound. */
    if (!ix_part()) {
        fprintf(stderr, "the runtime did not start: are its wrappers linked in?\n");
        abort();
    }
    ix_measuring = 0;
    ix_release(1);
    ix_options options = {.rank = rank,
                          .ranks = ranks,
                          .operations = ix_operation_names,
                          .operation_count = IX_OP_COUNT,
                          .limits = {.main_rows = ROWS, .images = 2, .requests = 256}};
    if (ix_start(&options) != IX_START_ANONYMOUS)
        abort();
    ix_learn_shared_handles(MPI_COMM_SELF);
    ix_measuring = 1;
}

void profile_write(void)
{
    static ix_row rows[ROWS];
    ix_measuring = 0;
    ix_stop();
    const ix_part_header *part = ix_part();
    const ix_part_name *sections = (const void *)((const char *)part + part->sections.offset);
    size_t count = ix_collect_rows(rows, ROWS);
    for (size_t i = 0; i < count; i++) {
        const ix_row *r = &rows[i];
        const char *section = sections[r->section].name;
        fprintf(out, "row %s %s %d", ix_operation_names[r->operation], *section ? section : "-",
                r->size_class);
        for (const int64_t *value = &r->count; value <= &r->unknown_end; value++)
            fprintf(out, " %lld", (long long)*value);
        fprintf(out, "\n");
    }
    if (part->rank.overflow || part->rank.section_errors || part->rank.dropped)
        abort();
}
