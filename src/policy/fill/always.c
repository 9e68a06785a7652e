/* Every translation is put into both TLBs, as in every machine that has no reason not to. */
#include "policy/fill/fill_policy.h"

extern const struct pw_fill_policy pw_fill_policy_always;
const struct pw_fill_policy pw_fill_policy_always = {
    .head = {.name = "always", .summary = "every translation goes into the L1 TLB that missed and into the L2 TLB"},
};
