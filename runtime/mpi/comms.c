#include "mpi/comms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/call_logging.h"
#include "mpi/comm_numbers.h"
#include "mpi/group_epochs.h"
#include "mpi/observers.h"

typedef ix_comm_table table;

ix_comm_table ix_comms;
static table windows;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static int comm_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;

const uint8_t *ix_world_paths;
int32_t ix_world_size;
uint32_t ix_world_number;
static uint8_t *world_paths;
static int world_rank, one_node, on_node = 1;
static MPI_Group world_group;

static ix_comm *find(table *t, uint64_t handle)
{
    for (uint32_t i = ix_comm_slot(handle), n = 0; n < IX_COMM_SLOTS;
         i = (i + 1) % IX_COMM_SLOTS, n++) {
        ix_comm *c = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (!c)
            return NULL;
        if (c != IX_COMM_TOMBSTONE && c->handle == handle)
            return c;
    }
    return NULL;
}

static int insert(table *t, ix_comm *c)
{
    for (uint32_t i = ix_comm_slot(c->handle), n = 0; n < IX_COMM_SLOTS;
         i = (i + 1) % IX_COMM_SLOTS, n++) {
        ix_comm *there = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (!there || there == IX_COMM_TOMBSTONE) {
            atomic_store_explicit(&t->slots[i], c, memory_order_release);
            return 1;
        }
    }
    return 0;
}

void ix_comm_drop(ix_comm *c)
{
    if (atomic_fetch_sub_explicit(&c->holds, 1, memory_order_acq_rel) == 1) {
        ix_group_epochs_free(c->epochs);
        free(c);
    }
}

static void remove_entry(table *t, uint64_t handle)
{
    pthread_mutex_lock(&writing);
    for (uint32_t i = ix_comm_slot(handle), n = 0; n < IX_COMM_SLOTS;
         i = (i + 1) % IX_COMM_SLOTS, n++) {
        ix_comm *c = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (!c)
            break;
        if (c != IX_COMM_TOMBSTONE && c->handle == handle) {
            ix_comm *next =
                atomic_load_explicit(&t->slots[(i + 1) % IX_COMM_SLOTS], memory_order_acquire);
            atomic_store_explicit(&t->slots[i], next ? IX_COMM_TOMBSTONE : NULL,
                                  memory_order_release);
            ix_comm_drop(c);
            break;
        }
    }
    pthread_mutex_unlock(&writing);
}

static int comm_freed(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    remove_entry(&ix_comms, ix_handle(comm));
    ix_tell_communicator_freed(ix_handle(comm));
    return MPI_SUCCESS;
}

