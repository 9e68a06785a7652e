/* What every eviction policy must hold to: it names resident pages, the candidate among them, keeps what is in the mask
 * already, and needs nothing but its view. */
#include "policy/evict/evict_policy.h"
#include "policies.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct pw_evict_view draw(struct pw_random *random)
{
    unsigned tree = PW_LEAF_PAGES << pw_random_below(random, 6);
    if (pw_random_below(random, 3) == 0)
        tree = 1 + (unsigned)pw_random_below(random, PW_BLOCK_PAGES); /* the driver's last blocks */
    struct pw_evict_view view = {.candidate = (unsigned)pw_random_below(random, tree), .tree_pages = tree};
    unsigned percent = (unsigned)pw_random_below(random, 101);
    bool by_leaf = pw_random_below(random, 2);
    for (unsigned i = 0, on = 0; i < tree; i++) {
        if (!by_leaf || i % PW_LEAF_PAGES == 0)
            on = pw_random_below(random, 100) < percent;
        if (on)
            pw_mask_add(&view.resident, i);
    }
    pw_mask_add(&view.resident, view.candidate);
    return view;
}

static void every_policy_names_resident_pages_and_the_candidate(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_evict_family.policies[p]; p++) {
        const struct pw_evict_policy *policy = pw_evict_policy_of(pw_evict_family.policies[p]);
        struct pw_random random, own;
        pw_random_init(&random, 1, "views");
        pw_random_init(&own, 1, "evict");
        struct pw_evict_environment environment = {&own};
        struct pw_policy_use use;
        void *instance = policy_instance(&use, &pw_evict_family, &policy->head, &environment);
        for (unsigned i = 0; i < 4000; i++) {
            struct pw_evict_view view = draw(&random);
            struct pw_page_mask out = {0}, outside;
            policy->choose(instance, &view, &out);
            assert_true(pw_mask_has(&out, view.candidate));
            outside = pw_mask_without(out, &view.resident);
            assert_false(pw_mask_any(&outside));
        }
        pw_policy_use_release(&use);
    }
}

static void every_policy_repeats_itself_and_only_adds(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_evict_family.policies[p]; p++) {
        const struct pw_evict_policy *policy = pw_evict_policy_of(pw_evict_family.policies[p]);
        struct pw_random random, own;
        pw_random_init(&random, 2, "views");
        pw_random_init(&own, 2, "evict");
        struct pw_evict_environment environment = {&own};
        struct pw_policy_use use;
        void *instance = policy_instance(&use, &pw_evict_family, &policy->head, &environment);
        for (unsigned i = 0; i < 1000; i++) {
            struct pw_evict_view view = draw(&random);
            struct pw_page_mask there = pw_mask_range(i % 500, i % 500 + 12), out = {0}, more = there;
            policy->choose(instance, &view, &out);
            policy->choose(instance, &view, &more);
            out = pw_mask_or(out, &there);
            assert_memory_equal(&out, &more, sizeof out);
        }
        pw_policy_use_release(&use);
    }
}

static void every_policy_names_an_order(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_evict_family.policies[p]; p++)
        assert_in_range(pw_evict_policy_of(pw_evict_family.policies[p])->order, 0, PW_ORDER_COUNT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_names_resident_pages_and_the_candidate),
        cmocka_unit_test(every_policy_repeats_itself_and_only_adds),
        cmocka_unit_test(every_policy_names_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
