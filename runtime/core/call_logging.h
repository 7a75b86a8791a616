/* Writing the call log: what the wrappers say of a call, after the library's own function returned
 * and before ix_leave, which completes the records. Nothing is done where the log is off.
 *
 * Each function first counts in its stream, so that sequences stay right in windows that are not
 * logged; then it writes a record if the call was entered in one that is. */
#ifndef IMBREX_CORE_CALL_LOGGING_H
#define IMBREX_CORE_CALL_LOGGING_H

#include "core/call_log.h"
#include "core/engine.h"

/* Off is 0. */
enum { IX_LOG_ON = 1, IX_LOG_ON_WITH_CANCELS = 2 };
extern IX_HIDDEN int ix_log_is_on;

/* Get ready to log into `budget` bytes behind the part file (or anonymous memory where there is
 * none), after ix_start. The memory comes in steps of step_bytes (0: 256 KiB) as it is needed. 0,
 * or -1 with errno: no log. */
int ix_log_start(uint64_t budget, uint64_t step_bytes);

/* Log from now on: window 0 begins. Call it where all ranks are at the same point. */
void ix_log_begin(void);

/* The engine's start on the clock common to all ranks, for who reads the log of a rank that died.
 */
void ix_log_common_start(int64_t common_start_ns);

/* ix_stop and ix_release call these. */
IX_HIDDEN void ix_log_stop(int64_t now);
IX_HIDDEN void ix_log_release(void);

/* The log of this process, NULL where there is none. It stays until ix_release. */
const ix_log_header *ix_log(void);

/* Bytes that the log holds in this process, as far as it has grown: part of ix_memory_bytes. */
IX_HIDDEN int64_t ix_log_memory_bytes(void);

/* errno of what kept the log from growing to its budget, 0: nothing did. */
int ix_log_refused(void);

/* The common number of a communicator and a rank in it, in one word, as they stand in a record; a
 * tag, kind, path and flags in another: handing over two registers costs less than memory. */
static inline uint64_t ix_log_where(uint32_t comm, int32_t peer)
{
    return comm | (uint64_t)(uint32_t)peer << 32;
}

static inline uint64_t ix_log_envelope(int32_t tag, uint32_t kind, uint32_t path, uint32_t flags)
{
    return (uint32_t)tag | (uint64_t)kind << 32 | (uint64_t)path << 40 | (uint64_t)flags << 56;
}

/* One of two that a request begins: ix_log_begun is called for each. */
#define IX_LOG_PAIR (UINT64_C(1) << 48)

static inline uint32_t ix_log_kind_of(uint64_t envelope)
{
    return (uint32_t)(envelope >> 32) & 0xff;
}

static inline uint32_t ix_log_flags_of(uint64_t envelope)
{
    return (uint32_t)(envelope >> 56);
}

static inline int32_t ix_log_peer_of(uint64_t where)
{
    return (int32_t)(where >> 32);
}

/* A message sent or received in this call. */
void ix_log_message_sent(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope);
void ix_log_message_received(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope);

static inline IX_ALWAYS void ix_log_message(ix_thread *t, int64_t bytes, uint64_t where,
                                            uint64_t envelope)
{
    if (ix_log_kind_of(envelope) == IX_LOG_RECV)
        ix_log_message_received(t, bytes, where, envelope);
    else
        ix_log_message_sent(t, bytes, where, envelope);
}

/* Anything else that begins and ends in this call, and one-sided transfers that an epoch ends. */
void ix_log_done(ix_thread *t, int64_t bytes, uint64_t where, uint64_t envelope, uint32_t sequence);

/* The epoch that this call begins towards one member of its group (IX_LOG_EXPOSURE, IX_LOG_ACCESS):
 * which it is, as the call that ends it is to say to ix_log_done. 0: too many streams. */
uint32_t ix_log_epoch_begun(ix_thread *t, uint64_t where, uint64_t envelope);

/* What this call begins and the completion of `handle` ends. `sequence` is that of a collective;
 * messages are counted here. */
void ix_log_begun(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where, uint64_t envelope,
                  uint32_t sequence);

/* ix_log_begun and ix_begin_packed at once, of the usual message of a request: to or from a named
 * peer with a named tag, the only one of its request, on a path that moves it. `envelope`: without
 * path and flags. */
void ix_begin_logged_send(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                          uint64_t where, uint64_t envelope);
void ix_begin_logged_receive(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed,
                             uint64_t where, uint64_t envelope);