/* Own ones: the predefined ones are symbols of the library. */
static int comm_not_copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int window_not_copied(MPI_Win win, int key, void *extra, void *in, void *out, int *flag)
{
    (void)win, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int window_freed(MPI_Win win, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    remove_entry(&windows, ix_handle(win));
    return MPI_SUCCESS;
}

/* The world ranks of a group, -1 outside MPI_COMM_WORLD; NULL without memory. */
static int *world_ranks_of(MPI_Group group, int count)
{
    int *ranks = calloc(2 * (size_t)(count > 0 ? count : 1), sizeof *ranks);
    if (!ranks)
        return NULL;
    int *asked = ranks + count;
    for (int i = 0; i < count; i++)
        asked[i] = i;
    int known = world_group != MPI_GROUP_NULL &&
                PMPI_Group_translate_ranks(group, count, asked, world_group, ranks) == MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        if (!known || ranks[i] < 0 || ranks[i] >= ix_world_size)
            ranks[i] = -1;
    return ranks;
}

/* Fill paths and the longest of them for the peers. */
static void fill_paths(ix_comm *c, const int *world)
{
    c->path = IX_PATH_SELF;
    c->members = 0xcbf29ce484222325u;
    for (int i = 0; i < c->peers; i++) {
        c->members = (c->members ^ (uint32_t)world[i]) * 0x100000001b3u;
        c->paths[i] = world[i] >= 0 ? world_paths[world[i]] : IX_PATH_FOREIGN | IX_PATH_INTER;
        if (c->paths[i] > c->path)
            c->path = c->paths[i];
    }
}

static ix_comm *new_entry(uint64_t handle, int peers)
{
    ix_comm *c = calloc(1, sizeof *c + (size_t)(peers > 0 ? peers : 1));
    if (c) {
        c->handle = handle;
        c->peers = peers;
        c->source_places = c->destination_places = -1;
        atomic_init(&c->holds, 1);
    }
    return c;
}

/* Paths and number of a new entry, whose group is given. 0, or -1 without memory. */
static int meet(ix_comm *c, MPI_Group group, MPI_Group remote_group, int window, int created)
{
    int *own = world_ranks_of(group, c->size), *remote = own;
    if (c->inter)
        remote = world_ranks_of(remote_group, c->peers);
    int fine = own && remote;
    if (fine) {
        fill_paths(c, remote);
        ix_number_comm(c, (ix_members){own, c->size}, (ix_members){remote, c->peers}, window,
                       created);
    }
    if (remote != own)
        free(remote);
    free(own);
    return fine ? 0 : -1;
}

static ix_comm *ask_comm(MPI_Comm comm, int created)
{
    int inter = 0, size = 0, rank = 0, peers = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        PMPI_Comm_size(comm, &size) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return NULL;
    peers = size;
    if (inter && PMPI_Comm_remote_size(comm, &peers) != MPI_SUCCESS)
        return NULL;
    ix_comm *c = new_entry(ix_handle(comm), peers);
    if (!c)
        return NULL;
    c->rank = rank;
    c->size = size;
    c->inter = inter;
    MPI_Group group = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS ||
        (inter && PMPI_Comm_remote_group(comm, &remote) != MPI_SUCCESS) ||
        meet(c, group, remote, 0, created)) {
        free(c);
        c = NULL;
    }
    if (group != MPI_GROUP_NULL)
        PMPI_Group_free(&group);
    if (remote != MPI_GROUP_NULL)
        PMPI_Group_free(&remote);
    return c;
}

static ix_comm *ask_window(MPI_Win win, int created)
{
    MPI_Group group;
    int size = 0;
    if (PMPI_Win_get_group(win, &group) != MPI_SUCCESS)
        return NULL;
    PMPI_Group_size(group, &size);
    ix_comm *c = new_entry(ix_handle(win), size);
    if (c) {
        PMPI_Group_rank(group, &c->rank);
        c->size = size;
        if (meet(c, group, MPI_GROUP_NULL, 1, created)) {
            free(c);
            c = NULL;
        }
    }
    PMPI_Group_free(&group);
    return c;
}

ix_comm *ix_comm_known(MPI_Comm comm)
{
    return find(&ix_comms, ix_handle(comm));
}

static ix_comm *find_or_ask(MPI_Comm comm, int created)
{
    ix_comm *c = find(&ix_comms, ix_handle(comm));
    if (IX_LIKELY(c))
        return c;
    pthread_mutex_lock(&writing);
    c = find(&ix_comms, ix_handle(comm));
    if (!c && (c = ask_comm(comm, created))) {
        ix_tell_communicator_met(c);
        if (insert(&ix_comms, c)) {
            ix_tell_communicator_listed(comm, c);
        } else {
            free(c);
            c = NULL;
        }
    }
    pthread_mutex_unlock(&writing);
    /* Outside the lock: setting an attribute may call back. */
    if (c && comm_key != MPI_KEYVAL_INVALID)
        PMPI_Comm_set_attr(comm, comm_key, c);
    return c;
}

ix_comm *ix_comm_find(MPI_Comm comm)
{
    return find_or_ask(comm, 0);
}

void ix_comm_created(MPI_Comm comm)
{
    if (ix_log() && comm != MPI_COMM_NULL)
        find_or_ask(comm, 1);
}

