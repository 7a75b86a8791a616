/* From the arguments of MPI calls to the transfers of the engine. All are called between ix_enter
 * and ix_leave, after the library's own function succeeded. */
#ifndef IMBREX_MPI_ARGUMENTS_H
#define IMBREX_MPI_ARGUMENTS_H

#include "core/engine.h"
#include "core/needing.h"
#include "mpi/block_sizes.h"
#include "mpi/comms.h"
#include "mpi/logging.h"
#include "mpi/notes.h"
#include "mpi/observers.h"

#define IX_NO_ROOT (-32000)

/* A transfer on `path` as ix_path_to gives it. */
static inline IX_ALWAYS ix_transfer ix_moved(int64_t bytes, int path, int slack)
{
    ix_transfer x = {.bytes = bytes, .path = (uint8_t)path, .slack = (uint8_t)slack};
    if (IX_UNLIKELY(path & (IX_PATH_FOREIGN | IX_PATH_UNSEEN))) {
        x.path = (uint8_t)(path & ~(IX_PATH_FOREIGN | IX_PATH_UNSEEN));
        if (path & IX_PATH_FOREIGN)
            x.slack = IX_SLACK_UNKNOWN;
        if (path & IX_PATH_UNSEEN)
            x.flags = IX_CALL_ONLY;
    }
    return x;
}

/* What each start of a persistent request begins. */
static inline void ix_planned(ix_thread *t, MPI_Request request, ix_transfer *transfer)
{
    if (ix_persistent_unseen)
        transfer->flags |= IX_CALL_ONLY;
    ix_persistent(t, ix_handle(request), transfer);
}

/* A message that needs no progress thread, as far as that is known without asking the library,
 * which has not checked these arguments yet. */
static inline IX_ALWAYS int ix_is_without_need(int64_t count, MPI_Datatype type, int peer,
                                               MPI_Comm comm)
{
    int path = ix_known_path(comm, peer) & ~(IX_PATH_FOREIGN | IX_PATH_UNSEEN);
    int64_t type_bytes = ix_known_type_bytes(type);
    return peer == MPI_PROC_NULL || (path != IX_PATH_NONE && type_bytes &&
                                     !ix_message_needs_progress((uint8_t)path, count * type_bytes));
}

/* `kind` is that of the record in the call log. */
static inline void ix_sent(ix_thread *t, int64_t count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm comm, int slack, uint32_t kind)
{
    ix_partner to = ix_partner_of(comm, peer);
    int64_t bytes = count * ix_type_bytes(type);
    ix_log_sent(t, kind, bytes, to, peer, tag);
    if (to.path == IX_PATH_NONE)
        return;
    ix_transfer x = ix_moved(bytes, to.path, slack);
    ix_blocking(t, &x);
}

static inline IX_ALWAYS void ix_send_begun(ix_thread *t, MPI_Request request, int64_t count,
                                           MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                                           int slack, uint32_t kind)
{
    ix_partner to = ix_partner_of(comm, peer);
    ix_transfer x = ix_moved(count * ix_type_bytes(type), to.path, slack);
    if (IX_LIKELY(ix_log_is_on && peer >= 0 && to.path != IX_PATH_NONE)) {
        ix_begin_logged_message(t, kind, request, &x, to.comm, peer, tag);
        return;
    }
    ix_log_request_begun(t, kind, request, x.bytes, to, peer, tag, 0);
    if (to.path != IX_PATH_NONE)
        ix_begin(t, ix_handle(request), &x);
}

static inline void ix_send_planned(ix_thread *t, MPI_Request request, int64_t count,
                                   MPI_Datatype type, int peer, int tag, MPI_Comm comm, int slack,
                                   uint32_t kind)
{
    int path = ix_path_to(comm, peer);
    ix_transfer x = ix_moved(count * ix_type_bytes(type), path, slack);
    ix_log_request_planned(t, kind, request, x.bytes, path, peer, tag, comm, 0);
    ix_planned(t, request, &x);
}

/* `peer` and `tag` are what the receive asked for. */
static inline void ix_received(ix_thread *t, const MPI_Status *status, int peer, int tag,
                               MPI_Comm comm)
{
    ix_partner from = ix_partner_of(comm, status->MPI_SOURCE);
    ix_transfer x = ix_moved(ix_status_bytes(status), from.path, IX_SLACK_HEAD);
    ix_log_received(t, status, x.bytes, from, peer, tag);
    if (ix_is_told(IX_TELL_REQUESTS))
        ix_tell_received(t, &x);
    ix_blocking(t, &x);
}

