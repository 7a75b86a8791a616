/* Start and end of a job: which part does its work when. */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/measuring.h"
#include "base/warnings.h"
#include "core/call_logging.h"
#include "core/call_paths.h"
#include "job/core_wait.h"
#include "job/call_log_start.h"
#include "job/clocks.h"
#include "job/finalize.h"
#include "job/foreign_wrappers.h"
#include "job/memory.h"
#include "job/merge.h"
#include "job/observer_list.h"
#include "job/options.h"
#include "job/profile.h"
#include "job/table.h"
#include "mpi/lifecycle.h"
#include "mpi/python_lines.h"
#include "mpi/request_handles.h"
#include "mpi/thread_level.h"
#include "mpi/types.h"
#include "progress/progress.h"
#include "transport/sources.h"

/* BEFORE -> WORLD, ALONE or SESSIONS -> OVER. ALONE: not measured, but helped by a progress thread;
 * each rank for itself, because others may have been started without Imbrex. */
static struct {
    enum { BEFORE, WORLD, ALONE, SESSIONS, OVER } state;
    ix_job job; /* job.measured: the engine runs */
    ix_run_options options;
    ix_profile profile;
    pid_t owner;          /* a forked child is none */
    int64_t core_wait_ns; /* when measuring began, then of the time measured; -1: not known */
} run;

#ifdef IMBREX_SIMULATED
/* Reading the time by MPI would itself take simulated time. */
extern double simgrid_get_clock(void);

static int64_t simulated_ns(void)
{
    return (int64_t)(simgrid_get_clock() * 1e9 + 0.5);
}
#define CLOCK_FUNCTION simulated_ns
#else
#define CLOCK_FUNCTION NULL
#endif

static enum ix_threading threading(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    level = ix_level_to_tell(level);
    if (level == MPI_THREAD_MULTIPLE)
        return IX_CONCURRENT;
    return level == MPI_THREAD_SERIALIZED ? IX_SERIALIZED : IX_ONE_THREAD;
}

/* What a world and sessions have in common. */
static void start_profile(enum ix_threading threading)
{
    run.job.directory = run.options.directory;
    ix_types_remember();
    ix_python_lines_start();
    run.profile = ix_start_profile(&run.job, run.options.parts, threading);
    run.job.measured = run.profile.measured;
    run.owner = getpid();
    if (run.job.all != MPI_COMM_NULL)
        ix_call_log_start(run.job.all, run.job.measured, run.job.rank);
    else if (run.job.measured)
        ix_call_log_start_alone(run.job.rank);
    if (run.job.measured)
        run.profile.overhead_ns = ix_measure_overhead(2000);
#ifndef IMBREX_SIMULATED /* simulated processes have stacks of their own making */
    if (run.job.measured && run.options.call_paths)
        ix_call_paths_start();
#endif
    ix_load_table(&run.job);
}

static int everybody_measured(void)
{
    int result = 0;
    PMPI_Allreduce(&run.job.measured, &result, 1, MPI_INT, MPI_MIN, run.job.all);
    return result;
}

static int is_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
#ifndef IMBREX_SIMULATED /* SMPI would end the program here */
    PMPI_Comm_get_parent(&parent);
#endif
    return parent != MPI_COMM_NULL;
}

int ix_job_wants_threads(void)
{
    return run.state == BEFORE && ix_progress_is_wanted();
}

static void find_shared_handles(void)
{
    MPI_Comm self = MPI_COMM_NULL;
    if (run.job.measured && PMPI_Comm_dup(MPI_COMM_SELF, &self) == MPI_SUCCESS) {
        ix_find_shared_handles(self);
        PMPI_Comm_free(&self);
    }
}

/* No message to other ranks, and no file. */
static void start_alone(void)
{
    ix_job *job = &run.job;
    PMPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
    job->all = MPI_COMM_NULL;
    if (ix_comms_start_alone(job->rank, job->ranks))
        return;
    run.state = ALONE;
    ix_clock_start(CLOCK_FUNCTION);
    ix_types_remember();
    run.profile = ix_start_unkept_profile(job, threading());
    job->measured = run.profile.measured;
    run.owner = getpid();
    ix_load_table(job);
    find_shared_handles();
    ix_observers_start(job);
    /* Without a progress thread nobody wants to know anything. */
    ix_measuring = job->measured && ix_presence ? IX_HELPING : 0;
}

