/* The memory of the part file: shared with a file, so that it survives the process, or anonymous.
 */
#include "core/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A file of `bytes` whose blocks exist: storing into it can then not fail for want of space. */
static int make_file(const char *path, size_t bytes)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < bytes) { /* growing it would raise SIGXFSZ */
        errno = EFBIG;
        return -1;
    }
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return -1;
    int error = posix_fallocate(file, 0, (off_t)bytes);
    if (error) {
        close(file);
        unlink(path);
        errno = error;
        return -1;
    }
    return file;
}

void *ix_map(const char *path, size_t bytes, enum ix_started *how)
{
    int error = 0;
    *how = IX_START_ANONYMOUS;
    if (path) {
        int file = make_file(path, bytes);
        if (file >= 0) {
            void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            error = errno;
            close(file);
            if (memory != MAP_FAILED) {
                *how = IX_START_FILE;
                return memory;
            }
            unlink(path);
        } else {
            error = errno;
        }
        *how = IX_START_FALLBACK;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        *how = IX_START_FAILED;
        return NULL;
    }
    errno = error;
    return memory;
}
