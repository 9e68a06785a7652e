/* Replacement in the tag store; the lookup is inline in cache.h. */
#include "mem/cache.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAYS = 1 << 20 };

enum pw_status pw_cache_init(struct pw_cache *c, const char *name, uint64_t lines, uint32_t ways, struct pw_error *err)
{
    *c = (struct pw_cache){0};
    uint64_t sets = ways ? lines / ways : 0;
    if (!sets)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: %llu lines do not make one set of %u ways; make it larger or less associative", name,
                       (unsigned long long)lines, ways);
    uint32_t stride = (ways + 3) & ~3U;
    if (ways > MAX_WAYS || lines > UINT32_MAX / 2 || sets * stride > UINT32_MAX)
        return pw_fail(err, PW_USER_ERROR, "%s: %llu lines in sets of %u are more than a cache can have", name,
                       (unsigned long long)lines, ways);
    c->sets = pw_divisor_of((uint32_t)sets);
    c->ways = ways;
    c->stride = stride;
    size_t slots = (size_t)sets * c->stride;
    c->lines = aligned_alloc(64, (slots * sizeof *c->lines + 63) / 64 * 64);
    c->states = malloc(slots);
    if (!c->lines || !c->states) {
        pw_cache_release(c);
        return pw_fail_memory(err, name);
    }
    pw_cache_clear(c);
    return PW_OK;
}

void pw_cache_release(struct pw_cache *c)
{
    free(c->lines);
    free(c->states);
    *c = (struct pw_cache){0};
}

void pw_cache_drop(struct pw_cache *c, struct pw_way w)
{
    uint32_t at = (uint32_t)w.at, last = c->ways - 1;
    memmove(w.lines + at, w.lines + at + 1, (last - at) * sizeof *w.lines);
    memmove(w.states + at, w.states + at + 1, last - at);
    w.lines[last] = PW_NO_LINE;
    w.states[last] = 0;
}

void pw_cache_clear(struct pw_cache *c)
{
    size_t slots = (size_t)c->sets.by * c->stride;
    memset(c->lines, 0xff, slots * sizeof *c->lines);
    memset(c->states, 0, slots);
}

void pw_cache_resize(struct pw_cache *c, uint32_t sets)
{
    c->sets = pw_divisor_of(sets);
    pw_cache_clear(c);
}

struct pw_way pw_cache_insert_last(struct pw_cache *c, uint32_t line, uint32_t set, struct pw_victim *out_victim)
{
    struct pw_way w = {c->lines + set, c->states + set, 0};
    int32_t last = (int32_t)c->ways - 1;
    while (w.at < last && w.lines[w.at] != PW_NO_LINE)
        w.at++;
    *out_victim = (struct pw_victim){w.lines[w.at], pw_way_dirty(w)};
    w.lines[w.at] = line;
    w.states[w.at] = 0;
    return w;
}
