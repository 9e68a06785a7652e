/* The memory of a stream: the caller's addresses, and where they are in the address spaces of the machine.
 *
 * Units that keep something for each page of an address space keep it for a range of pages without gaps (vm/touched.h,
 * log/page_looks.h), while a caller's addresses may lie anywhere in 48 bits. So each 1 GiB that is used is moved to the
 * next one of the address space, which is large enough for more than there is device memory. Bits 0 to 29 of an address
 * stay as they are. What is not kept is how far apart different GiB are: they have neighbouring entries in the upper
 * two levels of the page table. A mapping whose GiB have not been moved one behind the other is several allocations of
 * one name. */
#include "system/stream_internal.h"

#include "sim/grow.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT_BYTES (1ULL << PW_SEGMENT_SHIFT)
#define OUTER (1ULL << PW_STREAM_ADDRESS_BITS)
#define MOST_SEGMENTS ((PW_OUTER_ADDRESS - PW_FIRST_ADDRESS) >> PW_SEGMENT_SHIFT)
#define REGION_BYTES ((uint64_t)PW_PAGE_BYTES << PW_PAGE_2M)

enum pw_status pw_stream_space_init(struct pw_stream_space *space, struct pw_error *err)
{
    space->segments = calloc(PW_STREAM_SEGMENTS, sizeof *space->segments);
    return space->segments ? PW_OK : pw_fail_memory(err, "the address space of a stream");
}

void pw_stream_space_release(struct pw_stream_space *space)
{
    free(space->segments);
    free(space->maps);
}

