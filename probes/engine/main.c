/* imbrex-probes: runs the experiments on the launched ranks and prints their rows on rank 0's
 * stdout. */
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/scheduling.h"
#include "engine/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPERIMENT(name, always, share) extern void run_##name(engine *e);
#include "experiments.def"
#undef EXPERIMENT

static const struct {
    experiment experiment;
    int always, share;
} all[] = {
#define EXPERIMENT(name, always, share) {{#name, run_##name}, always, share},
#include "experiments.def"
#undef EXPERIMENT
};

/* Counts of MPI calls are int. */
static const size_t largest_message = (size_t)1 << 30;

typedef struct options {
    const char *only; /* comma-separated names; NULL: those that always run */
    int quick;
    int multiple; /* MPI_THREAD_MULTIPLE in place of what MPI_Init gives */
    int pairs;    /* an odd number of ranks is nothing to begin with */
    size_t max_bytes;
    double slice_s;
    double time_limit_s;
} options;

static int listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    return 0;
}

static options read_options(int argc, char **argv)
{
    options o = {.time_limit_s = 600};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--quick") == 0) {
            o.quick = 1;
            continue;
        }
        if (strcmp(argv[i], "--multiple") == 0) {
            o.multiple = 1;
            continue;
        }
        if (strcmp(argv[i], "--pairs") == 0) {
            o.pairs = 1;
            continue;
        }
        if (strcmp(argv[i], "--experiments") == 0)
            o.only = value;
        else if (strcmp(argv[i], "--max-bytes") == 0)
            o.max_bytes = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--slice") == 0)
            o.slice_s = atof(value);
        else if (strcmp(argv[i], "--time-limit") == 0)
            o.time_limit_s = atof(value);
        else {
            fprintf(stderr, "imbrex-probes: unknown option %s\n", argv[i]);
            exit(2);
        }
        i++;
    }
    if (o.max_bytes == 0)
        o.max_bytes = o.quick ? (size_t)8 << 20 : (size_t)64 << 20;
    if (o.max_bytes > largest_message)
        o.max_bytes = largest_message;
    if (o.slice_s <= 0)
        o.slice_s = o.quick ? 0.015 : 0.15;
    return o;
}

/* Nodes by shared memory, not by name: containers may repeat names. Numbered by their lowest rank.
 */
static void find_nodes(engine *e)
{
    MPI_Comm node;
    int lowest = e->rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, e->rank, MPI_INFO_NULL, &node);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    int *leaders = malloc((size_t)e->ranks * sizeof *leaders);
    int *node_of = malloc((size_t)e->ranks * sizeof *node_of);
    if (!leaders || !node_of)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Allgather(&lowest, 1, MPI_INT, leaders, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < e->ranks; r++)
        node_of[r] = leaders[r] == r ? e->nodes++ : node_of[leaders[r]];
    free(leaders);
    e->node_of = node_of;
    e->node = node_of[e->rank];
}

static void add_pair(engine *e, int leader, int partner)
{
    if (leader < 0 || partner < 0 || leader == partner || e->npairs == MAX_PAIRS)
        return;
    for (int i = 0; i < e->npairs; i++)
        if (e->pairs[i].leader == leader && e->pairs[i].partner == partner)
            return;
    e->pairs[e->npairs].leader = leader;
    e->pairs[e->npairs].partner = partner;
    e->pairs[e->npairs++].same_node = e->node_of[leader] == e->node_of[partner];
}

/* Near and far neighbours: the nearest and the last rank of the first node that has two, and rank 0
 * with the first rank of the second and of the last node. */
static void choose_pairs(engine *e)
{
    for (int first = 0; first < e->ranks && e->npairs == 0; first++) {
        int near = -1, far = -1;
        for (int r = first + 1; r < e->ranks; r++)
            if (e->node_of[r] == e->node_of[first]) {
                near = near < 0 ? r : near;
                far = r;
            }
        add_pair(e, first, near);
        add_pair(e, first, far);
    }
    int second = -1, last = -1;
    for (int r = 1; r < e->ranks; r++) {
        if (e->node_of[r] == 1 && second < 0)
            second = r;
        if (e->nodes > 1 && e->node_of[r] == e->nodes - 1 && last < 0)
            last = r;
    }
    add_pair(e, 0, second);
    add_pair(e, 0, last);
}

/* A quarter of the free memory at most: a ping-pong and its cold buffers hold four times a message.
 */
