/* Groups of allocations, found in one pass over the events: when an allocation is made, it joins those of its
 * neighbours in address, among the live ones, that have a piece of 2 MiB in common with it. Neighbours are enough: of
 * two live allocations in one piece, all that lie between them are in it too. */
#include "workload/trace/relocation.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_SHIFT = 21 };

static uint32_t root_of(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

static void join(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = root_of(parents, a);
    b = root_of(parents, b);
    if (a < b)
        parents[b] = a;
    else
        parents[a] = b;
}

/* The first of the live ranges that ends after the address. */
static uint32_t position_of(const struct pw_relocation *r, uint64_t address)
{
    uint32_t low = 0, high = r->live_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->live[middle].first + r->live[middle].bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const struct pw_moved_range *pw_relocation_search(const struct pw_relocation *r, uint64_t address)
{
    uint32_t at = position_of(r, address);
    return at < r->live_count && pw_moved_range_has(&r->live[at], address) ? &r->live[at] : NULL;
}

/* What is live has changed. */
static void forget_found(struct pw_relocation *r)
{
    static const struct pw_moved_range none;
    for (size_t i = 0; i < PW_RELOCATION_FOUND; i++)
        r->found[i] = &none;
}

static void insert(struct pw_relocation *r, uint32_t at, struct pw_moved_range range)
{
    memmove(r->live + at + 1, r->live + at, (r->live_count - at) * sizeof *r->live);
    r->live[at] = range;
    r->live_count++;
    forget_found(r);
}

void pw_relocation_add(struct pw_relocation *r, const struct pw_trace_event *a)
{
    const struct pw_trace_group *g = &r->groups[r->group_of[a->allocation]];
    insert(r, position_of(r, a->address), (struct pw_moved_range){a->address, a->bytes, g->array.base.v - g->first});
}

void pw_relocation_remove(struct pw_relocation *r, uint64_t address)
{
    uint32_t at = position_of(r, address);
    r->live_count--;
    memmove(r->live + at, r->live + at + 1, (r->live_count - at) * sizeof *r->live);
    forget_found(r);
}

static bool share_a_piece(const struct pw_moved_range *low, const struct pw_moved_range *high)
{
    return (low->first + low->bytes - 1) >> PIECE_SHIFT == high->first >> PIECE_SHIFT;
}

/* While groups are being found, `shift` is the allocation's number. */
static enum pw_status begin_life(struct pw_relocation *r, uint32_t *parents, const struct pw_trace_event *a,
                                 struct pw_error *err)
{
    struct pw_moved_range range = {a->address, a->bytes, a->allocation};
    uint32_t at = position_of(r, a->address);
    if (at < r->live_count && r->live[at].first < a->address + a->bytes)
        return pw_fail(err, PW_USER_ERROR, "allocation %u overlaps one that is alive; the trace is damaged",
                       a->allocation);
    parents[a->allocation] = a->allocation;
    if (at && share_a_piece(&r->live[at - 1], &range))
        join(parents, (uint32_t)r->live[at - 1].shift, a->allocation);
    if (at < r->live_count && share_a_piece(&range, &r->live[at]))
        join(parents, (uint32_t)r->live[at].shift, a->allocation);
    insert(r, at, range);
    return PW_OK;
}

static enum pw_status follow_lives(struct pw_relocation *r, uint32_t *parents, const struct pw_trace_event *events,
                                   size_t count, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        if (events[i].kind == PW_TRACE_ALLOC)
            status = begin_life(r, parents, &events[i], err);
        else if (events[i].kind == PW_TRACE_FREE && pw_relocation_search(r, events[i].address))
            pw_relocation_remove(r, events[i].address);
        else if (events[i].kind == PW_TRACE_FREE)
            status =
                pw_fail(err, PW_USER_ERROR, "allocation %u is freed twice; the trace is damaged", events[i].allocation);
    }
    r->live_count = 0;
    return status;
}

/* `order`: of the allocation among those of its kind. */
static void widen(struct pw_trace_group *g, const struct pw_trace_event *a, uint32_t order)
{
    uint64_t first = a->address >> PIECE_SHIFT << PIECE_SHIFT, outer = a->address + a->bytes;
    if (!g->members++)
        *g = (struct pw_trace_group){.first = first, .outer = outer, .members = 1, .memory = a->memory, .order = order};
    g->first = first < g->first ? first : g->first;
    g->outer = outer > g->outer ? outer : g->outer;
    g->memory = g->memory == a->memory ? a->memory : PW_TRACE_MEMORY_COUNT;
    g->bytes += a->bytes;
}

/* Groups are numbered in the order of their first allocations. */
static void number_groups(struct pw_relocation *r, uint32_t *parents, const struct pw_trace_event *events, size_t count)
{
    uint32_t made[PW_TRACE_MEMORY_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != PW_TRACE_ALLOC)
            continue;
        uint32_t a = events[i].allocation, root = root_of(parents, a);
        r->group_of[a] = root == a ? r->group_count++ : r->group_of[root];
        widen(&r->groups[r->group_of[a]], &events[i], ++made[events[i].memory]);
    }
}

enum pw_status pw_relocation_create(struct pw_relocation *r, const struct pw_trace_event *events, size_t count,
                                    struct pw_error *err)
{
    *r = (struct pw_relocation){0};
    forget_found(r);
    for (size_t i = 0; i < count; i++)
        r->allocation_count += events[i].kind == PW_TRACE_ALLOC;
    size_t room = r->allocation_count + 1;
    uint32_t *parents = calloc(room, sizeof *parents);
    r->groups = calloc(room, sizeof *r->groups);
    r->group_of = calloc(room, sizeof *r->group_of);
    r->live = calloc(room, sizeof *r->live);
    enum pw_status status = PW_OK;
    if (!parents || !r->groups || !r->group_of || !r->live)
        status = pw_fail_memory(err, "the allocations of a trace");
    else
        status = follow_lives(r, parents, events, count, err);
    if (status == PW_OK)
        number_groups(r, parents, events, count);
    free(parents);
    return status;
}

void pw_relocation_release(struct pw_relocation *r)
{
    free(r->groups);
    free(r->group_of);
    free(r->live);
    *r = (struct pw_relocation){0};
}
