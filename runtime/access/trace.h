/* The order of calls, messages and computation of one rank: what a replay on another network needs.
 */
#ifndef IMBREX_ACCESS_TRACE_H
#define IMBREX_ACCESS_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "core/thread.h"
#include "mpi/comms.h"

/* An entry of trace.R.bin. CALL: `id` is the hash of the function's name, `ns` the clean
 * computation before it. GROUP: the call is a collective of other processes than all, `id` their
 * number in access.R.json. TAKEN: the receive whose POST is entry `id` takes the message of the
 * ARRIVED behind. Of the others `id` is the message's number. They lie within the call before them.
 */
enum ixa_trace_kind {
    IXA_TRACE_CALL,
    IXA_TRACE_SEND,
    IXA_TRACE_POST,
    IXA_TRACE_ARRIVED,
    IXA_TRACE_GROUP,
    IXA_TRACE_TAKEN
};
typedef struct {
    uint32_t kind, id;
    float ns;
} ixa_trace_t;

/* The entry's place in the file, IXA_NO_TRACE where there was no room for it. */
enum { IXA_NO_TRACE = -1 };
IX_HIDDEN int32_t ixa_trace(enum ixa_trace_kind kind, uint32_t id, double ns);
/* The call is a collective on `c`. */
IX_HIDDEN void ixa_trace_group(const ix_comm *c);
/* How many collectives came before recording began. */
IX_HIDDEN uint64_t ixa_trace_skipped(void);
IX_HIDDEN void ixa_trace_finish(void);

/* Processes that made collective calls by themselves. `members`: equal for equal groups on all
 * ranks, 0 where they are those of two groups. */
typedef struct {
    uint64_t members;
    int32_t size;
} ixa_group_t;
/* By number; NULL behind the last. */
IX_HIDDEN const ixa_group_t *ixa_group(size_t number);

#endif
