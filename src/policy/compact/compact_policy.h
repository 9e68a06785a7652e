/* The family "compaction": which coalesced pages are splintered, and when large frames are emptied.
 *
 * Asked after a deallocation in a coalesced page, and when an allocation finds no free large frame. It decides;
 * splintering, copying and handing the frame back are the page manager's (vm/page_manager.h). There is an instance for
 * each page manager, made from nothing but its options. One file per policy, one line in compact.def. */
#ifndef PW_POLICY_COMPACT_H
#define PW_POLICY_COMPACT_H

#include "sim/policy.h"

/* A coalesced page of which parts were freed. */
struct pw_compact_view {
    pw_asid asid;
    pw_vpn region;      /* its first page */
    unsigned allocated; /* base pages that are left, of 512 */
    unsigned threshold; /* compact.threshold, in base pages */
};

struct pw_compact_policy {
    struct pw_policy head;
    /* Whether it is to be splintered and emptied. NULL: nothing is ever looked at. */
    bool (*splinter)(void *state, const struct pw_compact_view *view);
    /* Whether, when there is no free large frame, fragmented ones are emptied, and large pages that were kept for an
     * emergency are splintered. */
    bool makes_room;
};

extern const struct pw_policy_family pw_compact_family;

static inline const struct pw_compact_policy *pw_compact_policy_of(const struct pw_policy *head)
{
    return (const struct pw_compact_policy *)head;
}

#endif
