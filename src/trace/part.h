/* Parts of a trace file: blocks, tables and the index, each with a checksum in front and packed by zstd where that
 * makes it smaller.
 *
 * A part is sealed with the place where it lies and both its lengths, so that one that was moved is refused as one that
 * was changed. What is asked for is never more than the file could hold: a part of more than a megabyte may be packed
 * to 1/64 of its size at most, else it is stored plain, so that a short file cannot ask for much memory. */
#ifndef PW_TRACE_PART_H
#define PW_TRACE_PART_H

#include "sim/status.h"
#include "trace/bytes.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PW_PART_SEAL = 8, /* bytes of the checksum before a part */
    PW_PART_FREE = 1 << 20,
    PW_PART_RATIO = 64,
};

/* Where a part lies in its file. */
struct pw_part {
    uint64_t offset; /* of its checksum */
    uint64_t stored; /* bytes behind the checksum */
    uint64_t raw;    /* bytes once unpacked; the same: it is stored plain */
};

static inline uint64_t pw_part_end(const struct pw_part *p)
{
    return p->offset + PW_PART_SEAL + p->stored;
}

/* Whether its lengths are possible. */
static inline bool pw_part_is_sound(const struct pw_part *p)
{
    return p->stored && p->stored <= p->raw && p->stored < UINT64_C(1) << 48 &&
           (p->raw <= PW_PART_FREE || p->raw == p->stored || p->raw / PW_PART_RATIO <= p->stored);
}

/* Packs parts. */
struct pw_packer;
struct pw_packer *pw_packer_create(void); /* NULL: out of memory */
void pw_packer_destroy(struct pw_packer *p);

/* Packs bytes (at least one) that will lie at `offset`; out_part says how. What is to be written, checksum first, stays
 * until the next call; NULL when memory is out. */
const uint8_t *pw_pack(struct pw_packer *p, uint64_t offset, const uint8_t *raw, size_t bytes, int level,
                       struct pw_part *out_part, size_t *out_bytes);

/* Reads parts of one file. */
struct pw_unpacker;
/* `path` is for messages and must stay. */
enum pw_status pw_unpacker_create(int fd, const char *path, struct pw_unpacker **out, struct pw_error *err);
void pw_unpacker_destroy(struct pw_unpacker *u);

/* Reads a sound part into `out_raw`, which has room for part->raw bytes. `what` is for the message. */
enum pw_status pw_unpack(struct pw_unpacker *u, const struct pw_part *part, const char *what, uint8_t *out_raw,
                         uint64_t *out_checksum, struct pw_error *err);

/* Reads bytes of the file as they are. */
enum pw_status pw_read_exactly(int fd, const char *path, uint64_t offset, uint8_t *out, size_t bytes,
                               struct pw_error *err);

#endif
