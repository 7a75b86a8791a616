/* Call sites, images and sections of all ranks under common numbers. */
#ifndef IMBREX_NAMES_H
#define IMBREX_NAMES_H

#include "engine.h"
#include "ix_mpi.h"

/* Sorted, without repetition. Each entry is the bytes of a key:
 * sites: offset (8 bytes), build id (40), path, null byte; sections: name, null byte. */
typedef struct ix_names {
    char *bytes;
    size_t length, room;
    uint32_t *at; /* start of entry i in bytes; at[count] = length */
    uint32_t count;
} ix_names;

/* The union over all ranks of `mine`, the same on every rank: up a binary tree, then a broadcast.
 * 0, or -1 when some rank has no memory (on all ranks alike). Collective. */
IX_HIDDEN int ix_names_unite(ix_names *mine, MPI_Comm all);
/* Add a key; 0 or -1. Then ix_names_sort once. */
IX_HIDDEN int ix_names_add(ix_names *names, const void *key, size_t length);
IX_HIDDEN int ix_names_sort(ix_names *names);
/* Number of a key, or -1. */
IX_HIDDEN int32_t ix_names_find(const ix_names *names, const void *key, size_t length);
IX_HIDDEN void ix_names_free(ix_names *names);

#define IX_SITE_KEY_HEAD 48

#endif
