/* The options of coalescing and compaction. */
#include "policy/coalesce/coalesce_policy.h"
#include "policy/compact/compact_policy.h"
#include "vm/page_manager.h"

#define COALESCE(field) offsetof(struct pw_coalesce_config, field)
#define COMPACT(field) offsetof(struct pw_compact_config, field)

const struct pw_option pw_coalesce_options[] = {
    {"policy", PW_OPTION_POLICY, COALESCE(policy), 0, 0, "none", "", &pw_coalesce_family,
     "Which base pages become large pages, and when.", false},
    {"interval", PW_OPTION_CYCLES, COALESCE(interval), 1000, 4e9, "100000", "cycles", NULL,
     "Cycles between two choices of a policy that moves pages to coalesce them.", false},
    {0}};

const struct pw_option pw_compact_options[] = {
    {"policy", PW_OPTION_POLICY, COMPACT(policy), 0, 0, "none", "", &pw_compact_family,
     "Which large pages are splintered when parts of them are freed, and whether large frames are emptied.", false},
    {"threshold", PW_OPTION_COUNT, COMPACT(threshold), 0, 100, "50", "%", NULL,
     "A large page with less than this share of its base pages left is splintered and its frame emptied.", false},
    {"copy", PW_OPTION_CHOICE, COMPACT(copy), 0, 0, "channel", "",
     (const char *const[]){"channel", "bulk", "free", NULL},
     "How a base page is copied when frames are emptied: over a DRAM channel, inside DRAM, or in no time.", false},
    {"bulk_latency", PW_OPTION_CYCLES, COMPACT(bulk_latency), 1, 1000000, "80ns", "cycles", NULL,
     "Time of a copy of a base page inside DRAM.", false},
    {0}};

const struct pw_coalesce_policy *pw_coalesce_config_policy(const struct pw_coalesce_config *c)
{
    return pw_coalesce_policy_of(pw_policy_chosen(&pw_coalesce_family, &c->policy));
}

const struct pw_compact_policy *pw_compact_config_policy(const struct pw_compact_config *c)
{
    return pw_compact_policy_of(pw_policy_chosen(&pw_compact_family, &c->policy));
}

bool pw_coalesce_config_enabled(const struct pw_coalesce_config *c)
{
    return pw_coalesce_config_policy(c)->wants != NULL;
}
