#include "job/numbering.h"

#include <stdlib.h>
#include <string.h>

#define KEY_ROOM (IX_SITE_KEY_HEAD + 4096)

static const void *entry(const ix_part_table *table, uint64_t i)
{
    return (const char *)ix_part() + table->offset + i * table->entry_bytes;
}

/* Key of a place in an image: see names.h. Big-endian offset, so that keys sort by address. */
static size_t place_key(char letter, uint64_t offset, uint32_t number, char *key)
{
    const ix_part_header *part = ix_part();
    memset(key, 0, IX_SITE_KEY_HEAD + 1);
    key[0] = letter;
    for (int b = 0; b < 8; b++)
        key[1 + b] = (char)(offset >> (56 - 8 * b));
    if (number >= part->images.used)
        return IX_SITE_KEY_HEAD + 1;
    const ix_part_image *image = entry(&part->images, number);
    memcpy(key + 9, image->build_id, 40);
    size_t length = strnlen(image->path, sizeof image->path);
    if (length > KEY_ROOM - IX_SITE_KEY_HEAD - 1)
        length = KEY_ROOM - IX_SITE_KEY_HEAD - 1;
    memcpy(key + IX_SITE_KEY_HEAD, image->path, length);
    key[IX_SITE_KEY_HEAD + length] = 0;
    return IX_SITE_KEY_HEAD + length + 1;
}

static size_t site_key(uint64_t i, char *key)
{
    const ix_part_site *site = entry(&ix_part()->sites, i);
    return place_key(IX_SITE_LETTER, site->offset, site->image, key);
}

static size_t caller_key(uint64_t caller, char *key)
{
    uint32_t image = (uint32_t)(caller >> 56);
    return place_key(IX_FRAME_LETTER, caller & (UINT64_MAX >> 8),
                     image == IX_NO_IMAGE ? UINT32_MAX : image, key);
}

static size_t section_key(uint64_t i, char *key)
{
    const ix_part_name *name = entry(&ix_part()->sections, i);
    size_t length = strnlen(name->name, sizeof name->name - 1);
    key[0] = IX_SECTION_LETTER;
    memcpy(key + 1, name->name, length);
    key[1 + length] = 0;
    return length + 2;
}

int ix_own_names(ix_names *names)
{
    char key[KEY_ROOM];
    int bad = 0;
    for (uint64_t i = 1; i < ix_part()->sites.used; i++)
        bad |= ix_names_add(names, key, site_key(i, key));
    for (uint64_t i = 1; i < ix_part()->sections.used; i++)
        bad |= ix_names_add(names, key, section_key(i, key));
    for (uint64_t i = 0; i < ix_part()->call_paths.used; i++) {
        const ix_part_call_path *path = entry(&ix_part()->call_paths, i);
        for (uint32_t k = 0; k < path->count; k++)
            bad |= ix_names_add(names, key, caller_key(path->callers[k], key));
    }
    return bad;
}

int ix_number_names(ix_numbering *n, const ix_names *names)
{
    char key[KEY_ROOM];
    int32_t first_site = (int32_t)ix_names_sections(names);
    n->sites = ix_part()->sites.used;
    n->sections = ix_part()->sections.used;
    n->numbers = calloc(n->sites + n->sections + 1, sizeof *n->numbers);
    if (!n->numbers)
        return -1;
    n->site = n->numbers;
    n->section = n->numbers + n->sites;
    for (uint64_t i = 1; i < n->sites; i++) {
        int32_t found = ix_names_find(names, key, site_key(i, key));
        n->site[i] = found < 0 ? 0 : found - first_site + 1;
    }
    for (uint64_t i = 1; i < n->sections; i++)
        n->section[i] = ix_names_find(names, key, section_key(i, key)) + 1;
    return 0;
}

int32_t ix_common_frame(const ix_names *names, uint64_t caller)
{
    char key[KEY_ROOM];
    int32_t found = ix_names_find(names, key, caller_key(caller, key));
    return found < 0 ? 0 : found - (int32_t)ix_names_frames(names) + 1;
}
