#include "progress/sites.h"

#include <stdlib.h>

#include "core/engine.h"
#include "core/needing.h"

static struct {
    ix_progress_site *at;
    uint32_t capacity;
} sites;

int ix_progress_sites_start(void)
{
    sites.capacity = (uint32_t)ix_part()->sites.capacity;
    sites.at = calloc(sites.capacity, sizeof *sites.at);
    return sites.at ? 0 : -1;
}

void ix_progress_moved(int64_t ns)
{
    uint64_t used = __atomic_load_n(&ix_part()->sites.used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used && i < sites.capacity; i++)
        if (ix_needing_at((int32_t)i) > 0) {
            sites.at[i].looks++;
            sites.at[i].moving_ns += ns;
        }
}

void ix_progress_completed(int32_t site)
{
    if (site >= 0 && (uint32_t)site < sites.capacity)
        sites.at[site].completed++;
}

const ix_progress_site *ix_progress_sites(uint32_t *count)
{
    *count = sites.at ? sites.capacity : 0;
    return sites.at;
}
