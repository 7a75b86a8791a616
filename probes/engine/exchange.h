/* One message with work on either side: what the overlap experiments are made of. */
#ifndef IMBREX_PROBES_EXCHANGE_H
#define IMBREX_PROBES_EXCHANGE_H

#include "engine/clocks.h"
#include "engine/work.h"

#define BLOCKING (-1.0)

/* What one side does: works for `delay_ns`, starts, works for `work_ns` with `tests` calls of
 * MPI_Test in it, waits. With work_ns == BLOCKING it calls MPI_Send or MPI_Recv instead. */
typedef struct side {
    double delay_ns;
    double work_ns;
    int tests;
} side;

/* Moments of one side, nanoseconds after the agreed start on the leader's clock. */
typedef struct moments {
    int64_t valid;
    int64_t enter;         /* of the call that starts */
    int64_t started;       /* its return */
    int64_t wait;          /* entering MPI_Wait; of a blocking call `enter` */
    int64_t done;          /* the side's operation is complete */
    int64_t other_threads; /* no moment: processor time of the process's other threads meanwhile */
} moments;
enum { moments_words = sizeof(moments) / sizeof(int64_t), most_starts = 4 };

/* Which calls a side that does not block makes: MPI_Isend and MPI_Irecv; MPI_Start of a persistent
 * request; MPI_Start and, of the sender, an MPI_Pready per partition. */
enum starter { immediate, persistent, partitioned, starters };

typedef struct exchange_setting {
    engine *e;
    const pair *p;
    clock_difference clocks;
    char *buffer;
    char *back; /* where the opposite message arrives, when both directions are used at once */
    int starts; /* so many messages of one byte each way a side begins while it works, at most
                   most_starts; one that does not work begins them behind its wait */
    enum flavour flavour;
    enum starter starter;
} exchange_setting;

typedef struct outcome {
    moments sender, receiver;
} outcome;

/* The agreed start of the next exchange, on this rank's clock. Both ranks of the pair call this. */
int64_t agreed_start(const exchange_setting *s);
/* Whether this MPI has the calls. */
int has_starter(enum starter starter);
/* Both ranks of the pair call this; the leader sends. Complete at the leader. */
outcome exchange(const exchange_setting *s, size_t size, side sender, side receiver);
/* A message in each direction at once, MPI_Isend and MPI_Irecv on both sides: the leader's in
 * there[0], the partner's in there[1]. Both ranks of the pair call this. Complete at the leader. */
void exchange_both_ways(const exchange_setting *s, size_t size, side mine, outcome there[2]);
/* Print a valid outcome as a row of `label`. */
void print_exchange(const exchange_setting *s, const char *label, size_t size, side sender,
                    side receiver, const outcome *o);
/* About how long a transfer takes when both sides are in MPI, nanoseconds; the same at both ranks.
 */
double transfer_estimate(const exchange_setting *s, size_t size);
/* How often to repeat an exchange: of a transfer of milliseconds, which is noisy by less and costs
 * more, no more often than in quick mode, and even less often the longer ones; half as often where
 * the experiment, of which `done` is measured, is behind its time. The same at both ranks. */
int repetitions(const exchange_setting *s, double transfer_ns, int quick, int full, double done);
/* `count` valid exchanges printed, or fewer when the time is over. Returns the median of the
 * computing side's (of two, the longer) time in start and wait, nanoseconds; the same at both
 * ranks. */
double exchanges(const exchange_setting *s, const char *label, size_t size, side sender,
                 side receiver, int count);
/* The same, but fewer exchanges, at least half of `count`, where their times in start and wait
 * differ by little beside a transfer. */
double enough_exchanges(const exchange_setting *s, const char *label, size_t size, side sender,
                        side receiver, int count, double transfer_ns);
/* The same for exchanges in both directions, as rows of `label` and `label`-back. */
double exchanges_both_ways(const exchange_setting *s, const char *label, size_t size, side mine,
                           int count);
#endif
