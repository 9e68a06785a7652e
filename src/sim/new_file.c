/* Temporary file beside the target, write, fsync, rename, fsync of the folder. */
#include "sim/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file beside `path` that nobody else has; its name replaces `name` (of `capacity` bytes). */
static int create_beside(const char *path, char *name, size_t capacity)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(name, capacity, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The rename is on the disk once the folder is. A file system that cannot sync folders is no reason to fail. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

enum { MOST_LINKS = 40 }; /* as the kernel follows */

char *pw_new_file_target(const char *path)
{
    char *target = realpath(path, NULL);
    if (target || errno != ENOENT)
        return target;
    target = strdup(path);
    for (unsigned links = 0; target && links <= MOST_LINKS; links++) {
        char to[PATH_MAX];
        ssize_t length = readlink(target, to, sizeof to - 1);
        if (length < 0)
            return target;
        to[length] = '\0';
        const char *slash = to[0] == '/' ? NULL : strrchr(target, '/');
        char *next = NULL;
        if (asprintf(&next, "%.*s%s", slash ? (int)(slash - target) + 1 : 0, target, to) < 0)
            next = NULL;
        free(target);
        target = next;
    }
    errno = target ? ELOOP : ENOMEM;
    free(target);
    return NULL;
}

static void release(struct pw_new_file *f)
{
    free(f->target);
    free(f->temporary);
    *f = (struct pw_new_file){0};
}

enum pw_status pw_new_file_open(struct pw_new_file *f, const char *path, struct pw_error *err)
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    *f = (struct pw_new_file){.fd = -1};
    if (exists && !S_ISREG(existing.st_mode))
        return pw_fail(err, PW_USER_ERROR, "%s: is no regular file and cannot be replaced", path);
    f->target = pw_new_file_target(path);
    if (!f->target)
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    size_t capacity = strlen(f->target) + 48;
    f->temporary = malloc(capacity);
    f->fd = f->temporary ? create_beside(f->target, f->temporary, capacity) : -1;
    if (f->fd < 0) {
        int cause = errno;
        release(f);
        return pw_fail(err, PW_FAILED, "%s: cannot be created: %s", path, strerror(cause));
    }
    if (exists && fchmod(f->fd, existing.st_mode & 0777) != 0) {
        int cause = errno;
        pw_new_file_drop(f);
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(cause));
    }
    return PW_OK;
}

enum pw_status pw_new_file_finish(struct pw_new_file *f, struct pw_error *err)
{
    bool written = fsync(f->fd) == 0;
    int cause = errno;
    if (close(f->fd) != 0 && written) {
        written = false;
        cause = errno;
    }
    f->fd = -1;
    if (written && rename(f->temporary, f->target) != 0) {
        written = false;
        cause = errno;
    }
    enum pw_status status = PW_OK;
    if (written) {
        sync_folder(f->target);
    } else {
        unlink(f->temporary);
        status = pw_fail(err, PW_FAILED, "%s: cannot be written: %s", f->target, strerror(cause));
    }
    release(f);
    return status;
}

void pw_new_file_drop(struct pw_new_file *f)
{
    if (!f->temporary)
        return;
    if (f->fd >= 0)
        close(f->fd);
    unlink(f->temporary);
    release(f);
}
