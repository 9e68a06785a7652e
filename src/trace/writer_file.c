/* Writing through a buffer of its own, so that a failure is known by its cause as soon as it comes. */
#include "trace/writer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

static int create_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char *name = NULL;
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) || asprintf(&name, "%s/pagewalk-XXXXXX", folder) < 0)
        return fd;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    free(name);
    return fd;
}

static enum pw_status open_nameless(struct pw_writer_file *f, struct pw_error *err)
{
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/var/tmp";
    f->fd = create_nameless(folder);
    if (f->fd < 0)
        return pw_fail(err, PW_FAILED, "%s: a temporary trace cannot be created here (TMPDIR says where): %s", folder,
                       strerror(errno));
    if (asprintf(&f->path, "a trace in %s", folder) < 0) {
        f->path = NULL;
        return pw_fail_memory(err, "a trace");
    }
    return PW_OK;
}

enum pw_status pw_writer_file_open(struct pw_writer_file *f, const char *path, struct pw_error *err)
{
    *f = (struct pw_writer_file){.fd = -1, .named.fd = -1};
    enum pw_status status = path ? pw_new_file_open(&f->named, path, err) : open_nameless(f, err);
    if (status == PW_OK && path) {
        f->fd = f->named.fd;
        f->path = strdup(path);
    }
    f->buffer = malloc(BUFFER_BYTES);
    if (status == PW_OK && (!f->path || !f->buffer))
        status = pw_fail_memory(err, "a trace");
    if (status != PW_OK)
        pw_writer_file_drop(f);
    return status;
}

static enum pw_status flush(struct pw_writer_file *f, struct pw_error *err)
{
    for (size_t at = 0; at < f->used;) {
        ssize_t count = write(f->fd, f->buffer + at, f->used - at);
        if (count < 0 && errno != EINTR)
            return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", f->path, strerror(errno));
        at += count > 0 ? (size_t)count : 0;
    }
    f->used = 0;
    return PW_OK;
}

enum pw_status pw_writer_file_write(struct pw_writer_file *f, const void *bytes, size_t count, struct pw_error *err)
{
    f->at += count;
    for (const uint8_t *from = bytes; count;) {
        size_t piece = BUFFER_BYTES - f->used < count ? BUFFER_BYTES - f->used : count;
        memcpy(f->buffer + f->used, from, piece);
        f->used += piece;
        from += piece;
        count -= piece;
        enum pw_status status = f->used == BUFFER_BYTES ? flush(f, err) : PW_OK;
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

enum pw_status pw_writer_file_finish(struct pw_writer_file *f, int *out_fd, struct pw_error *err)
{
    *out_fd = -1;
    enum pw_status status = flush(f, err);
    if (status == PW_OK && f->named.temporary) {
        f->fd = -1;
        status = pw_new_file_finish(&f->named, err);
    } else if (status == PW_OK) {
        *out_fd = f->fd;
        f->fd = -1;
    }
    pw_writer_file_drop(f);
    return status;
}

void pw_writer_file_drop(struct pw_writer_file *f)
{
    if (f->named.temporary)
        pw_new_file_drop(&f->named);
    else if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->buffer);
    *f = (struct pw_writer_file){.fd = -1};
}
