#include "engine/memory.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A number from a file of the kernel; negative where there is none, or no limit. */
static double number_in(const char *file)
{
    double value = -1;
    FILE *f = fopen(file, "r");
    if (f) {
        if (fscanf(f, "%lf", &value) != 1)
            value = -1;
        fclose(f);
    }
    return value;
}

static double smaller(double a, double b)
{
    return b >= 0 && b < a ? b : a;
}

static double address_space_bytes(void)
{
    const double pages = number_in("/proc/self/statm");
    return pages < 0 ? 0 : pages * (double)sysconf(_SC_PAGESIZE);
}

double free_on_node_bytes(void)
{
    double room = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double limit = number_in("/sys/fs/cgroup/memory.max");
    if (limit >= 0)
        room = smaller(room, limit - number_in("/sys/fs/cgroup/memory.current"));
    return room < 0 ? 0 : room;
}

double free_in_process_bytes(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 1e18;
    const double room = (double)limit.rlim_cur - address_space_bytes();
    return room < 0 ? 0 : room;
}

double peak_resident_bytes(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return 1024.0 * (double)used.ru_maxrss;
}
