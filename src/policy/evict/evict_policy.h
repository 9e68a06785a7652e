/* The family "eviction": which pages leave when device memory is full.
 *
 * A policy names an order, in which the mechanism (uvm/order.h) finds a candidate page, and says which pages of the
 * candidate's 2 MiB block leave with it. It moves nothing. There is an instance for each driver. One file per policy,
 * one line in evict.def. */
#ifndef PW_POLICY_EVICT_H
#define PW_POLICY_EVICT_H

#include "page/page_mask.h"
#include "sim/policy.h"
#include "sim/random.h"

enum pw_evict_order {
    PW_ORDER_PAGES,  /* pages that were accessed, least recently first; then the others, as they came (UVM, Sec. 4.2) */
    PW_ORDER_BLOCKS, /* all pages: the least recently accessed 2 MiB block, in it the oldest 64 KiB (UVM, Sec. 5.3) */
    PW_ORDER_ARRIVAL, /* 2 MiB blocks in the order in which they were allocated on the GPU (the NVIDIA driver) */
    PW_ORDER_RANDOM,  /* any resident page */
    PW_ORDER_COUNT
};

/* What an instance is made from. */
struct pw_evict_environment {
    struct pw_random *random; /* the driver's, for evictions: PW_ORDER_RANDOM draws from it too */
};

struct pw_evict_view {
    pw_asid asid;
    pw_vpn first; /* page of the block */
    pw_cycle now; /* 0 where touches are replayed without time */
    struct pw_page_mask resident;
    unsigned candidate;  /* a resident page of the block */
    unsigned tree_pages; /* as in prefetch_policy.h */
};

struct pw_evict_policy {
    struct pw_policy head;
    enum pw_evict_order order;
    bool writes_clean; /* pages leave as one unit, clean or dirty (UVM, Sec. 5.1); else only dirty ones are written */
    /* Adds to *out resident pages, the candidate among them. It may be asked about pages that cannot leave, and about
     * the same ones again. */
    void (*choose)(void *state, const struct pw_evict_view *view, struct pw_page_mask *out);
};

extern const struct pw_policy_family pw_evict_family;

static inline const struct pw_evict_policy *pw_evict_policy_of(const struct pw_policy *head)
{
    return (const struct pw_evict_policy *)head;
}

#endif
