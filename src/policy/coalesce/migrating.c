/* The conventional way (Mosaic, Section 4.3): the most used of all regions whose base pages are allocated, wherever
 * these lie, is gathered in a large frame. How much a region is used is how often its pages were walked to. */
#include "policy/coalesce/coalesce_policy.h"

enum { REGION_PAGES = 1 << PW_PAGE_2M };

static bool wants(void *state, const struct pw_coalesce_view *view)
{
    (void)state;
    return view->allocated == REGION_PAGES && view->utilisation > 0;
}

extern const struct pw_coalesce_policy pw_coalesce_policy_migrating;
const struct pw_coalesce_policy pw_coalesce_policy_migrating = {
    .head = {.name = "migrating",
             .summary = "at intervals the most walked region with all its pages, moved to a free large frame"},
    .tallies = true,
    .wants = wants,
};
