/* zstd with contexts that are made once: what reads a block may run on the small stack of a warp, and allocates only
 * when a part is larger than any before. */
#include "trace/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

struct pw_packer {
    ZSTD_CCtx *context;
    struct pw_bytes_out out;
};

struct pw_unpacker {
    ZSTD_DCtx *context;
    int fd;
    const char *path;
    uint8_t *stored;
    size_t capacity;
};

static uint64_t seal(const struct pw_part *p, const uint8_t *stored)
{
    uint64_t h = pw_checksum_word(PW_CHECKSUM_START, p->offset);
    h = pw_checksum_word(pw_checksum_word(h, p->stored), p->raw);
    return pw_checksum_bytes(h, stored, p->stored);
}

struct pw_packer *pw_packer_create(void)
{
    struct pw_packer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->context = ZSTD_createCCtx();
    if (!p->context) {
        free(p);
        return NULL;
    }
    return p;
}

void pw_packer_destroy(struct pw_packer *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->context);
    pw_bytes_free(&p->out);
    free(p);
}

const uint8_t *pw_pack(struct pw_packer *p, uint64_t offset, const uint8_t *raw, size_t bytes, int level,
                       struct pw_part *out_part, size_t *out_bytes)
{
    size_t bound = ZSTD_compressBound(bytes);
    p->out.used = 0;
    uint8_t *room = pw_bytes_room(&p->out, PW_PART_SEAL + bound);
    if (!room)
        return NULL;
    size_t stored = ZSTD_compressCCtx(p->context, room + PW_PART_SEAL, bound, raw, bytes, level);
    struct pw_part part = {.offset = offset, .stored = stored, .raw = bytes};
    if (ZSTD_isError(stored) || stored >= bytes || !pw_part_is_sound(&part)) {
        part.stored = bytes;
        memcpy(room + PW_PART_SEAL, raw, bytes);
    }
    pw_store_bytes(room, seal(&part, room + PW_PART_SEAL), PW_PART_SEAL);
    *out_part = part;
    *out_bytes = PW_PART_SEAL + part.stored;
    return room;
}

enum pw_status pw_unpacker_create(int fd, const char *path, struct pw_unpacker **out, struct pw_error *err)
{
    struct pw_unpacker *u = calloc(1, sizeof *u);
    if (!u)
        return pw_fail_memory(err, "a trace");
    *u = (struct pw_unpacker){.context = ZSTD_createDCtx(), .fd = fd, .path = path};
    if (!u->context) {
        free(u);
        return pw_fail_memory(err, "a trace");
    }
    *out = u;
    return PW_OK;
}

void pw_unpacker_destroy(struct pw_unpacker *u)
{
    if (!u)
        return;
    ZSTD_freeDCtx(u->context);
    free(u->stored);
    free(u);
}

enum pw_status pw_read_exactly(int fd, const char *path, uint64_t offset, uint8_t *out, size_t bytes,
                               struct pw_error *err)
{
    while (bytes) {
        ssize_t count = pread(fd, out, bytes, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return pw_fail(err, PW_FAILED, "%s: cannot be read: %s", path, strerror(errno));
        if (!count)
            return pw_fail(err, PW_USER_ERROR, "%s: is truncated", path);
        out += count;
        offset += (uint64_t)count;
        bytes -= (size_t)count;
    }
    return PW_OK;
}

enum pw_status pw_unpack(struct pw_unpacker *u, const struct pw_part *part, const char *what, uint8_t *out_raw,
                         uint64_t *out_checksum, struct pw_error *err)
{
    size_t bytes = PW_PART_SEAL + part->stored;
    if (bytes > u->capacity) {
        free(u->stored);
        u->stored = malloc(bytes);
        u->capacity = u->stored ? bytes : 0;
        if (!u->stored)
            return pw_fail_memory(err, "a trace");
    }
    enum pw_status status = pw_read_exactly(u->fd, u->path, part->offset, u->stored, bytes, err);
    if (status != PW_OK)
        return status;
    const uint8_t *stored = u->stored + PW_PART_SEAL;
    uint64_t checksum = pw_load_bytes(u->stored, PW_PART_SEAL);
    if (checksum != seal(part, stored))
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: the checksum of %s does not fit", u->path, what);
    if (out_checksum)
        *out_checksum = checksum;
    if (part->stored == part->raw) {
        memcpy(out_raw, stored, part->raw);
        return PW_OK;
    }
    size_t raw = ZSTD_decompressDCtx(u->context, out_raw, part->raw, stored, part->stored);
    if (ZSTD_isError(raw) || raw != part->raw)
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: %s cannot be unpacked", u->path, what);
    return PW_OK;
}
