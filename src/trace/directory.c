/* Entries are differences to the one before, so that blocks of warps that do alike have directories of equal bytes. */
#include "trace/directory.h"

bool pw_block_fits(const struct pw_block_out *b, size_t bytes, size_t segments)
{
    size_t used = PW_DIRECTORY_COUNT_MOST + b->entries.used + b->operations.used;
    return used + bytes + segments * PW_SEGMENT_ENTRY_MOST <= PW_BLOCK_MOST;
}

void pw_block_add(struct pw_block_out *b, const struct pw_segment *s, const uint8_t *operations)
{
    bool same = b->segments && s->cta == b->last.cta;
    uint64_t origin = b->last.origin;
    pw_add_varint(&b->entries, s->cta - b->last.cta);
    pw_add_varint(&b->entries, same ? s->warp - b->last.warp : s->warp);
    pw_add_varint(&b->entries, (uint64_t)s->bytes << 1 | s->fresh);
    if (s->fresh)
        pw_add_signed(&b->entries, s->origin - origin);
    pw_add_bytes(&b->operations, operations, s->bytes);
    b->last = *s;
    if (!s->fresh)
        b->last.origin = origin;
    b->segments++;
}

const struct pw_bytes_out *pw_block_finish(struct pw_block_out *b)
{
    b->raw.used = 0;
    pw_add_varint(&b->raw, b->segments);
    pw_add_bytes(&b->raw, b->entries.bytes, b->entries.used);
    pw_add_bytes(&b->raw, b->operations.bytes, b->operations.used);
    b->raw.failed |= b->entries.failed || b->operations.failed;
    b->entries.used = b->operations.used = 0;
    b->segments = 0;
    b->last = (struct pw_segment){0};
    return &b->raw;
}

void pw_block_release(struct pw_block_out *b)
{
    pw_bytes_free(&b->entries);
    pw_bytes_free(&b->operations);
    pw_bytes_free(&b->raw);
}

uint32_t pw_directory_count(const uint8_t *raw, size_t bytes)
{
    struct pw_bytes_in in = {.at = raw, .end = raw + bytes};
    return (uint32_t)pw_take_varint(&in, bytes / PW_SEGMENT_LEAST);
}

bool pw_directory_read(const uint8_t *raw, size_t bytes, uint32_t ctas, uint32_t warps, uint32_t count,
                       struct pw_segment *out_segments)
{
    struct pw_bytes_in in = {.at = raw, .end = raw + bytes};
    pw_take_varint(&in, count);
    struct pw_segment s = {0};
    uint64_t operations = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t further = pw_take_varint(&in, ctas - 1 - s.cta);
        uint64_t warp = pw_take_varint(&in, warps - 1);
        uint64_t length = pw_take_varint(&in, PW_SEGMENT_MOST << 1 | 1);
        if (i && !further)
            warp += s.warp;
        s.cta += (uint32_t)further;
        s.fresh = length & 1;
        s.bytes = (uint16_t)(length >> 1);
        if (s.fresh)
            s.origin += pw_take_signed(&in);
        if (in.bad || warp >= warps || !s.bytes)
            return false;
        s.warp = (uint8_t)warp;
        operations += s.bytes;
        out_segments[i] = s;
    }
    if (in.bad || operations != (uint64_t)(in.end - in.at))
        return false;
    uint64_t at = bytes - operations;
    for (uint32_t i = 0; i < count; i++) {
        out_segments[i].at = (uint16_t)at;
        at += out_segments[i].bytes;
    }
    return true;
}

uint32_t pw_directory_find(const struct pw_segment *segments, uint32_t count, uint32_t cta, uint32_t warp)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct pw_segment *s = &segments[middle];
        if (s->cta < cta || (s->cta == cta && s->warp < warp))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
