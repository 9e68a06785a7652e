/* The plain TLB organisation with random replacement, against closed forms and a model that draws the same numbers. */
#include "sim/random.h"
#include "vm/tlb.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct pw_tlb_policy pw_tlb_policy_plain;
static const struct pw_tlb_policy *const plain = &pw_tlb_policy_plain;

enum { MOST = 64 };

static void *create(uint32_t entries, uint32_t ways, const char *replacement, uint64_t seed, const char *stream)
{
    _Alignas(8) unsigned char options[PW_POLICY_OPTIONS_CAPACITY];
    const struct pw_option *row = plain->head.options;
    struct pw_tlb_shape shape = {.entries = entries, .ways = ways, .subpages = 1, .seed = seed, .stream = stream};
    struct pw_error err;
    void *t;
    assert_string_equal(row->name, "replacement");
    assert_int_equal(pw_option_parse(row, replacement, 0, options + row->offset, &err), PW_OK);
    assert_int_equal(
        pw_policy_create(&plain->head, &(struct pw_policy_setup){.options = options, .environment = &shape}, &t, &err),
        PW_OK);
    return t;
}

/* Looks a page up and fills it in where it misses. */
static bool use(void *t, uint64_t page)
{
    pw_pfn frame = {0};
    bool hit = plain->lookup(t, (struct pw_tlb_key){page, 0}, &frame);
    if (hit)
        assert_int_equal(frame.v, page + 7);
    else
        plain->insert(t, (struct pw_tlb_key){page, 0}, (pw_pfn){(uint32_t)page + 7}, NULL);
    return hit;
}

static unsigned hits_of_a_cyclic_scan(void *t, uint32_t pages, uint32_t accesses)
{
    unsigned hits = 0;
    for (uint32_t i = 0; i < accesses; i++)
        hits += use(t, i % pages);
    return hits;
}

/* Over n + 1 pages in n entries, one page is missing. Each miss leaves out one of the other n, which the scan comes to
 * after 1 to n accesses, all equally likely: two misses in n + 1 accesses, where LRU misses every time. */
static void a_cyclic_scan_of_one_page_too_many_misses_twice_in_a_round(void **state)
{
    (void)state;
    enum { ACCESSES = 1 << 20 };
    const uint32_t sizes[] = {3, 8, 16, 17, 48};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t n = sizes[i];
        void *t = create(n, 0, "random", 1, "test"), *lru = create(n, 0, "lru", 1, "test");
        uint64_t misses = ACCESSES - hits_of_a_cyclic_scan(t, n + 1, ACCESSES);
        assert_int_equal(hits_of_a_cyclic_scan(lru, n + 1, ACCESSES), 0);
        /* The accesses are a sum of `misses` numbers of mean (n + 1) / 2 and variance (n * n - 1) / 12; 5
         * deviations. */
        int64_t off = (int64_t)(misses * (n + 1)) / 2 - ACCESSES;
        assert_true((uint64_t)(off * off) < 25 * misses * (n * n - 1) / 12);
        pw_policy_destroy(t);
        pw_policy_destroy(lru);
    }
}

/* Entries are filled from the last to the first, and then replaced by the number drawn. */
static void entries_are_replaced_as_the_stream_says(void **state)
{
    (void)state;
    const uint32_t sizes[] = {1, 4, 16, 17, MOST};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint32_t n = sizes[i], filled = 0;
        uint64_t held[MOST];
        struct pw_random model, pages;
        void *t = create(n, 0, "random", 42, "l1_tlb 3 base");
        pw_random_init(&model, 42, "l1_tlb 3 base");
        pw_random_init(&pages, i, "pages");
        for (unsigned k = 0; k < 20000; k++) {
            uint64_t page = pw_random_below(&pages, n + n / 2 + 1);
            bool expected = false;
            for (uint32_t e = 0; e < filled; e++)
                expected |= held[n - 1 - e] == page;
            assert_int_equal(use(t, page), expected);
            if (expected)
                continue;
            held[filled < n ? n - 1 - filled : pw_random_below(&model, n)] = page;
            filled += filled < n;
        }
        pw_policy_destroy(t);
    }
}

