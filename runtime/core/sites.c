/* Call sites: return addresses and the images they lie in. Found without a lock; a new one is
 * entered under the engine's lock, with the image resolved at once, so that a crash leaves it. */
#include "internal.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

static struct {
    struct entry {
        _Atomic uint64_t address;
        int32_t site;
    } * entries;
    uint32_t mask;
} index_of_sites;

size_t ix_sites_bytes(uint32_t capacity)
{
    return ix_power_of_two(2 * capacity) * sizeof(struct entry);
}

void ix_sites_start(void *memory, uint32_t capacity)
{
    index_of_sites.entries = memory;
    index_of_sites.mask = ix_power_of_two(2 * capacity) - 1;
    ix_part_header *part = ix_engine.part;
    ix_part_site *other = (void *)((char *)part + part->sites.offset);
    *other = (ix_part_site){.image = UINT32_MAX};
    part->sites.used = 1;
}

/* ---- Images */

typedef struct search {
    uint64_t address;
    uint64_t base;
    const char *name;
    int found;
    char build_id[40];
} search;

static void read_build_id(search *s, const char *notes, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= bytes) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        size_t name = at + sizeof *note, value = name + ((note->n_namesz + 3u) & ~3u);
        size_t end = value + ((note->n_descsz + 3u) & ~3u);
        if (end > bytes)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4)) {
            for (uint32_t i = 0; i < note->n_descsz && 2 * i + 1 < sizeof s->build_id; i++) {
                unsigned char byte = (unsigned char)notes[value + i];
                s->build_id[2 * i] = digits[byte >> 4];
                s->build_id[2 * i + 1] = digits[byte & 15];
            }
            return;
        }
        at = end;
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    search *s = data;
    for (int i = 0; i < info->dlpi_phnum && !s->found; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        s->found = header->p_type == PT_LOAD && s->address >= start &&
                   s->address < start + header->p_memsz;
    }
    if (!s->found)
        return 0;
    s->base = info->dlpi_addr;
    s->name = info->dlpi_name;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE && !s->build_id[0])
            read_build_id(s, (const char *)(info->dlpi_addr + header->p_vaddr), header->p_memsz);
    }
    return 1;
}

/* Number of the image, entered if it is new; UINT32_MAX where there is no room. */
static uint32_t image_number(const search *s)
{
    ix_part_table *table = &ix_engine.part->images;
    ix_part_image *images = (void *)((char *)ix_engine.part + table->offset);
    ix_part_image *new = &images[table->used];
    char path[sizeof new->path] = "";
    if (s->name && s->name[0]) {
        strncpy(path, s->name, sizeof path - 1);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
    }
    for (uint32_t i = 0; i < table->used; i++)
        if (!strcmp(images[i].path, path) &&
            !memcmp(images[i].build_id, s->build_id, sizeof s->build_id))
            return i;
    if (table->used == table->capacity)
        return UINT32_MAX;
    memcpy(new->path, path, sizeof path);
    memcpy(new->build_id, s->build_id, sizeof s->build_id);
    return (uint32_t)table->used++;
}

/* ---- Sites */

static int32_t look(uint64_t address, uint32_t *free_entry)
{
    uint32_t i = ix_hash(address) & index_of_sites.mask;
    for (;; i = (i + 1) & index_of_sites.mask) {
        struct entry *e = &index_of_sites.entries[i];
        uint64_t known = atomic_load_explicit(&e->address, memory_order_acquire);
        if (known == address)
            return e->site;
        if (!known) {
            *free_entry = i;
            return -1;
        }
    }
}

static int32_t enter(uint64_t address)
{
    ix_part_table *table = &ix_engine.part->sites;
    search s = {.address = address};
    dl_iterate_phdr(visit, &s);
    ix_lock();
    uint32_t at;
    int32_t site = look(address, &at);
    if (site < 0 && table->used < table->capacity) {
        ix_part_site *sites = (void *)((char *)ix_engine.part + table->offset);
        uint32_t image = s.found ? image_number(&s) : UINT32_MAX;
        site = (int32_t)table->used;
        sites[site].offset = image == UINT32_MAX ? address : address - s.base;
        sites[site].image = image;
        table->used++;
        index_of_sites.entries[at].site = site;
        atomic_store_explicit(&index_of_sites.entries[at].address, address, memory_order_release);
    }
    ix_unlock();
    return site;
}

/* ix_site_of, where the thread has not seen the address lately. */
int32_t ix_site_find(ix_thread *t, uint64_t address)
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
    t->site_cache[ix_cache_slot(address, IX_SITE_CACHE)] = (ix_site_entry){address, site};
    return site;
}