static inline IX_ALWAYS void ix_begin_logged(ix_thread *t, uint64_t handle, int64_t bytes,
                                             ix_packed packed, uint64_t where, uint64_t envelope)
{
    if (ix_log_kind_of(envelope) == IX_LOG_RECV)
        ix_begin_logged_receive(t, handle, bytes, packed, where, envelope);
    else
        ix_begin_logged_send(t, handle, bytes, packed, where, envelope);
}

/* Sizes of the blocks of collective `sequence` of `comm`, in units of 2^unit_bits bytes: the next
 * IX_LOG_BLOCK_SIZES of them; or, with IX_LOG_UNTOLD, that they are not told. `flags`: 0, or
 * IX_LOG_PERSISTENT in the init of one that is. */
void ix_log_blocks(ix_thread *t, uint32_t comm, uint32_t sequence, uint32_t flags,
                   uint32_t unit_bits, const uint32_t *sizes);

/* Whether the log has room for them, and covers the whole run. */
int ix_log_has_room_for_blocks(void);

/* MPI_Send_init and the like, and each start. `parts`: partitions, of which `bytes` is the sum. */
void ix_log_planned(ix_thread *t, uint64_t handle, int64_t bytes, uint64_t where, uint64_t envelope,
                    uint32_t sequence, uint32_t parts);
void ix_log_started(ix_thread *t, uint64_t handle);
void ix_log_part_ready(ix_thread *t, uint64_t handle, int partition);
void ix_log_part_arrived(ix_thread *t, uint64_t handle, int partition);

/* A matched probe found message `key`; its receive, in this call (handle 0) or begun by it. */
void ix_log_found(ix_thread *t, uint64_t key, int64_t bytes, uint64_t where, uint64_t envelope);
void ix_log_found_received(ix_thread *t, uint64_t key, uint64_t handle, int64_t bytes);

/* This call saw `handle` complete. source, tag, bytes: of the status, where it was a receive; bytes
 * -1: the status does not tell. `flags`: IX_LOG_CANCELLED, IX_LOG_FAILED, and ix_log_path. */
static inline uint32_t ix_log_path(int path)
{
    return (uint32_t)(path + 1) << 8; /* of a wildcard receive; -1: not known */
}

void ix_log_completed(ix_thread *t, uint64_t handle, int32_t source, int32_t tag, int64_t bytes,
                      uint32_t flags);

/* ix_log_completed, without flags, and ix_finish at once. `came`: source and tag in one word. */
void ix_finish_logged(ix_thread *t, uint64_t handle, uint64_t came, int64_t bytes, int path);

static inline uint64_t ix_log_came(int32_t source, int32_t tag)
{
    return (uint32_t)source | (uint64_t)(uint32_t)tag << 32;
}

/* The call in progress looked and found nothing. `ix_log_interrupted`: it does not look where the
 * last one that found nothing did, or not at once. */
void ix_log_interrupted(ix_thread *t);

static inline IX_ALWAYS void ix_log_found_nothing(ix_thread *t)
{
    if (IX_UNLIKELY(!ix_outermost(t)))
        return;
    ix_polls *p = &t->polls;
    uint64_t differs = (uint64_t)((p->last + 1) ^ t->part->calls) | (p->site.key ^ t->key) |
                       ((uintptr_t)p->site.address ^ (uintptr_t)t->address);
    if (IX_UNLIKELY(differs || t->compute_ns - p->compute_ns > IX_LOG_POLL_GAP_NS))
        ix_log_interrupted(t);
    p->compute_ns = t->compute_ns;
    p->last = t->part->calls;
}

/* The call in progress found something, which a record tells by now: tell of those right before it
 * that found nothing. */
void ix_log_tell_polls(ix_thread *t);

static inline IX_ALWAYS void ix_log_end_polls(ix_thread *t)
{
    if (IX_UNLIKELY(t->polls.last + 1 == t->part->calls))
        ix_log_tell_polls(t);
}

/* MPI_Request_free, and MPI_Cancel: from then on ask the statuses of what completes. */
void ix_log_given_up(ix_thread *t, uint64_t handle);
IX_HIDDEN void ix_log_cancels(void);

/* Enter a communicator; `own` and `remote` are world ranks (-1: unknown) of its members. A number
 * that is there stays as it is. */
void ix_log_enter_comm(const ix_log_comm *comm, const int32_t *own, const int32_t *remote);

/* One of the log of this process by its number, NULL if there is none. */
const ix_log_comm *ix_log_own_comm(uint32_t number);

/* CALL_EXIT of a call that has records and does not count; of others: ix_log_leave. */
IX_HIDDEN void ix_log_drop(ix_thread *t, int64_t now);

#endif
