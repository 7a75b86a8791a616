#define _GNU_SOURCE
#include "progress/progress.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/warnings.h"
#include "core/needing.h"
#include "core/times.h"
#include "mpi/lifecycle.h"
#include "progress/helper.h"
#include "progress/progress_options.h"
#include "progress/report.h"
#include "progress/sites.h"

enum { TRIAL_LOOKS = 24, EXIT_MS = 2000 };

static struct {
    ix_progress_options options;
    int has_options;
    MPI_Comm alone;      /* of this process */
    MPI_Request waiting; /* a receive on it: no message ever comes */
    cpu_set_t cores;
    int has_cores;
    int64_t first_interval_ns;
} own;

/* The cores of the process as it was started. The thread that calls MPI_Init may have been bound to
 * one of them meanwhile (OpenMP does), and the helper would inherit that. */
__attribute__((constructor)) static void note_cores(void)
{
    own.has_cores = sched_getaffinity(0, sizeof own.cores, &own.cores) == 0;
}

/* Where there is no MPI yet. */
static int is_first_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank && *rank)
            return !strcmp(rank, "0");
    }
    return 1;
}

int ix_progress_is_wanted(void)
{
    if (!own.has_options) {
        own.options = ix_progress_read_options();
        own.has_options = 1;
        if (own.options.fault[0] && is_first_rank())
            ix_warn("%s: the program runs without a progress thread", own.options.fault);
    }
    return own.options.wanted;
}

static int is_needed(void)
{
    return ix_any_needs_progress() && !(ix_has_own_operations && ix_any_takes_rounds());
}

static int look_at(MPI_Request request, int *complete)
{
    MPI_Status status;
    return PMPI_Request_get_status(request, complete, &status);
}

/* A library that is asked of a request that is not complete looks for all that there is to do.
 * (MPI_Iprobe would not do: that of MPICH, on a communicator of one process, looks nowhere else.)
 * When all are complete there is no more to gain, and it could do harm: Open MPI answers a message
 * whose receive it then finds waiting, instead of after its own next send, so that two large
 * messages in opposite directions come one after the other. */
static int look(void)
{
    uint32_t place = 0;
    uint64_t handle;
    int complete = 0, elsewhere = 1, error;
    /* MPICH hands the error of a receive that was too small to the handler of MPI_COMM_WORLD here,
     * and in MPI_Wait to that of the communicator. */
    while (!ix_handles_errors && ix_next_needing(&place, &handle, &elsewhere)) {
        error = look_at(ix_request_of(handle), &complete);
        if (error || !complete)
            return error;
        ix_progress_completed(ix_seen_complete_at(place));
    }
    return elsewhere ? look_at(own.waiting, &complete) : MPI_SUCCESS;
}

static int look_at_nothing(void)
{
    int complete;
    return look_at(own.waiting, &complete);
}

static int prepare_looks(void)
{
    static char nothing;
    if (PMPI_Comm_dup(MPI_COMM_SELF, &own.alone) != MPI_SUCCESS)
        return -1;
    PMPI_Comm_set_errhandler(own.alone, MPI_ERRORS_RETURN);
    if (PMPI_Irecv(&nothing, 1, MPI_BYTE, 0, 0, own.alone, &own.waiting) == MPI_SUCCESS)
        return 0;
    PMPI_Comm_free(&own.alone);
    return -1;
}

static void end_looks(void)
{
    MPI_Status status;
    PMPI_Cancel(&own.waiting);
    PMPI_Wait(&own.waiting, &status);
    PMPI_Comm_free(&own.alone);
}

/* What a look takes that finds nothing: the least of some. */
static int64_t try_looks(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < TRIAL_LOOKS; i++) {
        int64_t before = ix_now();
        if (look_at_nothing() != MPI_SUCCESS)
            return -1;
        int64_t took = ix_now() - before;
        least = took < least ? took : least;
    }
    return least > 0 ? least : 1;
}

static int has_one_core(void)
{
    return own.has_cores && CPU_COUNT(&own.cores) == 1;
}

static void end_with_process(void)
{
    ix_progress_halt();
}

