/* The options of the compressed TLB organisation (TLB compression, Sections 4.6, 4.7 and 5.2): who shares a base, how
 * many translations an entry has, how the ways are divided, which translation becomes the base, and what cannot be. */
#include "compressed_tlb.h"
#include "policy/tlb/base_search.h"

enum { BASE_FRAME = 5 << 9, SETS = 32 };

static struct compressed_tlb made;

static struct compressed_tlb *make(const struct pw_tlb_shape *shape, const char *options)
{
    compressed_make(&made, shape, options);
    return &made;
}

static int tear_down(void **state)
{
    (void)state;
    compressed_free(&made);
    return 0;
}

/* Whether a set, of which nothing was put in yet, uses the base that set 3 has. */
static bool shares_with_3(struct compressed_tlb *t, uint64_t set)
{
    uint64_t before = compressed_count(t, "compressed_fills", 0);
    put(t, in_set(set, 9ULL << 13), 9 << 9); /* it would be the first base of a pair without one */
    return compressed_count(t, "compressed_fills", 0) == before;
}

/* Sets with the same lower index bits share a base, and no others. */
static void check_sharing(const char *options, unsigned pairs)
{
    struct compressed_tlb *t = make(&L2_SHAPE, options);
    put(t, in_set(3, 1), BASE_FRAME);
    for (uint64_t set = 0; set < SETS; set++)
        if (set != 3)
            assert_int_equal(shares_with_3(t, set), set % pairs == 3 % pairs);
}

/* comp-sec46-shared-index, comp-sec46-shared-2: 16 pairs for 32 sets, chosen by four bits. */
static void two_sets_share_a_base_by_four_index_bits(void **state)
{
    (void)state;
    check_sharing("sets_per_base=2", 16);
}

/* comp-sec46-shared-index, comp-sec52-shared-4: 8 pairs, chosen by three bits. */
static void four_sets_share_a_base_by_three_index_bits(void **state)
{
    (void)state;
    check_sharing("sets_per_base=4", 8);
}

/* comp-sec52-shared-flush: 16 uncompressible translations of the two sets together, and the places of both go. */
static void a_shared_base_has_one_counter_and_flushes_all_its_sets(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "sets_per_base=2");
    for (uint32_t i = 0; i < 5; i++) {
        put(t, in_set(3, i), BASE_FRAME + i);
        put(t, in_set(19, i), BASE_FRAME + 10 + i);
        put(t, in_set(4, i), BASE_FRAME + 20 + i);
    }
    for (uint32_t i = 0; i < 8; i++) {
        put_stranger(t, 3, i);
        put_stranger(t, 19, i);
    }
    assert_int_equal(compressed_count(t, "rebases", 0), 0);
    put_stranger(t, 19, 8);
    assert_int_equal(compressed_count(t, "rebases", 0), 1);
    assert_int_equal(compressed_count(t, "rebase_flushed", 0), 10);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(!holds(t, in_set(3, i)) && !holds(t, in_set(19, i)) && holds(t, in_set(4, i)));
    assert_int_equal(held(t), 5 + 16 + 1);
}

/* comp-sec46-global: the only base of the array takes all places with it. */
static void one_base_for_all_sets_flushes_every_place(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "sets_per_base=0");
    for (uint32_t set = 0; set < SETS; set++)
        put(t, in_set(set, 1), BASE_FRAME + set);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 32);
    for (uint32_t i = 0; i < 17; i++)
        put_stranger(t, i, i);
    assert_int_equal(compressed_count(t, "rebase_flushed", 0), 32);
    assert_int_equal(held(t), 16 + 1);
}

/* How many translations set 6 holds, compressible and not, of more than it has room for. */
static void check_room(const char *options, unsigned compressed, unsigned uncompressed)
{
    struct compressed_tlb *t = make(&L2_SHAPE, options);
    for (uint32_t i = 0; i < 100; i++)
        put(t, in_set(6, i), BASE_FRAME + i);
    assert_int_equal(held(t), compressed);
    for (uint32_t i = 0; i < 15; i++)
        put_stranger(t, 6, i);
    assert_int_equal(held(t), compressed + uncompressed);
}

/* comp-sec52-ratio3: three in each of 8 entries. */
static void ratio_3_has_three_translations_in_an_entry(void **state)
{
    (void)state;
    check_room("ratio=3", 24, 8);
}

static void ratio_4_has_four_translations_in_an_entry(void **state)
{
    (void)state;
    check_room("ratio=4", 32, 8);
}

