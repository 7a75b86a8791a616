#define _GNU_SOURCE
#include "job.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comms.h"
#include "engine.h"
#include "events.h"
#include "learn.h"
#include "merge.h"
#include "observe.h"
#include "operations.h"
#include "others.h"
#include "resolve.h"
#include "together.h"
#include "types.h"

int ix_measuring;
__thread const void *ix_caller;

/* BEFORE -> STARTED (a world or sessions) -> OVER. */
static enum { BEFORE, WORLD, SESSIONS, OVER } state;
static MPI_Comm all; /* duplicate of MPI_COMM_WORLD: nothing on it is measured */
static int world_rank, world_ranks;
static int measured; /* this rank has a profile */
static int has_part;
static char *directory, *parts_directory, *part_path;
static double overhead_ns;
static pid_t owner;

#define WARNINGS 8
static char *warnings[WARNINGS];
static int warning_count;

static void keep_warning(const char *line)
{
    if (warning_count < WARNINGS && (warnings[warning_count] = strdup(line)))
        warning_count++;
}

void ix_warn(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "imbrex: %s\n", line);
    keep_warning(line);
}

/* Also the parents. Errors show when the file is made. */
static void make_directory(const char *path)
{
    char *copy = strdup(path);
    for (char *c = copy ? copy + 1 : NULL; c && *c; c++)
        if (*c == '/') {
            *c = 0;
            mkdir(copy, 0777);
            *c = '/';
        }
    mkdir(path, 0777);
    free(copy);
}

/* The program may change its working directory before the results are written. */
static char *absolute(const char *path)
{
    char *here = *path == '/' ? NULL : getcwd(NULL, 0), *full = NULL;
    if (!here)
        return strdup(path);
    if (asprintf(&full, "%s/%s", here, path) < 0)
        full = NULL;
    free(here);
    return full;
}

static int read_environment(void)
{
    const char *disabled = getenv("IMBREX_DISABLE");
    const char *dir = getenv("IMBREX_DIR"), *parts = getenv("IMBREX_PARTS");
    if ((disabled && *disabled && strcmp(disabled, "0")) || !dir || !*dir)
        return 0;
    directory = absolute(dir);
    if (parts && *parts)
        parts_directory = absolute(parts);
    else if (!directory || asprintf(&parts_directory, "%s/parts", directory) < 0)
        parts_directory = NULL;
    return directory && parts_directory;
}

/* The whole file, null-terminated, or NULL with errno. */
static char *read_file(const char *path, int *length)
{
    FILE *f = fopen(path, "r");
    size_t size = 0, room = 1 << 16;
    char *text = f ? malloc(room) : NULL;
    while (text) {
        size += fread(text + size, 1, room - size, f);
        if (size < room)
            break;
        char *more = room < (1u << 28) ? realloc(text, room *= 2) : NULL;
        if (!more)
            free(text);
        text = more;
    }
    if (text && ferror(f)) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    if (text)
        text[size] = 0;
    *length = (int)size;
    return text;
}

static void use_table(const char *text, int length)
{
    char error[256];
    if (ix_load_times(text, (size_t)length, ix_operation_names, IX_OP_COUNT, error, sizeof error) &&
        world_rank == 0)
        ix_warn("%s: %s: transfer times are unknown", getenv("IMBREX_TABLE"), error);
}

/* Rank 0 reads, everybody gets. */
static void share_table(void)
{
    const char *path = getenv("IMBREX_TABLE");
    char *text = NULL;
    int length = -1;
    if (world_rank == 0 && path && *path) {
        text = read_file(path, &length);
        if (!text) {
            length = -1;
            ix_warn("%s: %s: transfer times are unknown", path, strerror(errno));
        }
    }
    PMPI_Bcast(&length, 1, MPI_INT, 0, all);
    if (length < 0)
        return;
    if (world_rank)
        text = malloc((size_t)length + 1);
    int fine = text != NULL, everybody = 0;
    PMPI_Allreduce(&fine, &everybody, 1, MPI_INT, MPI_MIN, all);
    if (everybody) {
        PMPI_Bcast(text, length, MPI_BYTE, 0, all);
        text[length] = 0;
        use_table(text, length);
    }
    free(text);
}