static void limit_to_memory(engine *e)
{
    enum { times_a_message = 4 };
    int on_node = 0;
    for (int r = 0; r < e->ranks; r++)
        on_node += e->node_of[r] == e->node;
    const double shared = free_on_node_bytes() / 4 / on_node, own = free_in_process_bytes() / 2;
    unsigned long long room = (unsigned long long)((shared < own ? shared : own) / times_a_message);
    unsigned long long least;
    MPI_Allreduce(&room, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    while (e->max_bytes > least && e->max_bytes > 4096)
        e->max_bytes /= 2;
}

static void print_header(const engine *e)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], host[MPI_MAX_PROCESSOR_NAME] = "";
    int length, version, subversion;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&version, &subversion);
    MPI_Get_processor_name(host, &length);
    char *hosts = malloc((size_t)e->ranks * MPI_MAX_PROCESSOR_NAME);
    if (!hosts)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Gather(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0,
               MPI_COMM_WORLD);
    if (e->rank == 0) {
        library[strcspn(library, "\n")] = '\0';
        printf("# imbrex-probes 1\n# library %s\n# mpi %d.%d\n# ranks %d\n# nodes %d\n", library,
               version, subversion, e->ranks, e->nodes);
        for (int r = 0; r < e->ranks; r++)
            printf("# host %d %d %s\n", r, e->node_of[r], hosts + r * MPI_MAX_PROCESSOR_NAME);
        printf("# max_bytes %zu\n# quick %d\n", e->max_bytes, e->quick);
        fflush(stdout);
    }
    free(hosts);
}

static int chosen(const options *o, size_t i)
{
    return o->only ? listed(o->only, all[i].experiment.name) : all[i].always;
}

/* The i-th experiment begins: its share of what is left, and when it has to end. It may take more
 * than its share, but not all that is left, so that a slow one does not keep the others from
 * beginning. */
static void begin_experiment(engine *e, const options *o, size_t i, int64_t end_ns)
{
    const double patience = 2;
    int shares = 0;
    for (size_t j = i; j < sizeof all / sizeof all[0]; j++)
        shares += chosen(o, j) ? all[j].share : 0;
    const double part = (double)all[i].share / shares, most = patience * part;
    e->begin_ns = now_ns();
    const double left_ns = (double)(end_ns - e->begin_ns);
    e->fair_ns = e->begin_ns + (int64_t)(part * left_ns);
    e->end_ns = most >= 1 ? end_ns : e->begin_ns + (int64_t)(most * left_ns);
}

/* A row per rank: its host and how long a unit of work takes there. */
static void print_speeds(engine *e)
{
    double mine = unit_ns(registers), *of = (double *)touched((size_t)e->ranks * sizeof *of);
    MPI_Gather(&mine, 1, MPI_DOUBLE, of, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; e->rank == 0 && r < e->ranks; r++)
        row(e, "speed %d %d %.3f", r, e->node_of[r], of[r]);
    free(of);
}

/* What the ranks held in memory at most. */
static void print_memory(engine *e)
{
    double mine = peak_resident_bytes(), most;
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (e->rank == 0)
        row(e, "memory %d %.0f", e->ranks, most);
}

/* For which share of this experiment so far the rank that waited longest for a core did. */
static void print_core_wait(const engine *e, const char *name, double waited_before_ns)
{
    const double waited_ns = waited_for_core_ns() - waited_before_ns;
    double share = waited_before_ns < 0 ? -1 : waited_ns / (double)(now_ns() - e->begin_ns), most;
    MPI_Reduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, 0, e->control);
    if (e->rank == 0 && most >= 0)
        printf("# waited %s %.4f\n", name, most);
}

/* MPICH over UCX and TCP at times never returns from MPI_Finalize (runtime/job/finalize.c). */
static void finalize_together(void)
{
    const struct timespec pause = {0, 20 * 1000 * 1000};
    MPI_Barrier(MPI_COMM_WORLD);
    nanosleep(&pause, NULL);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    engine e = {.quick = o.quick, .max_bytes = o.max_bytes, .slice_s = o.slice_s};
    /* Whatever hangs, launcher or library: no rank outlives this. */
    alarm((unsigned)(o.time_limit_s + 30));
    int level;
    if (o.multiple)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
    if (o.pairs && e.ranks % 2) {
        if (e.rank == 0)
            printf("# imbrex-probes 1\n# ranks %d\n# end\n", e.ranks);
        fflush(stdout);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &e.data);
    MPI_Comm_dup(MPI_COMM_WORLD, &e.control);
    const int64_t end_ns = now_ns() + (int64_t)(o.time_limit_s * 1e9);
    e.grace_ns = (int64_t)(o.time_limit_s * 1e8);
    find_nodes(&e);
    choose_pairs(&e);
    limit_to_memory(&e);
    print_header(&e);
    calibrate_work();
    print_speeds(&e);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (chosen(&o, i)) {
            begin_experiment(&e, &o, i, end_ns);
            report_progress(&e, all[i].experiment.name, 0);
            const double waited_ns = waited_for_core_ns();
            all[i].experiment.run(&e);
            print_core_wait(&e, all[i].experiment.name, waited_ns);
            sleepy_barrier(e.control);
            if (e.rank == 0 && (reported_whole() || !out_of_time(&e)))
                printf("# done %s\n", all[i].experiment.name);
            if (e.rank == 0)
                printf("# spent %s %.3f\n", all[i].experiment.name,
                       1e-9 * (double)(now_ns() - e.begin_ns));
        }
    print_memory(&e);
    if (e.rank == 0)
        printf("# end\n");
    fflush(stdout);
    MPI_Comm_free(&e.data);
    MPI_Comm_free(&e.control);
    free((void *)e.node_of);
    finalize_together();
    return 0;
}