void ix_job_start(void)
{
    if (run.state != BEFORE)
        return;
    if (!ix_read_options(&run.options)) {
        if (ix_progress_is_wanted())
            start_alone();
        return;
    }
    ix_job *job = &run.job;
    PMPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
    if (is_spawned()) {
        if (job->rank == 0)
            ix_warn("processes started by MPI_Comm_spawn are not measured");
        return;
    }
    if (job->rank == 0)
        ix_tell_of_other_wrappers();
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &job->all) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(job->all, MPI_ERRORS_RETURN);
    ix_clocks_begin(job->all, CLOCK_FUNCTION);
    if (ix_comms_start(job->all)) {
        if (job->rank == 0)
            ix_warn("no memory: nothing is measured");
        ix_clocks_free();
        PMPI_Comm_free(&job->all);
        return;
    }
    run.state = WORLD;
    start_profile(threading());
    find_shared_handles();
    /* Within the library the progress thread's events would look like the program's. */
    if (everybody_measured() && !ix_progress_is_wanted())
        ix_sources_start(job->all);
    ix_observers_start(job);
    /* Two ranks that start apart would blame it on the program's first message. */
    PMPI_Barrier(job->all);
    run.core_wait_ns = ix_core_wait_ns();
    ix_log_begin();
    ix_tell_measuring_begins();
    ix_measuring = job->measured ? IX_RECORDING : 0;
}

void ix_job_start_session(void)
{
#if MPI_VERSION >= 4
    int started = 0;
    PMPI_Initialized(&started);
    if (run.state != BEFORE || started || !ix_read_options(&run.options))
        return;
    MPI_Session session;
    MPI_Group world = MPI_GROUP_NULL;
    if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return;
    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS) {
        ix_job *job = &run.job;
        PMPI_Group_rank(world, &job->rank);
        PMPI_Group_size(world, &job->ranks);
        PMPI_Group_free(&world);
        job->all = MPI_COMM_NULL;
        if (!ix_comms_start_alone(job->rank, job->ranks)) {
            run.state = SESSIONS;
            /* The level of a session is not known here: be safe with threads. */
            ix_clock_start(CLOCK_FUNCTION);
            start_profile(IX_CONCURRENT);
            ix_observers_start(job);
            ix_log_begin();
            ix_tell_measuring_begins();
            ix_measuring = job->measured ? IX_RECORDING : 0;
        }
    }
    PMPI_Session_finalize(&session);
#endif
}

/* Each rank has printed its own line (but for a full disk), and only those of rank 0 come into the
 * run directory. */
static void tell_of_unmeasured_ranks(void)
{
    int mine = run.job.measured && !run.profile.has_part, theirs = 0;
    int printed = mine && !run.profile.disk_is_full;
    PMPI_Reduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, 0, run.job.all);
    if (run.job.rank == 0 && theirs > printed) {
        char line[128];
        snprintf(line, sizeof line,
                 "%d of %d ranks had no file for their profile: had the program crashed, it would "
                 "be lost",
                 theirs, run.job.ranks);
        ix_keep_warning(line);
    }
}

/* A script may start one job after the other: only the last one's files stay. */
static void tell_of_a_job_before(void)
{
    char path[PATH_MAX];
    if (run.job.rank == 0 &&
        snprintf(path, sizeof path, "%s/measures.npy", run.job.directory) < PATH_MAX &&
        access(path, F_OK) == 0)
        ix_keep_warning(
            "another MPI job of this run ended before: these are the numbers of the last one "
            "alone; write `imbrex run --` before each launcher");
}

/* Under a limit of the size of files (RLIMIT_FSIZE) a write shall fail, not end the program. */
static int merge(void)
{
    ix_analysis analysis;
    ix_matching_facts matching;
    ix_match_calls(run.job.all, run.job.measured, &analysis, &matching);
    ix_merge_facts facts = {.directory = run.job.directory,
                            .event_overhead_ns = run.profile.overhead_ns,
                            .core_wait_ns = run.core_wait_ns,
                            .matching = &matching,
                            .analysis = &analysis};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int limited = sigaction(SIGXFSZ, &ignore, &before) == 0;
    int merged = ix_merge(run.job.all, run.job.measured, &facts) == 0;
    if (limited)
        sigaction(SIGXFSZ, &before, NULL);
    ix_analysis_free(&analysis);
    return merged;
}

