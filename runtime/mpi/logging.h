/* From the arguments of MPI calls to the records of the call log. As arguments.h: between ix_enter
 * and ix_leave, after the library's own function succeeded. */
#ifndef IMBREX_MPI_LOGGING_H
#define IMBREX_MPI_LOGGING_H

#include "core/call_logging.h"
#include "mpi/comms.h"

static inline IX_ALWAYS int32_t ix_logged_peer(int peer)
{
    if (IX_LIKELY(peer >= 0))
        return peer;
    return peer == MPI_ANY_SOURCE ? IX_LOG_ANY : IX_LOG_PROC_NULL;
}

static inline IX_ALWAYS int32_t ix_logged_tag(int tag)
{
    return tag == MPI_ANY_TAG ? IX_LOG_ANY_TAG : tag;
}

static inline IX_ALWAYS uint32_t ix_wildcard(int peer, int tag)
{
    return peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG ? IX_LOG_WILDCARD : 0;
}

/* A message as it is logged: `path` as ix_path_to gives it. */
static inline IX_ALWAYS uint64_t ix_logged_envelope(uint32_t kind, int tag, int path,
                                                    uint32_t flags)
{
    return ix_log_envelope(ix_logged_tag(tag), kind,
                           (uint32_t)path & ~(uint32_t)(IX_PATH_FOREIGN | IX_PATH_UNSEEN), flags);
}

static inline IX_ALWAYS uint64_t ix_logged_where(MPI_Comm comm, int peer)
{
    return ix_log_where(ix_comm_number(comm), ix_logged_peer(peer));
}

/* Who a message goes to or comes from: its path as ix_path_to gives it, and the number of the
 * communicator in the call log (0 where that is off). */
typedef struct ix_partner {
    int path;
    uint32_t comm;
} ix_partner;

static inline IX_ALWAYS ix_partner ix_partner_of(MPI_Comm comm, int rank)
{
    if (comm == MPI_COMM_WORLD && (uint32_t)rank < (uint32_t)ix_world_size)
        return (ix_partner){ix_world_paths[rank], ix_world_number};
    const ix_comm *c = ix_comm_at_home(comm);
    if (IX_LIKELY(c && (uint32_t)rank < (uint32_t)c->peers))
        return (ix_partner){c->paths[rank], c->number};
    return (ix_partner){ix_path_to(comm, rank), ix_log_is_on ? ix_comm_number(comm) : 0};
}

static inline IX_ALWAYS void ix_log_sent(ix_thread *t, uint32_t kind, int64_t bytes, ix_partner to,
                                         int peer, int tag)
{
    if (IX_LIKELY(ix_log_is_on))
        ix_log_message(t, bytes, ix_log_where(to.comm, ix_logged_peer(peer)),
                       ix_logged_envelope(kind, tag, to.path, 0));
}

/* Whom the call that was just entered waits for, should the process end in it. The library has not
 * checked the arguments yet: nobody is asked about them. */
static inline IX_ALWAYS void ix_awaits(ix_thread *t, MPI_Comm comm, int peer, int tag)
{
    if (IX_UNLIKELY(!ix_outermost(t)))
        return;
    const ix_comm *c = comm == MPI_COMM_WORLD ? NULL : ix_comm_at_home(comm);
    uint32_t number = comm == MPI_COMM_WORLD ? ix_world_number : c ? c->number : 0;
    t->awaited = (ix_awaited){ix_log_where(number, ix_logged_peer(peer)), ix_logged_tag(tag),
                              (uint32_t)t->last_ns};
}

/* The same of a collective. */
static inline IX_ALWAYS void ix_awaits_all(ix_thread *t, MPI_Comm comm, int root)
{
    const ix_comm *c = ix_outermost(t) ? ix_comm_at_home(comm) : NULL;
    if (IX_LIKELY(c))
        t->awaited =
            (ix_awaited){ix_log_where(c->number, root),
                         (int32_t)atomic_load_explicit(&c->collectives, memory_order_relaxed) + 1,
                         (uint32_t)t->last_ns};
}

/* A receive of this call, which asked for `peer` and `tag`. */
static inline IX_ALWAYS void ix_log_received(ix_thread *t, const MPI_Status *status, int64_t bytes,
                                             ix_partner from, int peer, int tag)
{
    if (IX_LIKELY(ix_log_is_on))
        ix_log_message(
            t, bytes, ix_log_where(from.comm, ix_logged_peer(status->MPI_SOURCE)),
            ix_logged_envelope(IX_LOG_RECV, status->MPI_TAG, from.path, ix_wildcard(peer, tag)));
}

