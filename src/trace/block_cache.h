/* Blocks of a trace that are being read, unpacked and with their directories, for all of its launches together.
 *
 * Warps that run side by side read different segments of the same blocks, so a block is used by as many as it has
 * segments, and then hardly again: it goes at once, so that the next one is unpacked to where it lay, which is still in
 * the processor's caches. Where warps go over more blocks in turn than there is room for, any of them goes: the one
 * used least recently would always be the one that is needed next. Memory is bounded by bytes, directories included. */
#ifndef PW_TRACE_BLOCK_CACHE_H
#define PW_TRACE_BLOCK_CACHE_H

#include "sim/key_map.h"
#include "trace/directory.h"

struct pw_block {
    struct pw_key_link link; /* first; its key is the block's */
    struct pw_segment *segments;
    size_t bytes;
    uint64_t checksum;
    uint32_t count; /* of segments */
    uint32_t uses;  /* since it was read */
    uint32_t place; /* in `blocks` */
    uint8_t raw[];
};

struct pw_block_cache {
    struct pw_key_map map;
    struct pw_block **blocks;
    size_t count, capacity;
    size_t bytes, most;
    uint64_t draws, reads;
};

enum pw_status pw_block_cache_init(struct pw_block_cache *c, struct pw_error *err);
void pw_block_cache_release(struct pw_block_cache *c);

/* The block with this key; NULL: it is not there. */
struct pw_block *pw_block_cache_find(const struct pw_block_cache *c, uint64_t key);

/* A segment of the block has been used. After the last one the block is gone. */
void pw_block_cache_use(struct pw_block_cache *c, struct pw_block *b);

/* Reads a block of a launch of so many CTAs and warps a CTA. */
enum pw_status pw_block_cache_read(struct pw_block_cache *c, struct pw_unpacker *u, uint64_t key,
                                   const struct pw_part *part, uint32_t ctas, uint32_t warps, const char *path,
                                   struct pw_block **out, struct pw_error *err);

#endif
