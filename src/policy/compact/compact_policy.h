/* The family "compaction": which coalesced pages are splintered, and when large frames are emptied.
 *
 * Asked after a deallocation in a coalesced page, and when an allocation finds no free large frame. It decides; splintering,
 * copying and handing the frame back are the page manager's (vm/page_manager.h). One file per policy, one line in
 * compact.def. */
#ifndef PW_POLICY_COMPACT_H
#define PW_POLICY_COMPACT_H

#include "sim/types.h"

struct pw_compact_policy {
    const char *name, *summary;
    /* Whether a coalesced page with so many of its 512 base pages left is to be splintered and emptied; the threshold is in
     * base pages too. NULL: nothing is ever looked at. */
    bool (*splinter)(unsigned allocated, unsigned threshold);
    /* Whether, when there is no free large frame, fragmented ones are emptied, and large pages that were kept for an
     * emergency are splintered. */
    bool makes_room;
};

extern const struct pw_compact_policy *const pw_compact_policies[];
extern const char *const pw_compact_policy_names[];

#endif
