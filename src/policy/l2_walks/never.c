/* No page-table read uses the L2: all of its capacity and all of its ports are for data, and every step of a walk is a
 * DRAM access. It is the far end of what a policy that bypasses some levels can do, for better and for worse. */
#include "policy/l2_walks/l2_walks_policy.h"

static enum pw_l2_use use(void *state, unsigned app, unsigned level)
{
    (void)state, (void)app, (void)level;
    return PW_L2_BYPASS;
}

extern const struct pw_l2_walks_policy pw_l2_walks_policy_never;
const struct pw_l2_walks_policy pw_l2_walks_policy_never = {
    .head = {.name = "never", .summary = "page-table reads bypass the L2"},
    .use = use,
};
