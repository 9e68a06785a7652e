/* The table of prefetch policies, from prefetch.def. */
#include "policy/prefetch/prefetch_policy.h"

#include <stddef.h>

#define PW_PREFETCH_POLICY(symbol, name) extern const struct pw_prefetch_policy pw_prefetch_policy_##symbol;
#include "policy/prefetch/prefetch.def"
#undef PW_PREFETCH_POLICY

const struct pw_prefetch_policy *const pw_prefetch_policies[] = {
#define PW_PREFETCH_POLICY(symbol, name) &pw_prefetch_policy_##symbol,
#include "policy/prefetch/prefetch.def"
#undef PW_PREFETCH_POLICY
    NULL};

const char *const pw_prefetch_policy_names[] = {
#define PW_PREFETCH_POLICY(symbol, name) name,
#include "policy/prefetch/prefetch.def"
#undef PW_PREFETCH_POLICY
    NULL};
