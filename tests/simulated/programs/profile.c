/* One profile per program: the engine starts anew under the wrappers, and its rows are written as
 * MPI_Finalize would merge them. That of the last program is left to MPI_Finalize itself. */
#include <stddef.h>
#include <stdlib.h>

#include "core/engine.h"
#include "base/measuring.h"
#include "core/call_logging.h"
#include "job/matching.h"
#include "mpi/comms.h"
#include "mpi/request_handles.h"
#include "generated/operations.h"
#include "program.h"

enum { ROWS = 1024, LOG_BYTES = 1 << 20, MOST_RANKS = 64 };

/* MPI_COMM_WORLD keeps its number, which the log of each program must know. */
static void log_begin(const ix_log_comm *world)
{
    int32_t members[MOST_RANKS];
    for (int i = 0; i < ranks; i++)
        members[i] = i;
    if (ranks > MOST_RANKS || ix_log_start(LOG_BYTES, LOG_BYTES))
        abort();
    ix_log_enter_comm(world, members, members);
    ix_log_begin();
}

void profile_begin(void)
{
    /* Wrappers that the program's calls pass by would measure nothing and break no bound. */
    if (!ix_part()) {
        fprintf(stderr, "the runtime did not start: are its wrappers linked in?\n");
        abort();
    }
    ix_measuring = 0;
    static ix_log_comm world;
    if (!world.number) {
        const ix_log_comm *met = ix_log() ? ix_log_comm_numbered(ix_log(), ix_world_number) : NULL;
        if (!met)
            abort();
        world = *met;
    }
    ix_release(1);
    ix_options options = {.rank = rank,
                          .ranks = ranks,
                          .operations = ix_operation_names,
                          .operation_count = IX_OP_COUNT,
                          .limits = {.main_rows = ROWS, .images = 2, .requests = 256}};
    if (ix_start(&options) != IX_START_ANONYMOUS)
        abort();
    ix_find_shared_handles(MPI_COMM_SELF);
    log_begin(&world);
    ix_measuring = 1;
}

static const char *section_name(int section)
{
    const ix_part_header *part = ix_part();
    const ix_part_name *sections = (const void *)((const char *)part + part->sections.offset);
    return *sections[section].name ? sections[section].name : "-";
}

void profile_write(void)
{
    static ix_row rows[ROWS];
    ix_measuring = 0;
    ix_stop();
    const ix_part_header *part = ix_part();
    size_t count = ix_collect_rows(rows, ROWS);
    for (size_t i = 0; i < count; i++) {
        const ix_row *r = &rows[i];
        fprintf(out, "row %s %s %d", ix_operation_names[r->operation], section_name(r->section),
                r->size_class);
        for (const int64_t *value = &r->count; value <= &r->unknown_end; value++)
            fprintf(out, " %lld", (long long)*value);
        fprintf(out, "\n");
    }
    if (part->rank.overflow || part->rank.section_errors || part->rank.dropped)
        abort();
}

static void write_numbers(const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %lld", (long long)numbers[i]);
    fprintf(out, "\n");
}

void profile_match(MPI_Comm all)
{
    ix_analysis analysis;
    ix_matching_facts facts;
    if (!ix_match_calls(all, 1, &analysis, &facts))
        abort();
    const ix_evidence_row *evidence = (const void *)analysis.tables[IX_EVIDENCE_ROWS].rows;
    for (size_t i = 0; i < analysis.tables[IX_EVIDENCE_ROWS].count; i++) {
        const ix_evidence_row *r = &evidence[i];
        fprintf(out, "evidence %s %s", ix_operation_names[r->operation], section_name(r->section));
        write_numbers(&r->transfers, (sizeof *r - offsetof(ix_evidence_row, transfers)) / 8);
    }
    const ix_causes_row *causes = (const void *)analysis.tables[IX_CAUSES_ROWS].rows;
    for (size_t i = 0; i < analysis.tables[IX_CAUSES_ROWS].count; i++) {
        const ix_causes_row *r = &causes[i];
        fprintf(out, "causes %s %s", ix_operation_names[r->operation], section_name(r->section));
        write_numbers(&r->count, (sizeof *r - offsetof(ix_causes_row, count)) / 8);
    }
    fprintf(out, "clocks %lld %lld\n", (long long)facts.error_ns, (long long)facts.violations);
    ix_analysis_free(&analysis);
}
