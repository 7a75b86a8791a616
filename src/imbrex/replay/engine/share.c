/* Messages that are under way at the same time share the link of their process. */
#include <stdlib.h>

#include "engine.h"

typedef struct ix_flow {
    double ready_ns, work_ns, left_ns;
    uint64_t op;
    uint32_t peer;
    uint32_t next; /* of its peer: the flow behind it */
} ix_flow;

static int by_start(const void *a, const void *b)
{
    const ix_flow *x = a, *y = b;
    if (x->ready_ns != y->ready_ns)
        return x->ready_ns < y->ready_ns ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* The sends of a process that take its link, in the order in which they can start. */
static uint32_t gather(const ix_schedule *s, const ix_network *n, uint32_t process,
                       const double *ready_ns, ix_flow *flows)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < s->streams; r++) {
        if (s->process[r] != process)
            continue;
        for (uint64_t i = s->first[r]; i < s->first[r + 1]; i++) {
            const ix_op *op = &s->ops[i];
            if (op->kind != IX_SEND || ix_is_site(s, op, (int64_t)i, n->free_site))
                continue;
            const ix_route *route = ix_route_of(s, n, r, op->peer);
            double moves = route->byte_ns * ix_bytes(op);
            double work = moves > route->gap_ns ? moves : route->gap_ns;
            if (flows)
                flows[count] = (ix_flow){ready_ns[i], work, work, i, op->peer, IX_NONE};
            count++;
        }
    }
    return count;
}

/* `active`: the first flow of each peer that is under way. */
static int64_t serve(ix_flow *flows, uint32_t count, uint32_t *active, uint32_t *last,
                     double *shared_ns)
{
    int64_t sharing = 0;
    uint32_t under_way = 0, next = 0;
    double now = 0;
    while (next < count || under_way) {
        if (!under_way && flows[next].ready_ns > now)
            now = flows[next].ready_ns;
        while (next < count && flows[next].ready_ns <= now) {
            uint32_t slot = 0;
            while (slot < under_way && flows[active[slot]].peer != flows[next].peer)
                slot++;
            if (slot == under_way) {
                active[under_way] = last[under_way] = next;
                under_way++;
            } else {
                flows[last[slot]].next = next;
                last[slot] = next;
            }
            next++;
        }
        double least = flows[active[0]].left_ns;
        for (uint32_t k = 1; k < under_way; k++)
            least = flows[active[k]].left_ns < least ? flows[active[k]].left_ns : least;
        double until = now + least * under_way;
        if (next < count && flows[next].ready_ns < until)
            until = flows[next].ready_ns;
        double served = (until - now) / under_way;
        for (uint32_t k = 0; k < under_way;) {
            ix_flow *flow = &flows[active[k]];
            flow->left_ns -= served;
            /* Rounding may leave a little of what is served to its end. */
            if (flow->left_ns > 1e-9 * flow->work_ns + 1e-12) {
                k++;
                continue;
            }
            double more = until - flow->ready_ns - flow->work_ns;
            shared_ns[flow->op] = more > 1e-6 ? more : 0;
            sharing += more > 1e-6;
            if (flow->next != IX_NONE) {
                active[k] = flow->next;
                k++;
            } else {
                under_way--;
                active[k] = active[under_way];
                last[k] = last[under_way];
            }
        }
        now = until;
    }
    return sharing;
}

int64_t ix_share(const ix_schedule *schedule, const ix_network *network, const double *ready_ns,
                 double *shared_ns)
{
    int64_t sharing = 0;
    for (uint32_t p = 0; p < schedule->processes; p++) {
        uint32_t count = gather(schedule, network, p, ready_ns, NULL);
        if (!count)
            continue;
        ix_flow *flows = malloc(count * sizeof *flows);
        uint32_t *active = malloc(2 * count * sizeof *active);
        if (!flows || !active) {
            free(flows);
            free(active);
            return -1;
        }
        gather(schedule, network, p, ready_ns, flows);
        qsort(flows, count, sizeof *flows, by_start);
        sharing += serve(flows, count, active, active + count, shared_ns);
        free(flows);
        free(active);
    }
    return sharing;
}
