/* The table of eviction policies, from evict.def. */
#include "policy/evict/evict_policy.h"

#include <stddef.h>

#define PW_EVICT_POLICY(symbol, name) extern const struct pw_evict_policy pw_evict_policy_##symbol;
#include "policy/evict/evict.def"
#undef PW_EVICT_POLICY

const struct pw_evict_policy *const pw_evict_policies[] = {
#define PW_EVICT_POLICY(symbol, name) &pw_evict_policy_##symbol,
#include "policy/evict/evict.def"
#undef PW_EVICT_POLICY
    NULL};

const char *const pw_evict_policy_names[] = {
#define PW_EVICT_POLICY(symbol, name) name,
#include "policy/evict/evict.def"
#undef PW_EVICT_POLICY
    NULL};
