/* What every TLB fill policy must do. */
#include "policies.h"

#include "policy/fill/fill_policy.h"
#include "sim/random.h"

enum { SMS = 30, WARPS = 48, MISSES = 20000 };

/* Instances for tests are made for as many applications as there can be; the others have no SMs. */
static const uint32_t app_sms[PW_MAX_APPS] = {12, 10, 8};

struct use {
    uint64_t lookups[PW_MAX_APPS], hits[PW_MAX_APPS];
};

static void l2_tlb_use(const void *l2_tlb, unsigned app, uint64_t *out_lookups, uint64_t *out_hits)
{
    const struct use *u = l2_tlb;
    *out_lookups = u->lookups[app];
    *out_hits = u->hits[app];
}

/* Of each SM as many warps as its number says. */
static uint64_t take_active_warps(void *gpu, uint32_t sm)
{
    (void)gpu;
    return (1ULL << (sm + 1)) - 1;
}

/* Misses of warps of all applications, some of which hit in the L2 TLB, and epochs between them. Two instances
 * that hear the same answer the same, and with a set of the TLBs that there are. */
static void every_policy_answers_with_a_set_of_tlbs(void **state)
{
    (void)state;
    for (size_t p = 0; pw_fill_family.policies[p]; p++) {
        const struct pw_fill_policy *policy = pw_fill_policy_of(pw_fill_family.policies[p]);
        struct use use = {{0}, {0}};
        struct pw_fill_environment environment = {SMS, WARPS, app_sms, &use, l2_tlb_use, NULL, take_active_warps};
        struct pw_policy_use uses[2];
        void *one = policy_instance(&uses[0], &pw_fill_family, &policy->head, &environment);
        void *other = policy_instance(&uses[1], &pw_fill_family, &policy->head, &environment);
        struct pw_random r;
        pw_random_init(&r, 1, policy->head.name);
        pw_cycle next = 0;
        for (pw_cycle now = 0; now < MISSES; now++) {
            if (policy->head.epoch && now == next) {
                next = policy->head.epoch(one, now);
                assert_true(next > now);
                assert_true(policy->head.epoch(other, now) == next);
            }
            uint32_t sm = (uint32_t)pw_random_below(&r, SMS), warp = (uint32_t)pw_random_below(&r, WARPS);
            unsigned app = sm < app_sms[0] ? 0 : sm < app_sms[0] + app_sms[1] ? 1 : 2;
            unsigned set = policy->may_fill ? policy->may_fill(one, (pw_asid)app, sm, warp) : PW_FILL_BOTH;
            assert_int_equal(set & ~(unsigned)PW_FILL_BOTH, 0);
            if (policy->may_fill)
                assert_int_equal(policy->may_fill(other, (pw_asid)app, sm, warp), set);
            use.lookups[app]++;
            use.hits[app] += pw_random_below(&r, 3) == 0;
        }
        pw_policy_use_release(&uses[0]);
        pw_policy_use_release(&uses[1]);
    }
}

/* The default is what machines do that have no such policy, and nobody is asked. */
static void the_default_fills_both_tlbs(void **state)
{
    (void)state;
    assert_string_equal(pw_fill_family.policies[0]->name, "always");
    assert_null(pw_fill_policy_of(pw_fill_family.policies[0])->may_fill);
    assert_null(pw_fill_family.policies[0]->epoch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_answers_with_a_set_of_tlbs),
        cmocka_unit_test(the_default_fills_both_tlbs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
