/* What every policy for the route of translation requests must do. */
#include "policies.h"

#include "policy/route/route_policy.h"
#include "sim/random.h"

enum { REQUESTS = 100000, APPS = 3, PAGES = 4096 };

/* Of each page whether it is here. */
struct memory {
    bool local[APPS][PAGES];
};

static bool is_local(const void *mmu, pw_asid asid, pw_vpn vpn)
{
    const struct memory *m = mmu;
    return m->local[asid][vpn.v];
}

static void scatter(struct memory *m, unsigned percent, struct pw_random *r)
{
    for (unsigned app = 0; app < APPS; app++)
        for (unsigned page = 0; page < PAGES; page++)
            m->local[app][page] = pw_random_below(r, 100) < percent;
}

/* Requests for pages that are here, there and mixed, answered in time, with epochs in between. Two instances that hear
 * the same answer the same, and with a set of the units that there are, which is not empty: somebody must walk. */
static void every_policy_answers_with_a_set_of_units(void **state)
{
    (void)state;
    for (size_t p = 0; pw_route_family.policies[p]; p++) {
        const struct pw_route_policy *policy = pw_route_policy_of(pw_route_family.policies[p]);
        struct memory memory;
        struct pw_random r;
        struct pw_policy_use uses[2];
        struct pw_route_environment environment = {&memory, is_local};
        pw_random_init(&r, 1, policy->head.name);
        void *one = policy_instance(&uses[0], &pw_route_family, &policy->head, &environment);
        void *other = policy_instance(&uses[1], &pw_route_family, &policy->head, &environment);
        environment = (struct pw_route_environment){NULL, NULL}; /* nobody needs it any more */
        pw_cycle next = 0;
        for (pw_cycle now = 0; now < REQUESTS; now++) {
            if (now % (REQUESTS / 10) == 0)
                scatter(&memory, (unsigned)(now / (REQUESTS / 100) % 40 * 10 / 3), &r);
            if (policy->head.epoch && now == next) {
                next = policy->head.epoch(one, now);
                assert_true(next > now);
                assert_true(policy->head.epoch(other, now) == next);
            }
            pw_asid app = (pw_asid)pw_random_below(&r, APPS);
            pw_vpn vpn = {pw_random_below(&r, PAGES)};
            unsigned set = policy->choose ? policy->choose(one, app, vpn) : PW_ROUTE_GMMU;
            assert_int_equal(set & ~(unsigned)PW_ROUTE_BOTH, 0);
            assert_int_not_equal(set, 0);
            assert_int_equal(policy->choose ? policy->choose(other, app, vpn) : PW_ROUTE_GMMU, set);
            for (unsigned i = 0; policy->answered && i < 2; i++)
                policy->answered(i ? other : one, app, memory.local[app][vpn.v]);
        }
        pw_policy_use_release(&uses[0]);
        pw_policy_use_release(&uses[1]);
    }
}

/* The default is what machines do that have no such policy, and nobody is asked. */
static void the_default_asks_the_gmmu_first(void **state)
{
    (void)state;
    const struct pw_route_policy *policy = pw_route_policy_of(pw_route_family.policies[0]);
    assert_string_equal(policy->head.name, "distributed");
    assert_null(policy->choose);
    assert_null(policy->answered);
    assert_null(policy->head.epoch);
}

static void the_centralized_design_asks_the_iommu_only(void **state)
{
    (void)state;
    const struct pw_route_policy *policy = pw_route_policy_of(policy_named(&pw_route_family, "centralized"));
    for (unsigned page = 0; page < PAGES; page++)
        assert_int_equal(policy->choose(NULL, (pw_asid)(page % APPS), (pw_vpn){page}), PW_ROUTE_IOMMU);
}

/* gmmu-fig03-ideal-def */
static void the_ideal_policy_asks_only_who_has_the_mapping(void **state)
{
    (void)state;
    const struct pw_route_policy *policy = pw_route_policy_of(policy_named(&pw_route_family, "route-ideal"));
    struct memory memory;
    struct pw_random r;
    struct pw_policy_use use;
    struct pw_route_environment environment = {&memory, is_local};
    pw_random_init(&r, 1, "ideal");
    scatter(&memory, 50, &r);
    void *ideal = policy_instance(&use, &pw_route_family, &policy->head, &environment);
    for (unsigned app = 0; app < APPS; app++)
        for (unsigned page = 0; page < PAGES; page++) {
            memory.local[app][page] ^= page % 2; /* it looks anew: pages migrate */
            assert_int_equal(policy->choose(ideal, (pw_asid)app, (pw_vpn){page}),
                             memory.local[app][page] ? PW_ROUTE_GMMU : PW_ROUTE_IOMMU);
        }
    pw_policy_use_release(&use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_answers_with_a_set_of_units),
        cmocka_unit_test(the_default_asks_the_gmmu_first),
        cmocka_unit_test(the_centralized_design_asks_the_iommu_only),
        cmocka_unit_test(the_ideal_policy_asks_only_who_has_the_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
