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
    _Atomic uint64_t states[IX_SELVES]; /* age of the last message, and how many are under way */
} ix_selves;

/* A communicator is freed: its number may become another's, in which the same tag names another
 * process. Only what is under way, and what is sent from now on, is still recognised. */
IX_HIDDEN void ix_selves_age(void);

/* 0 when there is no room. */
IX_HIDDEN int ix_self_sent(ix_selves *selves, uint64_t tag, uint64_t data);
IX_HIDDEN int ix_from_self(ix_selves *selves, uint64_t tag, uint64_t data);

#endif
