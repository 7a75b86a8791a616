/* Reads the call logs of all ranks of a job from standard input, matches them as the ranks would,
 * and prints the rows that each rank leaves. Lines (test_reference.py writes them):
 *   table, lines of a transfer-time table, "end"
 *   comm NUMBER RANK... [| RANK...]  members, ranks of the world; of a second group
 *   rank R AHEAD ERROR               the clock of the rank; the records that follow are its own
 *   op ENTER EXIT BEFORE BYTES SITE OPERATION SECTION COMM PEER TAG SEQUENCE END KIND PATH THREAD
 *      FLAGS                         END: index of a record of the rank, or -1
 *   polls SINCE CALL                 before the call that was added last
 *   ends THREAD TIME CALL
 *   measured SITE OPERATION SECTION COUNT CALL_NS COMPUTE_NS
 *   excerpt ROWS                     also print the calls around a typical iteration
 *   go */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analyze.h"
#include "analysis/excerpt.h"
#include "analysis/facts.h"
#include "analysis/telling.h"
#include "analysis/rounds.h"
#include "core/engine.h"

enum { RANKS = 8, COMMS = 8, LINE = 4096, MEASURED = 64 };

static const char *const operations[] = {"",
                                         "MPI_Send",
                                         "MPI_Ssend",
                                         "MPI_Bsend",
                                         "MPI_Recv",
                                         "MPI_Isend",
                                         "MPI_Irecv",
                                         "MPI_Wait",
                                         "MPI_Waitall",
                                         "MPI_Waitany",
                                         "MPI_Test",
                                         "MPI_Barrier",
                                         "MPI_Bcast",
                                         "MPI_Reduce",
                                         "MPI_Alltoall",
                                         "MPI_Ialltoall",
                                         "MPI_Alltoallv",
                                         "MPI_Scan",
                                         "MPI_File_open",
                                         "MPI_Probe",
                                         "MPI_Put",
                                         "MPI_Win_fence",
                                         "MPI_Start",
                                         "MPI_Pready",
                                         "MPI_Parrived"};
static const uint8_t waits[] = {
    IX_WAITS_UNKNOWN, IX_WAITS_ALL,     IX_WAITS_ALL, IX_WAITS_ALL,  IX_WAITS_ALL,
    IX_WAITS_NOT,     IX_WAITS_NOT,     IX_WAITS_ALL, IX_WAITS_ALL,  IX_WAITS_ANY,
    IX_POLLS_ALL,     IX_WAITS_ALL,     IX_WAITS_ALL, IX_WAITS_ALL,  IX_WAITS_ALL,
    IX_WAITS_NOT,     IX_WAITS_ALL,     IX_WAITS_ALL, IX_WAITS_FILE, IX_WAITS_ALL,
    IX_WAITS_NOT,     IX_WAITS_UNKNOWN, IX_WAITS_NOT, IX_WAITS_NOT,  IX_POLLS_ALL};
enum { OPERATIONS = sizeof waits };

typedef struct members {
    uint32_t number;
    int32_t count, ranks[RANKS];
    int32_t first; /* how many of them are in the first of two groups; 0: there is one */
} members;

typedef struct rank_log {
    ix_view view;
    ix_pairing pairing;
    int64_t ahead, error, compute_ns;
    ix_row measured[MEASURED];
    size_t measured_count;
} rank_log;

static rank_log ranks[RANKS];
static int rank_count;
static members comms[COMMS];
static int comm_count;
static char table[1 << 16];
static int room; /* of an excerpt, rows; 0: none is made */

static const members *comm_of(uint32_t number)
{
    for (int i = 0; i < comm_count; i++)
        if (comms[i].number == number)
            return &comms[i];
    return NULL;
}

static int32_t world_rank(const void *context, uint32_t comm, int32_t peer)
{
    (void)context;
    const members *m = comm_of(comm);
    return m && peer < m->count ? m->ranks[peer] : -1;
}

/* Of two groups the one that a rank is in. */
static int group_of(const members *m, int32_t rank)
{
    for (int32_t i = 0; i < m->first; i++)
        if (m->ranks[i] == rank)
            return 0;
    return m->first > 0;
}

static int is_root(const ix_view *view, const ix_op *op)
{
    const members *m = comm_of(op->comm);
    if (m && m->first)
        return op->peer == IX_LOG_HERE;
    return op->peer >= 0 && world_rank(NULL, op->comm, op->peer) == view->rank;
}