/* What a request completes; of two, IX_LOG_PAIR in `pair`. */
static inline IX_ALWAYS void ix_log_request_begun(ix_thread *t, uint32_t kind, MPI_Request request,
                                                  int64_t bytes, ix_partner partner, int peer,
                                                  int tag, uint64_t pair)
{
    uint32_t wildcard = kind == IX_LOG_RECV ? ix_wildcard(peer, tag) : 0;
    if (IX_LIKELY(ix_log_is_on))
        ix_log_begun(t, ix_handle(request), bytes, ix_log_where(partner.comm, ix_logged_peer(peer)),
                     ix_logged_envelope(kind, tag, partner.path, wildcard) | pair, 0);
}

/* The usual one, and what it moves. */
static inline IX_ALWAYS void ix_begin_logged_message(ix_thread *t, uint32_t kind,
                                                     MPI_Request request, const ix_transfer *x,
                                                     uint32_t comm, int peer, int tag)
{
    ix_begin_logged(t, ix_handle(request), x->bytes, ix_pack(x), ix_log_where(comm, peer),
                    ix_log_envelope(tag, kind, 0, 0));
}

static inline void ix_log_request_planned(ix_thread *t, uint32_t kind, MPI_Request request,
                                          int64_t bytes, int path, int peer, int tag, MPI_Comm comm,
                                          int parts)
{
    uint32_t wildcard = kind == IX_LOG_RECV ? ix_wildcard(peer, tag) : 0;
    if (ix_log_is_on)
        ix_log_planned(t, ix_handle(request), bytes, ix_logged_where(comm, peer),
                       ix_logged_envelope(kind, tag, path, wildcard), 0, (uint32_t)parts);
}

static inline IX_ALWAYS void ix_log_request_completed(ix_thread *t, MPI_Request request,
                                                      const MPI_Status *status, int64_t bytes,
                                                      int path, uint32_t flags)
{
    if (!ix_log_is_on)
        return;
    if (IX_UNLIKELY(ix_log_is_on == IX_LOG_ON_WITH_CANCELS)) {
        int cancelled = 0;
        PMPI_Test_cancelled(status, &cancelled);
        flags |= cancelled ? IX_LOG_CANCELLED : 0;
    }
    ix_log_completed(t, ix_handle(request), status->MPI_SOURCE, status->MPI_TAG, bytes,
                     flags | ix_log_path(path));
}

/* A blocking receive failed: a truncated message was received all the same. */
IX_HIDDEN IX_COLD void ix_log_receive_failed(ix_thread *t, int rc, const MPI_Status *status,
                                             int peer, int tag, MPI_Comm comm);

static inline void ix_log_probed(ix_thread *t, const MPI_Status *status, MPI_Comm comm, int peer,
                                 int tag)
{
    if (!ix_log_is_on)
        return;
    ix_log_done(t, ix_status_bytes(status), ix_logged_where(comm, status->MPI_SOURCE),
                ix_logged_envelope(IX_LOG_PROBE, status->MPI_TAG,
                                   ix_path_to(comm, status->MPI_SOURCE), ix_wildcard(peer, tag)),
                0);
    ix_log_end_polls(t);
}

#if MPI_VERSION >= 3
static inline void ix_log_message_found(ix_thread *t, MPI_Message message, const MPI_Status *status,
                                        MPI_Comm comm, int peer, int tag)
{
    if (ix_log_is_on)
        ix_log_found(t, ~ix_handle(message), ix_status_bytes(status),
                     ix_logged_where(comm, status->MPI_SOURCE),
                     ix_logged_envelope(IX_LOG_PROBE, status->MPI_TAG,
                                        ix_path_to(comm, status->MPI_SOURCE),
                                        ix_wildcard(peer, tag)));
}
#endif

static inline int32_t ix_logged_root(int root)
{
    if (root >= 0)
        return root;
    return root == MPI_ROOT        ? IX_LOG_HERE
           : root == MPI_PROC_NULL ? IX_LOG_PROC_NULL
                                   : IX_LOG_NOBODY;
}

static inline uint64_t ix_collective_envelope(const ix_comm *c, uint32_t kind, uint32_t flags)
{
    return ix_logged_envelope(kind, 0, c->path, flags);
}

static inline uint32_t ix_next_collective(ix_comm *c)
{
    return atomic_fetch_add_explicit(&c->collectives, 1, memory_order_relaxed) + 1;
}

static inline void ix_log_collective(ix_thread *t, ix_comm *c, int root, uint32_t kind,
                                     uint32_t flags, int64_t bytes)
{
    if (IX_LIKELY(ix_log_is_on && c))
        ix_log_done(t, bytes, ix_log_where(c->number, ix_logged_root(root)),
                    ix_collective_envelope(c, kind, flags), ix_next_collective(c));
}