static int start_helper(const ix_job *job, int64_t idle_ns)
{
    if (own.options.interval_ns && own.options.interval_ns < idle_ns) {
        if (job->rank == 0)
            ix_warn("a progress interval of %.3g us is shorter than what a look at this library "
                    "takes (%.2g us): the program runs without a progress thread",
                    (double)own.options.interval_ns * 1e-3, (double)idle_ns * 1e-3);
        return 0;
    }
    ix_helper_options helper = {.is_needed = is_needed,
                                .look = look,
                                .moved = ix_progress_moved,
                                .begins = ix_stay_out,
                                .cores = own.has_cores ? &own.cores : NULL};
    ix_pace_start(&helper.pace, own.options.interval_ns, ix_progress_interval_ns(),
                  own.options.share, idle_ns);
    own.first_interval_ns = helper.pace.first_ns;
    if (ix_progress_sites_start() || ix_count_those_in_need(ix_part()->sites.capacity)) {
        if (job->rank == 0)
            ix_warn("no memory: the program runs without a progress thread");
        return 0;
    }
    int error = ix_helper_start(&helper);
    if (error) {
        ix_warn("rank %d: no progress thread: %s", job->rank, strerror(error));
        return 0;
    }
    if (has_one_core() && job->rank == 0)
        ix_warn("this process may use one core only: the progress thread takes its time from the "
                "program's (mpirun --bind-to none, or more cores a rank, leave it one of its own)");
    atexit(end_with_process);
    return 1;
}

static int job_started(const ix_job *job)
{
    int level = MPI_THREAD_SINGLE;
    if (!ix_progress_is_wanted() || !job->measured)
        return 0;
    PMPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) {
        if (job->rank == 0)
            ix_warn("this MPI library grants no MPI_THREAD_MULTIPLE: the program runs without a "
                    "progress thread");
        return 0;
    }
    int is_prepared = prepare_looks() == 0;
    int64_t idle_ns = is_prepared ? try_looks() : -1;
    if (idle_ns > 0 && start_helper(job, idle_ns))
        return 1;
    if (idle_ns <= 0)
        ix_warn("rank %d: this MPI library fails where it is asked for progress: the program runs "
                "without a progress thread",
                job->rank);
    if (is_prepared)
        end_looks();
    return 0;
}

void ix_progress_stop(void)
{
    ix_helper_stop();
}

static void job_ending(const ix_job *job)
{
    ix_helper_counts counts = ix_helper_counted();
    if (counts.failed)
        ix_warn("rank %d: the progress thread met an error of the library and stopped", job->rank);
    const char *told = getenv("IMBREX_PROGRESS_TELL");
    if (told && *told && strcmp(told, "0"))
        fprintf(
            stderr,
            "imbrex: rank %d: progress thread: %lld looks, %lld of which moved data; processor "
            "time %.3f ms, %.3f ms without moving any; interval %.0f us in the end; the program "
            "waited for %lld looks, %lld rests\n",
            job->rank, (long long)counts.looks, (long long)counts.moving_looks,
            (double)(counts.moving_ns + counts.looking_ns) * 1e-6, (double)counts.looking_ns * 1e-6,
            (double)counts.interval_ns * 1e-3, (long long)counts.waits, (long long)counts.rests);
    ix_progress_note(&counts, own.first_interval_ns, own.options.share);
    end_looks();
}

void ix_progress_halt(void)
{
    ix_helper_halt(EXIT_MS);
}

/* A call that was left by longjmp was entered, not left. */
static __thread enum { OUTSIDE, IN_CALL, IN_UNRECORDED_CALL } inside;
static __thread const char *unrecorded_frame; /* a call within that one has its frame below */

static int was_unrecorded_left(const char *frame)
{
    return inside == IN_UNRECORDED_CALL && frame >= unrecorded_frame;
}

static void call_entered(ix_thread *t)
{
    (void)t;
    int counted = inside != OUTSIDE;
    if (!counted || was_unrecorded_left(__builtin_frame_address(0)))
        inside = IN_CALL;
    if (!counted)
        ix_helper_entered();
}

static void call_left(ix_thread *t)
{
    (void)t;
    if (inside != IN_CALL)
        return;
    inside = OUTSIDE;
    ix_helper_left(is_needed());
}

/* While the helper sleeps only a call that opens something could wake it, and of a program with one
 * thread in MPI at a time that is not this one: it needs no mark. (Were a look to meet such a call
 * all the same, the library would have to keep the two apart, which it can.) */
static int presence_entered(void)
{
    const char *frame = __builtin_frame_address(0);
    int counted = inside != OUTSIDE;
    if (counted ? !was_unrecorded_left(frame) : ix_helper_is_asleep() && !ix_share.concurrent)
        return 0;
    inside = IN_UNRECORDED_CALL;
    unrecorded_frame = frame;
    if (!counted)
        ix_helper_entered();
    return 1;
}

static void presence_left(void)
{
    inside = OUTSIDE;
    ix_helper_left(0);
}

static const ix_presence_observer presence = {presence_entered, presence_left, &ix_helper.state,
                                              IX_HELPER_ASLEEP};

const ix_observer ix_progress = {.name = "progress",
                                 .job_started = job_started,
                                 .job_ending = job_ending,
                                 .call_entered = call_entered,
                                 .call_left = call_left,
                                 .presence = &presence};