/* comp-sec52-partition-7525 */
static void a_quarter_compressed_leaves_12_ways(void **state)
{
    (void)state;
    check_room("share=25", 8, 12);
}

/* comp-sec52-partition-2575 */
static void three_quarters_compressed_leave_4_ways(void **state)
{
    (void)state;
    check_room("share=75", 24, 4);
}

static void nothing_compressed_leaves_all_ways(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "share=0");
    for (uint32_t i = 0; i < 100; i++)
        put(t, in_set(6, i), BASE_FRAME + i);
    assert_int_equal(held(t), 16);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 0);
}

/* comp-sec46-allcomp: of uncompressible translations only the last is there, whatever its set, so that whoever asked
 * for it is served; every other misses, and none could be a base. */
static void without_uncompressed_ways_one_uncompressible_translation_is_there(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "share=100 search=on");
    for (uint32_t i = 0; i < 40; i++)
        put(t, in_set(6, i), BASE_FRAME + i);
    put(t, in_set(7, 1), BASE_FRAME);
    assert_int_equal(held(t), 33);
    for (uint32_t i = 0; i < 16; i++) {
        put_stranger(t, 6 + i % 2, i);
        assert_int_equal(held(t), 34);
        assert_int_equal(look(t, in_set(6 + i % 2, (100ULL + i) << 13)), (1000 + i) << 9);
    }
    for (uint32_t i = 16; i < 24; i++)
        put_stranger(t, 6, i);
    put(t, in_set(6, 7ULL << 13), 7 << 9); /* the newest is the base */
    put(t, in_set(6, 7ULL << 13 | 1), 7 << 9 | 1);
    assert_int_equal(compressed_count(t, "rebases", 0), 1);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 43);
}

/* The nearest number of ways, and the lower of two. */
static void shares_are_rounded_to_ways(void **state)
{
    (void)state;
    const struct {
        uint32_t entries, ways;
        const char *options;
        unsigned compressed, uncompressed;
    } rows[] = {{1, 1, "share=50", 0, 1},  {1, 1, "share=51", 2, 1},   {6, 3, "share=50", 2, 2},
                {3, 3, "share=34", 2, 2},  {10, 10, "share=4", 0, 10}, {10, 0, "share=6", 2, 9},
                {10, 0, "share=96", 20, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_tlb_shape shape = {.entries = rows[i].entries, .ways = rows[i].ways, .subpages = 1};
        uint64_t sets = rows[i].ways ? rows[i].entries / rows[i].ways : 1;
        struct compressed_tlb *t = make(&shape, rows[i].options);
        for (uint32_t k = 0; k < 30; k++)
            put(t, k * sets, BASE_FRAME + k);
        unsigned before = held(t);
        assert_int_equal(before, rows[i].compressed ? rows[i].compressed : rows[i].uncompressed);
        for (uint32_t k = 0; k < 15; k++)
            put(t, (100ULL + k) << 30, (1000 + k) << 9);
        assert_int_equal(held(t), rows[i].compressed + rows[i].uncompressed);
        compressed_free(t);
    }
    make(&L1_SHAPE, "");
}

/* comp-sec47-l1-one-base, comp-sec47-l1-ways, comp-sec47-l1-48: as compress-l1 has it. Two of four ways are compressed,
 * and all sets have one base. */
static void the_l1_tlb_holds_48_translations_with_one_base(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L1_SHAPE, "sets_per_base=0");
    for (uint32_t i = 0; i < 100; i++)
        put(t, i, BASE_FRAME + i);
    assert_int_equal(held(t), 32); /* 8 sets of two entries of two */
    for (uint64_t set = 0; set < 8; set++)
        for (uint32_t i = 0; i < 2; i++) {
            put(t, (100ULL + i) << 20 | set, (1000 + i) << 9);
            assert_int_equal(compressed_count(t, "uncompressible", 0), set * 2 + i + 1);
        }
    assert_int_equal(held(t), 48);
    put(t, 7ULL << 30, 7 << 9);
    assert_int_equal(compressed_count(t, "rebase_flushed", 0), 32);
}

/* Ten times three uncompressible translations and a compressible one; then four of the former and one more. */
static void check_consecutive(const char *options, unsigned rebases, unsigned after_more)
{
    struct compressed_tlb *t = make(&L2_SHAPE, options);
    put(t, in_set(6, 0), BASE_FRAME);
    for (uint32_t i = 0; i < 10; i++) {
        for (uint32_t k = 0; k < 3; k++)
            put_stranger(t, 6, 3 * i + k);
        put(t, in_set(6, 1 + i), BASE_FRAME + 1 + i);
    }
    assert_int_equal(compressed_count(t, "rebases", 0), rebases);
    for (uint32_t i = 30; i < 35; i++)
        put_stranger(t, 6, i);
    assert_int_equal(compressed_count(t, "rebases", 0), after_more);
}

