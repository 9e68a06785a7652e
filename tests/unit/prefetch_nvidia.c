/* The driver's prefetch rule where it differs from the paper's tree: 51%, no second round, trees of small allocations
 * and of the ends of large ones, and faults of a batch that are looked at together. */
#include "managed.h"

static struct pw_page_mask choose(const char *policy, unsigned exists, unsigned tree,
                                  const struct pw_page_mask *resident, const struct pw_page_mask *faulted)
{
    struct pw_prefetch_view view = {
        .exists = pw_mask_range(0, exists), .resident = *resident, .faulted = *faulted, .tree_pages = tree};
    struct pw_page_mask out = managed_prefetch(policy, &view);
    return pw_mask_or(out, faulted);
}

static void assert_comes(const struct pw_page_mask *got, unsigned first, unsigned outer)
{
    struct pw_page_mask expected = pw_mask_range(first, outer);
    assert_memory_equal(got, &expected, sizeof expected);
}

/* Of a node of 512 pages 262 are more than 51% (261.12) and 261 are not. */
static void a_node_needs_more_than_51_percent(void **state)
{
    (void)state;
    for (unsigned present = 261; present <= 262; present++) {
        struct pw_page_mask resident = pw_mask_range(0, present - 16), faulted = pw_mask_range(508, 509), got;
        got = choose("nvidia", 512, 512, &resident, &faulted);
        if (present == 262)
            assert_comes(&got, present - 16, 512);
        else
            assert_comes(&got, 496, 512);
    }
}

/* Leaves 1, 3 and 5 are there and 0 faults: the node of four leaves qualifies (3 of 4) and brings leaf 2. The root has
 * 4 of 8 without leaf 2 and 5 of 8 with it: here the driver stops and the paper's tree goes on. */
static void what_a_fault_brings_does_not_count_for_it(void **state)
{
    (void)state;
    struct pw_page_mask resident = {0}, faulted = pw_mask_range(0, 1), got;
    const unsigned leaves[] = {1, 3, 5};
    for (unsigned i = 0; i < 3; i++) {
        struct pw_page_mask leaf = pw_mask_range(leaves[i] * 16, leaves[i] * 16 + 16);
        resident = pw_mask_or(resident, &leaf);
    }
    struct pw_page_mask expected = pw_mask_range(0, 16), leaf_2 = pw_mask_range(32, 48);
    expected = pw_mask_or(expected, &leaf_2);
    got = choose("nvidia", 128, 128, &resident, &faulted);
    assert_memory_equal(&got, &expected, sizeof got);
    got = choose("tbn", 128, 128, &resident, &faulted);
    assert_int_equal(pw_mask_count(&got), 128 - 48);
}

static void the_largest_node_that_qualifies_comes_even_over_one_that_does_not(void **state)
{
    (void)state;
    /* The fault's own 32 and 64 pages are not half present, all 128 are. */
    struct pw_page_mask resident = pw_mask_range(64, 128), faulted = pw_mask_range(3, 4), got;
    got = choose("nvidia", 128, 128, &resident, &faulted);
    assert_comes(&got, 0, 64);
}

static void a_small_allocation_shares_a_tree_of_32_leaves(void **state)
{
    (void)state;
    unsigned exists, tree;
    const struct pw_prefetch_policy *rule = pw_prefetch_policy_of(policy_named(&pw_prefetch_family, "nvidia"));
    rule->extent(NULL, 48, true, &exists, &tree);
    assert_int_equal(exists, 48);
    assert_int_equal(tree, 512);
    /* Two of three leaves are 50% of the node of four: the third does not come. As the end of a large one it does. */
    struct pw_page_mask resident = pw_mask_range(0, 16), faulted = pw_mask_range(16, 17), got;
    got = choose("nvidia", 48, 512, &resident, &faulted);
    assert_comes(&got, 16, 32);
    rule->extent(NULL, 48, false, &exists, &tree);
    assert_int_equal(exists, 48);
    assert_int_equal(tree, 48);
    got = choose("nvidia", 48, 48, &resident, &faulted);
    assert_comes(&got, 16, 48);
}

static void pages_that_do_not_exist_do_not_come(void **state)
{
    (void)state;
    struct pw_page_mask resident = {0}, faulted = pw_mask_range(32, 33), got;
    got = choose("nvidia", 37, 512, &resident, &faulted);
    assert_comes(&got, 32, 37);
    got = choose("nvidia", 37, 37, &resident, &faulted);
    assert_comes(&got, 32, 37);
}

static void faults_of_a_batch_count_for_each_other(void **state)
{
    (void)state;
    struct pw_page_mask resident = {0}, faulted = {0}, got;
    pw_mask_add(&faulted, 5);
    pw_mask_add(&faulted, 20);
    got = choose("nvidia", 512, 512, &resident, &faulted);
    assert_comes(&got, 0, 32);
    pw_mask_add(&faulted, 50); /* three leaves of four */
    got = choose("nvidia", 512, 512, &resident, &faulted);
    assert_comes(&got, 0, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_needs_more_than_51_percent),
        cmocka_unit_test(what_a_fault_brings_does_not_count_for_it),
        cmocka_unit_test(the_largest_node_that_qualifies_comes_even_over_one_that_does_not),
        cmocka_unit_test(a_small_allocation_shares_a_tree_of_32_leaves),
        cmocka_unit_test(pages_that_do_not_exist_do_not_come),
        cmocka_unit_test(faults_of_a_batch_count_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
