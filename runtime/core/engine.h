/* The measurement engine, without MPI: what the MPI wrappers and the event sources call.
 *
 * A wrapper is:
 *
 *     ix_thread *t = ix_enter(OPERATION, __builtin_return_address(0));
 *     int result = PMPI_Isend(...);
 *     if (ix_outermost(t) && result == MPI_SUCCESS)
 *         ix_begin(t, handle, &(ix_transfer){.bytes = n, .path = p, .slack = IX_SLACK_TAIL});
 *     ix_leave(t);
 *     return result;
 *
 * ix_enter takes CALL_ENTER and ix_leave CALL_EXIT: begin and finish come between them, after the
 * PMPI call. A transfer begun in a call counts from the CALL_ENTER of that call, a transfer
 * finished in a call counts to its CALL_EXIT; only ix_post and ix_complete carry a time of their
 * own. Every function accepts t == NULL (engine not running) and then does nothing.
 * Nothing here locks, allocates or enters the kernel, except where it says so.
 *
 * Times are nanoseconds of ix_now(), sizes bytes. Formulae and their proofs:
 * docs/theory/measuring.md. */
#ifndef IMBREX_CORE_ENGINE_H
#define IMBREX_CORE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "core/part.h"
#include "core/thread.h"
#include "core/transfer.h"

enum ix_threading {
    IX_ONE_THREAD = 0, /* MPI_THREAD_SINGLE, FUNNELED: one thread makes the calls */
    IX_SERIALIZED = 1, /* several threads, one at a time (MPI_THREAD_SERIALIZED) */
    IX_CONCURRENT = 2, /* MPI_THREAD_MULTIPLE: tables are shared with atomic operations */
};

/* Room of the tables; 0 means the default given here. Numbers of entries. */
typedef struct ix_limits {
    uint32_t main_rows;   /* 8192, rows of the thread that called ix_start (144 B each) */
    uint32_t thread_rows; /* 183, rows of every other thread */
    uint32_t threads;     /* 128 where threads may call, else 4 */
    uint32_t sites;       /* 4096 (16 B, and 16 B of index) */
    uint32_t images;      /* 48 (4 KiB) */
    uint32_t sections;    /* 512 (128 B) */
    uint32_t requests;    /* 4096 open transfers (two slots of about 200 B each) */
} ix_limits;

typedef struct ix_options {
    const char *part_path; /* the file to create; NULL: anonymous memory from the start */
    int32_t rank, ranks;   /* in MPI_COMM_WORLD */
    const char *host;      /* at most 63 bytes are kept */
    const char *library;   /* first line of MPI_Get_library_version */
    enum ix_threading threading;
    const char *const *operations; /* MPI names; index = operation. Must outlive the engine. */
    uint32_t operation_count;
    int asks_sites; /* threads have IX_ASKS_SITE: Python */
    ix_limits limits;
} ix_options;

enum ix_started {
    IX_START_FILE = 0,      /* measuring into the mapped part file */
    IX_START_ANONYMOUS = 1, /* no path was given: measuring into anonymous memory */
    IX_START_FALLBACK = 2,  /* the file cannot be made or does not fit: anonymous; warn once */
    IX_START_FAILED = 3,    /* no memory at all, or started before: nothing is measured */
};

/* Start measuring; the calling thread becomes thread 0. Call it at the exit of MPI_Init: wall and
 * compute time begin here. The clock is calibrated on first use (about 2 ms, see clock.h).
 * System calls; not on the hot path. After IX_START_FALLBACK errno says why. */
enum ix_started ix_start(const ix_options *options);

/* Stop measuring at the entry of MPI_Finalize (outside ix_enter/ix_leave): the transfers still open
 * get an unknown end, sections still open are errors, sums of the rank are brought up to date.
 * rank.ended stays IX_DIED until ix_mark_ended. The tables stay readable until ix_release. */
void ix_stop(void);

/* How the process ended (async-signal safe). A forked child that calls it changes nothing. */
void ix_mark_ended(enum ix_ended ended);

/* The process is in the call that ends MPI, from `site`: told before ix_stop. Where it does not
 * return, that is where the rank stands. */
void ix_mark_ending(enum ix_ending call, const void *site);

/* The calling thread is none of the program's: its calls, from within the library's callbacks, are
 * not measured. */
void ix_stay_out(void);

/* Unmap the tables and forget everything; `unlink_part` removes the part file. ix_start may follow.
 */
void ix_release(int unlink_part);

/* The mapped header (NULL before ix_start); tables by the offsets in it. */
ix_part_header *ix_part(void);

/* Rows of this rank with those of its threads added up: at most `capacity` rows are written to
 * `rows`, in order of (site, operation, section, size class, path, source); returns how many there
 * are (so: call with capacity 0 for an upper limit). Site numbers are local to the rank. Call it
 * after ix_stop. */