static void a_compressible_translation_restarts_a_consecutive_counter(void **state)
{
    (void)state;
    check_consecutive("consecutive=on counter=4", 0, 1);
}

static void a_compressible_translation_restarts_no_other_counter(void **state)
{
    (void)state;
    check_consecutive("counter=30", 1, 1);
}

/* Eight uncompressed entries of set 6: six around tag 7 << 13, two strangers. What comes next is a stranger. */
static void fill_for_search(struct compressed_tlb *t)
{
    put(t, in_set(6, 0), BASE_FRAME);
    for (uint32_t i = 0; i < 14; i++)
        put(t, in_set(6, 7ULL << 13 | i), 7 << 9 | i);
    put_stranger(t, 6, 0);
    put_stranger(t, 6, 1);
    put_stranger(t, 6, 2);
    assert_int_equal(compressed_count(t, "rebases", 0), 1);
}

/* comp-sec46-search: the base is the entry from which the others need the fewest bits. It stays where it is. */
static void a_searched_base_is_the_one_with_the_nearest_entries(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "search=on");
    fill_for_search(t);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 1);
    assert_true(holds(t, in_set(6, 7ULL << 13 | 13)));
    put(t, in_set(6, 7ULL << 13 | 100), 7 << 9 | 100);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
}

/* comp-sec46-newest */
static void otherwise_the_newest_translation_is_the_base(void **state)
{
    (void)state;
    struct compressed_tlb *t = make(&L2_SHAPE, "search=off");
    fill_for_search(t);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    put(t, in_set(6, 7ULL << 13 | 100), 7 << 9 | 100);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    put(t, in_set(6, 102ULL << 13 | 1), 1002 << 9 | 1);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 3);
}

static void the_best_base_needs_the_fewest_bits_in_all(void **state)
{
    (void)state;
    make(&L2_SHAPE, "");
    const struct base_candidate newest = {.tag = 77}, all[] = {{.tag = 0x10f, .unit = 1},
                                                               {.tag = 0x100, .unit = 1},
                                                               {.tag = 0x101, .unit = 0x40},
                                                               {.tag = 0x108, .unit = 1},
                                                               {.tag = 0x101, .unit = 1, .asid = 1}};
    assert_int_equal(base_search(all, 0, newest).tag, 77);
    assert_int_equal(base_search(all, 2, newest).tag, 0x10f); /* as good as the other, and first */
    assert_int_equal(base_bits_from(&all[1], all, 4), 4 + (1 + 7) + 4);
    assert_int_equal(base_search(all, 4, newest).tag, 0x100);
    assert_int_equal(base_search(all, 5, newest).asid, 0);
}

/* comp-sec46-first-base: a set's base is its first translation of the run or, if so chosen, of each launch. One that
 * fits the base there is flushes nothing; one of another application's launch changes nothing. */
static void a_launch_may_begin_with_a_new_base(void **state)
{
    (void)state;
    for (unsigned per_launch = 0; per_launch < 2; per_launch++) {
        struct compressed_tlb *t = make(&L2_SHAPE, per_launch ? "first_base=launch" : "first_base=run");
        put(t, in_set(6, 0), BASE_FRAME);
        put(t, in_set(5, 0), BASE_FRAME);
        t->policy->launch(t->state, 1);
        put(t, in_set(6, 1ULL << 13), 7 << 9);
        assert_int_equal(compressed_count(t, "uncompressible", 0), 1);
        t->policy->launch(t->state, 0);
        put_as(t, 1, in_set(6, 1), BASE_FRAME);
        put(t, in_set(5, 1), BASE_FRAME + 1);
        put(t, in_set(6, 2ULL << 13), 7 << 9 | 1);
        put(t, in_set(6, 2ULL << 13 | 1), 7 << 9 | 2);
        assert_int_equal(compressed_count(t, "rebases", 0), per_launch);
        assert_int_equal(compressed_count(t, "rebase_flushed", 0), per_launch);
        assert_int_equal(compressed_count(t, "compressed_fills", 0), 3 + 2 * per_launch);
        assert_int_equal(compressed_count(t, "uncompressible", 1), 1);
        assert_true(holds(t, in_set(5, 0)));
        if (!per_launch)
            compressed_free(t);
    }
}

