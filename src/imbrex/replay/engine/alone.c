/* Links by themselves, for a caller that decides for itself what is sent when (farm_links.py). */
#include <math.h>
#include <stdlib.h>

#include "links.h"

void ix_alone_close(ix_links *links)
{
    if (!links)
        return;
    ix_links_close(links);
    free(links);
}

/* NULL: no memory. */
ix_links *ix_alone_open(uint32_t processes, uint32_t streams, int in_order)
{
    ix_links *links = calloc(1, sizeof *links);
    if (links && ix_links_open(links, processes, streams, in_order)) {
        ix_alone_close(links);
        return NULL;
    }
    return links;
}

void ix_alone_offer(ix_links *links, double ready_ns, double work_ns, double flies_ns, uint32_t op,
                    uint32_t from, uint32_t to, uint32_t stream)
{
    ix_links_offer(links, (ix_flow){ready_ns, work_ns, flies_ns, op, from, to, stream, UINT32_MAX});
}

static double next_ns(const ix_links *links)
{
    double begins = links->starts_count ? ix_to_ns((uint64_t)(links->starts[0] >> 64)) : INFINITY;
    uint64_t first = ix_earliest_time(&links->events);
    double ends = first == IX_NEVER ? INFINITY : ix_to_ns(first);
    return begins < ends ? begins : ends;
}

/* Pass events up to and with those at a time, until a message is through: 1, and its operation and
 * when it has arrived. 0: none is. -1: no memory. */
int ix_alone_until(ix_links *links, double until_ns, uint64_t *op, double *at_ns)
{
    while (!links->failed && next_ns(links) <= until_ns) {
        ix_through through;
        int passed = ix_links_pass(links, &through);
        if (passed == 2) {
            *op = through.op;
            *at_ns = through.at_ns;
            return 1;
        }
        if (!passed)
            break;
    }
    return links->failed ? -1 : 0;
}