static enum ix_threading threading(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE)
        return IX_CONCURRENT;
    return level == MPI_THREAD_SERIALIZED ? IX_SERIALIZED : IX_ONE_THREAD;
}

#ifdef IMBREX_SIMULATED
/* Reading the time by MPI would itself take simulated time. */
extern double simgrid_get_clock(void);

static int64_t simulated_ns(void)
{
    return (int64_t)(simgrid_get_clock() * 1e9 + 0.5);
}
#endif

static void library_line(char *line, size_t room)
{
    line[0] = 0;
#if MPI_VERSION >= 3
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    snprintf(line, room, "%.*s", (int)strcspn(text, "\n"), text);
#endif
}

/* Start the engine in this process. */
static int start_engine(enum ix_threading mode)
{
    char host[65] = "", library[256];
    gethostname(host, 64);
#ifdef IMBREX_SIMULATED
    ix_clock_start(simulated_ns);
#endif
    library_line(library, sizeof library);
    make_directory(parts_directory);
    if (asprintf(&part_path, "%s/rank-%d.part", parts_directory, world_rank) < 0)
        part_path = NULL;
    ix_options options = {.part_path = part_path,
                          .rank = world_rank,
                          .ranks = world_ranks,
                          .host = host,
                          .library = library,
                          .threading = mode,
                          .operations = ix_operation_names,
                          .operation_count = IX_OP_COUNT};
    enum ix_started started = ix_start(&options);
    has_part = started == IX_START_FILE;
    if (started == IX_START_FALLBACK)
        ix_warn("rank %d: %s: %s: if the program crashes, this rank's profile is lost", world_rank,
                part_path ? part_path : parts_directory, strerror(errno));
    if (started == IX_START_FAILED) {
        ix_warn("rank %d: no memory for its profile: not measured", world_rank);
        return 0;
    }
    overhead_ns = ix_measure_overhead(2000);
    owner = getpid();
    return 1;
}

static int everybody_measured(void)
{
    int result = 0;
    PMPI_Allreduce(&measured, &result, 1, MPI_INT, MPI_MIN, all);
    return result;
}

/* Each rank has printed its own line, but only those of rank 0 come into the run directory. */
static void tell_of_others_without_part(void)
{
    int mine = measured && !has_part, theirs = 0;
    PMPI_Reduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, 0, all);
    if (world_rank == 0 && theirs > mine) {
        char line[128];
        snprintf(line, sizeof line,
                 "%d of %d ranks had no file for their profile: had the program crashed, it would "
                 "be lost",
                 theirs, world_ranks);
        keep_warning(line);
    }
}

/* A script may start one job after the other: only the last one's files stay. */
static void tell_of_a_job_before(void)
{
    char path[PATH_MAX];
    if (world_rank == 0 && snprintf(path, sizeof path, "%s/measures.npy", directory) < PATH_MAX &&
        access(path, F_OK) == 0)
        keep_warning("another MPI job of this run ended before: these are the numbers of the last "
                     "one alone; write `imbrex run --` before each launcher");
}

void ix_job_start(void)
{
    MPI_Comm parent = MPI_COMM_NULL, self = MPI_COMM_NULL;
    if (state != BEFORE || !read_environment())
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
#ifndef IMBREX_SIMULATED /* SMPI would end the program here */
    PMPI_Comm_get_parent(&parent);
#endif
    if (parent != MPI_COMM_NULL) {
        if (world_rank == 0)
            ix_warn("processes started by MPI_Comm_spawn are not measured");
        return;
    }
    if (world_rank == 0)
        ix_tell_of_other_wrappers();
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &all) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    if (ix_comms_start(all)) {
        if (world_rank == 0)
            ix_warn("no memory: nothing is measured");
        PMPI_Comm_free(&all);
        return;
    }
    state = WORLD;
    ix_types_learn();
    measured = start_engine(threading());
    share_table();
    if (measured && PMPI_Comm_dup(MPI_COMM_SELF, &self) == MPI_SUCCESS) {
        ix_learn_shared_handles(self);
        PMPI_Comm_free(&self);
    }
    if (everybody_measured())
        ix_events_start(all);
    /* Two ranks that start apart would blame it on the program's first message. */
    PMPI_Barrier(all);
    if (measured)
        ixa_start(world_rank, directory);
    ix_measuring = measured;
}