/* Why there are no tables: one line. */
static void tell_of_no_merge(void)
{
    if (run.profile.disk_is_full)
        ix_warn("%s: the disk is full: what was measured is lost; free some room, or set "
                "IMBREX_DIR to a folder on another disk",
                run.job.directory);
    else
        ix_warn("%s: the ranks could not write their results together: parts are kept",
                run.job.directory);
}

/* Whether every rank has what it measured in a file. */
static int everybody_has_part(void)
{
    int mine = !run.job.measured || run.profile.has_part, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, run.job.all);
    return all;
}

void ix_job_end_session(void)
{
    /* Other sessions may follow: the profile stays open, and at_exit closes it. */
    if (run.state == SESSIONS && run.job.measured && getpid() == run.owner)
        ix_mark_ended(IX_FINALIZED);
}

static void end_alone(void)
{
    run.state = OVER;
    ix_measuring = 0;
    if (!run.job.measured)
        return;
    ix_progress_stop();
    ix_stop();
    ix_tell_job_ending(&run.job);
    ix_release(0);
    run.job.measured = 0;
    ix_comms_stop();
    ix_finalize_alone();
}

void ix_job_end(const void *site)
{
    ix_mark_ending(IX_ENDING_FINALIZE, site);
    if (run.state != WORLD) {
        if (run.state == ALONE)
            end_alone();
        if (run.state == SESSIONS)
            ix_job_end_session();
        return;
    }
    ix_job *job = &run.job;
    run.state = OVER;
    ix_measuring = 0;
    ix_progress_stop();
    int64_t core_wait_ns = ix_core_wait_ns();
    run.core_wait_ns =
        core_wait_ns < 0 || run.core_wait_ns < 0 ? -1 : core_wait_ns - run.core_wait_ns;
    if (job->measured)
        ix_stop();
    ix_call_log_tell(job->rank);
    ix_tell_job_ending(job);
    tell_of_unmeasured_ranks();
    tell_of_a_job_before();
    /* The library would end the program where it gets no memory: `imbrex` merges the parts then. */
    int merged = !(everybody_has_part() && ix_memory_is_short(job)) && merge();
    if (!merged && job->rank == 0 && !run.options.is_attended)
        tell_of_no_merge();
    if (job->measured) {
        ix_mark_ended(IX_FINALIZED);
        ix_release(merged);
    }
    if (merged)
        rmdir(run.options.parts);
    job->measured = 0;
    ix_comms_stop();
    ix_clocks_free();
    ix_finalize_in_step(job->all);
    PMPI_Comm_free(&job->all);
}

void ix_job_ended(void)
{
    run.state = OVER;
}

/* What can be said when the process goes down without MPI_Finalize. */
static void leave(enum ix_ended how)
{
    if (!run.job.measured || getpid() != run.owner)
        return;
    ix_progress_halt();
    int depth = ix_self ? (int)ix_depth(ix_self) : 0;
    ix_measuring = 0;
    run.job.measured = 0;
    if (!depth)
        ix_stop();
    ix_mark_ended(how);
}

void ix_job_abort(const void *site)
{
    ix_mark_ending(IX_ENDING_ABORT, site);
    leave(IX_ABORTED);
}

/* After all handlers of exit and destructors of static objects: they may still call MPI, and
 * MPI_Finalize (an object of C++ that finalizes when main is over). */
__attribute__((destructor)) static void at_exit(void)
{
    if (run.state == SESSIONS) {
        int finalized = ix_part() && ix_part()->rank.ended == IX_FINALIZED;
        leave(finalized ? IX_FINALIZED : IX_EXITED);
        return;
    }
    /* exit inside a call is the library's own, from its fatal error handler. */
    leave(ix_self && ix_depth(ix_self) ? IX_ABORTED : IX_EXITED);
}
