/* The numbers that one rank's sites, sections and callers have among those of all ranks. */
#ifndef IMBREX_JOB_NUMBERING_H
#define IMBREX_JOB_NUMBERING_H

#include "job/names.h"

/* Common numbers by a rank's own; 0 means none. */
typedef struct ix_numbering {
    int32_t *numbers, *site, *section;
    uint64_t sites, sections;
} ix_numbering;

/* Add all names of this rank; 0 or -1. */
IX_HIDDEN int ix_own_names(ix_names *names);

/* Of sites and sections, when all ranks' names are united; 0 or -1. The caller frees `numbers`. */
IX_HIDDEN int ix_number_names(ix_numbering *n, const ix_names *names);

/* The id that a caller (ix_part_call_path) has in the frames of sites.json; 0: none. */
IX_HIDDEN int32_t ix_common_frame(const ix_names *names, uint64_t caller);

static inline int32_t ix_common_site(const ix_numbering *n, int32_t own)
{
    return own > 0 && (uint64_t)own < n->sites ? n->site[own] : 0;
}

static inline uint16_t ix_common_section(const ix_numbering *n, uint16_t own)
{
    return (uint16_t)(own < n->sections ? n->section[own] : 0);
}

#endif