size_t ix_collect_rows(ix_row *rows, size_t capacity);

/* Mean cost in ns of one recorded call, over `calls` synthetic calls that alternately begin and
 * finish a transfer; nothing of them is recorded. With the call log if that was started. Between
 * ix_start and ix_stop, outside calls.
 * ix_stop multiplies the last result into rank.overhead_ns. */
double ix_measure_overhead(uint32_t calls);

/* Bytes that the engine holds in this process: mapping, static tables, the call log so far. */
int64_t ix_memory_bytes(void);

enum ix_role { IX_ROLE_ANY = 0, IX_ROLE_ROOT = 1, IX_ROLE_OTHER = 2 };

/* Read the table of docs/reference/machine-profile.md ("The table that the runtime reads") from
 * memory. `operations` maps names of collectives to indices; a name that is not among them is
 * skipped. Returns 0, or -1 with one line about the first fault in `error` (and no table:
 * everything is uncalibrated). May be called before or after ix_start, but not while transfers are
 * open. length 0 empties the table. */
int ix_load_times(const char *text, size_t length, const char *const *operations,
                  uint32_t operation_count, char *error, size_t error_bytes);

/* static inline ix_thread *ix_enter(uint32_t operation, const void *site);   (thread.h)
 * CALL_ENTER. `site` is the return address in the user's code. Calls made inside a call
 * (user-defined operations, attribute callbacks, Fortran over C) nest: only the outermost is timed
 * and counted. */

/* static inline int ix_outermost(const ix_thread *t);   (thread.h)
 * Whether t is in a call entered from user code, and the engine runs. Also while paused. */

/* ix_leave as the last thing that a wrapper does: returns `result`, which the wrapper need not keep
 * meanwhile. */
int ix_leave_with(ix_thread *t, int result);

/* CALL_EXIT. Adds the call to the row of the first transfer that ix_blocking, ix_begin,
 * ix_begin_in_group or ix_start_request began in it (as posted), or to the row without a transfer
 * (size class -1, path none): also where that transfer's path was not known yet. */
static inline void ix_leave(ix_thread *t)
{
    (void)ix_leave_with(t, 0);
}

/* The call returned but must not be counted (e.g. a wrapper that forwards to another wrapper). Time
 * since ix_enter then is compute time; transfers finished in it end here. */
void ix_leave_uncounted(ix_thread *t);

/* A wrapper tells of transfers as the calls show them. */

#define IX_AS_POSTED (-1) /* bytes or path of an end: those of the begin */

/* A transfer that begins and ends in this call: blocking sends, receives (with the size and path
 * from the status), collectives. At most 8 in one call; more are counted with unknown end. */
void ix_blocking_packed(ix_thread *t, int64_t bytes, ix_packed packed);
static inline void ix_blocking(ix_thread *t, const ix_transfer *x)
{
    ix_blocking_packed(t, x->bytes, ix_pack(x));
}

/* A transfer that this call begins and that the completion of request `handle` ends. A
 * pre-completed handle (ix_shared_handle) ends it in this call. Open duplicates of a handle end
 * first in, first out, those of the same thread before others, with slack X_hi. When the table is
 * full it is counted now, slack X_hi, unknown end. Receives that move nothing (MPI_PROC_NULL) need
 * no call. */
void ix_begin_packed(ix_thread *t, uint64_t handle, int64_t bytes, ix_packed packed);
static inline void ix_begin(ix_thread *t, uint64_t handle, const ix_transfer *x)
{
    ix_begin_packed(t, handle, x->bytes, ix_pack(x));
}

/* Request `handle` was seen complete in this call (Wait, Test with flag true, ...). `bytes` and
 * `path` are those of the status; they count only for transfers begun with IX_UP_TO (0 bytes:
 * nothing moved), so a wrapper need not know what the request was. Handles that the table does not
 * know are ignored. A persistent request becomes inactive, the partitions of a partitioned one end.
 */
void ix_finish(ix_thread *t, uint64_t handle, int64_t bytes, int path);

/* Which of the transfers that had this handle is open now (0: none, or several), so that a source
 * inside the library can end it before its request completes: at `time_ns`, as for ix_complete,
 * with both ends known. Ignored when that transfer has ended. */
uint64_t ix_sequence_of(const ix_thread *t, uint64_t handle);
void ix_finish_early(ix_thread *t, uint64_t handle, uint64_t sequence, int64_t time_ns);

/* MPI_Request_free: the end of an active transfer is unknown, a persistent request is forgotten. */
void ix_request_free(ix_thread *t, uint64_t handle);

/* MPI_Cancel: the end is unknown and X_lo 0 (perhaps nothing moved). The completion that follows
 * finds nothing; a persistent request stays, inactive. */
