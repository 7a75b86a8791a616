/* The guard: reports every access to a buffer in flight that MPI forbids. A buffer that is sent
 * must not be written, one that is received into neither read nor written, until the transfer
 * completes. */
#ifndef IMBREX_ACCESS_GUARD_H
#define IMBREX_ACCESS_GUARD_H

#include "access/access.h"
#include "access/ranges.h"

/* A buffer in flight. */
typedef struct ixa_held ixa_held;

/* `directory`: where guard-RANK.json goes. */
IX_HIDDEN void ixa_guard_start(ixa_memory_t *memory, int rank, const char *directory);
/* A call is about to use the buffer: nothing that another transfer has it for? */
IX_HIDDEN void ixa_guard_check(const void *site, uint32_t operation, const ix_buffer *buffer);
/* What a send finds before the library may begin: as ixa_guard_hold wants it. */
IX_HIDDEN uint64_t ixa_guard_sum(const ix_buffer *buffer);
/* From now on the buffer is in flight; NULL if nothing moves, or without memory. */
IX_HIDDEN ixa_held *ixa_guard_hold(const void *site, uint32_t operation, const ix_buffer *buffer,
                                   uint64_t sum);
/* The transfer is over, or, at the end of the job, never was. `known`: it was seen complete. */
enum ixa_ending { IXA_COMPLETE, IXA_RELEASED, IXA_NEVER };
IX_HIDDEN void ixa_guard_release(ixa_held *held, enum ixa_ending ending);
IX_HIDDEN void ixa_guard_end(void);

#endif
