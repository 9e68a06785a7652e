/* The table of coalescing policies, from coalesce.def. */
#include "policy/coalesce/coalesce_policy.h"

#include <stddef.h>

#define PW_COALESCE_POLICY(symbol, name) extern const struct pw_coalesce_policy pw_coalesce_policy_##symbol;
#include "policy/coalesce/coalesce.def"
#undef PW_COALESCE_POLICY

const struct pw_coalesce_policy *const pw_coalesce_policies[] = {
#define PW_COALESCE_POLICY(symbol, name) &pw_coalesce_policy_##symbol,
#include "policy/coalesce/coalesce.def"
#undef PW_COALESCE_POLICY
    NULL};

const char *const pw_coalesce_policy_names[] = {
#define PW_COALESCE_POLICY(symbol, name) name,
#include "policy/coalesce/coalesce.def"
#undef PW_COALESCE_POLICY
    NULL};