static uint32_t calibration_of(uint32_t operation)
{
    return operation == 15 || operation == 16 ? 14 : operation;
}

static ix_transfer_facts facts(const void *context, const ix_view *view, uint32_t i)
{
    (void)context;
    const ix_op *op = &view->ops[i];
    const members *m = comm_of(op->comm);
    uint8_t role = op->peer < 0 ? IX_ROLE_ANY : is_root(view, op) ? IX_ROLE_ROOT : IX_ROLE_OTHER;
    ix_transfer_facts found =
        ix_facts_from_profile(op, calibration_of(op->operation), m ? m->count : 0, role);
    if (m && m->first && ix_is_collective(op))
        ix_facts_between_groups(&found);
    return found;
}

static int64_t error_between(const rank_log *a, const rank_log *b)
{
    return a == b ? 0 : a->error + b->error;
}

static void exchange_messages(void)
{
    enum { AT_ONCE = 3 }; /* few, so that streams and peers are cut anywhere */
    for (int a = 0; a < rank_count; a++) {
        ix_telling telling = {0};
        ix_told told[AT_ONCE];
        int32_t peer;
        for (uint32_t n; (n = ix_pairing_tell(&ranks[a].pairing, &ranks[a].view, &telling, AT_ONCE,
                                              told, &peer));) {
            rank_log *b = &ranks[peer];
            int64_t offset = b->ahead - ranks[a].ahead;
            for (uint32_t i = 0; i < n; i++) {
                told[i].start_enter += offset;
                told[i].start_exit += offset;
                told[i].end_enter += told[i].end_enter == INT64_MAX ? 0 : offset;
                told[i].end_exit += told[i].end_exit == INT64_MAX ? 0 : offset;
            }
            ix_pairing_hear(&b->pairing, &b->view, a, told, n, error_between(&ranks[a], b));
        }
    }
    for (int a = 0; a < rank_count; a++)
        ix_pairing_probes(&ranks[a].pairing, &ranks[a].view);
}

static void exchange_rounds(void)
{
    size_t count = 0, room = 1;
    for (int a = 0; a < rank_count; a++)
        room += ranks[a].view.count;
    ix_entered *told = malloc(room * sizeof *told);
    ix_round *rounds = malloc(room * sizeof *rounds);
    for (int a = 0; a < rank_count; a++) {
        const ix_view *view = &ranks[a].view;
        for (uint32_t i = 0; i < view->count; i++) {
            const members *m = comm_of(view->ops[i].comm);
            if (m && ix_entered_of(view, i, m->count, group_of(m, view->rank),
                                   is_root(view, &view->ops[i]), &told[count])) {
                told[count].enter_ns -= ranks[a].ahead;
                told[count].exit_ns -= ranks[a].ahead;
                count++;
            }
        }
    }
    size_t found = ix_rounds_of(told, count, rounds);
    ix_rounds_sort(rounds, found);
    for (int a = 0; a < rank_count; a++) {
        const ix_view *view = &ranks[a].view;
        for (uint32_t i = 0; i < view->count; i++) {
            const ix_op *op = &view->ops[i];
            const members *m = comm_of(op->comm);
            ix_entered own;
            if (!m || !ix_entered_of(view, i, m->count, 0, 0, &own))
                continue;
            const ix_round *there = ix_round_find(rounds, found, own.comm, own.sequence, own.start);
            int64_t error = 0;
            for (int k = 0; k < m->count; k++)
                error = ix_most(error, error_between(&ranks[a], &ranks[m->ranks[k]]));
            if (!there)
                continue;
            ix_round mine = *there;
            mine.first_enter += ranks[a].ahead;
            for (int group = 0; group < 2; group++)
                if (mine.last_enter[group] != INT64_MIN)
                    mine.last_enter[group] += ranks[a].ahead;
            mine.root_enter += ranks[a].ahead;
            mine.last_exit += ranks[a].ahead;
            int needs = m->first ? !group_of(m, view->rank) : 0;
            view->matches[i] = ix_match_of_round(view, i, &mine, needs, is_root(view, op), error);
        }
    }
    free(told);
    free(rounds);
}

