/* The chunks of a pool, and what happens when there is no memory for another one. */
#include "sim/record_pool.h"

#include "sim/host_memory.h"

#include <stdlib.h>

/* At the beginning of its memory; records follow at the next host cache line. */
struct pw_record_chunk {
    struct pw_record_chunk *next;
    bool huge; /* from pw_host_memory */
};

/* The first chunk is not made of huge pages, of which the host clears 2 MB at once: a small run needs no other. */
enum { CHUNK_HEAD = 64, LINKED_AT_ONCE = 128, FIRST_CHUNK_BYTES = 64 << 10 };

void pw_record_pool_init(struct pw_record_pool *p, struct pw_events *events, size_t bytes, size_t chunk_bytes,
                         void *reserve, size_t reserved)
{
    *p = (struct pw_record_pool){
        .events = events, .bytes = bytes, .chunk_bytes = chunk_bytes, .reserve = reserve, .reserved = reserved};
}

void pw_record_pool_destroy(struct pw_record_pool *p)
{
    for (struct pw_record_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        if (c->huge)
            pw_host_memory_free(c);
        else
            free(c);
    }
    *p = (struct pw_record_pool){0};
}

static void *link_up(const struct pw_record_pool *p, unsigned char *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *(void **)(void *)(records + i * p->bytes) = i + 1 < count ? records + (i + 1) * p->bytes : NULL;
    return records;
}

/* Once memory is out, no event runs after the present one, but what that one puts into lists it may also take from them
 * again, so every such record must be one of its own. Beyond the reserve a record can only be one that is sent off for
 * good, as writes of page tables are, and all of them may be the same. */
static void *take_reserve(struct pw_record_pool *p)
{
    if (p->events)
        pw_events_out_of_memory(p->events);
    size_t count = p->reserve_taken ? 1 : p->reserved;
    p->reserve_taken = true;
    return link_up(p, p->reserve + (p->reserved - count) * p->bytes, count);
}

static bool add_chunk(struct pw_record_pool *p)
{
    bool huge = p->chunks && p->chunk_bytes >= PW_HUGE_BYTES;
    size_t bytes = p->chunks || p->chunk_bytes < FIRST_CHUNK_BYTES ? p->chunk_bytes : FIRST_CHUNK_BYTES;
    unsigned char *memory = huge ? pw_host_memory(1, bytes) : aligned_alloc(CHUNK_HEAD, bytes);
    if (!memory)
        return false;
    struct pw_record_chunk *c = (struct pw_record_chunk *)(void *)memory;
    c->next = p->chunks;
    c->huge = huge;
    p->chunks = c;
    p->fresh = memory + CHUNK_HEAD;
    p->fresh_count = (bytes - CHUNK_HEAD) / p->bytes;
    return true;
}

void *pw_record_pool_grow(struct pw_record_pool *p)
{
    if (!p->fresh_count && !add_chunk(p))
        return take_reserve(p);
    size_t count = p->fresh_count < LINKED_AT_ONCE ? p->fresh_count : LINKED_AT_ONCE;
    void *first = link_up(p, p->fresh, count);
    p->fresh += count * p->bytes;
    p->fresh_count -= count;
    return first;
}