static inline void ix_log_collective_begun(ix_thread *t, ix_comm *c, int root, uint32_t kind,
                                           uint32_t flags, int64_t bytes, MPI_Request request)
{
    if (IX_LIKELY(ix_log_is_on && c))
        ix_log_begun(t, ix_handle(request), bytes, ix_log_where(c->number, ix_logged_root(root)),
                     ix_collective_envelope(c, kind, flags), ix_next_collective(c));
}

/* Starts may come in another order on each rank: the number of the init says which belong together.
 */
static inline void ix_log_collective_planned(ix_thread *t, ix_comm *c, int root, uint32_t kind,
                                             uint32_t flags, int64_t bytes, MPI_Request request)
{
    if (ix_log_is_on && c)
        ix_log_planned(t, ix_handle(request), bytes, ix_log_where(c->number, ix_logged_root(root)),
                       ix_collective_envelope(c, kind, flags),
                       atomic_fetch_add_explicit(&c->inits, 1, memory_order_relaxed) + 1, 0);
}

/* 0: the window is not known. */
static inline uint32_t ix_window_number(MPI_Win win)
{
    const ix_comm *c = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    return c ? c->number : 0;
}

static inline void ix_log_one_sided(ix_thread *t, MPI_Win win, int peer, int64_t bytes, int path,
                                    uint32_t kind)
{
    if (IX_LIKELY(ix_log_is_on))
        ix_log_done(t, bytes, ix_log_where(ix_window_number(win), ix_logged_peer(peer)),
                    ix_logged_envelope(kind, 0, path, 0), 0);
}

static inline void ix_log_one_sided_begun(ix_thread *t, MPI_Win win, int peer, int64_t bytes,
                                          int path, uint32_t kind, MPI_Request request)
{
    if (IX_LIKELY(ix_log_is_on))
        ix_log_begun(t, ix_handle(request), bytes,
                     ix_log_where(ix_window_number(win), ix_logged_peer(peer)),
                     ix_logged_envelope(kind, 0, path, 0), 0);
}

/* A fence that ends no epoch need not wait for anybody; one that may end one waits for all. */
enum ix_fence { IX_NO_FENCE, IX_FENCE, IX_OPENING_FENCE };
#define IX_FENCE_OF(assertion) ((assertion)&MPI_MODE_NOPRECEDE ? IX_OPENING_FENCE : IX_FENCE)

/* An epoch of a window begins or ends, towards one target or IX_ALL. */
static inline void ix_log_epoch(ix_thread *t, MPI_Win win, int target, enum ix_fence fence)
{
    ix_comm *c = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    if (!c)
        return;
    uint32_t sequence = fence ? ix_next_collective(c) : 0;
    int opens = fence == IX_OPENING_FENCE || sequence == 1; /* no other came before it */
    ix_log_done(t, 0, ix_log_where(c->number, target < 0 ? IX_LOG_NOBODY : ix_logged_peer(target)),
                ix_collective_envelope(c, IX_LOG_EPOCH, opens ? IX_LOG_VARYING : 0), sequence);
}

/* MPI_Win_lock: an epoch of which the type of the lock says who else can have one. */
#define IX_LOCK_OF(type) ((type) == MPI_LOCK_EXCLUSIVE ? IX_LOG_EXCLUSIVE : IX_LOG_SHARED)

static inline void ix_log_lock(ix_thread *t, MPI_Win win, int target, int type, int assertion)
{
    ix_comm *c = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    if (c)
        ix_log_done(t, 0, ix_log_where(c->number, ix_logged_peer(target)),
                    ix_logged_envelope(IX_LOG_EPOCH, type, c->path,
                                       assertion & MPI_MODE_NOCHECK ? IX_LOG_VARYING : 0),
                    0);
}

/* MPI_Win_free, of which the number and sequence are to be known before: */
static inline uint64_t ix_last_of_window(MPI_Win win)
{
    ix_comm *c = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    return c ? c->number | (uint64_t)ix_next_collective(c) << 32 : 0;
}

static inline void ix_log_window_freed(ix_thread *t, uint64_t last)
{
    if (last) /* without locks it need not wait for the others */
        ix_log_done(t, 0, ix_log_where((uint32_t)last, IX_LOG_NOBODY),
                    ix_logged_envelope(IX_LOG_ALL, 0, IX_PATH_NONE, IX_LOG_VARYING),
                    (uint32_t)(last >> 32));
}

#endif
