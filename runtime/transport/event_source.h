/* A source of events inside the library: one `const ix_event_source` in a file of its own, and one
 * line in sources.def. It calls ix_post and ix_complete of the engine. */
#ifndef IMBREX_TRANSPORT_EVENT_SOURCE_H
#define IMBREX_TRANSPORT_EVENT_SOURCE_H

#include "mpi/observers.h"
#include "transport/seen.h"

typedef struct ix_event_source ix_event_source;

/* What it is to take, as its trial and the program's MPI calls say. */
typedef struct ix_source_use {
    MPI_Comm all;
    uint32_t path_bits;       /* messages on these paths (bit 1 << path) */
    const uint8_t *is_data;   /* by operation: whether its messages are user data */
    const uint8_t *one_sided; /* by operation: what its puts and gets are (enum ix_form) */
} ix_source_use;

struct ix_event_source {
    const char *name, *title;
    const char *absent;   /* what to say where this MPI does not have it */
    const char *not_both; /* why it cannot take the messages of two paths; NULL: it can */
    /* Whether messages of this process pass through the source. */
    int (*probe)(MPI_Comm all);
    /* Collect into `seen` what this process posts; NULL: stop collecting. */
    void (*watch)(ix_seen *seen);
    /* From now on these messages are its transfers, and it is told of `events`. It may send
     * messages to itself on use->all. */
    void (*use)(const ix_event_source *source, const ix_source_use *use);
    /* What it wants to be told, once it is used. */
    ix_observer events;
};

/* The path of the bits, where there is one. */
IX_HIDDEN int ix_only_path(uint32_t path_bits);

/* Of messages to itself: the endpoint or address, and the bits of the library's tag that hold
 * MPI's. */
typedef struct ix_self_address {
    int known;
    uint64_t endpoint, tag_bits;
} ix_self_address;
IX_HIDDEN ix_self_address ix_find_self_address(const ix_event_source *source, MPI_Comm all);

#define SOURCE(name) extern IX_HIDDEN const ix_event_source ix_##name##_source;
#include "transport/sources.def"
#undef SOURCE

#endif
