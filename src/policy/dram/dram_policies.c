/* The table of DRAM schedules, from dram.def. */
#include "policy/dram/dram_policy.h"

#define PW_DRAM_POLICY(identifier, name) extern const struct pw_dram_policy pw_dram_##identifier;
#include "policy/dram/dram.def"
#undef PW_DRAM_POLICY

const struct pw_dram_policy *const pw_dram_policies[] = {
#define PW_DRAM_POLICY(identifier, name) &pw_dram_##identifier,
#include "policy/dram/dram.def"
#undef PW_DRAM_POLICY
    NULL,
};

const char *const pw_dram_policy_names[] = {
#define PW_DRAM_POLICY(identifier, name) name,
#include "policy/dram/dram.def"
#undef PW_DRAM_POLICY
    NULL,
};