static inline IX_ALWAYS ix_transfer ix_posted(int64_t bytes, int peer, MPI_Comm comm, int path)
{
    ix_transfer x = ix_moved(bytes, path, IX_SLACK_HEAD);
    x.flags |= IX_UP_TO;
    if (IX_UNLIKELY(peer == MPI_ANY_SOURCE && comm != MPI_COMM_WORLD)) {
        const ix_comm *c = ix_comm_of(comm);
        if (c && c->path & IX_PATH_FOREIGN)
            x.slack = IX_SLACK_UNKNOWN;
        if (c && c->path & IX_PATH_UNSEEN)
            x.flags |= IX_CALL_ONLY;
    }
    return x;
}

/* A note with the communicator of a wildcard receive. */
static inline void ix_note_wildcard(MPI_Request request, MPI_Comm comm, ix_note note)
{
    ix_comm *c = NULL;
    if (comm != MPI_COMM_WORLD) {
        c = ix_comm_of(comm);
        if (!c)
            return;
        ix_comm_hold(c);
    }
    note.value = (uint64_t)(uintptr_t)c;
    note.path = IX_PATH_ANY;
    if (!ix_note_add(ix_handle(request), note) && c)
        ix_comm_drop(c);
}

static inline IX_ALWAYS void ix_recv_begun(ix_thread *t, MPI_Request request, int64_t count,
                                           MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    ix_partner from = ix_partner_of(comm, peer);
    int64_t bytes = count * ix_type_bytes(type);
    int is_named = peer >= 0 && tag != MPI_ANY_TAG;
    if (IX_LIKELY(ix_log_is_on && is_named && from.path != IX_PATH_NONE)) {
        ix_transfer named = ix_posted(bytes, peer, comm, from.path);
        ix_begin_logged_message(t, IX_LOG_RECV, request, &named, from.comm, peer, tag);
        return;
    }
    ix_log_request_begun(t, IX_LOG_RECV, request, bytes, from, peer, tag, 0);
    if (from.path == IX_PATH_NONE)
        return;
    ix_transfer x = ix_posted(bytes, peer, comm, from.path);
    if (IX_UNLIKELY(peer == MPI_ANY_SOURCE))
        ix_note_wildcard(request, comm, (ix_note){.kind = IX_NOTE_WILDCARD});
    ix_begin(t, ix_handle(request), &x);
}

/* Persistent, or partitioned: `parts` partitions. */
static inline void ix_recv_planned(ix_thread *t, MPI_Request request, int64_t count,
                                   MPI_Datatype type, int peer, int tag, MPI_Comm comm, int parts)
{
    int path = ix_path_to(comm, peer);
    ix_transfer x = ix_posted(count * ix_type_bytes(type), peer, comm, path);
    ix_log_request_planned(t, parts ? IX_LOG_PARTS_RECV : IX_LOG_RECV, request, x.bytes, path, peer,
                           tag, comm, parts);
    if (peer == MPI_ANY_SOURCE)
        ix_note_wildcard(request, comm, (ix_note){.kind = IX_NOTE_WILDCARD, .stays = 1});
    ix_planned(t, request, &x);
}

/* The message of a matched probe knows neither its communicator nor its source, so a note keeps
 * what its receive needs of them. */

#if MPI_VERSION >= 3
static inline void ix_message_found(ix_thread *t, MPI_Message message, const MPI_Status *status,
                                    int peer, int tag, MPI_Comm comm)
{
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC)
        return;
    ix_log_message_found(t, message, status, comm, peer, tag);
    ix_note_add(
        ~ix_handle(message),
        (ix_note){.kind = IX_NOTE_MESSAGE, .path = (uint8_t)ix_path_to(comm, status->MPI_SOURCE)});
}

static inline int ix_message_path(MPI_Message message)
{
    ix_note note;
    if (message == MPI_MESSAGE_NO_PROC)
        return IX_PATH_NONE;
    if (ix_note_get(~ix_handle(message), 2, &note))
        return note.path;
    /* Probed while nothing was measured: somewhere, so nothing is claimed. */
    return IX_PATH_INTER | IX_PATH_FOREIGN;
}

static inline void ix_message_received(ix_thread *t, MPI_Message message, const MPI_Status *status)
{
    ix_transfer x = ix_moved(ix_status_bytes(status), ix_message_path(message), IX_SLACK_HEAD);
    if (IX_LIKELY(ix_log_is_on))
        ix_log_found_received(t, ~ix_handle(message), 0, x.bytes);
    if (ix_is_told(IX_TELL_REQUESTS))
        ix_tell_received(t, &x);
    ix_blocking(t, &x);
}

