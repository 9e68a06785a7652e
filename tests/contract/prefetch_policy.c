/* What every prefetch policy must hold to: it adds pages that exist and are neither here nor asked for, keeps what is
 * in the mask already, repeats itself for the same faults and random numbers, and reads the extent of a block
 * sensibly. */
#include "policy/prefetch/prefetch_policy.h"
#include "policies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* An instance with random numbers of its own. */
struct prefetcher {
    const struct pw_prefetch_policy *policy;
    struct pw_random random;
    struct pw_policy_use use;
    void *state;
};

static void open_prefetcher(struct prefetcher *x, unsigned policy, uint64_t seed)
{
    const struct pw_policy *head = pw_prefetch_family.policies[policy];
    x->policy = pw_prefetch_policy_of(head);
    pw_random_init(&x->random, seed, "prefetch");
    struct pw_prefetch_environment environment = {&x->random};
    x->state = policy_instance(&x->use, &pw_prefetch_family, head, &environment);
}

/* A block of which an allocation asked for `pages`, with some of them resident and one or a few asked for. */
static struct pw_prefetch_view draw(const struct prefetcher *x, struct pw_random *random)
{
    struct pw_prefetch_view view = {.first = {pw_random_below(random, 4) * PW_BLOCK_PAGES}, .now = random->s[0]};
    unsigned pages = 1 + (unsigned)pw_random_below(random, PW_BLOCK_PAGES), exists;
    unsigned percent = (unsigned)pw_random_below(random, 100), faults = 1 + (unsigned)pw_random_below(random, 4);
    bool by_leaf = pw_random_below(random, 2);
    bool alone = pages < PW_BLOCK_PAGES && pw_random_below(random, 2);
    x->policy->extent(x->state, pages, alone, &exists, &view.tree_pages);
    view.exists = pw_mask_range(0, exists);
    for (unsigned i = 0, on = 0; i < exists; i++) {
        if (!by_leaf || i % PW_LEAF_PAGES == 0)
            on = pw_random_below(random, 100) < percent;
        if (on)
            pw_mask_add(&view.resident, i);
    }
    while (faults--) {
        unsigned page = (unsigned)pw_random_below(random, exists);
        pw_mask_add(&view.faulted, page);
        pw_mask_remove(&view.resident, page);
    }
    return view;
}

static bool within(struct pw_page_mask a, const struct pw_page_mask *b)
{
    a = pw_mask_without(a, b);
    return !pw_mask_any(&a);
}

static bool disjoint(struct pw_page_mask a, const struct pw_page_mask *b)
{
    a = pw_mask_and(a, b);
    return !pw_mask_any(&a);
}

static void every_policy_names_absent_pages_that_exist(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_prefetch_family.policies[p]; p++) {
        struct prefetcher x;
        struct pw_random random;
        open_prefetcher(&x, p, 1);
        pw_random_init(&random, 1, "views");
        for (unsigned i = 0; i < 4000; i++) {
            struct pw_prefetch_view view = draw(&x, &random);
            struct pw_page_mask out = {0};
            x.policy->choose(x.state, &view, &out);
            assert_true(within(out, &view.exists));
            assert_true(disjoint(out, &view.resident));
            assert_true(disjoint(out, &view.faulted));
        }
        pw_policy_use_release(&x.use);
    }
}

static void every_policy_repeats_itself_and_only_adds(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_prefetch_family.policies[p]; p++) {
        struct prefetcher x, again;
        struct pw_random random;
        open_prefetcher(&x, p, 2);
        open_prefetcher(&again, p, 2);
        pw_random_init(&random, 2, "views");
        for (unsigned i = 0; i < 1000; i++) {
            struct pw_prefetch_view view = draw(&x, &random), before = view;
            struct pw_page_mask out = {0}, more = view.resident;
            x.policy->choose(x.state, &view, &out);
            again.policy->choose(again.state, &view, &more);
            assert_memory_equal(&view, &before, sizeof view);
            out = pw_mask_or(out, &view.resident);
            assert_memory_equal(&out, &more, sizeof out);
        }
        pw_policy_use_release(&x.use);
        pw_policy_use_release(&again.use);
    }
}

static void every_policy_lets_the_pages_exist_that_were_asked_for(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_prefetch_family.policies[p]; p++) {
        struct prefetcher x;
        open_prefetcher(&x, p, 3);
        for (unsigned pages = 1; pages <= PW_BLOCK_PAGES; pages++)
            for (unsigned alone = 0; alone < 2; alone++) {
                unsigned exists = 0, tree = 0;
                x.policy->extent(x.state, pages, alone, &exists, &tree);
                assert_in_range(exists, pages, PW_BLOCK_PAGES);
                assert_in_range(tree, exists, PW_BLOCK_PAGES);
            }
        pw_policy_use_release(&x.use);
    }
}

static void every_policy_has_nothing_to_add_to_a_full_block(void **state)
{
    (void)state;
    for (unsigned p = 0; pw_prefetch_family.policies[p]; p++) {
        struct prefetcher x;
        open_prefetcher(&x, p, 4);
        struct pw_prefetch_view view = {.exists = pw_mask_range(0, PW_BLOCK_PAGES),
                                        .resident = pw_mask_range(1, PW_BLOCK_PAGES),
                                        .faulted = pw_mask_range(0, 1),
                                        .tree_pages = PW_BLOCK_PAGES};
        struct pw_page_mask out = {0};
        x.policy->choose(x.state, &view, &out);
        assert_false(pw_mask_any(&out));
        pw_policy_use_release(&x.use);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_names_absent_pages_that_exist),
        cmocka_unit_test(every_policy_repeats_itself_and_only_adds),
        cmocka_unit_test(every_policy_lets_the_pages_exist_that_were_asked_for),
        cmocka_unit_test(every_policy_has_nothing_to_add_to_a_full_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
