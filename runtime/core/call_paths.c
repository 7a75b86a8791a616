/* A look unwinds the stack of the call in progress. What was seen before is found by the addresses
 * alone; images are looked up for a new path only. */
#include "core/call_paths.h"

#include <execinfo.h>

#include "core/images.h"
#include "core/internal.h"

enum {
    OWN_FRAMES = 16, /* Imbrex's and the Fortran layer's, below the call site */
    PATHS_OF_SITE = 8,
};

static struct {
    _Atomic int64_t spent_ns;
    _Atomic int looking;
    /* as in the part's table */
    struct seen {
        uint64_t addresses; /* hash; 0: matches none any more */
        int32_t site;
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

/* That of a site whose callers are not known, or are more than are kept. */
#define NOT_KNOWN UINT64_C(1)

static uint64_t hash_of(void *const *callers, int count)
{
    uint64_t hash = 2;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)callers[i]) * UINT64_C(0xff51afd7ed558ccd) + 1;
    return count ? hash | 2 : NOT_KNOWN;
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

static int known_of(int32_t site)
{
    int count = 0;
    for (uint64_t i = 0; i < ix_engine.part->call_paths.used; i++)
        count += paths.seen[i].site == site && paths.seen[i].addresses != NOT_KNOWN;
    return count;
}

/* Under the lock. Nothing where the table is full. */
static void enter(int32_t site, uint64_t addresses, const ix_image *images, int count)
{
    ix_part_table *table = &ix_engine.part->call_paths;
    if (known_of(site) >= PATHS_OF_SITE) {
        if (count_known(site, NOT_KNOWN))
            return;
        addresses = NOT_KNOWN;
        count = 0;
    }
    if (table->used == table->capacity)
        return;
    ix_part_call_path *new = entry(table->used);
    *new = (ix_part_call_path){.site = site, .count = (uint32_t)count, .samples = 1};
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
    paths.seen[table->used] = (struct seen){addresses, site};
    table->used++;
}

static void look(int32_t site, void *const *callers, int count)
{
    ix_image images[IX_CALLERS];
    uint64_t addresses = hash_of(callers, count);
    ix_lock();
    int known = count_known(site, addresses);
    ix_unlock();
    if (known)
        return;
    for (int i = 0; i < count; i++)
        images[i] = ix_image_at((uint64_t)(uintptr_t)callers[i]);
    ix_lock();
    if (!count_known(site, addresses)) /* by another thread, meanwhile */
        enter(site, addresses, images, count);
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
