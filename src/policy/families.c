/* The tables of policies, one for each family, from the lines of its .def file.
 *
 * A new policy needs nothing here. A new family is a folder with a header and a .def file, and a paragraph below. */
#include "policy/families.h"

#include "policy/warp/warp_policy.h"

#define PW_POLICY(symbol) extern const struct pw_warp_policy pw_warp_policy_##symbol;
#include "policy/warp/warp.def"
#undef PW_POLICY
static const struct pw_policy *const warp[] = {
#define PW_POLICY(symbol) &pw_warp_policy_##symbol.head,
#include "policy/warp/warp.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_warp_family = {"warp", "warp schedule", warp};

const struct pw_policy_family *const pw_families[] = {&pw_warp_family, NULL};
