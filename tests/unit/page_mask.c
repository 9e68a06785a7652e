/* Sets of pages against arrays of 512 flags. */
#include "page/page_mask.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_mask(const struct pw_page_mask *m, const bool *flags)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++) {
        assert_int_equal(pw_mask_has(m, i), flags[i]);
        count += flags[i];
    }
    assert_int_equal(pw_mask_count(m), count);
    assert_int_equal(pw_mask_any(m), count != 0);
}

/* Pages in runs of varying length, so that runs begin, end and cross at the borders of words too. */
static struct pw_page_mask draw(struct pw_random *random, bool *flags)
{
    struct pw_page_mask m = {0};
    unsigned longest = 1U << pw_random_below(random, 9);
    bool on = pw_random_below(random, 2);
    for (unsigned i = 0; i < PW_BLOCK_PAGES; on = !on)
        for (uint64_t n = 1 + pw_random_below(random, longest); n && i < PW_BLOCK_PAGES; n--, i++) {
            flags[i] = on;
            if (on)
                pw_mask_add(&m, i);
        }
    return m;
}

static void ranges_hold_their_pages_and_no_others(void **state)
{
    (void)state;
    for (unsigned first = 0; first <= PW_BLOCK_PAGES; first += 1 + first % 3)
        for (unsigned outer = first; outer <= PW_BLOCK_PAGES; outer += 1 + outer % 5) {
            bool flags[PW_BLOCK_PAGES] = {false};
            for (unsigned i = first; i < outer; i++)
                flags[i] = true;
            struct pw_page_mask m = pw_mask_range(first, outer);
            assert_mask(&m, flags);
        }
    struct pw_page_mask all = pw_mask_range(0, PW_BLOCK_PAGES);
    assert_int_equal(pw_mask_count(&all), PW_BLOCK_PAGES);
}

static void sets_are_joined_cut_and_subtracted_page_by_page(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 1, "masks");
    for (unsigned round = 0; round < 300; round++) {
        bool a[PW_BLOCK_PAGES], b[PW_BLOCK_PAGES], joined[PW_BLOCK_PAGES], cut[PW_BLOCK_PAGES], rest[PW_BLOCK_PAGES];
        struct pw_page_mask x = draw(&random, a), y = draw(&random, b), m;
        for (unsigned i = 0; i < PW_BLOCK_PAGES; i++) {
            joined[i] = a[i] || b[i];
            cut[i] = a[i] && b[i];
            rest[i] = a[i] && !b[i];
        }
        m = pw_mask_or(x, &y);
        assert_mask(&m, joined);
        m = pw_mask_and(x, &y);
        assert_mask(&m, cut);
        m = pw_mask_without(x, &y);
        assert_mask(&m, rest);
        unsigned gone = (unsigned)pw_random_below(&random, PW_BLOCK_PAGES);
        pw_mask_remove(&x, gone);
        a[gone] = false;
        assert_mask(&x, a);
    }
}

static void counts_of_ranges_are_those_of_their_pages(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 2, "masks");
    for (unsigned round = 0; round < 2000; round++) {
        bool flags[PW_BLOCK_PAGES];
        struct pw_page_mask m = draw(&random, flags);
        unsigned outer = (unsigned)pw_random_below(&random, PW_BLOCK_PAGES + 1), count = 0;
        unsigned first = (unsigned)pw_random_below(&random, outer + 1);
        for (unsigned i = first; i < outer; i++)
            count += flags[i];
        assert_int_equal(pw_mask_count_range(&m, first, outer), count);
    }
}

static void runs_are_found_from_any_page_on(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 3, "masks");
    for (unsigned round = 0; round < 2000; round++) {
        bool flags[PW_BLOCK_PAGES];
        struct pw_page_mask m = draw(&random, flags);
        unsigned from = (unsigned)pw_random_below(&random, PW_BLOCK_PAGES + 1), first = from, outer, found, found_outer;
        while (first < PW_BLOCK_PAGES && !flags[first])
            first++;
        for (outer = first; outer < PW_BLOCK_PAGES && flags[outer]; outer++)
            ;
        assert_int_equal(pw_mask_next_run(&m, from, &found, &found_outer), first < PW_BLOCK_PAGES);
        if (first < PW_BLOCK_PAGES) {
            assert_int_equal(found, first);
            assert_int_equal(found_outer, outer);
        }
    }
}

static void widening_adds_whole_groups_and_nothing_else(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 4, "masks");
    for (unsigned round = 0; round < 1000; round++) {
        bool flags[PW_BLOCK_PAGES], wide[PW_BLOCK_PAGES] = {false};
        unsigned order = round % 10, unit = 1U << order;
        struct pw_page_mask m = draw(&random, flags), got = pw_mask_widen(&m, order);
        for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
            if (flags[i])
                memset(&wide[i / unit * unit], true, unit);
        assert_mask(&got, wide);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_hold_their_pages_and_no_others),
        cmocka_unit_test(sets_are_joined_cut_and_subtracted_page_by_page),
        cmocka_unit_test(counts_of_ranges_are_those_of_their_pages),
        cmocka_unit_test(runs_are_found_from_any_page_on),
        cmocka_unit_test(widening_adds_whole_groups_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
