/* Where the processes of a communicator or window are: paths, sizes, degrees. */
#ifndef IMBREX_MPI_COMMS_H
#define IMBREX_MPI_COMMS_H

#include "mpi/types.h"

/* A process outside MPI_COMM_WORLD (spawned, connected): its node is not known, so the path counts
 * as inter-node and nothing is claimed about its transfers. */
#define IX_PATH_FOREIGN 0x80

/* A source inside the library does not see the messages of this communicator: they stay with the
 * calls. */
#define IX_PATH_UNSEEN 0x40

typedef struct ix_comm {
    uint64_t handle;
    int32_t rank;  /* of this process */
    int32_t size;  /* of the (local) group */
    int32_t peers; /* size of the group that messages go to: remote if inter */
    int inter;
    uint8_t path; /* the longest to any peer: what a collective has to use */
    /* of the process topology: their places in the arguments; -1: not asked yet */
    int32_t source_places, destination_places;
    uint64_t missing; /* places without a neighbour, beyond the edge of a grid */
    uint64_t members; /* a hash of the processes that messages go to, in their order */
    uint64_t family;  /* a hash of all members */
    uint32_t number;  /* the same on all members: comm_numbers.h */
    _Atomic uint32_t collectives, inits; /* called on it so far, and persistent ones planned */
    struct ix_group_epochs *epochs;      /* of a window: group_epochs.h; NULL until the first */
    _Atomic int32_t holds; /* the table's, and one of each wildcard receive that is noted */
    uint8_t paths[];       /* by rank of the peer */
} ix_comm;

/* Collective over MPI_COMM_WORLD's duplicate `all`: who shares a node. 0, or -1 when it cannot be
 * known. ix_comms_start_alone: no communication, everybody else is foreign. */
IX_HIDDEN int ix_comms_start(MPI_Comm all);
IX_HIDDEN int ix_comms_start_alone(int rank, int ranks);
IX_HIDDEN void ix_comms_stop(void);
/* 1 if all ranks of MPI_COMM_WORLD are on one node. */
IX_HIDDEN int ix_comms_one_node(void);
/* At least 1. */
IX_HIDDEN int ix_comms_ranks_on_node(void);

/* From a table; the first time it asks the library. NULL only when there is no memory. */
IX_HIDDEN IX_COLD ix_comm *ix_comm_find(MPI_Comm comm);
/* Number MPI_COMM_WORLD and MPI_COMM_SELF: before any other. */
IX_HIDDEN void ix_comms_number_predefined(void);
/* A communicator or window was created; MPI_Comm_idup began to create one. Numbers them. */
IX_HIDDEN void ix_comm_created(MPI_Comm comm);
IX_HIDDEN void ix_window_created(MPI_Win win);
IX_HIDDEN void ix_comm_promised(MPI_Comm parent);
/* ix_comm_find, but NULL for one that was not met yet; asks nobody. */
IX_HIDDEN ix_comm *ix_comm_known(MPI_Comm comm);
IX_HIDDEN ix_comm *ix_comm_of_window(MPI_Win win);
IX_HIDDEN IX_COLD void ix_ask_topology(ix_comm *c);

extern IX_HIDDEN const uint8_t *ix_world_paths;
extern IX_HIDDEN int32_t ix_world_size;
extern IX_HIDDEN uint32_t ix_world_number;

/* A receive may be open longer than its communicator, and may have to ask for the path of its
 * source then. */
static inline void ix_comm_hold(ix_comm *c)
{
    atomic_fetch_add_explicit(&c->holds, 1, memory_order_relaxed);
}
IX_HIDDEN void ix_comm_drop(ix_comm *c);

/* Open addressing by handle. Readers take no lock: an entry is published whole and leaves the table
 * only when its communicator is freed, when nobody may name that any more. As many
 * places as Open MPI has context numbers: of the pages only those in use are touched. */
