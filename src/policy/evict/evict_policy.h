/* The family "eviction": which pages leave when device memory is full.
 *
 * A policy names an order, in which the mechanism (uvm/order.h) finds a candidate page, and says which pages of the
 * candidate's 2 MiB block leave with it. It moves nothing and keeps nothing. One file per policy, one line in evict.def. */
#ifndef PW_POLICY_EVICT_H
#define PW_POLICY_EVICT_H

#include "page/page_mask.h"

enum pw_evict_order {
    PW_ORDER_PAGES,  /* pages that were accessed, least recently first; then the others, as they came (UVM, Sec. 4.2) */
    PW_ORDER_BLOCKS, /* all pages: the least recently accessed 2 MiB block, in it the oldest 64 KiB (UVM, Sec. 5.3) */
    PW_ORDER_ARRIVAL, /* 2 MiB blocks in the order in which they were allocated on the GPU (the NVIDIA driver) */
    PW_ORDER_RANDOM,  /* any resident page */
    PW_ORDER_COUNT
};

struct pw_evict_view {
    struct pw_page_mask resident;
    unsigned candidate;  /* a resident page of the block */
    unsigned tree_pages; /* as in prefetch_policy.h */
};

struct pw_evict_policy {
    const char *name, *summary;
    enum pw_evict_order order;
    bool writes_clean; /* pages leave as one unit, clean or dirty (UVM, Sec. 5.1); else only dirty ones are written */
    /* Adds to *out resident pages, the candidate among them. */
    void (*choose)(const struct pw_evict_view *view, struct pw_page_mask *out);
};

extern const struct pw_evict_policy *const pw_evict_policies[];
extern const char *const pw_evict_policy_names[];

#endif
