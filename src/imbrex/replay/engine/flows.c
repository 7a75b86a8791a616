/* The messages of a schedule as flows on the links of their processes, in the order in which they
 * can start. */
#include <stdlib.h>

#include "share.h"

static int by_start(const void *a, const void *b)
{
    const ix_flow *x = a, *y = b;
    if (x->ready_ns != y->ready_ns)
        return x->ready_ns < y->ready_ns ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static int takes_link(const ix_schedule *s, const ix_network *n, uint32_t stream, uint64_t op)
{
    return s->ops[op].kind == IX_SEND && !ix_is_to_itself(s, stream, &s->ops[op]) &&
           !ix_is_site(s, &s->ops[op], (int64_t)op, n->free_site);
}

/* The flows of all processes, process after process. */
static int gather(ix_links *l, const ix_schedule *s, const ix_network *n, const double *ready_ns)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < s->streams; r++)
        for (uint64_t i = s->first[r]; i < s->first[r + 1]; i++)
            l->ends[s->process[r]].last += (uint32_t)takes_link(s, n, r, i);
    for (uint32_t p = 0; p < s->processes; p++) {
        l->ends[p].next = (uint32_t)count;
        count += l->ends[p].last;
        l->ends[p].last = l->ends[p].next;
    }
    l->flows = malloc((count + 1) * sizeof *l->flows);
    if (!l->flows)
        return -1;
    for (uint32_t r = 0; r < s->streams; r++)
        for (uint64_t i = s->first[r]; i < s->first[r + 1]; i++) {
            if (!takes_link(s, n, r, i))
                continue;
            const ix_op *op = &s->ops[i];
            const ix_route *route = ix_route_of(s, n, r, op->peer);
            double work = route->gap_ns + route->byte_ns * ix_as_bytes(route, ix_bytes(op));
            l->flows[l->ends[s->process[r]].last++] =
                (ix_flow){ready_ns[i], work, i, s->process[op->peer], IX_NONE};
        }
    for (uint32_t p = 0; p < s->processes; p++) {
        const ix_end *end = &l->ends[p];
        uint32_t k = end->next + 1;
        while (k < end->last && by_start(&l->flows[k - 1], &l->flows[k]) <= 0)
            k++;
        if (k < end->last)
            qsort(l->flows + end->next, end->last - end->next, sizeof *l->flows, by_start);
    }
    return 0;
}

int64_t ix_share(const ix_schedule *schedule, const ix_network *network, const double *ready_ns,
                 double *shared_ns)
{
    ix_links l = {
        .processes = schedule->processes, .unused = IX_NONE, .first = IX_NONE, .last = IX_NONE};
    int64_t sharing = -1;
    l.ends = calloc(schedule->processes + 1, sizeof *l.ends);
    l.heap = malloc((schedule->processes + 1) * sizeof *l.heap);
    if (l.ends && l.heap && !gather(&l, schedule, network, ready_ns))
        sharing = ix_serve(&l, shared_ns);
    for (uint32_t p = 0; l.ends && p < l.processes; p++) {
        free(l.ends[p].out.of);
        free(l.ends[p].in.of);
    }
    free(l.flows);
    free(l.ends);
    free(l.heap);
    free(l.connections);
    return sharing;
}