#define IX_COMM_BITS 16
#define IX_COMM_SLOTS (1 << IX_COMM_BITS)
#define IX_COMM_TOMBSTONE ((ix_comm *)1)

typedef struct ix_comm_table {
    _Atomic(ix_comm *) slots[IX_COMM_SLOTS];
} ix_comm_table;

extern IX_HIDDEN ix_comm_table ix_comms;

static inline uint32_t ix_comm_slot(uint64_t handle)
{
    return (uint32_t)((handle * 0x9e3779b97f4a7c15u) >> (64 - IX_COMM_BITS));
}

static inline int ix_path_in(const ix_comm *c, int rank)
{
    return c && (uint32_t)rank < (uint32_t)c->peers ? c->paths[rank] : IX_PATH_NONE;
}

/* The communicator at its place of the table, or NULL: the rest is ix_comm_find's. */
static inline IX_ALWAYS ix_comm *ix_comm_at_home(MPI_Comm comm)
{
    ix_comm *c =
        atomic_load_explicit(&ix_comms.slots[ix_comm_slot(ix_handle(comm))], memory_order_acquire);
    int is_it = (uintptr_t)c > (uintptr_t)IX_COMM_TOMBSTONE && c->handle == ix_handle(comm);
    return IX_LIKELY(is_it) ? c : NULL;
}

static inline IX_ALWAYS ix_comm *ix_comm_of(MPI_Comm comm)
{
    ix_comm *c = ix_comm_at_home(comm);
    return IX_LIKELY(c) ? c : ix_comm_find(comm);
}

/* The common number; 0: there is none. */
static inline IX_ALWAYS uint32_t ix_comm_number(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return ix_world_number;
    const ix_comm *c = ix_comm_of(comm);
    return c ? c->number : 0;
}

IX_HIDDEN IX_COLD int ix_path_slow(MPI_Comm comm, int rank);

/* Path to `rank` of `comm`; IX_PATH_NONE for MPI_PROC_NULL, IX_PATH_ANY for MPI_ANY_SOURCE. */
static inline IX_ALWAYS int ix_path_to(MPI_Comm comm, int rank)
{
    if (comm == MPI_COMM_WORLD && (uint32_t)rank < (uint32_t)ix_world_size)
        return ix_world_paths[rank];
    if (rank == MPI_PROC_NULL)
        return IX_PATH_NONE;
    const ix_comm *c = ix_comm_at_home(comm);
    if (IX_LIKELY(c && (uint32_t)rank < (uint32_t)c->peers))
        return c->paths[rank];
    return ix_path_slow(comm, rank);
}

/* The same without asking anybody; IX_PATH_NONE: not known. */
static inline IX_ALWAYS int ix_known_path(MPI_Comm comm, int rank)
{
    if (rank == MPI_ANY_SOURCE)
        return IX_PATH_ANY;
    if (comm == MPI_COMM_WORLD)
        return (uint32_t)rank < (uint32_t)ix_world_size ? ix_world_paths[rank] : IX_PATH_NONE;
    return ix_path_in(ix_comm_at_home(comm), rank);
}

static inline int32_t ix_source_places(ix_comm *c)
{
    if (c->source_places < 0)
        ix_ask_topology(c);
    return c->source_places;
}

static inline int32_t ix_destination_places(ix_comm *c)
{
    if (c->source_places < 0)
        ix_ask_topology(c);
    return c->destination_places;
}

/* How many processes neighbourhood collectives talk to. */
static inline int32_t ix_sources(ix_comm *c)
{
    int32_t places = ix_source_places(c); /* first: it may ask who is missing */
    return places - __builtin_popcountll(c->missing);
}

static inline int32_t ix_destinations(ix_comm *c)
{
    int32_t places = ix_destination_places(c); /* first: it may ask who is missing */
    return places - __builtin_popcountll(c->missing);
}

static inline int ix_is_missing(uint64_t missing, int32_t place)
{
    return place < 64 && missing >> place & 1;
}

#endif
