/* A table by key, and an array to draw from. */
#include "trace/block_cache.h"

#include "sim/grow.h"

enum { CACHE_BYTES = 32 << 20 };

enum pw_status pw_block_cache_init(struct pw_block_cache *c, struct pw_error *err)
{
    *c = (struct pw_block_cache){.most = CACHE_BYTES};
    return pw_key_map_init(&c->map, "blocks of a trace", err);
}

static void free_block(struct pw_block *b)
{
    free(b->segments);
    free(b);
}

static void forget(struct pw_block_cache *c, struct pw_block *b)
{
    struct pw_block *last = c->blocks[--c->count];
    c->blocks[b->place] = last;
    last->place = b->place;
    pw_key_map_remove(&c->map, &b->link);
    c->bytes -= b->bytes;
    free_block(b);
}

void pw_block_cache_release(struct pw_block_cache *c)
{
    while (c->count)
        forget(c, c->blocks[c->count - 1]);
    free(c->blocks);
    pw_key_map_release(&c->map);
}

struct pw_block *pw_block_cache_find(const struct pw_block_cache *c, uint64_t key)
{
    return (struct pw_block *)pw_key_map_find(&c->map, key);
}

void pw_block_cache_use(struct pw_block_cache *c, struct pw_block *b)
{
    if (++b->uses == b->count)
        forget(c, b);
}

/* Room for so many bytes: whatever is drawn goes. */
static void make_room(struct pw_block_cache *c, size_t bytes)
{
    while (c->count && c->bytes + bytes > c->most)
        forget(c, c->blocks[(++c->draws * UINT64_C(0x9e3779b97f4a7c15) >> 32) * c->count >> 32]);
}

/* Unpacks a block and reads its directory. */
static enum pw_status read_block(struct pw_block *b, struct pw_unpacker *u, const struct pw_part *part, uint32_t ctas,
                                 uint32_t warps, const char *path, struct pw_error *err)
{
    enum pw_status status = pw_unpack(u, part, "a block", b->raw, &b->checksum, err);
    if (status != PW_OK)
        return status;
    b->count = pw_directory_count(b->raw, part->raw);
    b->segments = calloc(b->count + UINT64_C(1), sizeof *b->segments);
    if (!b->segments)
        return pw_fail_memory(err, "a block of a trace");
    if (!pw_directory_read(b->raw, part->raw, ctas, warps, b->count, b->segments))
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: a block's directory does not make sense", path);
    b->bytes = sizeof *b + part->raw + b->count * sizeof *b->segments;
    return PW_OK;
}

enum pw_status pw_block_cache_read(struct pw_block_cache *c, struct pw_unpacker *u, uint64_t key,
                                   const struct pw_part *part, uint32_t ctas, uint32_t warps, const char *path,
                                   struct pw_block **out, struct pw_error *err)
{
    struct pw_block **grown = pw_grow(c->blocks, c->count, &c->capacity, sizeof(struct pw_block *));
    c->blocks = grown ? grown : c->blocks;
    struct pw_block *b = grown ? malloc(sizeof *b + part->raw) : NULL;
    if (!b)
        return pw_fail_memory(err, "a block of a trace");
    *b = (struct pw_block){0};
    enum pw_status status = read_block(b, u, part, ctas, warps, path, err);
    if (status != PW_OK) {
        free_block(b);
        return status;
    }
    make_room(c, b->bytes);
    c->bytes += b->bytes;
    c->reads++;
    pw_key_map_add(&c->map, &b->link, key);
    b->place = (uint32_t)c->count;
    c->blocks[c->count++] = b;
    *out = b;
    return PW_OK;
}
