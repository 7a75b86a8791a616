/* The engine under every probe: who the ranks are, which pairs to measure, time, memory, rows of
 * output. Output: lines `# key value` and rows whose first word names the experiment;
 * docs/reference/probe-experiments.md lists the columns. */
#ifndef IMBREX_PROBES_ENGINE_H
#define IMBREX_PROBES_ENGINE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PAIRS 6

/* Two ranks that talk, everyone else sleeping. `leader` starts, decides and reports. */
typedef struct pair {
    int leader;
    int partner;
    int same_node;
} pair;

typedef struct engine {
    int rank;
    int ranks;
    int node;           /* index of this rank's node */
    int nodes;          /* number of nodes */
    const int *node_of; /* node of each rank */
    MPI_Comm data;      /* the messages that are measured */
    MPI_Comm control;   /* everything else */
    int quick;
    size_t max_bytes; /* largest message */
    double slice_s;   /* time for one size of one experiment */
    /* Of this experiment: when it began, when it should be over for all to have their share of the
     * time, and when to begin nothing more; and how much later what must not be missing may end. */
    int64_t begin_ns, fair_ns, end_ns, grace_ns;
    pair pairs[MAX_PAIRS];
    int npairs;
    int part, parts; /* the pair at hand among those of this experiment; 0 parts: no pairs */
} engine;

typedef struct experiment {
    const char *name;
    void (*run)(engine *e);
} experiment;

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t now_ns(void);
void spin_until(int64_t when_ns);
/* Processor time that all other threads of this process have used: a progress thread's. */
int64_t other_threads_ns(void);
int out_of_time(const engine *e);

const char *path_name(const pair *p);
int in_pair(const engine *e, const pair *p);
int is_leader(const engine *e, const pair *p);
int other_of(const engine *e, const pair *p);

/* Leader's value at both ranks of the pair. */
int64_t agree(const engine *e, const pair *p, int64_t value);

/* Run `work` on each pair in turn; the other ranks sleep, and give their core away. */
void for_each_pair(engine *e, void (*work)(engine *e, const pair *p));
/* The same for the first pair of each path only: what protocols do is the same for all. */
void for_first_pairs(engine *e, void (*work)(engine *e, const pair *p));
/* A barrier in which waiting ranks sleep. */
void sleepy_barrier(MPI_Comm comm);

/* Sizes of messages: every power of two, or every fourth in quick mode; 0 when there is no next. */
size_t next_size(const engine *e, size_t size);
/* How many times as large the next one is; 0: there is none. */
double growth(const engine *e, size_t size);
/* How many of them there are up to `size`. */
int sizes_up_to(const engine *e, size_t size);
/* The share of the sizes that is measured once `size` is. */
double progress_of_size(const engine *e, size_t size);
/* The same of an experiment's own sizes: `first`, `factor` times as much, ... up to `largest`. */
double progress_of_steps(size_t first, size_t factor, size_t largest, size_t size);

/* Print one row. Rows of a rank other than 0 travel to rank 0 with send_rows(). */
void row(engine *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void send_rows(engine *e, int owner);
/* How much of an experiment, or of its pair at hand, was measured: the last one said is what a user
 * is told of an experiment that was cut short. */
void report_progress(const engine *e, const char *stage, double fraction);
/* Whether what was said last is that all was measured. */
int reported_whole(void);

/* `bytes` of memory with every page touched; ends the job with one line when there is none. */
char *touched(size_t bytes);
#endif
