/* Regions that the user marked: where a message's data are produced and consumed. */
#ifndef IMBREX_ACCESS_ANNOTATE_H
#define IMBREX_ACCESS_ANNOTATE_H

#include "access/ranges.h"

/* A rank's regions go to `directory` at ixa_regions_end, if there were any. */
IX_HIDDEN void ixa_regions_start(int rank, const char *directory);
IX_HIDDEN void ixa_regions_end(int64_t compute_ns);

/* The bytes [low, high) that a buffer spans. */
typedef struct ixa_span {
    uintptr_t low, high;
} ixa_span;
IX_HIDDEN ixa_span ixa_span_of(const ix_buffer *buffer);

/* A message is sent from these bytes; one has arrived in these. `compute_ns`: what the thread has
 * computed so far. */
IX_HIDDEN void ixa_regions_send(const void *site, uint32_t operation, const ix_buffer *buffer,
                                int64_t compute_ns);
IX_HIDDEN void ixa_regions_arrival(ixa_span span, int64_t compute_ns);

#endif
