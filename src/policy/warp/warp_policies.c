/* The table of warp schedules, from warp.def. */
#include "policy/warp/warp_policy.h"

#include <stddef.h>

#define PW_POLICY(name) extern const struct pw_warp_policy pw_warp_policy_##name;
#include "policy/warp/warp.def"
#undef PW_POLICY

const struct pw_warp_policy *const pw_warp_policies[] = {
#define PW_POLICY(name) &pw_warp_policy_##name,
#include "policy/warp/warp.def"
#undef PW_POLICY
    NULL};

const char *const pw_warp_policy_names[] = {
#define PW_POLICY(name) #name,
#include "policy/warp/warp.def"
#undef PW_POLICY
    NULL};
