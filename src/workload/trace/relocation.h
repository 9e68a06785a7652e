/* The places of a trace's allocations when it is replayed.
 *
 * A trace has the addresses of the program that was recorded; a replay allocates again, so that several traces and
 * programs share a GPU and every design can place pages. Each allocation keeps its place within 2 MiB. Those that share
 * a piece of 2 MiB while both are alive, as small allocations do, are one group and move together, so that they share
 * pages as they did. A group is allocated with the first of its allocations and freed with the last. */
#ifndef PW_WORKLOAD_RELOCATION_H
#define PW_WORKLOAD_RELOCATION_H

#include "trace/trace.h"
#include "workload/runtime/host.h"

/* Allocations that move together. */
struct pw_trace_group {
    uint64_t first, outer;  /* recorded addresses; the first is on a border of 2 MiB */
    uint32_t members, gone; /* allocations; of them freed */
    uint8_t memory;         /* enum pw_trace_memory; PW_TRACE_MEMORY_COUNT: several kinds */
    uint32_t order;         /* of the first among those of its kind, from 1 */
    uint64_t bytes;         /* of all members */
    bool is_allocated;
    struct pw_array array;
};

/* A live allocation: recorded addresses, and what to add to get those of the replay. */
struct pw_moved_range {
    uint64_t first, bytes, shift;
};

enum { PW_RELOCATION_FOUND = 64 };

struct pw_relocation {
    struct pw_trace_group *groups;
    uint32_t *group_of; /* by allocation */
    uint32_t group_count, allocation_count;
    struct pw_moved_range *live; /* in order of address; they do not overlap */
    uint32_t live_count;
    /* Live ranges that were asked for last, by some bits of the address. Where none was, one of no bytes. */
    const struct pw_moved_range *found[PW_RELOCATION_FOUND];
};

/* Finds the groups. The events are a trace's, whose live allocations do not overlap; others are refused. */
enum pw_status pw_relocation_create(struct pw_relocation *r, const struct pw_trace_event *events, size_t count,
                                    struct pw_error *err);
void pw_relocation_release(struct pw_relocation *r);

/* The allocation becomes alive, its group having been allocated, or is freed. */
void pw_relocation_add(struct pw_relocation *r, const struct pw_trace_event *allocation);
void pw_relocation_remove(struct pw_relocation *r, uint64_t address);

/* The replay's address for one within a range. */
static inline bool pw_moved_range_has(const struct pw_moved_range *range, uint64_t address)
{
    return address - range->first < range->bytes;
}

/* The live allocation that an address lies in, or NULL: by search, and as every access of a replay asks for it. */
const struct pw_moved_range *pw_relocation_search(const struct pw_relocation *r, uint64_t address);
static inline const struct pw_moved_range *pw_relocation_find(struct pw_relocation *r, uint64_t address)
{
    /* Kernels go over several arrays in step: large ones begin at multiples of 2 MiB, small ones lie side by side. */
    const struct pw_moved_range **found = &r->found[(address >> 21 ^ address >> 14) % PW_RELOCATION_FOUND];
    if (__builtin_expect(pw_moved_range_has(*found, address), 1))
        return *found;
    const struct pw_moved_range *range = pw_relocation_search(r, address);
    *found = range ? range : *found;
    return range;
}

#endif
