#include "core/images.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <unistd.h>

#include "core/internal.h"

enum { WATCHED = 64 }; /* bits of ix_images_gone */

static struct {
    _Atomic uint64_t bases[WATCHED];          /* of the images in the part, where they were last */
    _Atomic unsigned long long unloaded_seen; /* by the linker until the last look */
} places;

const ix_interpreter *ix_interprets;

void ix_images_start(void)
{
    memset(&places, 0, sizeof places);
}

static ix_part_image *images(void)
{
    return (void *)((char *)ix_engine.part + ix_engine.part->images.offset);
}

static void read_build_id(ix_image *s, const char *notes, size_t bytes)
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
    ix_image *s = data;
    for (int i = 0; i < info->dlpi_phnum && !s->is_there; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        s->is_there = header->p_type == PT_LOAD && s->address >= start &&
                      s->address < start + header->p_memsz;
    }
    if (!s->is_there)
        return 0;
    s->base = info->dlpi_addr;
    s->name = info->dlpi_name;
    s->start = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE && !s->build_id[0])
            read_build_id(s, (const char *)(info->dlpi_addr + header->p_vaddr), header->p_memsz);
        if (header->p_type != PT_LOAD)
            continue;
        uint64_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        s->start = start < s->start ? start : s->start;
        s->end = end > s->end ? end : s->end;
    }
    return 1;
}

ix_image ix_image_at(uint64_t address)
{
    ix_image found = {.address = address};
    dl_iterate_phdr(visit, &found);
    return found;
}

static uint32_t number_of(const ix_image *s)
{
    ix_part_table *table = &ix_engine.part->images;
    ix_part_image *new = &images()[table->used];
    char path[sizeof new->path] = "";
    if (s->name && s->name[0]) {
        strncpy(path, s->name, sizeof path - 1);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = 0;
    }
    for (uint32_t i = 0; i < table->used; i++)
        if (!strcmp(images()[i].path, path) &&
            !memcmp(images()[i].build_id, s->build_id, sizeof s->build_id))
            return i;
    if (table->used == table->capacity)
        return UINT32_MAX;
    memcpy(new->path, path, sizeof path);
    memcpy(new->build_id, s->build_id, sizeof s->build_id);
    return (uint32_t)table->used++;
}

uint32_t ix_image_number(const ix_image *image)
{
    uint32_t number = number_of(image);
    if (number != UINT32_MAX) {
        images()[number].base = image->base;
        images()[number].start = image->start;
        images()[number].end = image->end;
    }
    if (number < WATCHED)
        atomic_store_explicit(&places.bases[number], image->base, memory_order_relaxed);
    return number;
}

static int visit_program(struct dl_phdr_info *info, size_t size, void *data)
{
    /* the linker names the program first */
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            ((ix_image *)data)->address = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            visit(info, size, data);
            break;
        }
    return 1;
}

void ix_images_enter_program(void)
{
    ix_image program = {0};
    dl_iterate_phdr(visit_program, &program);
    if (program.is_there)
        ix_image_number(&program);
}

/* An image that is unloaded leaves its addresses to the next one, so where the loader has unloaded
 * some it is asked which are still there. */

typedef struct roll {
    uint64_t there;
    int looked, unchanged;
} roll;

static int is_image(uint32_t number, const struct dl_phdr_info *info)
{
    const char *path = images()[number].path, *name = info->dlpi_name;
    int named = name && name[0];
    return atomic_load_explicit(&places.bases[number], memory_order_relaxed) == info->dlpi_addr &&
           (!named || !strncmp(path, name, sizeof images()->path - 1));
}

static int call_roll(struct dl_phdr_info *info, size_t size, void *data)
{
    roll *r = data;
    if (!r->looked++ && size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
        unsigned long long unloaded = info->dlpi_subs;
        r->unchanged = atomic_exchange(&places.unloaded_seen, unloaded) == unloaded;
        if (r->unchanged)
            return 1;
    }
    uint64_t used = __atomic_load_n(&ix_engine.part->images.used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used && i < WATCHED; i++)
        if (is_image(i, info))
            r->there |= UINT64_C(1) << i;
    return 0;
}

uint64_t ix_images_gone(void)
{
    roll r = {0};
    uint64_t used = __atomic_load_n(&ix_engine.part->images.used, __ATOMIC_RELAXED);
    dl_iterate_phdr(call_roll, &r);
    if (r.unchanged)
        return 0;
    return ~r.there & (used < WATCHED ? (UINT64_C(1) << used) - 1 : UINT64_MAX);
}
