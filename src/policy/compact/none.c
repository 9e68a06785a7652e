/* Large pages stay as they are until their last base page is freed. */
#include "policy/compact/compact_policy.h"

extern const struct pw_compact_policy pw_compact_policy_none;
const struct pw_compact_policy pw_compact_policy_none = {
    .head = {.name = "none", .summary = "nothing is splintered or moved"},
};
