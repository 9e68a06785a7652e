/* What the files of residency share. */
#ifndef PW_UVM_RESIDENCY_INTERNAL_H
#define PW_UVM_RESIDENCY_INTERNAL_H

#include "uvm/residency.h"

/* Nine bits per page. Where the unit is larger than 4 KiB, the bits of its pages are always equal. */
struct pw_managed_block {
    struct pw_page_mask resident;
    struct pw_page_mask coming;     /* decided, not arrived */
    struct pw_page_mask granted;    /* of those: they have room */
    struct pw_page_mask awaited;    /* coming or resident: an access waits, or has not been replayed yet */
    struct pw_page_mask accessed;   /* resident, and touched since it came; never awaited */
    struct pw_page_mask dirty;      /* resident, and written (if read-mostly: or about to be) */
    struct pw_page_mask prefetched; /* coming or resident: not asked for when decided, and not touched yet */
    struct pw_page_mask evicted;    /* has been evicted before */
    struct pw_page_mask remote;     /* not resident, and mapped where it is */
    uint64_t number;                /* of the virtual address: vpn / 512 */
    uint32_t range;
    uint16_t exists, tree_pages; /* the first so many pages */
};

/* Addresses to blocks: two levels over the 27 bits of a block's number in a 48-bit address. An entry is the block's
 * number plus 1. */
enum { PW_DIRECTORY_BITS = 14, PW_LEAF_TABLE_BITS = 13, PW_BLOCK_NUMBER_BITS = PW_DIRECTORY_BITS + PW_LEAF_TABLE_BITS };

struct pw_span {
    uint32_t first, count;
};

struct pw_residency {
    struct pw_residency_config config;
    unsigned unit; /* pages */
    struct pw_order *order;
    struct pw_random prefetch_random, evict_random;
    const struct pw_prefetch_policy *prefetch, *prefetch_full;
    const struct pw_evict_policy *evict;
    void *prefetch_state, *prefetch_full_state, *evict_state;
    struct pw_policy_use prefetch_use, prefetch_full_use, evict_use;

    struct pw_managed_block *blocks;
    uint32_t block_count, block_capacity;
    struct pw_span *free_spans; /* of blocks, from freed allocations */
    size_t free_span_count, free_span_capacity;
    uint32_t **directories[PW_MAX_APPS];
    size_t directory_bytes;

    struct pw_managed_range *ranges;
    size_t range_count, range_capacity;

    /* The last page touched, and whether by a write: touching it again changes nothing until pages come. */
    pw_page_id last_touched;
    bool last_write;

    uint64_t resident, coming, granted, awaited; /* pages; awaited: of the resident ones */
    bool full;
    struct pw_uvm_counters counters[PW_MAX_APPS];
};

static inline struct pw_page_mask pw_block_exists(const struct pw_managed_block *b)
{
    return pw_mask_range(0, b->exists);
}

static inline pw_cycle pw_residency_now(const struct pw_residency *r)
{
    return r->config.events ? r->config.events->now : 0;
}

/* Adds to a counter of the block's range and of its application. */
#define pw_residency_count(r, block, counter, amount)                                                                  \
    do {                                                                                                               \
        struct pw_managed_range *counted_ = &(r)->ranges[(block)->range];                                              \
        counted_->counters.counter += (amount);                                                                        \
        (r)->counters[counted_->asid].counter += (amount);                                                             \
    } while (0)

/* Pages that are resident leave, by eviction or with their allocation. */
void pw_residency_take_away(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages);

/* The address space's entry for a block, NULL when nothing is known around it. */
uint32_t *pw_residency_entry(const struct pw_residency *r, pw_asid asid, uint64_t number);

#endif
