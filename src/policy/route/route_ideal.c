/* It knows beforehand where the page lies, and asks only the unit that has its mapping (GMMU Bypass, Section 3): a
 * bound for what predictions can do. */
#include "policy/route/route_policy.h"

struct ideal {
    struct pw_route_environment environment;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct ideal *i = state;
    i->environment = *(const struct pw_route_environment *)setup->environment;
    return PW_OK;
}

static unsigned choose(void *state, pw_asid asid, pw_vpn vpn)
{
    const struct ideal *i = state;
    return i->environment.is_local(i->environment.mmu, asid, vpn) ? PW_ROUTE_GMMU : PW_ROUTE_IOMMU;
}

extern const struct pw_route_policy pw_route_policy_route_ideal;
const struct pw_route_policy pw_route_policy_route_ideal = {
    .head = {.name = "route-ideal",
             .summary = "the GMMU walks for pages of its own GPU, the IOMMU for all others",
             .state_bytes = sizeof(struct ideal),
             .init = init},
    .choose = choose,
};
