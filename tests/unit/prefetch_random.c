/* The random prefetcher (UVM, Section 3.1): how many pages it brings, and where in the 2 MB block they are drawn
 * from. */
#include "managed.h"

enum { KB = 1024, BASE = 11 * PW_BLOCK_PAGES };

/* The page that random draws for a fault of a page in an empty block. */
static unsigned draw(uint64_t seed, unsigned faulted)
{
    struct pw_residency_config config = managed_config("random", "random", 1 << 20);
    config.seed = seed;
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 4096 * KB);
    struct managed_touch t = managed_read(r, BASE + PW_BLOCK_PAGES + faulted);
    unsigned first, outer;
    assert_int_equal(t.in.block, 1);
    assert_int_equal(pw_mask_count(&t.in.faulted), 1);
    assert_int_equal(pw_mask_count(&t.in.prefetched), 1);
    assert_true(pw_mask_next_run(&t.in.prefetched, 0, &first, &outer));
    managed_destroy(r);
    return first;
}

/* uvm-sec31-random-one, uvm-sec31-random-scope: one page comes with the first fault of a block, each of the other 511
 * as likely as any other, wherever in the block the fault is. */
static void random_draws_evenly_from_all_other_pages_of_the_2_mb(void **state)
{
    (void)state;
    enum { DRAWS = 6400 };
    static const unsigned faulted[] = {0, 200, PW_BLOCK_PAGES - 1};
    for (unsigned k = 0; k < 3; k++) {
        unsigned drawn[PW_BLOCK_PAGES] = {0}, leaf[PW_BLOCK_LEAVES] = {0}, missed = 0;
        for (unsigned seed = 0; seed < DRAWS; seed++)
            drawn[draw(seed, faulted[k])]++;
        assert_int_equal(drawn[faulted[k]], 0);
        for (unsigned i = 0; i < PW_BLOCK_PAGES; i++) {
            leaf[i / PW_LEAF_PAGES] += drawn[i];
            missed += i != faulted[k] && drawn[i] == 0;
            assert_true(drawn[i] <= 35); /* 12.5 on average */
        }
        assert_int_equal(missed, 0);
        for (unsigned i = 0; i < PW_BLOCK_LEAVES; i++)
            assert_in_range(leaf[i], 140, 260); /* 200 on average */
    }
}

/* uvm-sec31-random-one, uvm-sec31-random-scope, uvm-sec41-4k-multiples */
static void random_brings_one_page_of_the_2_mb_block_with_each_fault(void **state)
{
    (void)state;
    struct pw_residency_config config = managed_config("random", "random", 1 << 20);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "example", 11, 8192 * KB);
    unsigned quarter[4] = {0};
    for (unsigned i = 0; i < 400; i++) {
        uint64_t page = 512 + (i * 37) % 512;
        if (managed_has(r, BASE + page))
            continue;
        struct managed_touch t = managed_read(r, BASE + page);
        unsigned first, outer;
        assert_int_equal(t.in.block, 1);
        assert_int_equal(pw_mask_count(&t.in.faulted), 1);
        assert_int_equal(pw_mask_count(&t.in.prefetched), pw_residency_resident(r) % 2 ? 0 : 1);
        if (pw_mask_next_run(&t.in.prefetched, 0, &first, &outer))
            quarter[first / 128]++;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(quarter[i], 30, 90);
    managed_destroy(r);
    config = managed_config("none", "lru4k", 128);
    r = managed_create(&config);
    managed_add(r, "example", 11, 512 * KB);
    struct managed_touch t = managed_read(r, BASE + 5);
    assert_int_equal(pw_mask_count(&t.in.faulted), 1);
    assert_false(pw_mask_any(&t.in.prefetched));
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_draws_evenly_from_all_other_pages_of_the_2_mb),
        cmocka_unit_test(random_brings_one_page_of_the_2_mb_block_with_each_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
