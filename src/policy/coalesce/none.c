/* Pages keep the size they were mapped with: GPU-MMU (Mosaic, Section 3.1). */
#include "policy/coalesce/coalesce_policy.h"

extern const struct pw_coalesce_policy pw_coalesce_policy_none;
const struct pw_coalesce_policy pw_coalesce_policy_none = {
    .head = {.name = "none", .summary = "base pages stay base pages"},
};
