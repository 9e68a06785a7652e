/* Every GPU translates for itself first (GMMU Bypass, Section 2.3): a request goes to the GMMU, and on to the IOMMU
 * only if the page is not found there. Translations of remote pages wait for a walk that cannot succeed. */
#include "policy/route/route_policy.h"

extern const struct pw_route_policy pw_route_policy_distributed;
const struct pw_route_policy pw_route_policy_distributed = {
    .head = {.name = "distributed", .summary = "the GMMU walks first; the IOMMU walks for pages it does not find"},
};
