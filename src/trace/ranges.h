/* Ranges of addresses that do not overlap, each with a number: the allocations that are alive.
 *
 * A treap, so that adding, removing and finding take the logarithm of what is in, whatever the order: the events of a
 * file that somebody made to be slow are no slower. Priorities are a hash of the range's number, so that the same
 * ranges make the same tree on every host. */
#ifndef PW_TRACE_RANGES_H
#define PW_TRACE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_range {
    uint64_t first, end; /* half-open */
    uint32_t number;
};

struct pw_range_node;

struct pw_ranges {
    struct pw_range_node *nodes;
    size_t count, capacity; /* of nodes, those that are free included */
    uint32_t root, free;    /* index + 1; 0: none */
};

void pw_ranges_release(struct pw_ranges *r);

/* Adds a range that overlaps none; false when memory is out. */
bool pw_ranges_add(struct pw_ranges *r, struct pw_range range);
/* Removes the range that begins at `first`. */
void pw_ranges_remove(struct pw_ranges *r, uint64_t first);

/* The first range that ends behind `address`, which so lies in it or before it; NULL: none. Until the next change. */
const struct pw_range *pw_ranges_from(const struct pw_ranges *r, uint64_t address);
/* The last range that begins at or before `address`. */
const struct pw_range *pw_ranges_before(const struct pw_ranges *r, uint64_t address);

/* The range that `address` lies in, or NULL. */
static inline const struct pw_range *pw_ranges_find(const struct pw_ranges *r, uint64_t address)
{
    const struct pw_range *found = pw_ranges_from(r, address);
    return found && found->first <= address ? found : NULL;
}

#endif