/* Frame numbers count in units of the page size; one that is no multiple of it has no difference from any base. */
static void large_pages_are_compressed_in_units_of_their_size(void **state)
{
    (void)state;
    const struct pw_tlb_shape shape = {.entries = 512, .ways = 16, .subpages = 1, .order = PW_PAGE_2M};
    struct compressed_tlb *t = make(&shape, "");
    put(t, in_set(0, 8), 7);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 0);
    for (uint32_t i = 0; i < 4; i++)
        put(t, in_set(0, i), (i * 170) << 9);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 4);
    put(t, in_set(0, 9), 512 << 9);
    put(t, in_set(0, 10), 170 << 9 | 4);
    assert_int_equal(compressed_count(t, "uncompressible", 0), 3);
    assert_int_equal(look(t, in_set(0, 3)), 510 << 9);
    assert_int_equal(look(t, in_set(0, 10)), 170 << 9 | 4);
}

static void what_cannot_be_is_refused_in_one_line(void **state)
{
    (void)state;
    const struct {
        struct pw_tlb_shape shape;
        const char *options, *message;
    } rows[] = {{{.entries = 512, .ways = 16, .subpages = 1},
                 "sets_per_base=3",
                 "3 sets of a TLB cannot share a base where there are 32; give a number that divides them"},
                {{.entries = 512, .ways = 3, .subpages = 1},
                 "",
                 "a TLB of 512 entries cannot have 3 ways; give ways that divide the entries, or 0 for fully "
                 "associative"},
                {{.entries = 1 << 30, .ways = 16, .subpages = 1},
                 "share=100",
                 "a compressed TLB of 1073741824 entries is too large; give at most 67108864"},
                {{.entries = 512, .ways = 16, .subpages = 3},
                 "",
                 "a TLB entry of 3 pages is not possible; give a power of two up to 4096"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_error err;
        assert_int_equal(compressed_try(&made, &rows[i].shape, rows[i].options, &err), PW_USER_ERROR);
        assert_string_equal(err.message, rows[i].message);
        compressed_free(&made);
    }
    make(&L2_SHAPE, "sets_per_base=1000");
    put(&made, 0, BASE_FRAME);
    put(&made, 1, BASE_FRAME + 512);
    assert_int_equal(compressed_count(&made, "uncompressible", 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(two_sets_share_a_base_by_four_index_bits, tear_down),
        cmocka_unit_test_teardown(four_sets_share_a_base_by_three_index_bits, tear_down),
        cmocka_unit_test_teardown(a_shared_base_has_one_counter_and_flushes_all_its_sets, tear_down),
        cmocka_unit_test_teardown(one_base_for_all_sets_flushes_every_place, tear_down),
        cmocka_unit_test_teardown(ratio_3_has_three_translations_in_an_entry, tear_down),
        cmocka_unit_test_teardown(ratio_4_has_four_translations_in_an_entry, tear_down),
        cmocka_unit_test_teardown(a_quarter_compressed_leaves_12_ways, tear_down),
        cmocka_unit_test_teardown(three_quarters_compressed_leave_4_ways, tear_down),
        cmocka_unit_test_teardown(nothing_compressed_leaves_all_ways, tear_down),
        cmocka_unit_test_teardown(without_uncompressed_ways_one_uncompressible_translation_is_there, tear_down),
        cmocka_unit_test_teardown(shares_are_rounded_to_ways, tear_down),
        cmocka_unit_test_teardown(the_l1_tlb_holds_48_translations_with_one_base, tear_down),
        cmocka_unit_test_teardown(a_compressible_translation_restarts_a_consecutive_counter, tear_down),
        cmocka_unit_test_teardown(a_compressible_translation_restarts_no_other_counter, tear_down),
        cmocka_unit_test_teardown(a_searched_base_is_the_one_with_the_nearest_entries, tear_down),
        cmocka_unit_test_teardown(otherwise_the_newest_translation_is_the_base, tear_down),
        cmocka_unit_test_teardown(the_best_base_needs_the_fewest_bits_in_all, tear_down),
        cmocka_unit_test_teardown(a_launch_may_begin_with_a_new_base, tear_down),
        cmocka_unit_test_teardown(large_pages_are_compressed_in_units_of_their_size, tear_down),
        cmocka_unit_test_teardown(what_cannot_be_is_refused_in_one_line, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