void ix_comms_number_predefined(void)
{
    ix_comm_created(MPI_COMM_WORLD);
    const ix_comm *world = ix_comm_known(MPI_COMM_WORLD);
    ix_world_number = world ? world->number : 0;
    ix_comm_created(MPI_COMM_SELF);
}

void ix_comm_promised(MPI_Comm parent)
{
    const ix_comm *c = ix_log() ? ix_comm_of(parent) : NULL;
    pthread_mutex_lock(&writing);
    ix_promise_number(c);
    pthread_mutex_unlock(&writing);
}

int ix_path_slow(MPI_Comm comm, int rank)
{
    return rank == MPI_ANY_SOURCE ? IX_PATH_ANY : ix_path_in(ix_comm_of(comm), rank);
}

static ix_comm *find_or_ask_window(MPI_Win win, int created)
{
    ix_comm *c = find(&windows, ix_handle(win));
    if (IX_LIKELY(c))
        return c;
    pthread_mutex_lock(&writing);
    c = find(&windows, ix_handle(win));
    if (!c && (c = ask_window(win, created)) && !insert(&windows, c)) {
        free(c);
        c = NULL;
    }
    pthread_mutex_unlock(&writing);
    if (c && window_key != MPI_KEYVAL_INVALID)
        PMPI_Win_set_attr(win, window_key, c);
    return c;
}

ix_comm *ix_comm_of_window(MPI_Win win)
{
    return find_or_ask_window(win, 0);
}

void ix_window_created(MPI_Win win)
{
    if (ix_log())
        find_or_ask_window(win, 1);
}

static int start(int rank, int ranks)
{
    world_rank = rank;
    world_paths = malloc((size_t)ranks);
    if (!world_paths)
        return -1;
    memset(world_paths, IX_PATH_INTER | IX_PATH_FOREIGN, (size_t)ranks);
    world_paths[rank] = IX_PATH_SELF;
    PMPI_Comm_create_keyval(comm_not_copied, comm_freed, &comm_key, NULL);
    PMPI_Win_create_keyval(window_not_copied, window_freed, &window_key, NULL);
    return 0;
}

int ix_comms_start_alone(int rank, int ranks)
{
    world_group = MPI_GROUP_NULL;
    return start(rank, ranks);
}

int ix_comms_start(MPI_Comm all)
{
    int rank, ranks;
    PMPI_Comm_rank(all, &rank);
    PMPI_Comm_size(all, &ranks);
    int *nodes = malloc(sizeof *nodes * (size_t)ranks);
    MPI_Comm node = MPI_COMM_NULL;
    int mine = -1;
    if (PMPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node) ==
        MPI_SUCCESS) {
        PMPI_Allreduce(&rank, &mine, 1, MPI_INT, MPI_MIN, node);
        PMPI_Comm_free(&node);
    }
    int have = nodes != NULL, all_have = 0;
    PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, all);
    if (!all_have || start(rank, ranks)) {
        free(nodes);
        return -1;
    }
    PMPI_Allgather(&mine, 1, MPI_INT, nodes, 1, MPI_INT, all);
    one_node = 1;
    on_node = 0;
    for (int i = 0; i < ranks; i++) {
        int same = nodes[i] == mine && mine >= 0;
        one_node = one_node && same;
        on_node += same;
        world_paths[i] = i == rank ? IX_PATH_SELF : same ? IX_PATH_INTRA : IX_PATH_INTER;
    }
    free(nodes);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    ix_world_paths = world_paths;
    ix_world_size = ranks;
    return 0;
}

int ix_comms_one_node(void)
{
    return one_node;
}

int ix_comms_ranks_on_node(void)
{
    return on_node > 0 ? on_node : 1;
}

void ix_comms_stop(void)
{
    if (comm_key != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&comm_key);
    if (window_key != MPI_KEYVAL_INVALID)
        PMPI_Win_free_keyval(&window_key);
    if (world_group != MPI_GROUP_NULL)
        PMPI_Group_free(&world_group);
}
