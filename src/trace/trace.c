/* Opening a trace: header, trailer and index. What lies between is read by launch.c. */
#include "trace/trace.h"

#include "trace/format.h"
#include "trace/trace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum pw_status read_index(struct pw_trace *t, struct pw_error *err)
{
    struct pw_part part;
    enum pw_status status = pw_trace_read_frame(t->fd, t->path, t->file_bytes, &part, err);
    if (status != PW_OK)
        return status;
    uint8_t *raw = malloc(part.raw);
    if (!raw)
        return pw_fail_memory(err, "the index of a trace");
    status = pw_unpack(t->unpacker, &part, "its index", raw, &t->digest, err);
    if (status != PW_OK) {
        free(raw);
        return status;
    }
    return pw_index_read(&t->index, raw, part.raw, part.offset, t->path, err);
}

static enum pw_status look_at(struct pw_trace *t, struct pw_error *err)
{
    struct stat s;
    if (fstat(t->fd, &s) != 0)
        return pw_fail(err, PW_FAILED, "%s: cannot be read: %s", t->path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return pw_fail(err, PW_USER_ERROR, "%s: is no regular file", t->path);
    t->file_bytes = (uint64_t)s.st_size;
    return PW_OK;
}

enum pw_status pw_trace_open_file(int fd, const char *path, struct pw_trace **out, struct pw_error *err)
{
    struct pw_trace *t = calloc(1, sizeof *t);
    char *name = strdup(path);
    if (!t || !name) {
        close(fd);
        free(t);
        free(name);
        return pw_fail_memory(err, "a trace");
    }
    t->fd = fd;
    t->path = name;
    enum pw_status status = look_at(t, err);
    if (status == PW_OK)
        status = pw_unpacker_create(fd, name, &t->unpacker, err);
    if (status == PW_OK)
        status = pw_block_cache_init(&t->cache, err);
    if (status == PW_OK)
        status = read_index(t, err);
    if (status != PW_OK) {
        pw_trace_close(t);
        return status;
    }
    *out = t;
    return PW_OK;
}

enum pw_status pw_trace_open(const char *path, struct pw_trace **out, struct pw_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
    return pw_trace_open_file(fd, path, out, err);
}

void pw_trace_close(struct pw_trace *t)
{
    if (!t)
        return;
    pw_block_cache_release(&t->cache);
    pw_unpacker_destroy(t->unpacker);
    pw_index_release(&t->index);
    close(t->fd);
    free(t->path);
    free(t);
}

const char *pw_trace_path(const struct pw_trace *t)
{
    return t->path;
}

bool pw_trace_is_imported(const struct pw_trace *t)
{
    return t->imported;
}

const struct pw_trace_origin *pw_trace_get_origin(const struct pw_trace *t)
{
    return &t->index.origin;
}

const struct pw_trace_event *pw_trace_events(const struct pw_trace *t, size_t *out_count)
{
    *out_count = t->index.event_count;
    return t->index.events;
}

uint32_t pw_trace_launches(const struct pw_trace *t)
{
    return (uint32_t)t->index.launch_count;
}

uint64_t pw_trace_digest(const struct pw_trace *t)
{
    return t->digest;
}

uint64_t pw_trace_file_bytes(const struct pw_trace *t)
{
    return t->file_bytes;
}

/* A launch's checksum is of those of its parts, so that the index, and with it the digest, stands for the whole
 * file. */
static enum pw_status verify_launch(struct pw_trace_launch *l, struct pw_error *err)
{
    uint64_t checksum = PW_CHECKSUM_START;
    for (uint32_t i = 0; i < l->table.block_count; i++) {
        struct pw_block *block;
        enum pw_status status = pw_trace_launch_block(l, i, &block, err);
        if (status != PW_OK)
            return status;
        checksum = pw_checksum_word(checksum, block->checksum);
    }
    checksum = pw_checksum_word(checksum, l->checksum);
    if (checksum != l->trace->index.launches[l->number].checksum)
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: launch %u is not the one of its index", l->trace->path,
                       l->number);
    return PW_OK;
}

enum pw_status pw_trace_verify(struct pw_trace *t, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (uint32_t i = 0; i < t->index.launch_count && status == PW_OK; i++) {
        struct pw_trace_launch *l;
        status = pw_trace_launch_open(t, i, &l, err);
        if (status != PW_OK)
            return status;
        status = verify_launch(l, err);
        pw_trace_launch_close(l);
    }
    return status;
}
