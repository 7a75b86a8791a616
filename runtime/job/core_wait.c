#include "job/core_wait.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int64_t ix_core_wait_ns(void)
{
    /* sched-stats(5) of Linux: how long it ran, how long it waited, in ns; how often it ran. */
    char text[80], *end, *waited;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return -1;
    text[length] = 0;
    strtoll(text, &waited, 10);
    long long ns = strtoll(waited, &end, 10);
    return end == waited ? -1 : (int64_t)ns;
}
