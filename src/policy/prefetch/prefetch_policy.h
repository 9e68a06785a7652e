/* The family "prefetch": which pages come along with those that faulted.
 *
 * Asked once per fault (or, with batched service, once per block of a batch), it gets the masks of one 2 MiB block and
 * returns a mask. It moves nothing and keeps nothing. One file per policy, one line in prefetch.def. */
#ifndef PW_POLICY_PREFETCH_H
#define PW_POLICY_PREFETCH_H

#include "page/page_mask.h"
#include "sim/random.h"

struct pw_prefetch_view {
    struct pw_page_mask exists;   /* pages that the allocation has in this block, rounding included */
    struct pw_page_mask resident; /* on the GPU, or on their way there */
    struct pw_page_mask faulted;  /* asked for now; none of them is resident */
    unsigned tree_pages;          /* of the block's tree: 512, or less for the last block (see `extent`) */
};

struct pw_prefetch_policy {
    const char *name, *summary;
    /* Whether allocations smaller than a block share blocks (uvm/managed_heap.h), where who places them looks at that. */
    bool shares_blocks;
    /* How many pages exist, and how large the tree is, in a block of which an allocation asked for `pages` (1 to 512);
     * `alone`: the whole allocation is smaller than a block. */
    void (*extent)(unsigned pages, bool alone, unsigned *out_exists, unsigned *out_tree);
    /* Adds to *out pages that exist and are neither resident nor faulted. */
    void (*choose)(const struct pw_prefetch_view *view, struct pw_random *random, struct pw_page_mask *out);
};

extern const struct pw_prefetch_policy *const pw_prefetch_policies[];
extern const char *const pw_prefetch_policy_names[];

#endif
