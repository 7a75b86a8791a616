/* What the checks of the call log share: a clock that is moved by hand, and calls of MPI as the
 * wrappers log them. A program has one check for each name in argv[1]; argv[2] is the part file. It
 * exits with 0, or says which line failed. */
#ifndef CALL_LOG_CHECKS_H
#define CALL_LOG_CHECKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/call_logging.h"
#include "core/log_streams.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { OTHER, SEND, RECV, ISEND, IRECV, WAIT, START, BCAST, OPERATIONS };
static const char *const operations[OPERATIONS] = {"MPI_Other", "MPI_Send",  "MPI_Recv",
                                                   "MPI_Isend", "MPI_Irecv", "MPI_Wait",
                                                   "MPI_Start", "MPI_Bcast"};
static const uint32_t WORLD = 77;
static int64_t clock_ns = 1000;
static const char *part_path;

static inline int64_t fake_clock(void)
{
    return clock_ns;
}

static inline void begin(uint64_t budget, enum ix_threading threading, int real_clock)
{
    ix_clock_start(real_clock ? NULL : fake_clock);
    ix_options options = {.part_path = part_path,
                          .ranks = 2,
                          .operations = operations,
                          .operation_count = OPERATIONS,
                          .threading = threading};
    CHECK(ix_start(&options) == (part_path ? IX_START_FILE : IX_START_ANONYMOUS));
    CHECK(ix_log_start(budget, 0) == 0);
    ix_log_begin();
}

static inline ix_thread *enter(uint32_t operation)
{
    clock_ns += 10;
    return ix_enter(operation, NULL);
}

static inline void leave(ix_thread *t, int64_t lasted)
{
    clock_ns += lasted;
    ix_leave(t);
}

static inline uint64_t to(int32_t peer)
{
    return ix_log_where(WORLD, peer);
}

static inline uint64_t message(uint32_t kind, int32_t tag, uint32_t flags)
{
    return ix_log_envelope(tag, kind, IX_PATH_INTRA, flags);
}

static inline void blocking_send(int32_t peer, int32_t tag, int64_t bytes)
{
    ix_thread *t = enter(SEND);
    ix_log_message(t, bytes, to(peer), message(IX_LOG_SEND, tag, 0));
    leave(t, 5);
}

/* As the wrappers begin and end messages of requests. */
static inline void begin_message(ix_thread *t, uint64_t handle, int64_t bytes, uint32_t kind,
                                 int32_t peer, int32_t tag)
{
    const ix_transfer x = {.bytes = bytes, .path = IX_PATH_INTRA};
    ix_begin_logged(t, handle, bytes, ix_pack(&x), to(peer), ix_log_envelope(tag, kind, 0, 0));
}

static inline void complete(ix_thread *t, uint64_t handle, int32_t source, int32_t tag,
                            int64_t bytes, uint32_t flags)
{
    if (flags)
        ix_log_completed(t, handle, source, tag, bytes, flags);
    else
        ix_finish_logged(t, handle, ix_log_came(source, tag), bytes, IX_AS_POSTED);
}

static inline void start_receive(uint64_t handle, int32_t peer, int32_t tag)
{
    uint32_t wildcard = peer < 0 ? IX_LOG_WILDCARD : 0;
    ix_thread *t = enter(IRECV);
    if (wildcard)
        ix_log_begun(t, handle, 100, to(peer), message(IX_LOG_RECV, tag, wildcard), 0);
    else
        begin_message(t, handle, 100, IX_LOG_RECV, peer, tag);
    leave(t, 3);
}

static inline void wait_for(uint64_t handle, int32_t source, int32_t tag, int64_t bytes,
                            uint32_t flags)
{
    ix_thread *t = enter(WAIT);
    complete(t, handle, source, tag, bytes, flags);
    leave(t, 7);
}

static inline ix_log_reader open_own(void)
{
    ix_log_reader reader;
    char error[100];
    if (ix_log_open(&reader, ix_log(), ix_log()->bytes, 0, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return reader;
}

typedef struct named_check {
    const char *name;
    void (*check)(void);
} named_check;

/* The check that is asked for, in a log that is ended behind it; `checks` ends with a name that is
 * NULL. */
static inline int run_check(const named_check *checks, int argc, char **argv)
{
    part_path = argc > 2 ? argv[2] : NULL;
    while (argc > 1 && checks->name && strcmp(checks->name, argv[1]) != 0)
        checks++;
    if (argc < 2 || !checks->name)
        return 2;
    checks->check();
    ix_stop();
    ix_release(1);
    return 0;
}

#endif
