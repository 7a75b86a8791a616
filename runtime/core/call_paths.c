/* A look unwinds the stack of the call in progress. What was seen before is found by the addresses
 * alone; images are looked up for a new path only. */
#include "core/call_paths.h"

#include <execinfo.h>

#include "core/images.h"
#include "core/internal.h"

enum {
    OWN_FRAMES = 16,   /* Imbrex's and the Fortran layer's, below the call site */
    PATHS_OF_SITE = 8, /* with each number of callers */
};

/* Where a site is reached through more paths than are kept, the rest counts with so many callers,
 * which more of them have in common. */
static const int most_callers[] = {IX_CALLERS, 12, 6, 3, 1, 0};

static struct {
    _Atomic int64_t spent_ns;
    _Atomic int looking;
    /* as in the part's table */
    struct seen {
        uint64_t addresses; /* hash; 0: matches none any more */
        int32_t site;
        int most_callers;
    } seen[IX_CALL_PATHS];
} paths;

void ix_call_paths_start(void)
{
    void *none[2];
    backtrace(none, 2); /* its first call loads a library, and allocates; that of the other reads a
                         * file */
    ix_is_on_own_stack(ix_self, __builtin_frame_address(0));
    atomic_store(&paths.looking, 1);
}

void ix_call_paths_stop(void)
{
    memset(&paths, 0, sizeof paths);
}

int64_t ix_call_paths_ns(void)
{
    return atomic_load_explicit(&paths.spent_ns, memory_order_relaxed);
}

void ix_call_paths_forget(void)
{
    for (uint64_t i = 0; i < ix_engine.part->call_paths.used; i++)
        paths.seen[i].addresses = 0;
}

static ix_part_call_path *entry(uint64_t i)
{
    return (ix_part_call_path *)((char *)ix_engine.part + ix_engine.part->call_paths.offset) + i;
}

static uint64_t hash_of(void *const *callers, int count)
{
    uint64_t hash = 4;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)callers[i]) * UINT64_C(0xff51afd7ed558ccd) + 1;
    return (hash | 4) & ~UINT64_C(3);
}

/* Count a path that is known; 0 where it is not. Under the lock. */
static int count_known(int32_t site, uint64_t addresses)
{
    for (uint64_t i = 0; i < ix_engine.part->call_paths.used; i++)
        if (paths.seen[i].addresses == addresses && paths.seen[i].site == site) {
            entry(i)->samples++;
            return 1;
        }
    return 0;
}

static int known_of(int32_t site, int callers)
{
    int count = 0;
    for (uint64_t i = 0; i < ix_engine.part->call_paths.used; i++)
        count += paths.seen[i].site == site && paths.seen[i].most_callers == callers;
    return count;
}

/* Under the lock. */
static void enter(int32_t site, struct seen seen, const ix_image *images, int count, int is_cut)
{
    ix_part_table *table = &ix_engine.part->call_paths;
    ix_part_call_path *new = entry(table->used);
    *new = (ix_part_call_path){
        .site = site, .count = (uint16_t)count, .is_cut = (uint16_t)is_cut, .samples = 1};
    for (int i = 0; i < count; i++) {
        char path[sizeof(((ix_part_image *)NULL)->path)];
        ix_image found = images[i];
        if (!found.is_there && ix_interprets)
            ix_interprets->source(&found, path, sizeof path);
        uint32_t image = found.is_there ? ix_image_number(&found) : UINT32_MAX;
        int known = image < IX_NO_IMAGE;
        uint64_t offset = known ? found.address - found.base : found.address;
        new->callers[i] =
            (uint64_t)(known ? image : IX_NO_IMAGE) << 56 | (offset & (UINT64_MAX >> 8));
    }
    paths.seen[table->used] = seen;
    table->used++;
}

/* Count what the calling code has in common with a path that is known, with as many callers as
 * there is room for. 0 where it has to be entered, as `*seen` with `*count` callers. Under the
 * lock. Nothing where the table is full. */
static int count_or_place(int32_t site, void *const *callers, struct seen *seen, int *count)
{
    const int all = *count;
    for (size_t i = 0; i < sizeof most_callers / sizeof *most_callers; i++) {
        const int most = most_callers[i];
        if (i && most >= all && most)
            continue; /* that is the whole path */
        *count = all < most ? all : most;
        *seen = (struct seen){hash_of(callers, *count) ^ (uint64_t)(*count < all), site, most};
        if (count_known(site, seen->addresses))
            return 1;
        if (known_of(site, most) < PATHS_OF_SITE)
            return ix_engine.part->call_paths.used == ix_engine.part->call_paths.capacity;
    }
    return 1;
}

static void look(int32_t site, void *const *callers, int all)
{
    ix_image images[IX_CALLERS];
    struct seen seen;
    int count = all;
    ix_lock();
    int done = count_or_place(site, callers, &seen, &count);
    ix_unlock();
    if (done)
        return;
    for (int i = 0; i < count; i++)
        images[i] = ix_image_at((uint64_t)(uintptr_t)callers[i]);
    const int found = count;
    ix_lock();
    count = all; /* another thread may have entered it meanwhile */
    if (!count_or_place(site, callers, &seen, &count) && count <= found)
        enter(site, seen, images, count, count < all);
    ix_unlock();
}

/* The callers of the call site, from `callers` on, which have OWN_FRAMES + IX_CALLERS of room. */
static int unwind(const ix_thread *t, void **found, void ***callers)
{
    int count = ix_interprets ? ix_interprets->callers(t->address, found, IX_CALLERS) : -1;
    *callers = found;
    if (count >= 0)
        return count;
    int all = backtrace(found, OWN_FRAMES + IX_CALLERS), first = 0;
    while (first < all && found[first] != t->address)
        first++;
    *callers = found + first + 1;
    count = all - first - 1; /* -1 where a jump has taken the place of the call */
    return count < 0 ? 0 : count < IX_CALLERS ? count : IX_CALLERS;
}

/* Only on the thread's own stack: another one, such as a coroutine's, may have no end that the
 * unwinder knows, and it would go on into memory that is no stack. */
void ix_call_path_look(ix_thread *t, const ix_row *row)
{
    void *found[OWN_FRAMES + IX_CALLERS], **callers;
    if (!row->site || !atomic_load_explicit(&paths.looking, memory_order_relaxed) ||
        !ix_is_on_own_stack(t, __builtin_frame_address(0)))
        return;
    int64_t began = ix_now();
    int count = unwind(t, found, &callers);
    look(row->site, callers, count);
    atomic_fetch_add_explicit(&paths.spent_ns, ix_now() - began, memory_order_relaxed);
}
