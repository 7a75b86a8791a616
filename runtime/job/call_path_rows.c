#include "job/call_path_rows.h"

#include <stdlib.h>

static const ix_part_call_path *paths(void)
{
    return (const void *)((const char *)ix_part() + ix_part()->call_paths.offset);
}

int64_t ix_call_path_rows(const ix_numbering *n, const ix_names *names, ix_call_path_row **rows)
{
    const uint64_t used = ix_part()->call_paths.used;
    size_t room = 0;
    int64_t count = 0;
    for (uint64_t i = 0; i < used; i++)
        room += paths()[i].count + 1;
    *rows = malloc((room + 1) * sizeof **rows);
    for (uint64_t i = 0; *rows && i < used; i++) {
        const ix_part_call_path *path = &paths()[i];
        ix_call_path_row row = {.rank = ix_part()->rank.rank,
                                .site = ix_common_site(n, path->site),
                                .call_path = (uint16_t)i,
                                .samples = path->samples};
        for (uint16_t k = 0; k < path->count; k++) {
            row.level = k;
            row.frame = ix_common_frame(names, path->callers[k]);
            (*rows)[count++] = row;
        }
        if (!path->count || path->is_cut) {
            row.level = path->count;
            row.frame = 0;
            (*rows)[count++] = row;
        }
    }
    return count;
}