void ix_cancel(ix_thread *t, uint64_t handle);

/* A handle that the library shares between completed requests: learnt at start-up. Up to 64. */
void ix_shared_handle(uint64_t handle);

/* MPI_Send_init and the like: remember what each ix_start_request(handle) begins. Site, operation
 * and section of the transfers are those of the MPI_Start. Operation of a collective: that of the
 * init call unless transfer->operation names one. */
void ix_persistent(ix_thread *t, uint64_t handle, const ix_transfer *transfer);
void ix_start_request(ix_thread *t, uint64_t handle);

/* A transfer in a group: all of the group, or those with one tag, end together.
 * Partitioned sends: group = the request's handle (after ix_persistent with bytes 0), tag =
 * partition: ix_finish(handle) and ix_request_free end all of them. RMA: group = the window, tag =
 * the target rank; ix_finish_group(window, IX_ALL or target, slack) at fence, unlock and flush,
 * with IX_SLACK_TAIL at flush_local and IX_SLACK_NONE where both sides are done. The slack of the
 * end replaces the one given at the begin if it is larger. Groups are IX_CALL_ONLY. */
#define IX_ALL (-1)
void ix_begin_in_group(ix_thread *t, uint64_t group, int32_t tag, const ix_transfer *transfer);
void ix_finish_group(ix_thread *t, uint64_t group, int32_t tag, enum ix_slack slack);
/* After the last ix_finish_group(IX_ALL): the group takes no room in the table any more. */
void ix_forget_group(ix_thread *t, uint64_t group);

/* Whether anything is open that a call may complete, or a request or group is known that may become
 * so. */
int ix_any_open(void);

/* Others may move data in and out of this process unseen (an RMA window exists: +1, freed: -1).
 * While any does, wait_min is 0. */
void ix_exposed(ix_thread *t, int delta);

/* An event source tells of transfers as it sees them inside the library. */

/* XFER_BEGIN at `time_ns`: between the last CALL_ENTER or CALL_EXIT of this thread (t =
 * ix_current()) and now. The transfer belongs to the call in progress (site 0 outside calls).
 * `source` is the row's. Returns a token for ix_complete, 0 when nothing moves or the table was
 * full. */
uint32_t ix_post(ix_thread *t, const ix_transfer *transfer, int64_t time_ns, enum ix_source source);

/* XFER_END at `time_ns` (as above; from another thread than ix_post the slack becomes X_hi).
 * `slack` replaces the one given at the begin if it is larger. bytes as for ix_finish. `source` as
 * above: the row keeps the poorer of the two (call < poll < callback). Token 0 is ignored. */
void ix_complete(ix_thread *t, uint32_t token, int64_t time_ns, int64_t bytes, enum ix_slack slack,
                 enum ix_source source);

/* For a source that sees a receive end before anybody has said how much it brought: the moment of
 * its end on the clocks of this thread, kept until the size is known. */
typedef struct ix_moment {
    const ix_thread *thread;
    ix_clocks clocks;
    int64_t in_call_ns, time_ns;
    int unsure; /* the clocks were stale */
} ix_moment;
ix_moment ix_moment_at(ix_thread *t, int64_t time_ns);

/* ix_complete at a moment noted before, for a transfer of `bytes` that went over `path`
 * (IX_AS_POSTED: those of the begin). */
void ix_complete_then(ix_thread *t, uint32_t token, const ix_moment *end, int64_t bytes, int path,
                      enum ix_slack slack, enum ix_source source);

/* A transfer posted before begins at `time_ns` only (as for ix_post). Ignored for token 0, and from
 * another thread. */
void ix_begin_later(ix_thread *t, uint32_t token, int64_t time_ns);

/* Thread state of the calling thread (attached if need be), in or outside a call; NULL when the
 * engine does not run. */
ix_thread *ix_current(void);

/* Paths (bit 1 << path) whose transfers another source sees: what ix_blocking, ix_begin and the
 * like begin there only counts for wait_min. Default 0. */
void ix_leave_to_source(uint32_t path_bits);

/* Open and close a named region of this thread (outside calls). Names nest, joined by '/'. Closing
 * a name that is open further out closes those within and counts an error for each; closing one
 * that is not open is an error. Names, with their parents, of 128 bytes or more count into the
 * parent section (overflow). Before ix_start: ignored. */
void ix_section_begin(const char *name);
void ix_section_end(const char *name);

/* MPI_Pcontrol(0) and (1), outside ix_enter/ix_leave; for all threads. Calls while paused are not
 * recorded, the time is neither compute nor call, transfers begun then are dropped whole (counted
 * in `dropped`); one that a pause interrupts gets the pause as slack. */
void ix_pause(void);
void ix_resume(void);

/* Something may have been unloaded: forget the call sites that lay in it. */
void ix_images_changed(void);

#endif
