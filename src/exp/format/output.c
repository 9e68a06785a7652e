/* Results reach the disk whole or not at all (sim/new_file.h). A target that is no regular file (a pipe, /dev/full)
 * cannot be renamed over and is written straight. */
#include "exp/format/output.h"

#include "sim/new_file.h"

#include <errno.h>
#include <fcntl.h>
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
    char *target = pw_new_file_target(path);
    if (!target)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be written: %s", path, strerror(errno));
    char *folder = folder_of(target);
    free(target);
    if (!folder)
        return pw_fail_memory(err, "an output path");
    enum pw_status status = PW_OK;
    if (access(folder, W_OK | X_OK) != 0)
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot be created: %s: %s", path, folder, strerror(errno));
    free(folder);
    return status;
}

enum pw_status pw_output_failed(const char *where, int cause, struct pw_error *err)
{
    enum pw_status status = cause == EPIPE ? PW_NO_READER : PW_FAILED;
    pw_error_set(err, status, "%s cannot be written: %s", where, strerror(cause));
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

static enum pw_status replace(const char *path, const struct pw_text *t, struct pw_error *err)
{
    struct pw_new_file file;
    enum pw_status status = pw_new_file_open(&file, path, err);
    if (status != PW_OK)
        return status;
    if (!write_all(file.fd, t->bytes, t->length)) {
        status = pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(errno));
        pw_new_file_drop(&file);
        return status;
    }
    return pw_new_file_finish(&file, err);
}

enum pw_status pw_output_write(const char *path, const struct pw_text *t, struct pw_error *err)
{
    enum pw_status status = pw_text_finish(t, err);
    if (status != PW_OK)
        return status;
    if (is_standard_output(path)) {
        if (!write_all(STDOUT_FILENO, t->bytes, t->length))
            status = pw_output_failed("standard output", errno, err);
        return status;
    }
    struct stat info;
    bool device = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
    return device ? write_straight(path, t, err) : replace(path, t, err);
}