void ix_job_start_session(void)
{
#if MPI_VERSION >= 4
    int started = 0;
    PMPI_Initialized(&started);
    if (state != BEFORE || started || !read_environment())
        return;
    MPI_Session session;
    MPI_Group world = MPI_GROUP_NULL;
    if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS)
        return;
    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS) {
        PMPI_Group_rank(world, &world_rank);
        PMPI_Group_size(world, &world_ranks);
        PMPI_Group_free(&world);
        if (!ix_comms_start_alone(world_rank, world_ranks)) {
            state = SESSIONS;
            ix_types_learn();
            /* The level of a session is not known here: be safe with threads. */
            measured = start_engine(IX_CONCURRENT);
            const char *path = getenv("IMBREX_TABLE");
            int length = 0;
            char *text = path && *path ? read_file(path, &length) : NULL;
            if (text)
                use_table(text, length);
            free(text);
            ix_measuring = measured;
        }
    }
    PMPI_Session_finalize(&session);
#endif
}

/* Under a limit of the size of files (RLIMIT_FSIZE) a write shall fail, not end the program. */
static int merge(void)
{
    ix_merge_facts facts = {.directory = directory,
                            .event_overhead_ns = overhead_ns,
                            .warnings = (const char *const *)warnings,
                            .warning_count = warning_count};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int limited = sigaction(SIGXFSZ, &ignore, &before) == 0;
    int merged = ix_merge(all, measured, &facts) == 0;
    if (limited)
        sigaction(SIGXFSZ, &before, NULL);
    return merged;
}

void ix_job_end_session(void)
{
    /* Other sessions may follow: the profile stays open, and at_exit closes it. */
    if (state == SESSIONS && measured && getpid() == owner)
        ix_mark_ended(IX_FINALIZED);
}

void ix_job_end(void)
{
    if (state != WORLD) {
        if (state == SESSIONS)
            ix_job_end_session();
        return;
    }
    state = OVER;
    ix_measuring = 0;
    if (measured)
        ix_stop();
    ixa_end();
    tell_of_others_without_part();
    tell_of_a_job_before();
    int merged = merge();
    if (!merged && world_rank == 0)
        ix_warn("%s: the ranks could not write their results together: parts are kept", directory);
    if (merged)
        has_part = 0;
    if (measured) {
        ix_mark_ended(IX_FINALIZED);
        ix_release(merged);
    }
    if (merged)
        rmdir(parts_directory);
    measured = 0;
    ix_comms_stop();
    ix_finalize_together(all);
    PMPI_Comm_free(&all);
}

void ix_job_ended(void)
{
    state = OVER;
}

/* What can be said when the process goes down without MPI_Finalize. */
static void leave(enum ix_ended how)
{
    if (!measured || getpid() != owner)
        return;
    int depth = ix_self ? (int)ix_self->depth : 0;
    ix_measuring = 0;
    measured = 0;
    if (!depth)
        ix_stop();
    ix_mark_ended(how);
}

void ix_job_abort(void)
{
    leave(IX_ABORTED);
}

/* After all handlers of exit and destructors of static objects: they may still call MPI, and
 * MPI_Finalize (an object of C++ that finalizes when main is over). */
__attribute__((destructor)) static void at_exit(void)
{
    if (state == SESSIONS) {
        int finalized = ix_part() && ix_part()->rank.ended == IX_FINALIZED;
        leave(finalized ? IX_FINALIZED : IX_EXITED);
        return;
    }
    /* exit inside a call is the library's own, from its fatal error handler. */
    leave(ix_self && ix_self->depth ? IX_ABORTED : IX_EXITED);
}
