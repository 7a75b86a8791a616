/* Messages of this process to itself are no transfers. A library's tag, or the word of data beside
 * it, names communicator and sender: what this process once sent to itself is recognised. */
#ifndef IMBREX_TRANSPORT_SELF_MESSAGES_H
#define IMBREX_TRANSPORT_SELF_MESSAGES_H

#include <stdint.h>

#include "core/engine.h"

enum { IX_SELF_MESSAGES = 1024 };

typedef struct ix_self_messages {
    uint64_t mpi_tag_bits; /* those of the tag that say nothing of the sender */
    _Atomic uint64_t keys[IX_SELF_MESSAGES];
    _Atomic uint64_t
        states[IX_SELF_MESSAGES]; /* age of the last message, and how many are under way */
} ix_self_messages;

/* A communicator is freed: its number may become another's, in which the same tag names another
 * process. Only what is under way, and what is sent from now on, is still recognised. */
IX_HIDDEN void ix_self_messages_freed(uint64_t communicator);

/* 0 when there is no room. */
IX_HIDDEN int ix_self_sent(ix_self_messages *sent, uint64_t tag, uint64_t data);
IX_HIDDEN int ix_from_self(ix_self_messages *sent, uint64_t tag, uint64_t data);

#endif
