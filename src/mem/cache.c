/* Allocation and replacement in the tag store; the lookup is inline in cache.h. */
#include "mem/cache.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err)
{
    *c = (struct pw_cache){0};
    uint64_t sets = ways ? lines / ways : 0;
    if (!sets)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: %llu lines do not make one set of %u ways; make it larger or less "
                       "associative",
                       name, (unsigned long long)lines, ways);
    if (sets * ways > UINT32_MAX / 2)
        return pw_fail(err, PW_USER_ERROR, "%s: %llu lines are more than a cache can have", name,
                       (unsigned long long)lines);
    size_t slots = (size_t)(sets * ways);
    c->sets = pw_divisor_of((uint32_t)sets);
    c->ways = ways;
    c->tags = malloc(slots * sizeof *c->tags);
    c->used = calloc(slots, sizeof *c->used);
    c->valid = calloc(slots, 1);
    c->dirty = calloc(slots, 1);
    if (!c->tags || !c->used || !c->valid || !c->dirty) {
        pw_cache_release(c);
        return pw_fail_memory(err, name);
    }
    memset(c->tags, 0xff, slots * sizeof *c->tags);
    return PW_OK;
}

void pw_cache_release(struct pw_cache *c)
{
    free(c->tags);
    free(c->used);
    free(c->valid);
    free(c->dirty);
    *c = (struct pw_cache){0};
}

void pw_cache_renumber(struct pw_cache *c)
{
    for (uint32_t set = 0; set < c->sets.by; set++) {
        uint32_t *used = c->used + (size_t)set * c->ways;
        /* Each slot in use gets its rank, from 1. Numbers above the limit are ranks already given. */
        for (uint32_t rank = 1; rank <= c->ways; rank++) {
            uint32_t oldest = c->ways;
            for (uint32_t way = 0; way < c->ways; way++)
                if (used[way] && used[way] <= PW_CACHE_CLOCK_LIMIT && (oldest == c->ways || used[way] < used[oldest]))
                    oldest = way;
            if (oldest == c->ways)
                break;
            used[oldest] = PW_CACHE_CLOCK_LIMIT + rank;
        }
        for (uint32_t way = 0; way < c->ways; way++)
            if (used[way])
                used[way] -= PW_CACHE_CLOCK_LIMIT;
    }
    c->clock = c->ways;
}

int64_t pw_cache_allocate(struct pw_cache *c, uint32_t line, uint32_t index, struct pw_victim *out_victim)
{
    uint32_t first = pw_remainder(index, c->sets) * c->ways;
    uint32_t slot = first;
    for (uint32_t way = 1; way < c->ways; way++)
        if (c->used[first + way] < c->used[slot])
            slot = first + way;
    *out_victim = (struct pw_victim){c->tags[slot], c->dirty[slot]};
    c->tags[slot] = line;
    c->valid[slot] = c->dirty[slot] = 0;
    pw_cache_touch(c, slot);
    return slot;
}
