/* Call sites: return addresses and the images they lie in. Found without a lock; a new one is
 * entered under the engine's lock, with the image resolved at once, so that a crash leaves it. An
 * image that is unloaded leaves its addresses to the next one. */
#include "core/call_paths.h"
#include "core/images.h"
#include "core/plans.h"

static struct {
    struct entry {
        _Atomic uint64_t address;
        _Atomic int32_t site; /* -1: of an image that was unloaded */
    } * entries;
    uint32_t mask, used;
} index_of_sites;

size_t ix_sites_bytes(uint32_t capacity)
{
    return ix_power_of_two(2 * capacity) * sizeof(struct entry);
}

void ix_sites_start(void *memory, uint32_t capacity)
{
    index_of_sites.entries = memory;
    index_of_sites.mask = ix_power_of_two(2 * capacity) - 1;
    index_of_sites.used = 0;
    ix_images_start();
    ix_part_header *part = ix_engine.part;
    ix_part_site *other = (void *)((char *)part + part->sites.offset);
    *other = (ix_part_site){.image = UINT32_MAX};
    part->sites.used = 1;
}

/* -1 where there is none; `at` is then where it belongs. */
static int32_t look(uint64_t address, uint32_t *at)
{
    uint32_t i = ix_hash(address) & index_of_sites.mask;
    for (;; i = (i + 1) & index_of_sites.mask) {
        struct entry *e = &index_of_sites.entries[i];
        uint64_t known = atomic_load_explicit(&e->address, memory_order_acquire);
        *at = i;
        if (known == address)
            return atomic_load_explicit(&e->site, memory_order_relaxed);
        if (!known)
            return -1;
    }
}

/* Number of a place in an image, entered if it is new; -1 where there is no room. It is known
 * already if the image was loaded before. */
static int32_t site_at(uint32_t image, uint64_t offset, uint64_t address)
{
    ix_part_table *table = &ix_engine.part->sites;
    ix_part_site *sites = (void *)((char *)ix_engine.part + table->offset);
    for (uint32_t i = 1; i < table->used; i++)
        if (sites[i].image == image && sites[i].offset == offset) {
            sites[i].address = address;
            return (int32_t)i;
        }
    if (table->used == table->capacity)
        return -1;
    sites[table->used] = (ix_part_site){.offset = offset, .image = image, .address = address};
    return (int32_t)table->used++;
}

static int32_t enter(uint64_t address)
{
    ix_image found = ix_image_at(address);
    char path[sizeof(((ix_part_image *)NULL)->path)];
    if (!found.is_there && ix_interprets)
        ix_interprets->source(&found, path, sizeof path);
    ix_lock();
    uint32_t at;
    int32_t site = look(address, &at);
    struct entry *e = &index_of_sites.entries[at];
    int known = atomic_load_explicit(&e->address, memory_order_relaxed) == address;
    /* one entry stays empty: it ends the search for an address that is not there */
    if (site < 0 && (known || index_of_sites.used < index_of_sites.mask)) {
        uint32_t image = found.is_there ? ix_image_number(&found) : UINT32_MAX;
        site = site_at(image, image == UINT32_MAX ? address : address - found.base, address);
    }
    if (site >= 0) {
        index_of_sites.used += !known;
        atomic_store_explicit(&e->site, site, memory_order_relaxed);
        atomic_store_explicit(&e->address, address, memory_order_release);
    }
    ix_unlock();
    return site;
}

/* Number of a call site; 0, and counted, where there is no room for it. */
int32_t ix_site_find(uint64_t address)
{
    uint32_t at;
    if (!address)
        return 0;
    int32_t site = look(address, &at);
    if (site < 0)
        site = enter(address);
    if (site < 0) {
        ix_count(&ix_engine.part->rank.overflow);
        return 0;
    }
    return site;
}

void ix_images_changed(void)
{
    uint64_t gone;
    if (!atomic_load(&ix_engine.running) || !(gone = ix_images_gone()))
        return;
    int forgotten = 0;
    ix_lock();
    const ix_part_site *sites =
        (const void *)((const char *)ix_engine.part + ix_engine.part->sites.offset);
    for (uint32_t i = 0; i <= index_of_sites.mask; i++) {
        struct entry *e = &index_of_sites.entries[i];
        int32_t site = atomic_load_explicit(&e->site, memory_order_relaxed);
        if (site > 0 && sites[site].image < 64 && gone >> sites[site].image & 1) {
            atomic_store_explicit(&e->site, -1, memory_order_relaxed);
            forgotten = 1;
        }
    }
    ix_call_paths_forget();
    if (forgotten) {
        atomic_fetch_add(&ix_engine.unloaded, 1);
        atomic_fetch_add(&ix_share.epoch, 2); /* threads notice at their next call */
    }
    ix_unlock();
}

/* Only at the beginning of a call: its end needs the plans that are forgotten here. */
void ix_sites_forget(ix_thread *t)
{
    uint32_t unloaded = atomic_load(&ix_engine.unloaded);
    if (t->unloaded == unloaded)
        return;
    t->unloaded = unloaded;
    ix_plans_forget(t);
}
