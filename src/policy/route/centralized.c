/* The host translates for all GPUs, which have no walkers of their own (GMMU Bypass, Section 2.3). Translations of
 * local pages cross the fabric as well. */
#include "policy/route/route_policy.h"

static unsigned choose(void *state, pw_asid asid, pw_vpn vpn)
{
    (void)state, (void)asid, (void)vpn;
    return PW_ROUTE_IOMMU;
}

extern const struct pw_route_policy pw_route_policy_centralized;
const struct pw_route_policy pw_route_policy_centralized = {
    .head = {.name = "centralized", .summary = "the IOMMU of the host walks for all GPUs"},
    .choose = choose,
};
