/* The policy that says which translations are put into the TLBs (policy/fill): its instance, one for the GPU. */
#include "gpu/gpu_internal.h"

const struct pw_option pw_fill_options[] = {{"policy", PW_OPTION_POLICY, offsetof(struct pw_fill_config, policy), 0, 0,
                                             "always", "", &pw_fill_family,
                                             "Which translations are put into the L1 and L2 TLBs.", false},
                                            {0}};

static uint64_t take_active_warps(void *gpu, uint32_t sm)
{
    struct pw_sm *s = &((struct pw_gpu *)gpu)->sms[sm];
    uint64_t active = s->active_slots;
    s->active_slots = ~s->free_slots & pw_sm_slots(s);
    return active;
}

bool pw_fill_asks_for_bypass(const struct pw_fill_config *config, uint32_t *out_entries)
{
    const struct pw_fill_policy *policy = pw_fill_policy_of(pw_policy_chosen(&pw_fill_family, &config->policy));
    if (policy->bypass_entries)
        *out_entries = policy->bypass_entries(config->policy.options);
    return policy->bypass_entries;
}

enum pw_status pw_fill_create(struct pw_gpu *g, const struct pw_policy *policy, struct pw_error *err)
{
    struct pw_fill *f = &g->fill;
    f->environment = (struct pw_fill_environment){.sms = g->config.sm.count,
                                                  .warps = g->config.sm.warps,
                                                  .app_sms = g->config.app_sms,
                                                  .l2_tlb = g->mmu,
                                                  .l2_tlb_use = pw_mmu_l2_tlb_use,
                                                  .gpu = g,
                                                  .take_active_warps = take_active_warps};
    f->may_fill = pw_fill_policy_of(policy)->may_fill;
    enum pw_status status = pw_policy_use_init(&f->use, g->wiring.policies, "fill.policy", policy,
                                               &g->config.fill.policy, g->wiring.apps, err);
    return status == PW_OK ? pw_policy_use_add(&f->use, &f->environment, &f->state, err) : status;
}
