/* The table of compaction policies, from compact.def. */
#include "policy/compact/compact_policy.h"

#include <stddef.h>

#define PW_COMPACT_POLICY(symbol, name) extern const struct pw_compact_policy pw_compact_policy_##symbol;
#include "policy/compact/compact.def"
#undef PW_COMPACT_POLICY

const struct pw_compact_policy *const pw_compact_policies[] = {
#define PW_COMPACT_POLICY(symbol, name) &pw_compact_policy_##symbol,
#include "policy/compact/compact.def"
#undef PW_COMPACT_POLICY
    NULL};

const char *const pw_compact_policy_names[] = {
#define PW_COMPACT_POLICY(symbol, name) name,
#include "policy/compact/compact.def"
#undef PW_COMPACT_POLICY
    NULL};
