/* Mosaic's Contiguity-Aware Compaction (Section 4.4): a coalesced page is splintered when fewer of its base pages are
 * allocated than the threshold says; with as many, or more, it stays a large page. When large frames run out,
 * fragmented ones are emptied. */
#include "policy/compact/compact_policy.h"

static bool splinter(void *state, const struct pw_compact_view *view)
{
    (void)state;
    return view->allocated < view->threshold;
}

extern const struct pw_compact_policy pw_compact_policy_contiguity_aware;
const struct pw_compact_policy pw_compact_policy_contiguity_aware = {
    .head = {.name = "contiguity-aware",
             .summary =
                 "sparse large pages are splintered and emptied, fragmented frames when large frames run out (CAC)"},
    .splinter = splinter,
    .makes_room = true,
};
