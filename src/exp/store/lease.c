/* Locks on single bytes of a file. The rules are in lease.h. */
#include "exp/store/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *lock_path(const char *store_path)
{
    char *path;
    return asprintf(&path, "%s-lock", store_path) < 0 ? NULL : path;
}

bool pw_lease_take(const char *store_path, uint64_t run_hash, struct pw_lease *out)
{
    out->fd = -1;
    char *path = lock_path(store_path);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
    free(path);
    if (fd < 0)
        return true;
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(run_hash >> 1), .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &byte) == 0) {
        out->fd = fd;
        return true;
    }
    bool taken = errno == EAGAIN || errno == EACCES;
    close(fd);
    return !taken;
}

void pw_lease_drop(struct pw_lease *lease)
{
    if (lease->fd >= 0)
        close(lease->fd);
    lease->fd = -1;
}

void pw_lease_tidy(const char *store_path)
{
    struct stat info;
    char *path = lock_path(store_path);
    if (path && lstat(path, &info) == 0 && S_ISREG(info.st_mode) && !info.st_size)
        unlink(path);
    free(path);
}
