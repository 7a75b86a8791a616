/* Call sites, images and sections of all ranks under common numbers. */
#ifndef IMBREX_JOB_NAMES_H
#define IMBREX_JOB_NAMES_H

#include "core/engine.h"
#include "generated/ix_mpi.h"

/* Sorted, without repetition. Each entry is the bytes of a key:
 * a letter for what it names, then
 * sites: offset (8 bytes), build id (40), path, null byte; sections: name, null byte. */
typedef struct ix_names {
    char *bytes;
    size_t length, room;
    uint32_t *at; /* start of entry i in bytes; at[count] = length */
    uint32_t count;
} ix_names;

/* The union over all ranks of `mine`, the same on every rank: up a binary tree, then a broadcast.
 * Sort it then: that makes the places. 0, or -1 when some rank has no memory or is not `fine` (on
 * all ranks alike). Collective. */
IX_HIDDEN int ix_names_unite(ix_names *mine, int fine, MPI_Comm all);
/* Add a key; 0 or -1. Then ix_names_sort once. */
IX_HIDDEN int ix_names_add(ix_names *names, const void *key, size_t length);
IX_HIDDEN int ix_names_sort(ix_names *names);
/* Number of a key, or -1. */
IX_HIDDEN int32_t ix_names_find(const ix_names *names, const void *key, size_t length);
IX_HIDDEN void ix_names_free(ix_names *names);

/* Sections sort before sites, and these before frames, which have a key like theirs. */
#define IX_SECTION_LETTER 'n'
#define IX_SITE_LETTER 's'
#define IX_FRAME_LETTER 't'
#define IX_SITE_KEY_HEAD 49
/* Where entry `i` stands, without its letter. */
static inline const char *ix_name_at(const ix_names *names, uint32_t i)
{
    return names->bytes + names->at[i] + 5;
}
/* Number of entries with the letter of sections: they are the first. */
IX_HIDDEN uint32_t ix_names_sections(const ix_names *names);
/* Number of entries before those with the letter of frames. */
IX_HIDDEN uint32_t ix_names_frames(const ix_names *names);

#endif
