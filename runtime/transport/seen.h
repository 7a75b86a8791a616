/* What a source inside the library saw while it was tried out. */
#ifndef IMBREX_TRANSPORT_SEEN_H
#define IMBREX_TRANSPORT_SEEN_H

#include <stdint.h>

/* Bytes of user data that were posted; start with {0}. */
typedef struct ix_seen {
    int64_t sent, received;
    uint64_t endpoint, tag; /* of the last send, where the source knows them */
    int sends;
} ix_seen;

#endif