static void print_rows(const ix_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *row = rows->rows + i * rows->row_bytes;
        if (!strcmp(name, "evidence")) {
            const ix_evidence_row *e = (const void *)row;
            printf("evidence %d %d %u %u %d %u", e->rank, e->site, e->operation, e->section,
                   e->size_class, e->path);
        } else if (!strcmp(name, "causes")) {
            const ix_causes_row *c = (const void *)row;
            printf("causes %d %d %u %u", c->rank, c->site, c->operation, c->section);
        } else if (!strcmp(name, "waits")) {
            const ix_waits_row *w = (const void *)row;
            printf("waits %d %d %u %u %d", w->rank, w->site, w->operation, w->start_operation,
                   w->start_site);
        } else {
            const ix_partners_row *p = (const void *)row;
            printf("partners %d %d", p->rank, p->peer);
        }
        for (size_t at = rows->key_bytes; at < rows->row_bytes; at += 8)
            printf(" %lld", (long long)*(const int64_t *)(const void *)(row + at));
        printf("\n");
    }
}

/* The stretch around its own proposal for which there is room, and the rows there. */
static void print_excerpt(const ix_view *view, ix_analysis *analysis)
{
    ix_proposal p = ix_excerpt_propose(view, analysis);
    int64_t reach = ix_excerpt_reach(view, p.at_ns, (uint32_t)room);
    int64_t far = reach == INT64_MAX ? 1000000000 : reach;
    if (ix_excerpt_rows(analysis, view, p.at_ns - far, p.at_ns + far, facts, NULL))
        abort();
    printf("proposal %d %lld %lld %lld\n", view->rank, (long long)p.stake_ns, (long long)p.at_ns,
           reach == INT64_MAX ? -1 : (long long)reach);
    const ix_timeline_row *rows = (const void *)analysis->tables[IX_TIMELINE_ROWS].rows;
    for (size_t i = 0; i < analysis->tables[IX_TIMELINE_ROWS].count; i++) {
        const ix_timeline_row *r = &rows[i];
        printf("timeline %d %d %u %d %u", r->rank, r->site, r->operation, r->peer, r->match);
        for (const int64_t *at = &r->bytes; at < (const int64_t *)(r + 1); at++)
            printf(" %lld", (long long)*at);
        printf("\n");
    }
}

static void print_overview(const ix_overview *o)
{
    for (uint32_t i = 0; o->rows && i < o->count; i++) {
        printf("overview %d", o->rows[i].rank);
        for (const int64_t *at = &o->rows[i].begin_ns; at < (const int64_t *)(&o->rows[i] + 1);
             at++)
            printf(" %lld", (long long)*at);
        printf("\n");
    }
}

static void go(void)
{
    static const char *const names[] = {"evidence", "causes", "waits", "partners"};
    char error[200];
    if (ix_load_times(table, strlen(table), operations, OPERATIONS, error, sizeof error))
        printf("error %s\n", error);
    for (int a = 0; a < rank_count; a++) {
        ix_view *view = &ranks[a].view;
        view->matches = calloc(view->count + (size_t)1, sizeof *view->matches);
        ix_view_index(view);
        if (ix_pairing_start(&ranks[a].pairing, view, world_rank, NULL))
            abort();
    }
    exchange_messages();
    exchange_rounds();
    for (int a = 0; a < rank_count; a++) {
        ix_analysis analysis;
        ix_overview overview;
        const ix_view *own = &ranks[a].view;
        ix_overview_start(&overview, own->rank, own->count ? own->ops[own->count - 1].exit_ns : 0,
                          (uint32_t)room);
        if (ix_analyze(&analysis, &ranks[a].view, facts, NULL, room ? &overview : NULL) ||
            ix_analysis_rest(&analysis, &ranks[a].view, ranks[a].measured, ranks[a].measured_count,
                             ranks[a].compute_ns))
            abort();
        for (int k = 0; k < IX_TIMELINE_ROWS; k++)
            print_rows(&analysis.tables[k], names[k]);
        if (room) {
            print_excerpt(&ranks[a].view, &analysis);
            print_overview(&overview);
        }
        ix_overview_free(&overview);
        printf("states %d", a);
        for (int k = 0; k < IX_MATCH_STATES; k++)
            printf(" %lld", (long long)analysis.states[k]);
        printf("\n");
        ix_analysis_free(&analysis);
    }
}

