#include "job/memory.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a collective and the tables of a merge may need, generously. */
static const int64_t needed_bytes = INT64_C(32) << 20;

int64_t ix_address_space_left(void)
{
    struct rlimit limit;
    long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return INT64_MAX;
    FILE *f = fopen("/proc/self/statm", "r");
    int known = f && fscanf(f, "%lld", &pages) == 1;
    if (f)
        fclose(f);
    return known ? (int64_t)limit.rlim_cur - pages * sysconf(_SC_PAGESIZE) : 0;
}

int ix_memory_is_short(const ix_job *job)
{
    int mine = ix_address_space_left() < needed_bytes, some = 1;
    PMPI_Allreduce(&mine, &some, 1, MPI_INT, MPI_MAX, job->all);
    return some;
}
