/* Page-table reads use the L2 as data does: the baseline of Mosaic and MASK. */
#include "policy/l2_walks/l2_walks_policy.h"

extern const struct pw_l2_walks_policy pw_l2_walks_policy_always;
const struct pw_l2_walks_policy pw_l2_walks_policy_always = {
    .head = {.name = "always", .summary = "page-table reads use the L2 as data does"},
};
