/* What the engine's table of requests does not hold: the communicator of a wildcard receive, the
 * path of a matched message, the partitions of a partitioned send, the second transfer of an
 * MPI_Isendrecv. Lock-free and of fixed size; what does not fit has wider bounds. */
#ifndef IMBREX_MPI_NOTES_H
#define IMBREX_MPI_NOTES_H

#include "core/engine.h"

enum ix_note_kind {
    IX_NOTE_WILDCARD = 1,   /* value: the ix_comm, held; 0: MPI_COMM_WORLD */
    IX_NOTE_MESSAGE = 2,    /* path: that of the sender */
    IX_NOTE_PAIR = 3,       /* of a wildcard receive path IX_PATH_ANY, value as above */
    IX_NOTE_PARTITIONS = 4, /* value: bytes of one partition, path, slack */
};

typedef struct ix_note {
    uint64_t value;
    uint8_t kind;
    uint8_t path;
    uint8_t slack;
    uint8_t stays; /* until the request is freed, not until it completes */
} ix_note;

extern IX_HIDDEN _Atomic int32_t ix_notes_used;

/* 1, or 0 when there is no room. `key` is the handle of a request, or ~handle of a message. */
IX_HIDDEN int ix_note_add(uint64_t key, ix_note note);
/* 1 and a copy, or 0. `forget`: 0 keep, 1 remove unless it stays, 2 remove. */
IX_HIDDEN int ix_note_get(uint64_t key, int forget, ix_note *note);

#endif
