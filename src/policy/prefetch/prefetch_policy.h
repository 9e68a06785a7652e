/* The family "prefetch": which pages come along with those that faulted.
 *
 * Asked once per fault (or, with batched service, once per block of a batch), it gets the masks of one 2 MiB block and
 * returns a mask. It moves nothing. There is an instance for each choice of a driver: one that goes on when memory is
 * full (uvm.prefetch_full=same) is the same before and after. One file per policy, one line in prefetch.def. */
#ifndef PW_POLICY_PREFETCH_H
#define PW_POLICY_PREFETCH_H

#include "page/page_tree.h"
#include "sim/policy.h"
#include "sim/random.h"

/* What an instance is made from. */
struct pw_prefetch_environment {
    struct pw_random *random; /* the driver's, for its prefetch policies */
};

struct pw_prefetch_view {
    pw_asid asid;
    pw_vpn first;                 /* page of the block */
    pw_cycle now;                 /* 0 where touches are replayed without time */
    struct pw_page_mask exists;   /* pages that the allocation has in this block, rounding included */
    struct pw_page_mask resident; /* on the GPU, or on their way there */
    struct pw_page_mask faulted;  /* asked for now; none of them is resident */
    unsigned tree_pages;          /* of the block's tree: 512, or less for the last block (see `extent`) */
};

struct pw_prefetch_policy {
    struct pw_policy head;
    /* Whether allocations smaller than a block share blocks (exp/touch/managed_heap.h), where who places them looks at
     * that. */
    bool shares_blocks;
    /* How many pages exist, and how large the tree is, in a block of which an allocation asked for `pages` (1 to 512);
     * `alone`: the whole allocation is smaller than a block. */
    void (*extent)(void *state, unsigned pages, bool alone, unsigned *out_exists, unsigned *out_tree);
    /* Adds to *out pages that exist and are neither resident nor faulted. It is asked a second time about the fault
     * after which memory is full. */
    void (*choose)(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out);
};

/* `extent` of policies that round nothing: only the pages that were asked for exist, under a full tree. */
static inline void pw_prefetch_extent_plain(void *state, unsigned pages, bool alone, unsigned *out_exists,
                                            unsigned *out_tree)
{
    (void)state;
    (void)alone;
    *out_exists = pages;
    *out_tree = pw_tree_round(pages);
}

extern const struct pw_policy_family pw_prefetch_family;

static inline const struct pw_prefetch_policy *pw_prefetch_policy_of(const struct pw_policy *head)
{
    return (const struct pw_prefetch_policy *)head;
}

#endif
