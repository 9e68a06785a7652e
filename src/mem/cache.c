/* Allocation and replacement in the tag store; the lookup is inline in cache.h. */
#include "mem/cache.h"

#include <stdlib.h>

enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err)
{
    *c = (struct pw_cache){0};
    uint64_t sets = ways ? lines / ways : 0;
    if (!sets)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: %llu lines do not make one set of %u ways; make it larger or less associative", name,
                       (unsigned long long)lines, ways);
    if (ways > PW_CACHE_MAX_WAYS || sets * ways > UINT32_MAX / 2)
        return pw_fail(err, PW_USER_ERROR, "%s: %llu lines of %u ways are more than a cache can have", name,
                       (unsigned long long)lines, ways);
    size_t slots = (size_t)(sets * ways);
    c->sets = pw_divisor_of((uint32_t)sets);
    c->ways = ways;
    /* Whole sets start on host cache lines where they can. */
    c->slots = aligned_alloc(64, (slots * sizeof *c->slots + 63) / 64 * 64);
    if (!c->slots)
        return pw_fail_memory(err, name);
    for (size_t i = 0; i < slots; i++)
        c->slots[i] = PW_NO_LINE;
    return PW_OK;
}

void pw_cache_release(struct pw_cache *c)
{
    free(c->slots);
    *c = (struct pw_cache){0};
}

static uint32_t used(uint64_t slot)
{
    return (uint32_t)(slot >> PW_CACHE_USED_SHIFT);
}

static uint64_t with_used(uint64_t slot, uint32_t time)
{
    return (slot & ((1ULL << PW_CACHE_USED_SHIFT) - 1)) | (uint64_t)time << PW_CACHE_USED_SHIFT;
}

void pw_cache_renumber(struct pw_cache *c)
{
    for (uint32_t set = 0; set < c->sets.by; set++) {
        uint64_t *slots = c->slots + (size_t)set * c->ways;
        /* Each slot in use gets its rank, from 1. Times above the limit are ranks already given. */
        for (uint32_t rank = 1; rank <= c->ways; rank++) {
            uint64_t *oldest = NULL;
            for (uint32_t way = 0; way < c->ways; way++)
                if (used(slots[way]) && used(slots[way]) <= PW_CACHE_CLOCK_LIMIT &&
                    (!oldest || used(slots[way]) < used(*oldest)))
                    oldest = &slots[way];
            if (!oldest)
                break;
            *oldest = with_used(*oldest, PW_CACHE_CLOCK_LIMIT + rank);
        }
        for (uint32_t way = 0; way < c->ways; way++)
            if (used(slots[way]))
                slots[way] = with_used(slots[way], used(slots[way]) - PW_CACHE_CLOCK_LIMIT);
    }
    c->clock = c->ways;
}

int64_t pw_cache_allocate(struct pw_cache *c, uint32_t line, uint32_t index, struct pw_victim *out_victim)
{
    uint32_t first = pw_remainder(index, c->sets) * c->ways;
    /* The time of last use is in the highest bits, so the oldest slot is the smallest word; empty slots have time 0. */
    uint64_t oldest = c->slots[first];
    uint32_t slot = first;
    for (uint32_t way = 1; way < c->ways; way++) {
        uint64_t word = c->slots[first + way];
        slot = word < oldest ? first + way : slot;
        oldest = word < oldest ? word : oldest;
    }
    *out_victim = (struct pw_victim){(uint32_t)c->slots[slot], pw_cache_dirty(c, slot)};
    c->slots[slot] = line;
    pw_cache_touch(c, slot);
    return slot;
}
