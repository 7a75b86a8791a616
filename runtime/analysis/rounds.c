#include "analysis/rounds.h"

#include <stdlib.h>

#include "analysis/evidence.h"

enum { ROUNDS_AT_ONE_PLACE = 64 };

int32_t ix_round_place(uint32_t comm, uint32_t sequence, int32_t members)
{
    uint64_t spread = (comm * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return (int32_t)((spread + sequence / ROUNDS_AT_ONE_PLACE) % (uint32_t)members);
}

int ix_entered_of(const ix_view *view, uint32_t i, int32_t members, int group, int is_root,
                  ix_entered *told)
{
    const ix_op *op = &view->ops[i];
    if (!ix_is_collective(op) || op->end_call == IX_NO_END || op->sequence == 0 ||
        op->flags & (IX_LOG_CANCELLED | IX_LOG_UNCOUNTED))
        return 0;
    *told = (ix_entered){.comm = op->comm,
                         .sequence = op->sequence,
                         .start = op->flags & IX_LOG_PERSISTENT ? op->tag : 0,
                         .members = members,
                         .rank = view->rank,
                         .kind = op->kind,
                         .is_root = is_root != 0,
                         .group = group != 0,
                         .enter_ns = op->enter_ns,
                         .exit_ns = view->ops[op->end_call].exit_ns};
    return 1;
}

static int by_key(uint32_t a_comm, uint32_t a_sequence, int32_t a_start, uint32_t b_comm,
                  uint32_t b_sequence, int32_t b_start)
{
    if (a_comm != b_comm)
        return a_comm < b_comm ? -1 : 1;
    if (a_sequence != b_sequence)
        return a_sequence < b_sequence ? -1 : 1;
    return a_start < b_start ? -1 : a_start > b_start;
}

static int by_round(const void *a, const void *b)
{
    const ix_entered *x = a, *y = b;
    int order = by_key(x->comm, x->sequence, x->start, y->comm, y->sequence, y->start);
    return order ? order : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int rounds_in_order(const void *a, const void *b)
{
    const ix_round *x = a, *y = b;
    return by_key(x->comm, x->sequence, x->start, y->comm, y->sequence, y->start);
}

/* Whether these are one round: each member told once, and of the same kind of operation. */
static int is_whole(const ix_entered *told, size_t count)
{
    if ((int64_t)count != told->members)
        return 0;
    for (size_t i = 1; i < count; i++)
        if (told[i].kind != told->kind || told[i].members != told->members ||
            told[i].rank == told[i - 1].rank)
            return 0;
    return 1;
}

static ix_round round_of(const ix_entered *told, size_t count)
{
    ix_round r = {.comm = told->comm,
                  .sequence = told->sequence,
                  .start = told->start,
                  .last = {-1, -1},
                  .root = -1,
                  .first_enter = told->enter_ns,
                  .last_enter = {INT64_MIN, INT64_MIN},
                  .root_enter = told->enter_ns,
                  .last_exit = told->exit_ns};
    for (size_t i = 0; i < count; i++) {
        r.first_enter = ix_least(r.first_enter, told[i].enter_ns);
        int group = told[i].group;
        if (told[i].enter_ns > r.last_enter[group]) {
            r.last_enter[group] = told[i].enter_ns;
            r.last[group] = told[i].rank;
        }
        r.last_exit = ix_most(r.last_exit, told[i].exit_ns);
        if (told[i].is_root) {
            r.root_enter = told[i].enter_ns;
            r.root = told[i].rank;
        }
    }
    return r;
}

size_t ix_rounds_of(ix_entered *told, size_t count, ix_round *rounds)
{
    size_t found = 0;
    if (count)
        qsort(told, count, sizeof *told, by_round);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1;
             next < count && !by_key(told[first].comm, told[first].sequence, told[first].start,
                                     told[next].comm, told[next].sequence, told[next].start);)
            next++;
        if (is_whole(told + first, next - first))
            rounds[found++] = round_of(told + first, next - first);
    }
    return found;
}

void ix_rounds_sort(ix_round *rounds, size_t count)
{
    if (count)
        qsort(rounds, count, sizeof *rounds, rounds_in_order);
}

const ix_round *ix_round_find(const ix_round *rounds, size_t count, uint32_t comm,
                              uint32_t sequence, int32_t start)
{
    ix_round key = {.comm = comm, .sequence = sequence, .start = start};
    return count ? bsearch(&key, rounds, count, sizeof *rounds, rounds_in_order) : NULL;
}

ix_match ix_match_of_round(const ix_view *view, uint32_t i, const ix_round *round, int needs,
                           int is_root, int64_t error_ns)
{
    const ix_op *op = &view->ops[i];
    int64_t exit = view->ops[op->end_call].exit_ns, needed = INT64_MIN;
    if (op->kind == IX_LOG_ALL || op->kind == IX_LOG_EPOCH ||
        (op->kind == IX_LOG_TO_ROOT && is_root))
        needed = round->last_enter[needs];
    else if (op->kind == IX_LOG_FROM_ROOT)
        needed = round->root_enter;
    int sure = !(op->flags & IX_LOG_VARYING) && needed > INT64_MIN;
    ix_match m = {.state = IX_MATCHED,
                  .is_root = is_root != 0,
                  .peer =
                      op->kind == IX_LOG_FROM_ROOT && !is_root ? round->root : round->last[needs],
                  .error_ns = error_ns};
    m.all.first_enter = round->first_enter;
    m.all.last_enter = ix_most(round->last_enter[0], round->last_enter[1]);
    m.all.needed_enter = round->last_enter[needs];
    m.all.root_enter = round->root_enter;
    m.all.last_exit = round->last_exit;
    if (sure && needed - error_ns > exit)
        m.state = IX_CLOCKS;
    return m;
}
