/* Blocks of a trace that were read last, unpacked and with their directories, for all of its launches together.
 *
 * Warps that run side by side read different segments of the same blocks, so a block is used by as many as it has
 * segments. Memory is bounded by bytes, directories included; what was used least recently makes room. */
#ifndef PW_TRACE_BLOCK_CACHE_H
#define PW_TRACE_BLOCK_CACHE_H

#include "sim/key_map.h"
#include "trace/directory.h"

struct pw_block {
    struct pw_key_link link; /* first; its key is the block's */
    struct pw_block *newer, *older;
    struct pw_segment *segments;
    size_t bytes;
    uint64_t checksum;
    uint32_t count;
    uint8_t raw[];
};

struct pw_block_cache {
    struct pw_key_map map;
    struct pw_block *newest, *oldest;
    size_t bytes, most;
    uint64_t misses;
};

enum pw_status pw_block_cache_init(struct pw_block_cache *c, struct pw_error *err);
void pw_block_cache_release(struct pw_block_cache *c);

/* The block with this key, which is the newest one then; NULL: it is not there. */
const struct pw_block *pw_block_cache_find(struct pw_block_cache *c, uint64_t key);

/* Reads a block of a launch of so many CTAs and warps a CTA. */
enum pw_status pw_block_cache_read(struct pw_block_cache *c, struct pw_unpacker *u, uint64_t key,
                                   const struct pw_part *part, uint32_t ctas, uint32_t warps, const char *path,
                                   const struct pw_block **out, struct pw_error *err);

/* Forgets every block whose key is in [first, end). */
void pw_block_cache_forget(struct pw_block_cache *c, uint64_t first, uint64_t end);

#endif
