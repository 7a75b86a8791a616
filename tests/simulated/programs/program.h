/* Random message programs on a simulated cluster, linked with the runtime that users get.
 * Every rank draws the same numbers and does its own part. Each message has a size of its own, so
 * that the network's log can be matched to it, and a section of its own, so that the profile shows
 * its bounds alone. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { BIG = 1 << 22, SERIALS = 2000, EAGER = 65536 };

extern int rank, ranks, polling;
extern char *buffer, *other; /* BIG bytes each */
extern FILE *out;

/* A number below `below`; the same on every rank. */
uint32_t draw(uint32_t below);
void compute(void);

/* Around every call: the time since the last one was computation. */
void before_call(void);
void after_call(void);
#define CALL(...)                                                                                  \
    do {                                                                                           \
        before_call();                                                                             \
        __VA_ARGS__;                                                                               \
        after_call();                                                                              \
    } while (0)

/* Say that this rank takes part in a message from now on. */
void note_message(const char *operation, int bytes, int section);
/* Say so, and name the section in which it begins it. */
void begin_message(const char *operation, int bytes);
void end_message(int bytes);
#define MESSAGE(operation, bytes, ...)                                                             \
    do {                                                                                           \
        begin_message(operation, bytes);                                                           \
        CALL(__VA_ARGS__);                                                                         \
        end_message(bytes);                                                                        \
    } while (0)

/* Say that this rank begins the next collective (bytes 0: one that moves nothing); `root` -1: none.
 */
void begin_joining(const char *operation, int bytes, int root);
void end_joining(int bytes);

/* Say what the last call, which waits for all (or, `any`, for the first) of them, completed: sizes
 * of messages, or 0 for the last collective. */
void completed(const char *operation, int any, int count, const int *bytes);

/* The same of what the last of several calls found, of which the first was entered at that time.
 * What the first finds waits for nothing, and nothing is said. */
void found_by_polls(int64_t since_ns, const char *operation, int count, const int *bytes);
int64_t last_entered(void);

/* A size that nothing else in this program has. */
int unique_size(int *serial, int rendezvous);
/* Of a collective's block: no sum of up to four is the size of anything else. */
int unique_block(int rendezvous);

void round_of_messages(int *serial);
void blocking_collective(void);
/* At most one at a time. */
void begin_collective(void);
void end_collective(void);
void round_of_puts(int *serial);

/* messages of known times, for the table */
void calibrate(void);

/* The profile of one program at a time. */
void profile_begin(void);
void profile_write(void);
/* What the ranks find when they match their calls over a communicator that nothing else uses, once
 * nothing of the program moves any more. */
void profile_match(MPI_Comm all);

#endif