/* Three sets of four ways and of twenty: a page takes the place of one of its own set. */
static void only_entries_of_the_set_are_replaced(void **state)
{
    (void)state;
    for (uint32_t ways = 4; ways <= 20; ways += 16)
        for (uint64_t set = 0; set < 3; set++) {
            void *t = create(3 * ways, ways, "random", 1, "test");
            for (uint64_t page = 0; page < 3 * ways; page++)
                assert_false(use(t, page));
            for (uint64_t page = 0; page < 1000; page++)
                assert_false(use(t, 300 + set + 3 * page));
            for (uint64_t page = 0; page < 3 * ways; page++)
                if (page % 3 != set)
                    assert_true(use(t, page));
            pw_policy_destroy(t);
        }
}

static void an_empty_entry_is_filled_before_anything_is_replaced(void **state)
{
    (void)state;
    const uint32_t sizes[] = {4, 16, 20};
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t hole = 0; hole < sizes[i]; hole++) {
            void *t = create(sizes[i], 0, "random", 1, "test");
            for (uint32_t page = 0; page < sizes[i]; page++)
                use(t, page);
            assert_int_equal(plain->invalidate(t, 0, hole, hole + 1), 1);
            assert_false(use(t, 1000));
            for (uint32_t page = 0; page < sizes[i]; page++)
                if (page != hole)
                    assert_true(use(t, page));
            assert_true(use(t, 1000));
            pw_policy_destroy(t);
        }
}

static uint64_t digest_of(uint64_t seed, const char *stream)
{
    void *t = create(16, 4, "random", seed, stream);
    uint64_t digest = 0;
    for (uint32_t i = 0; i < 2000; i++)
        digest = digest * 3 + use(t, i * 7 % 23);
    pw_policy_destroy(t);
    return digest;
}

static void seed_and_stream_decide(void **state)
{
    (void)state;
    assert_true(digest_of(1, "a") == digest_of(1, "a"));
    assert_true(digest_of(1, "a") != digest_of(2, "a"));
    assert_true(digest_of(1, "a") != digest_of(1, "b"));
}

/* Of the accesses of an array of a TLB that is one of many. */
static uint64_t digest_in_level(const char *level_name, uint64_t seed, uint32_t number, bool large)
{
    struct pw_tlb_config config = {.base_entries = 16, .large_entries = 16, .base_subpages = 1, .large_subpages = 1};
    const struct pw_option *row = plain->head.options;
    struct pw_tlb_level level = {
        .name = level_name, .config = &config, .orders = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M, .seed = seed};
    struct pw_error err;
    struct pw_tlb tlb;
    uint64_t digest = 0;
    assert_int_equal(pw_option_parse(row, "random", 0, config.organisation.options + row->offset, &err), PW_OK);
    assert_int_equal(pw_tlb_level_init(&level, &err), PW_OK);
    assert_int_equal(pw_tlb_init(&tlb, &level, number, &err), PW_OK);
    for (uint32_t i = 0; i < 2000; i++)
        digest = digest * 3 + use(large ? tlb.large.state : tlb.base.state, i * 7 % 23);
    pw_tlb_level_release(&level);
    return digest;
}

static void every_array_of_every_tlb_has_a_stream_of_its_own(void **state)
{
    (void)state;
    uint64_t digest = digest_in_level("l1_tlb", 1, 3, false);
    assert_true(digest == digest_in_level("l1_tlb", 1, 3, false));
    assert_true(digest != digest_in_level("l2_tlb", 1, 3, false));
    assert_true(digest != digest_in_level("l1_tlb", 2, 3, false));
    assert_true(digest != digest_in_level("l1_tlb", 1, 4, false));
    assert_true(digest != digest_in_level("l1_tlb", 1, 3, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cyclic_scan_of_one_page_too_many_misses_twice_in_a_round),
        cmocka_unit_test(entries_are_replaced_as_the_stream_says),
        cmocka_unit_test(only_entries_of_the_set_are_replaced),
        cmocka_unit_test(an_empty_entry_is_filled_before_anything_is_replaced),
        cmocka_unit_test(seed_and_stream_decide),
        cmocka_unit_test(every_array_of_every_tlb_has_a_stream_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
