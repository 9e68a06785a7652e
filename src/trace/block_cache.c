/* A table by key and a list by age. */
#include "trace/block_cache.h"

#include <stdlib.h>

enum { CACHE_BYTES = 32 << 20 };

enum pw_status pw_block_cache_init(struct pw_block_cache *c, struct pw_error *err)
{
    *c = (struct pw_block_cache){.most = CACHE_BYTES};
    return pw_key_map_init(&c->map, "blocks of a trace", err);
}

static void take_out(struct pw_block_cache *c, struct pw_block *b)
{
    *(b->newer ? &b->newer->older : &c->newest) = b->older;
    *(b->older ? &b->older->newer : &c->oldest) = b->newer;
}

static void put_first(struct pw_block_cache *c, struct pw_block *b)
{
    b->newer = NULL;
    b->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = b;
    c->newest = b;
}

static void free_block(struct pw_block *b)
{
    if (b)
        free(b->segments);
    free(b);
}

static void forget(struct pw_block_cache *c, struct pw_block *b)
{
    pw_key_map_remove(&c->map, &b->link);
    take_out(c, b);
    c->bytes -= b->bytes;
    free_block(b);
}

void pw_block_cache_forget(struct pw_block_cache *c, uint64_t first, uint64_t end)
{
    for (struct pw_block *b = c->oldest, *next; b; b = next) {
        next = b->newer;
        if (b->link.key >= first && b->link.key < end)
            forget(c, b);
    }
}

void pw_block_cache_release(struct pw_block_cache *c)
{
    pw_block_cache_forget(c, 0, UINT64_MAX);
    pw_key_map_release(&c->map);
}

const struct pw_block *pw_block_cache_find(struct pw_block_cache *c, uint64_t key)
{
    struct pw_block *b = (struct pw_block *)pw_key_map_find(&c->map, key);
    if (b && b != c->newest) {
        take_out(c, b);
        put_first(c, b);
    }
    return b;
}

enum pw_status pw_block_cache_read(struct pw_block_cache *c, struct pw_unpacker *u, uint64_t key,
                                   const struct pw_part *part, uint32_t ctas, uint32_t warps, const char *path,
                                   const struct pw_block **out, struct pw_error *err)
{
    struct pw_block *b = malloc(sizeof *b + part->raw);
    if (!b)
        return pw_fail_memory(err, "a block of a trace");
    *b = (struct pw_block){0};
    enum pw_status status = pw_unpack(u, part, "a block", b->raw, &b->checksum, err);
    if (status == PW_OK) {
        b->count = pw_directory_count(b->raw, part->raw);
        b->segments = calloc(b->count + 1U, sizeof *b->segments);
        if (!b->segments)
            status = pw_fail_memory(err, "a block of a trace");
        else if (!pw_directory_read(b->raw, part->raw, ctas, warps, b->count, b->segments))
            status = pw_fail(err, PW_USER_ERROR, "%s: is corrupted: a block's directory does not make sense", path);
    }
    if (status != PW_OK) {
        free_block(b);
        return status;
    }
    b->bytes = sizeof *b + part->raw + b->count * sizeof *b->segments;
    while (c->oldest && c->bytes + b->bytes > c->most)
        forget(c, c->oldest);
    c->bytes += b->bytes;
    c->misses++;
    pw_key_map_add(&c->map, &b->link, key);
    put_first(c, b);
    *out = b;
    return PW_OK;
}
