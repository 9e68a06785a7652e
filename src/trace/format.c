/* Header and trailer. A file that was cut off has no trailer; one that was cut and patched fails a checksum. */
#include "trace/format.h"

#include <string.h>

static const uint8_t header_magic[8] = {0x89, 'P', 'W', 'T', '\r', '\n', 0x1a, '\n'};
static const uint8_t trailer_magic[8] = {'P', 'W', 'T', ' ', 'e', 'n', 'd', '\n'};

void pw_trace_put_header(uint8_t out[PW_TRACE_HEADER_BYTES])
{
    memcpy(out, header_magic, 8);
    pw_store_bytes(out + 8, PW_TRACE_VERSION, 8);
    pw_store_bytes(out + 16, pw_checksum_bytes(PW_CHECKSUM_START, out, 16), 8);
}

void pw_trace_put_trailer(uint8_t out[PW_TRACE_TRAILER_BYTES], const struct pw_part *index)
{
    pw_store_bytes(out, index->offset, 8);
    pw_store_bytes(out + 8, index->stored, 8);
    pw_store_bytes(out + 16, index->raw, 8);
    pw_store_bytes(out + 24, pw_checksum_bytes(PW_CHECKSUM_START, out, 24), 8);
    memcpy(out + 32, trailer_magic, 8);
}

static enum pw_status check_header(const uint8_t *header, const char *path, struct pw_error *err)
{
    if (memcmp(header, header_magic, 8) != 0)
        return pw_fail(err, PW_USER_ERROR, "%s: is not a trace of pagewalk (.pwt)", path);
    if (pw_load_bytes(header + 16, 8) != pw_checksum_bytes(PW_CHECKSUM_START, header, 16))
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: the checksum of its header does not fit", path);
    uint64_t version = pw_load_bytes(header + 8, 8);
    if (version != PW_TRACE_VERSION)
        return pw_fail(err, PW_USER_ERROR, "%s: is a trace of version %llu; this program reads version %d: %s", path,
                       (unsigned long long)version, PW_TRACE_VERSION,
                       version < PW_TRACE_VERSION ? "record it again" : "use a newer pagewalk");
    return PW_OK;
}

enum pw_status pw_trace_read_frame(int fd, const char *path, uint64_t file_bytes, struct pw_part *out_index,
                                   struct pw_error *err)
{
    uint8_t header[PW_TRACE_HEADER_BYTES] = {0}, trailer[PW_TRACE_TRAILER_BYTES];
    size_t there = file_bytes < sizeof header ? (size_t)file_bytes : sizeof header;
    enum pw_status status = pw_read_exactly(fd, path, 0, header, there, err);
    if (status == PW_OK && there < sizeof header && there >= 8 && !memcmp(header, header_magic, 8))
        return pw_fail(err, PW_USER_ERROR, "%s: is truncated", path);
    if (status == PW_OK)
        status = check_header(header, path, err);
    if (status != PW_OK)
        return status;
    if (file_bytes < PW_TRACE_HEADER_BYTES + PW_TRACE_TRAILER_BYTES)
        return pw_fail(err, PW_USER_ERROR, "%s: is truncated", path);
    uint64_t trailer_at = file_bytes - PW_TRACE_TRAILER_BYTES;
    status = pw_read_exactly(fd, path, trailer_at, trailer, sizeof trailer, err);
    if (status != PW_OK)
        return status;
    if (memcmp(trailer + 32, trailer_magic, 8) != 0)
        return pw_fail(err, PW_USER_ERROR, "%s: is truncated: it does not end as a trace does", path);
    if (pw_load_bytes(trailer + 24, 8) != pw_checksum_bytes(PW_CHECKSUM_START, trailer, 24))
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: the checksum of its trailer does not fit", path);
    struct pw_part index = {.offset = pw_load_bytes(trailer, 8),
                            .stored = pw_load_bytes(trailer + 8, 8),
                            .raw = pw_load_bytes(trailer + 16, 8)};
    if (!pw_part_is_sound(&index) || index.offset < PW_TRACE_HEADER_BYTES || index.offset > trailer_at ||
        pw_part_end(&index) != trailer_at)
        return pw_fail(err, PW_USER_ERROR, "%s: is truncated or corrupted: its index does not end where it should",
                       path);
    *out_index = index;
    return PW_OK;
}
