/* Sections: nested names, numbered in order of first appearance; 0 is outside all. */
#include "core/internal.h"

static struct {
    struct entry {
        _Atomic uint64_t key; /* hash of the nested name, never 0 */
        uint16_t section;
    } * entries;
    uint32_t mask;
} index_of_sections;

size_t ix_sections_bytes(uint32_t capacity)
{
    return ix_power_of_two(2 * capacity) * sizeof(struct entry);
}

static ix_part_name *names(void)
{
    return (void *)((char *)ix_engine.part + ix_engine.part->sections.offset);
}

void ix_sections_start(void *memory, uint32_t capacity)
{
    index_of_sections.entries = memory;
    index_of_sections.mask = ix_power_of_two(2 * capacity) - 1;
    ix_engine.part->sections.used = 1; /* "" */
}

/* The nested name; 0 if it does not fit. */
static size_t nest(uint16_t parent, const char *name, char full[sizeof(ix_part_name)])
{
    const char *outer = names()[parent].name;
    size_t length = strlen(outer), own = strlen(name);
    if (length + (length > 0) + own >= sizeof(ix_part_name))
        return 0;
    memcpy(full, outer, length);
    if (length)
        full[length++] = '/';
    memcpy(full + length, name, own + 1);
    return length + own;
}

static uint64_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return h | 1;
}

static int look(const char *full, uint64_t key, uint32_t *free_entry)
{
    uint32_t i = (uint32_t)(key >> 32) & index_of_sections.mask;
    for (;; i = (i + 1) & index_of_sections.mask) {
        struct entry *e = &index_of_sections.entries[i];
        uint64_t known = atomic_load_explicit(&e->key, memory_order_acquire);
        if (known == key && !strcmp(names()[e->section].name, full))
            return e->section;
        if (!known) {
            *free_entry = i;
            return -1;
        }
    }
}

/* Number of a section, entered if it is new; -1 where there is no room. */
static int section_number(uint16_t parent, const char *name)
{
    char full[sizeof(ix_part_name)];
    if (!nest(parent, name, full))
        return -1;
    uint64_t key = hash(full);
    uint32_t at;
    int section = look(full, key, &at);
    if (section >= 0)
        return section;
    ix_lock();
    section = look(full, key, &at);
    ix_part_table *table = &ix_engine.part->sections;
    if (section < 0 && table->used < table->capacity) {
        section = (int)table->used;
        strcpy(names()[section].name, full);
        index_of_sections.entries[at].section = (uint16_t)section;
        atomic_store_explicit(&index_of_sections.entries[at].key, key, memory_order_release);
        table->used++;
    }
    ix_unlock();
    return section;
}

static void error(void)
{
    ix_count(&ix_engine.part->rank.section_errors);
}

/* The stack holds the name's own section, or that of the parent with OVERFLOW where it did not fit:
 * then any name may close it. */
enum { OVERFLOW = 0x8000 };

void ix_section_begin(const char *name)
{
    ix_thread *t = ix_current();
    if (!t || !name)
        return;
    if (t->section_depth == IX_SECTION_DEPTH) { /* counted, so that its end is not a second error */
        t->section_overflow++;
        ix_count(&ix_engine.part->rank.overflow);
        return;
    }
    int section = section_number(t->section, name);
    if (section < 0) {
        ix_count(&ix_engine.part->rank.overflow);
        section = t->section | OVERFLOW;
    }
    t->section_stack[t->section_depth++] = (uint16_t)section;
    t->section = (uint16_t)(section & ~OVERFLOW);
    ix_set_context(t);
}

static int closes(const ix_thread *t, uint32_t level, const char *name)
{
    uint16_t section = t->section_stack[level];
    if (section & OVERFLOW)
        return 1;
    uint16_t parent = level ? t->section_stack[level - 1] & (uint16_t)~OVERFLOW : 0;
    char full[sizeof(ix_part_name)];
    return nest(parent, name, full) && !strcmp(names()[section].name, full);
}

void ix_section_end(const char *name)
{
    ix_thread *t = ix_current();
    if (!t || !name)
        return;
    if (t->section_overflow) {
        t->section_overflow--;
        return;
    }
    uint32_t level = t->section_depth;
    while (level && !closes(t, level - 1, name))
        level--;
    if (!level) {
        error();
        return;
    }
    for (uint32_t open = t->section_depth; open > level; open--)
        error();
    t->section_depth = level - 1;
    t->section = level > 1 ? t->section_stack[level - 2] & (uint16_t)~OVERFLOW : 0;
    ix_set_context(t);
}
