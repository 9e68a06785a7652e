/* Mosaic's In-Place Coalescer (Sections 4.1 and 4.3): a large frame is coalesced as soon as its data has come, if all
 * of its base pages are allocated, they are contiguous in virtual and physical memory and aligned alike, and they
 * belong to one address space. How much the pages are used does not matter, so nothing has to be tallied. */
#include "policy/coalesce/coalesce_policy.h"

enum { REGION_PAGES = 1 << PW_PAGE_2M };

static bool wants(void *state, const struct pw_coalesce_view *view)
{
    (void)state;
    return view->allocated == REGION_PAGES && view->contiguous && view->aligned && view->one_space;
}

extern const struct pw_coalesce_policy pw_coalesce_policy_in_place;
const struct pw_coalesce_policy pw_coalesce_policy_in_place = {
    .head = {.name = "in-place",
             .summary = "full, contiguous and aligned large frames of one application, as soon as their data has come"},
    .in_place = true,
    .wants = wants,
};
