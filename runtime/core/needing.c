#include "core/needing.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/plans.h"

/* Of more open at a time the rest is only counted. */
enum { LISTED = 64 };

enum { FREE = 0, OPEN = 1, COMPLETE = 2 };

static struct {
    _Atomic int32_t *at; /* by call site; NULL: nothing is counted */
    uint32_t sites;
    _Atomic int lock; /* of threads that call MPI at the same time */
    int32_t listed;   /* entries that are not FREE */
    int32_t open;     /* entries that are OPEN */
    struct {
        uint64_t handle;
        int32_t site, state;
    } list[LISTED];
} needing;

uint64_t ix_sizes_without_need[IX_KEPT_SIZES];

void ix_forget_sizes_without_need(void)
{
    memset(ix_sizes_without_need, 0, sizeof ix_sizes_without_need);
}

int ix_count_those_in_need(uint32_t sites)
{
    ix_forget_sizes_without_need();
    if (needing.sites < sites) {
        free(needing.at);
        needing.at = calloc(sites, sizeof *needing.at);
        needing.sites = needing.at ? sites : 0;
    }
    if (!needing.at)
        return -1;
    ix_plans_forget_all(); /* they hold what did not count */
    return 0;
}

/* A collective of any size takes rounds, each of which somebody has to begin. */
static int takes_rounds(const ix_descriptor *d)
{
    return (d->flags & (IX_COLLECTIVE | IX_CALL_ONLY)) == IX_COLLECTIVE;
}

int ix_needs_progress(const ix_descriptor *d)
{
    if (!needing.at || d->bytes <= 0 || d->path == IX_PATH_SELF)
        return 0;
    if (takes_rounds(d))
        return 1;
    if (d->calibrated && d->most_ns < IX_NEEDS_PROGRESS_NS)
        return 0;
    ix_class class = d->path == IX_PATH_ANY ? (ix_class){0} : ix_path_class(d->path, d->bytes);
    if (class.known)
        return class.rate_lo[0] < IX_RATE_ONE / 2;
    return d->bytes >= IX_NEEDS_PROGRESS_BYTES;
}

int ix_ask_message_needs_progress(uint8_t path, int64_t bytes)
{
    ix_time x = path == IX_PATH_ANY ? ix_any_path_time(bytes) : ix_path_time(path, bytes);
    ix_descriptor d = {
        .bytes = bytes, .path = path, .most_ns = x.most_ns, .calibrated = (uint8_t)x.calibrated};
    if (ix_needs_progress(&d))
        return 1;
    uint64_t asked = ix_size_on_path(path, bytes);
    *ix_place_of_size(asked) = asked;
    return 0;
}

static void lock(void)
{
    while (ix_share.concurrent && atomic_exchange(&needing.lock, 1))
        sched_yield();
}

static void unlock(void)
{
    if (ix_share.concurrent)
        atomic_store(&needing.lock, 0);
}

void ix_count_needing(const ix_descriptor *d, int by)
{
    int in_need = by;
    if (needing.at && (uint32_t)d->site < needing.sites)
        atomic_fetch_add_explicit(&needing.at[d->site], by, memory_order_relaxed);
    if (by < 0 && d->listed) {
        lock();
        if (needing.list[d->listed - 1].state == COMPLETE)
            in_need = 0; /* as it was seen complete */
        else
            needing.open--;
        needing.list[d->listed - 1].state = FREE;
        needing.listed--;
        unlock();
    }
    if (takes_rounds(d))
        atomic_fetch_add_explicit(&ix_share.needing_rounds, by, memory_order_relaxed);
    atomic_fetch_add_explicit(&ix_share.needing, in_need, memory_order_relaxed);
}

void ix_list_needing(ix_descriptor *d, uint64_t handle)
{
    d->listed = 0;
    lock();
    for (int32_t i = 0; i < LISTED && needing.listed < LISTED; i++) {
        if (needing.list[i].state != FREE)
            continue;
        needing.list[i].handle = handle;
        needing.list[i].site = d->site;
        needing.list[i].state = OPEN;
        needing.listed++;
        needing.open++;
        d->listed = i + 1;
        break;
    }
    unlock();
}

int32_t ix_needing_at(int32_t site)
{
    return needing.at && (uint32_t)site < needing.sites
               ? atomic_load_explicit(&needing.at[site], memory_order_relaxed)
               : 0;
}

int ix_next_needing(uint32_t *place, uint64_t *handle, int *elsewhere)
{
    *elsewhere = atomic_load_explicit(&ix_share.needing, memory_order_relaxed) > needing.open;
    if (atomic_load_explicit(&ix_share.unseen, memory_order_relaxed))
        *elsewhere = 1;
    for (; !atomic_load_explicit(&ix_share.unseen, memory_order_relaxed) && *place < LISTED;
         ++*place)
        if (needing.list[*place].state == OPEN) {
            *handle = needing.list[(*place)++].handle;
            return 1;
        }
    return 0;
}

int32_t ix_seen_complete_at(uint32_t place)
{
    needing.list[place - 1].state = COMPLETE;
    needing.open--;
    atomic_fetch_sub_explicit(&ix_share.needing, 1, memory_order_relaxed);
    return needing.list[place - 1].site;
}