/* Place of the first mapping that ends behind the address. */
static size_t find(const struct pw_stream_space *space, uint64_t address)
{
    size_t low = 0, high = space->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (space->maps[middle].outer <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The segment's place in the address space has been chosen. */
static uint64_t moved(const struct pw_stream_space *space, uint64_t address)
{
    uint64_t segment = space->segments[address >> PW_SEGMENT_SHIFT] - 1U;
    return PW_FIRST_ADDRESS + (segment << PW_SEGMENT_SHIFT) + (address & (SEGMENT_BYTES - 1));
}

/* Chooses places for all segments of a mapping. */
static enum pw_status move_segments(struct pw_stream_space *space, struct pw_mapping m, struct pw_error *err)
{
    uint64_t first = m.first >> PW_SEGMENT_SHIFT, outer = ((m.outer - 1) >> PW_SEGMENT_SHIFT) + 1, wanted = 0;
    for (uint64_t i = first; i < outer; i++)
        wanted += !space->segments[i];
    if (wanted > MOST_SEGMENTS - space->used)
        return pw_fail(err, PW_USER_ERROR,
                       "0x%llx to 0x%llx: an application may use at most %llu different GiB of addresses",
                       (unsigned long long)m.first, (unsigned long long)m.outer, (unsigned long long)MOST_SEGMENTS);
    for (uint64_t i = first; i < outer; i++)
        if (!space->segments[i])
            space->segments[i] = ++space->used;
    return PW_OK;
}

/* The end of the part of a mapping from `first` on that stays in one piece. */
static uint64_t piece_outer(const struct pw_stream_space *space, uint64_t first, uint64_t outer)
{
    uint64_t at = (first | (SEGMENT_BYTES - 1)) + 1;
    while (at < outer && moved(space, at) == moved(space, at - 1) + 1)
        at += SEGMENT_BYTES;
    return at < outer ? at : outer;
}

static enum pw_status free_pieces(struct pw_stream *s, unsigned app, uint64_t first, uint64_t outer,
                                  struct pw_error *err)
{
    const struct pw_stream_space *space = &s->spaces[app];
    enum pw_status status = PW_OK;
    for (; status == PW_OK && first < outer; first = piece_outer(space, first, outer))
        status = pw_app_free_now(&s->system->apps[app], (pw_vaddr){moved(space, first)}, err);
    return status;
}

static enum pw_status allocate_pieces(struct pw_stream *s, unsigned app, struct pw_mapping m, const char *name,
                                      struct pw_error *err)
{
    const struct pw_stream_space *space = &s->spaces[app];
    for (uint64_t at = m.first, outer; at < m.outer; at = outer) {
        outer = piece_outer(space, at, m.outer);
        enum pw_status status = pw_app_alloc_at(&s->system->apps[app], name, (pw_vaddr){moved(space, at)},
                                                (outer < m.outer ? outer : m.end) - at, err);
        if (status == PW_OK)
            continue;
        struct pw_error ignored;
        return free_pieces(s, app, m.first, at, &ignored) == PW_OK ? status : PW_FAILED;
    }
    return PW_OK;
}

/* Segments whose places were chosen after this many are as if they had never been used. */
static void forget_segments(struct pw_stream_space *space, uint16_t used)
{
    for (size_t i = 0; space->used > used && i < PW_STREAM_SEGMENTS; i++)
        if (space->segments[i] > used)
            space->segments[i] = 0;
    space->used = used;
}

/* Maps whole pages that are not mapped and lie before the mapping `place`. */
static enum pw_status add(struct pw_stream *s, unsigned app, size_t place, struct pw_mapping m, const char *name,
                          struct pw_error *err)
{
    struct pw_stream_space *space = &s->spaces[app];
    struct pw_mapping *maps = pw_grow(space->maps, space->count, &space->capacity, sizeof *maps);
    if (!maps)
        return pw_fail_memory(err, "the mappings of a stream");
    space->maps = maps;
    uint16_t used = space->used;
    enum pw_status status = move_segments(space, m, err);
    if (status == PW_OK)
        status = allocate_pieces(s, app, m, name, err);
    if (status != PW_OK) {
        forget_segments(space, used);
        return status;
    }
    memmove(&maps[place + 1], &maps[place], (space->count++ - place) * sizeof *maps);
    maps[place] = m;
    s->unbacked = true;
    return PW_OK;
}

static uint64_t page_bytes(const struct pw_stream *s)
{
    return (uint64_t)PW_PAGE_BYTES << s->system->spaces[0].order;
}

/* What a mapping begins at a multiple of, and reserves whole ones of. */
static uint64_t granule(const struct pw_stream *s)
{
    return s->system->uvm ? REGION_BYTES : page_bytes(s);
}

static uint64_t round_up(uint64_t address, uint64_t multiple)
{
    return (address + multiple - 1) & ~(multiple - 1);
}

static enum pw_status check_app(const struct pw_stream *s, unsigned app, struct pw_error *err)
{
    enum pw_status status = pw_stream_check(s, err);
    if (status == PW_OK && app >= s->system->app_count)
        return pw_fail(err, PW_USER_ERROR, "application %u: the stream has %u, numbered from 0", app,
                       s->system->app_count);
    return status;
}

enum pw_status pw_stream_map(struct pw_stream *s, unsigned app, uint64_t address, uint64_t bytes, const char *name,
                             struct pw_error *err)
{
    enum pw_status status = check_app(s, app, err);
    if (status != PW_OK)
        return status;
    if (!bytes || address >= OUTER || bytes > OUTER - address)
        return pw_fail(err, PW_USER_ERROR,
                       "0x%llx bytes at 0x%llx cannot be mapped: at least one byte, and all below 2^48",
                       (unsigned long long)bytes, (unsigned long long)address);
    uint64_t end = address + bytes, reserved = round_up(end, granule(s));
    struct pw_mapping m = {address & ~(granule(s) - 1), end, round_up(end, page_bytes(s))};
    struct pw_stream_space *space = &s->spaces[app];
    size_t place = find(space, m.first);
    if (place < space->count && space->maps[place].first < reserved)
        return pw_fail(err, PW_USER_ERROR,
                       "the pages around 0x%llx to 0x%llx overlap those of 0x%llx to 0x%llx, which are mapped already",
                       (unsigned long long)address, (unsigned long long)end,
                       (unsigned long long)space->maps[place].first, (unsigned long long)space->maps[place].outer);
    return pw_stream_keep(s, add(s, app, place, m, name ? name : "mapped", err), err);
}

enum pw_status pw_stream_allocate(struct pw_stream *s, unsigned app, uint64_t bytes, const char *name,
                                  uint64_t *out_address, struct pw_error *err)
{
    enum pw_status status = check_app(s, app, err);
    if (status != PW_OK)
        return status;
    const struct pw_stream_space *space = &s->spaces[app];
    uint64_t at = PW_FIRST_ADDRESS;
    for (size_t i = find(space, at);
         i < space->count && (at > space->maps[i].first || space->maps[i].first - at < bytes); i++)
        at = round_up(space->maps[i].outer, REGION_BYTES);
    status = pw_stream_map(s, app, at, bytes, name, err);
    if (status == PW_OK)
        *out_address = at;
    return status;
}

/* Maps the 2 MiB around an address, as far as they are not mapped. */
static enum pw_status map_touched(struct pw_stream *s, unsigned app, size_t place, uint64_t address,
                                  struct pw_error *err)
{
    const struct pw_stream_space *space = &s->spaces[app];
    struct pw_mapping m = {.first = address & ~(REGION_BYTES - 1), .outer = (address | (REGION_BYTES - 1)) + 1};
    if (place && space->maps[place - 1].outer > m.first)
        m.first = space->maps[place - 1].outer;
    if (place < space->count && space->maps[place].first < m.outer)
        m.outer = space->maps[place].first;
    m.end = m.outer;
    if (m.first & (granule(s) - 1))
        return pw_fail(err, PW_USER_ERROR,
                       "address 0x%llx of application %u lies behind what was mapped at 0x%llx, in the same 2 MiB of "
                       "managed memory: map more there",
                       (unsigned long long)address, app, (unsigned long long)space->maps[place - 1].first);
    return add(s, app, place, m, "touched", err);
}

static enum pw_status locate(struct pw_stream *s, unsigned app, uint64_t address, uint64_t bytes, uint64_t *out,
                             struct pw_error *err)
{
    struct pw_stream_space *space = &s->spaces[app];
    if (address & (bytes - 1) || address >= OUTER)
        return pw_fail(err, PW_USER_ERROR,
                       "address 0x%llx: must be a multiple of the %llu bytes of an access, below 2^48",
                       (unsigned long long)address, (unsigned long long)bytes);
    size_t i = space->last;
    if (i >= space->count || address < space->maps[i].first || address >= space->maps[i].outer)
        i = find(space, address);
    if (i == space->count || address < space->maps[i].first) {
        if (!s->map_on_touch)
            return pw_fail(err, PW_USER_ERROR,
                           "address 0x%llx of application %u is not mapped: map it first, or open the stream with "
                           "map_on_touch",
                           (unsigned long long)address, app);
        enum pw_status status = pw_stream_keep(s, map_touched(s, app, i, address, err), err);
        if (status != PW_OK)
            return status;
    }
    space->last = i;
    *out = moved(space, address);
    return PW_OK;
}

static enum pw_status unmap(struct pw_stream *s, unsigned app, size_t place, struct pw_error *err)
{
    struct pw_stream_space *space = &s->spaces[app];
    enum pw_status status = free_pieces(s, app, space->maps[place].first, space->maps[place].outer, err);
    memmove(&space->maps[place], &space->maps[place + 1], (--space->count - place) * sizeof *space->maps);
    return pw_stream_keep(s, status, err);
}

enum pw_status pw_stream_locate(struct pw_stream *s, unsigned app, const uint64_t *addresses, uint32_t count,
                                uint64_t bytes, uint64_t *out, struct pw_error *err)
{
    struct pw_stream_space *space = &s->spaces[app];
    uint16_t used = space->used;
    uint32_t added[PW_WARP_LANES], added_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t before = space->count;
        enum pw_status status = locate(s, app, addresses[i], bytes, &out[i], err);
        if (space->count > before)
            added[added_count++] = i;
        if (status == PW_OK)
            continue;
        while (added_count) {
            struct pw_error failed;
            size_t place = find(space, addresses[added[--added_count]]);
            if (unmap(s, app, place, &failed) == PW_OK)
                continue;
            *err = failed;
            status = failed.status;
        }
        forget_segments(space, used);
        return status;
    }
    return PW_OK;
}

enum pw_status pw_stream_unmap(struct pw_stream *s, unsigned app, uint64_t address, struct pw_error *err)
{
    enum pw_status status = check_app(s, app, err);
    if (status != PW_OK)
        return status;
    struct pw_stream_space *space = &s->spaces[app];
    size_t i = find(space, address);
    if (i == space->count || address < space->maps[i].first)
        return pw_fail(err, PW_USER_ERROR, "address 0x%llx of application %u is not mapped",
                       (unsigned long long)address, app);
    if (!pw_stream_rests(s, app))
        return pw_fail(err, PW_USER_ERROR,
                       "application %u has operations under way: drain the stream before memory is taken away", app);
    return unmap(s, app, i, err);
}
