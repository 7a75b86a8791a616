/* Messages of this process to itself are no transfers. A library's tag, or the word of data beside
 * it, names communicator and sender: what this process once sent to itself is recognised. */
#ifndef IMBREX_SELVES_H
#define IMBREX_SELVES_H

#include <stdint.h>

#include "engine.h"

enum { IX_SELVES = 1024 };

typedef struct ix_selves {
    uint64_t mpi_tag_bits; /* those of the tag that say nothing of the sender */
    _Atomic uint64_t keys[IX_SELVES];
} ix_selves;

/* 0 when there is no room. */
IX_HIDDEN int ix_self_sent(ix_selves *selves, uint64_t tag, uint64_t data);
IX_HIDDEN int ix_from_self(ix_selves *selves, uint64_t tag, uint64_t data);

#endif