static void forget(void)
{
    for (int a = 0; a < rank_count; a++) {
        free(ranks[a].view.ops);
        free(ranks[a].view.matches);
        free(ranks[a].view.polls);
        ix_pairing_end(&ranks[a].pairing);
    }
    memset(ranks, 0, sizeof ranks);
    rank_count = comm_count = 0;
    table[0] = 0;
    room = 0;
}

static void add_op(rank_log *r, const char *text)
{
    ix_op op = {0};
    long long enter, exit, before, bytes, end;
    int site, peer, tag;
    unsigned operation, section, comm, sequence, kind, path, thread, flags;
    if (sscanf(text, "%lld %lld %lld %lld %d %u %u %u %d %d %u %lld %u %u %u %u", &enter, &exit,
               &before, &bytes, &site, &operation, &section, &comm, &peer, &tag, &sequence, &end,
               &kind, &path, &thread, &flags) != 16)
        abort();
    op = (ix_op){enter,
                 exit,
                 before,
                 bytes,
                 site,
                 (uint16_t)operation,
                 (uint16_t)section,
                 comm,
                 peer,
                 tag,
                 sequence,
                 end < 0 ? IX_NO_END : (uint32_t)end,
                 (uint8_t)kind,
                 (uint8_t)path,
                 (uint8_t)thread,
                 (uint8_t)flags};
    r->view.ops = realloc(r->view.ops, (r->view.count + (size_t)1) * sizeof op);
    r->view.ops[r->view.count++] = op;
}

static void add_polls(rank_log *r, const char *text)
{
    long long since, call;
    if (sscanf(text, "%lld %lld", &since, &call) != 2)
        abort();
    ix_log_record record = {.bytes = call, .comm = (uint32_t)since, .peer = (int32_t)(since >> 32)};
    if (ix_view_add_polls(&r->view, &record))
        abort();
}

static void add_comm(char *text)
{
    members *m = &comms[comm_count++];
    *m = (members){.number = (uint32_t)strtoul(text, &text, 10)};
    for (char *end; m->count < RANKS; m->count++, text = end) {
        text += strspn(text, " ");
        if (*text == '|') {
            m->first = m->count;
            text++;
        }
        m->ranks[m->count] = (int32_t)strtol(text, &end, 10);
        if (end == text)
            break;
    }
}

static void add_measured(rank_log *r, const char *text)
{
    long long count, call_ns, compute_ns;
    int site;
    unsigned operation, section;
    if (sscanf(text, "%d %u %u %lld %lld %lld", &site, &operation, &section, &count, &call_ns,
               &compute_ns) != 6)
        abort();
    r->measured[r->measured_count++] = (ix_row){.site = site,
                                                .operation = (uint16_t)operation,
                                                .section = (uint16_t)section,
                                                .count = count,
                                                .call_ns = call_ns};
    r->compute_ns = compute_ns;
}

int main(void)
{
    static char line[LINE];
    rank_log *r = ranks;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "table", 5)) {
            while (fgets(line, sizeof line, stdin) && strcat(table, line) && strcmp(line, "end\n"))
                ;
        } else if (!strncmp(line, "comm ", 5)) {
            add_comm(line + 5);
        } else if (!strncmp(line, "rank ", 5)) {
            long long ahead, error;
            r = &ranks[rank_count];
            if (sscanf(line + 5, "%d %lld %lld", &r->view.rank, &ahead, &error) != 3)
                abort();
            r->ahead = ahead;
            r->error = error;
            r->view.operations = operations;
            r->view.waits = waits;
            r->view.operation_count = OPERATIONS;
            r->view.whole = 1;
            r->compute_ns = INT64_MAX;
            rank_count++;
        } else if (!strncmp(line, "op ", 3)) {
            add_op(r, line + 3);
        } else if (!strncmp(line, "polls ", 6)) {
            add_polls(r, line + 6);
        } else if (!strncmp(line, "excerpt ", 8)) {
            room = atoi(line + 8);
        } else if (!strncmp(line, "ends ", 5)) {
            unsigned thread;
            long long time, call;
            if (sscanf(line + 5, "%u %lld %lld", &thread, &time, &call) != 3)
                abort();
            r->view.ends[thread] = (ix_thread_end){time, call};
        } else if (!strncmp(line, "measured ", 9)) {
            add_measured(r, line + 9);
        } else if (!strncmp(line, "go", 2)) {
            go();
        } else if (!strncmp(line, "reset", 5)) {
            forget();
            printf("done\n");
            fflush(stdout);
        }
    }
    return 0;
}
