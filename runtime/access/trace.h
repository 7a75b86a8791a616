/* The order of calls, messages and computation of one rank: what a replay on another network needs.
 */
#ifndef IMBREX_ACCESS_TRACE_H
#define IMBREX_ACCESS_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "thread.h"

/* An entry of trace.R.bin. CALL: `id` is the hash of the function's name, `ns` the clean
 * computation before it. Of the others `id` is the message's number; they lie within the call
 * before them. */
enum ixa_trace_kind { IXA_TRACE_CALL, IXA_TRACE_SEND, IXA_TRACE_POST, IXA_TRACE_ARRIVED };
typedef struct {
    uint32_t kind, id;
    float ns;
} ixa_trace_t;

IX_HIDDEN void ixa_trace(enum ixa_trace_kind kind, uint32_t id, double ns);
IX_HIDDEN void ixa_trace_finish(void);

#endif
