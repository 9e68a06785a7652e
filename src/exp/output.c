/* Results reach the disk whole or not at all: temporary file beside the target, write, fsync, rename, fsync of the folder.
 *
 * A target that is a symbolic link is followed, so that the link stays and its file is replaced; a target that is no
 * regular file (a pipe, /dev/full) cannot be renamed over and is written straight. A regular target keeps its mode. */
#include "exp/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The folder that `path` lies in, to be freed; NULL when memory is out. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

enum pw_status pw_output_check(const char *path, struct pw_error *err)
{
    if (is_standard_output(path))
        return PW_OK;
    if (!*path)
        return pw_fail(err, PW_USER_ERROR, "the name of an output file is empty; give a file or -");
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return pw_fail(err, PW_USER_ERROR, "%s: is a folder; name a file in it", path);
        if (access(path, W_OK) != 0)
            return pw_fail(err, PW_USER_ERROR, "%s: cannot be written: %s", path, strerror(errno));
        if (!S_ISREG(info.st_mode))
            return PW_OK;
    } else if (errno != ENOENT) {
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be written: %s", path, strerror(errno));
    }
    char *folder = folder_of(path);
    if (!folder)
        return pw_fail_memory(err, "an output path");
    enum pw_status status = PW_OK;
    if (access(folder, W_OK | X_OK) != 0)
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot be created: %s: %s", path, folder, strerror(errno));
    free(folder);
    return status;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

static enum pw_status write_straight(const char *path, const struct pw_text *t, struct pw_error *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    bool written = write_all(fd, t->bytes, t->length);
    int cause = errno;
    if (close(fd) != 0 && written) {
        written = false;
        cause = errno;
    }
    return written ? PW_OK : pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(cause));
}

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
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

/* `existing` describes the file that is there already, or is NULL. */
static enum pw_status replace(const char *path, const struct stat *existing, const struct pw_text *t,
                              struct pw_error *err)
{
    enum pw_status status = PW_OK;
    size_t capacity = strlen(path) + 48;
    char *temporary = malloc(capacity);
    if (!temporary)
        return pw_fail_memory(err, "an output path");
    int fd = create_beside(path, temporary, capacity);
    if (fd < 0) {
        status = pw_fail(err, PW_FAILED, "%s: cannot be created: %s", path, strerror(errno));
        free(temporary);
        return status;
    }
    bool written = !existing || fchmod(fd, existing->st_mode & 0777) == 0;
    written = written && write_all(fd, t->bytes, t->length) && fsync(fd) == 0;
    int cause = errno;
    if (close(fd) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written && rename(temporary, path) != 0) {
        written = false;
        cause = errno;
    }
    if (written) {
        sync_folder(path);
    } else {
        unlink(temporary);
        status = pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(cause));
    }
    free(temporary);
    return status;
}

enum pw_status pw_output_write(const char *path, const struct pw_text *t, struct pw_error *err)
{
    enum pw_status status = pw_text_finish(t, err);
    if (status != PW_OK)
        return status;
    if (is_standard_output(path)) {
        if (!write_all(STDOUT_FILENO, t->bytes, t->length))
            status = pw_fail(err, PW_FAILED, "standard output cannot be written: %s", strerror(errno));
        return status;
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return replace(path, NULL, t, err);
    if (!S_ISREG(info.st_mode))
        return write_straight(path, t, err);
    char *target = realpath(path, NULL);
    if (!target)
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    status = replace(target, &info, t, err);
    free(target);
    return status;
}