static inline void ix_message_recv_begun(ix_thread *t, MPI_Request request, MPI_Message message,
                                         int64_t count, MPI_Datatype type)
{
    ix_transfer x = ix_moved(count * ix_type_bytes(type), ix_message_path(message), IX_SLACK_HEAD);
    x.flags |= IX_UP_TO;
    if (IX_LIKELY(ix_log_is_on))
        ix_log_found_received(t, ~ix_handle(message), ix_handle(request), x.bytes);
    ix_begin(t, ix_handle(request), &x);
}
#endif

/* One request, two transfers: it stands twice in the engine's table, and both end with it. */
static inline void ix_pair_begun(ix_thread *t, MPI_Request request, int64_t scount,
                                 MPI_Datatype stype, int speer, int stag, int64_t rcount,
                                 MPI_Datatype rtype, int rpeer, int rtag, MPI_Comm comm)
{
    ix_partner to = ix_partner_of(comm, speer), from = ix_partner_of(comm, rpeer);
    ix_transfer send = ix_moved(scount * ix_type_bytes(stype), to.path, IX_SLACK_TAIL);
    ix_transfer receive = ix_posted(rcount * ix_type_bytes(rtype), rpeer, comm, from.path);
    ix_log_request_begun(t, IX_LOG_SEND, request, send.bytes, to, speer, stag, IX_LOG_PAIR);
    ix_log_request_begun(t, IX_LOG_RECV, request, receive.bytes, from, rpeer, rtag, IX_LOG_PAIR);
    ix_begin(t, ix_handle(request), &send);
    ix_begin(t, ix_handle(request), &receive);
    if (rpeer == MPI_ANY_SOURCE)
        ix_note_wildcard(request, comm, (ix_note){.kind = IX_NOTE_PAIR});
    else
        ix_note_add(ix_handle(request), (ix_note){.kind = IX_NOTE_PAIR});
}

static inline void ix_partitions_planned(ix_thread *t, MPI_Request request, int partitions,
                                         int64_t count, MPI_Datatype type, int peer, int tag,
                                         MPI_Comm comm)
{
    int path = ix_path_to(comm, peer);
    ix_transfer x = ix_moved(count * ix_type_bytes(type), path, IX_SLACK_TAIL);
    ix_log_request_planned(t, IX_LOG_PARTS_SEND, request, partitions * x.bytes, path, peer, tag,
                           comm, partitions);
    ix_note_add(ix_handle(request), (ix_note){.kind = IX_NOTE_PARTITIONS,
                                              .value = (uint64_t)x.bytes,
                                              .path = x.path,
                                              .slack = x.slack,
                                              .stays = 1});
    x.bytes = 0;
    ix_persistent(t, ix_handle(request), &x);
}

static inline void ix_partition_begun(ix_thread *t, MPI_Request request, int partition)
{
    ix_note note;
    if (IX_LIKELY(ix_log_is_on))
        ix_log_part_ready(t, ix_handle(request), partition);
    if (!ix_note_get(ix_handle(request), 0, &note) || note.kind != IX_NOTE_PARTITIONS)
        return;
    ix_transfer x = {.bytes = (int64_t)note.value, .path = note.path, .slack = note.slack};
    ix_begin_in_group(t, ix_handle(request), partition, &x);
}

/* enum ix_role of this process, or -1 when nothing goes to or comes from another one: it takes no
 * part (MPI_PROC_NULL as root), or is alone. */
static inline int ix_role_in(const ix_comm *c, int root)
{
    if (!c || (c->peers == 1 && !c->inter))
        return -1;
    if (root == IX_NO_ROOT)
        return IX_ROLE_ANY;
    if (c->inter) {
        if (root == MPI_PROC_NULL)
            return -1;
        return root == MPI_ROOT ? IX_ROLE_ROOT : IX_ROLE_OTHER;
    }
    return root == c->rank ? IX_ROLE_ROOT : IX_ROLE_OTHER;
}

static inline ix_transfer ix_collective(const ix_comm *c, int role, uint32_t calibration)
{
    ix_transfer x = ix_moved(0, c->path, IX_SLACK_UNKNOWN);
    x.flags |= IX_COLLECTIVE;
    x.role = (uint8_t)role;
    x.ranks = c->inter ? c->size + c->peers : c->size;
    x.operation = calibration;
    return x;
}

#endif
