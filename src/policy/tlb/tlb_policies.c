/* The table of TLB organisations, from tlb.def. */
#include "policy/tlb/tlb_policy.h"

#define PW_TLB_POLICY(symbol, name) extern const struct pw_tlb_policy pw_tlb_policy_##symbol;
#include "policy/tlb/tlb.def"
#undef PW_TLB_POLICY

const struct pw_tlb_policy *const pw_tlb_policies[] = {
#define PW_TLB_POLICY(symbol, name) &pw_tlb_policy_##symbol,
#include "policy/tlb/tlb.def"
#undef PW_TLB_POLICY
    NULL};

const char *const pw_tlb_policy_names[] = {
#define PW_TLB_POLICY(symbol, name) name,
#include "policy/tlb/tlb.def"
#undef PW_TLB_POLICY
    NULL};
