/* Where the nodes of a page table lie: chunks of frames, on one GPU or a copy of each on all. */
#include "vm/table_chunks.h"

#include "sim/grow.h"

#include <stdlib.h>

static struct pw_frame_request node_request(const struct pw_page_table *t, enum pw_page_order order)
{
    return (struct pw_frame_request){.owner = (pw_owner)(PW_OWNER_TABLE + t->config.asid), .order = order};
}

enum pw_page_order pw_table_chunk_order(const struct pw_table_arena *arena)
{
    return arena->node_bytes > PW_PAGE_BYTES ? PW_PAGE_64K : PW_PAGE_4K;
}

static enum pw_status fail_full(const struct pw_page_table *t, struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR,
                   "no memory left for the page table of application %u; give the GPU more memory or run less on it",
                   t->config.asid);
}

/* Gives the first `count` copies of a chunk back. */
static void release_copies(const struct pw_page_table *t, const struct pw_table_chunk *chunk, unsigned count)
{
    struct pw_frame_request request = node_request(t, chunk->order);
    for (unsigned i = 0; chunk->copies && i < count; i++)
        pw_physical_give_back(t->config.copies[i], &request, chunk->copies[i]);
    free(chunk->copies);
}

static enum pw_status copy_chunk(const struct pw_page_table *t, struct pw_table_chunk *chunk, struct pw_error *err)
{
    struct pw_frame_request request = node_request(t, chunk->order);
    if (!t->config.copy_count)
        return PW_OK;
    chunk->copies = calloc(t->config.copy_count, sizeof *chunk->copies);
    if (!chunk->copies)
        return pw_fail_memory(err, "page table");
    for (unsigned i = 0; i < t->config.copy_count; i++)
        if (!pw_physical_allocate(t->config.copies[i], &request, &chunk->copies[i])) {
            release_copies(t, chunk, i);
            return fail_full(t, err);
        }
    return PW_OK;
}

/* Chunks lie in order of their frames. */
static void insert_chunk(struct pw_page_table *t, struct pw_table_chunk chunk)
{
    size_t at = t->chunk_count++;
    for (; at && t->chunks[at - 1].frame.v > chunk.frame.v; at--)
        t->chunks[at] = t->chunks[at - 1];
    t->chunks[at] = chunk;
}

pw_paddr pw_table_copy_place(const struct pw_page_table *t, unsigned gpu, pw_paddr place)
{
    size_t low = 0, high = t->chunk_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((uint64_t)t->chunks[middle].frame.v << PW_PAGE_SHIFT <= place.v)
            low = middle;
        else
            high = middle;
    }
    const struct pw_table_chunk *chunk = &t->chunks[low];
    uint64_t within = place.v - ((uint64_t)chunk->frame.v << PW_PAGE_SHIFT);
    return (pw_paddr){((uint64_t)chunk->copies[gpu - 1].v << PW_PAGE_SHIFT) + within};
}

/* Takes one more chunk from the frame policy and remembers it. */
static enum pw_status grow_arena(struct pw_page_table *t, struct pw_table_arena *arena, struct pw_error *err)
{
    struct pw_table_chunk *chunks = pw_grow(t->chunks, t->chunk_count, &t->chunk_capacity, sizeof *chunks);
    if (!chunks)
        return pw_fail_memory(err, "page table");
    t->chunks = chunks;
    enum pw_page_order order = pw_table_chunk_order(arena);
    struct pw_frame_request request = node_request(t, order);
    pw_pfn frame;
    if (!t->config.policy->allocate(t->config.policy_state, t->config.frames, &request, &frame))
        return fail_full(t, err);
    struct pw_table_chunk chunk = {frame, (uint8_t)order, NULL};
    enum pw_status status = copy_chunk(t, &chunk, err);
    if (status != PW_OK) {
        t->config.policy->release(t->config.policy_state, t->config.frames, &request, frame);
        return status;
    }
    insert_chunk(t, chunk);
    t->node_bytes += (uint64_t)PW_PAGE_BYTES << order;
    arena->next = (uint64_t)frame.v << PW_PAGE_SHIFT;
    arena->outer = arena->next + ((uint64_t)PW_PAGE_BYTES << order);
    return PW_OK;
}

enum pw_status pw_table_place_node(struct pw_page_table *t, struct pw_table_arena *arena, pw_paddr *out,
                                   struct pw_error *err)
{
    if (arena->next == arena->outer) {
        enum pw_status status = grow_arena(t, arena, err);
        if (status)
            return status;
    }
    out->v = arena->next;
    arena->next += arena->node_bytes;
    return PW_OK;
}

void pw_table_release_chunks(struct pw_page_table *t)
{
    for (size_t i = 0; i < t->chunk_count; i++) {
        struct pw_frame_request request = node_request(t, t->chunks[i].order);
        t->config.policy->release(t->config.policy_state, t->config.frames, &request, t->chunks[i].frame);
        release_copies(t, &t->chunks[i], t->config.copy_count);
    }
    free(t->chunks);
}
