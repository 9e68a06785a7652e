/* The compressed TLB organisation step by step, in the shape of kepler's L2 TLB: what is compressible, where it goes,
 * what it displaces, and when the base is replaced (TLB compression, Sections 4.1 to 4.5). Its options are in
 * tlb_compressed_options.c. */
#include "compressed_tlb.h"

enum { BASE_FRAME = 5 << 9 };

static int set_up(void **state)
{
    static struct compressed_tlb t;
    compressed_make(&t, &L2_SHAPE, "");
    *state = &t;
    return 0;
}

static int tear_down(void **state)
{
    compressed_free(*state);
    return 0;
}

/* comp-fig9-vpb, comp-fig9-vd, comp-sec43-split, comp-sec43-index: set 3's base is page number bits 18 and up, 18 of
 * them. All 13 bits between these and the set's five may differ, and one above may not. */
static void a_page_is_compressible_by_the_bits_from_18_up(void **state)
{
    struct compressed_tlb *t = *state;
    const uint64_t base = 0x2aaabULL << 18;
    compressed_free(t);
    compressed_make(t, &L2_SHAPE, "counter=0");
    put(t, base | 3, BASE_FRAME);
    for (unsigned bit = 5; bit < 36; bit++) {
        uint64_t before = compressed_count(t, "compressed_fills", 0);
        put(t, (base | 3) ^ 1ULL << bit, BASE_FRAME + bit);
        assert_int_equal(compressed_count(t, "compressed_fills", 0) - before, bit < 18);
        assert_int_equal(look(t, (base | 3) ^ 1ULL << bit), BASE_FRAME + bit);
    }
}

/* comp-fig9-ppb, comp-fig9-pd, comp-sec43-both, comp-sec43-vonly: nine bits of a frame number may differ, and of what
 * is above them nothing. A page that matches only one of the two bases is stored uncompressed. */
static void a_frame_is_compressible_by_the_bits_from_9_up(void **state)
{
    struct compressed_tlb *t = *state;
    put(t, in_set(0, 1), BASE_FRAME);
    put(t, in_set(0, 2), BASE_FRAME + 511);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    put(t, in_set(0, 3), BASE_FRAME + 512);
    put(t, in_set(0, 1 << 13), BASE_FRAME + 1);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    assert_int_equal(compressed_count(t, "uncompressible", 0), 2);
    assert_int_equal(look(t, in_set(0, 3)), BASE_FRAME + 512);
    assert_int_equal(look(t, in_set(0, 1 << 13)), BASE_FRAME + 1);
}

/* comp-sec41-ways, comp-fig9-two, comp-sec46-ratio-def, comp-sec46-half, comp-sec46-half-l2: 8 ways of a set hold one
 * translation each and 8 hold two, 768 in all. */
static void a_set_holds_8_translations_and_16_compressed_ones(void **state)
{
    struct compressed_tlb *t = *state;
    for (uint64_t set = 0; set < 32; set++) {
        for (uint32_t i = 0; i < 20; i++)
            put(t, in_set(set, i), BASE_FRAME + i);
        assert_int_equal(held(t), set * 24 + 16);
        for (uint32_t i = 0; i < 12; i++)
            put_stranger(t, set, i);
        assert_int_equal(held(t), set * 24 + 24);
    }
    assert_int_equal(held(t), 768);
}

/* comp-sec43-to-comp, comp-sec43-to-uncomp, comp-sec43-lru, comp-sec43-lru-isolated, comp-sec43-lru-isolated2: each
 * kind displaces one translation of its own, the least recently used one. */
static void each_part_of_a_set_has_an_lru_of_its_own(void **state)
{
    struct compressed_tlb *t = *state;
    for (uint32_t i = 0; i < 16; i++)
        put(t, in_set(7, i), BASE_FRAME + i);
    for (uint32_t i = 0; i < 8; i++)
        put_stranger(t, 7, i);
    look(t, in_set(7, 0)); /* now 1 is the oldest place, and stranger 1 the oldest entry */
    look(t, in_set(7, 100ULL << 13));
    put(t, in_set(7, 16), BASE_FRAME + 16);
    assert_int_equal(held(t), 24);
    assert_true(holds(t, in_set(7, 0)) && !holds(t, in_set(7, 1)) && holds(t, in_set(7, 2)));
    for (uint32_t i = 0; i < 8; i++)
        assert_true(holds(t, in_set(7, (100ULL + i) << 13)));
    put_stranger(t, 7, 8);
    assert_int_equal(held(t), 24);
    assert_true(holds(t, in_set(7, 100ULL << 13)) && !holds(t, in_set(7, 101ULL << 13)));
    for (uint32_t i = 2; i <= 16; i++)
        assert_true(holds(t, in_set(7, i)));
}

/* comp-sec41-parallel, comp-sec41-uncomp-hit, comp-sec41-comp-hit, comp-sec41-miss, comp-sec44-three,
 * comp-sec44-hit-uncomp, comp-sec44-hit-comp, comp-sec44-miss: one lookup finds a page in either part, and gives its
 * own frame; a page whose difference is there under another base is not found, nor one whose difference is not. */
static void a_lookup_finds_a_page_in_either_part(void **state)
{
    struct compressed_tlb *t = *state;
    put(t, in_set(9, 5), BASE_FRAME + 77);
    put(t, in_set(9, 1 << 13 | 6), 9 << 9 | 3);
    assert_int_equal(look(t, in_set(9, 5)), BASE_FRAME + 77);
    assert_int_equal(look(t, in_set(9, 1 << 13 | 6)), 9 << 9 | 3);
    assert_int_equal(look(t, in_set(9, 1 << 13 | 5)), UINT32_MAX);
    assert_int_equal(look(t, in_set(9, 6)), UINT32_MAX);
    assert_int_equal(look(t, in_set(10, 5)), UINT32_MAX);
}

/* comp-fig9-meta: places of one entry come and go, and are protected, each for itself. */
static void a_place_has_a_state_of_its_own(void **state)
{
    struct compressed_tlb *t = *state;
    const pw_pfn read_only = pw_frame_word((pw_pfn){BASE_FRAME + 1}, PW_MAY_WRITE);
    put(t, in_set(0, 1), BASE_FRAME);
    put(t, in_set(0, 2), read_only.v);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    assert_int_equal(look(t, in_set(0, 1)), BASE_FRAME);
    assert_int_equal(look(t, in_set(0, 2)), read_only.v);
    assert_int_equal(t->policy->invalidate(t->state, 0, in_set(0, 1), in_set(0, 1) + 1), 1);
    assert_int_equal(look(t, in_set(0, 1)), UINT32_MAX);
    assert_int_equal(look(t, in_set(0, 2)), read_only.v);
}

/* The base carries the address space. */
static void another_address_space_is_uncompressible(void **state)
{
    struct compressed_tlb *t = *state;
    put_as(t, 1, in_set(0, 1), BASE_FRAME);
    put_as(t, 2, in_set(0, 1), BASE_FRAME + 1);
    put_as(t, 2, in_set(0, 2), BASE_FRAME + 2);
    assert_int_equal(compressed_count(t, "uncompressible", 2), 2);
    assert_int_equal(look_as(t, 1, in_set(0, 1)), BASE_FRAME);
    assert_int_equal(look_as(t, 2, in_set(0, 1)), BASE_FRAME + 1);
    assert_int_equal(look_as(t, 1, in_set(0, 2)), UINT32_MAX);
}

/* comp-sec43-perset, comp-sec46-regs: the bases of 32 sets have nothing to do with each other. */
static void every_set_has_a_base_of_its_own(void **state)
{
    struct compressed_tlb *t = *state;
    for (uint32_t set = 0; set < 32; set++)
        for (uint32_t i = 0; i < 2; i++)
            put(t, in_set(set, (uint64_t)set << 13 | i), set << 9 | i);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 64);
    assert_int_equal(compressed_count(t, "uncompressible", 0), 0);
}

/* The base of set 4, some uncompressible translations, and then one that could become the base; whether it did. */
static bool rebases_after(struct compressed_tlb *t, unsigned uncompressible)
{
    put(t, in_set(4, 1), BASE_FRAME);
    for (uint32_t i = 0; i < uncompressible; i++)
        put_stranger(t, 4, i);
    assert_int_equal(compressed_count(t, "rebases", 0), 0);
    put_stranger(t, 4, 500);
    return compressed_count(t, "rebases", 0) == 1;
}

/* comp-sec45-counter, comp-sec45-16, comp-sec45-decrement, comp-sec45-rebase: not after 15, but after 16, with the
 * 17th. */
static void the_17th_uncompressible_translation_becomes_the_base(void **state)
{
    struct compressed_tlb *t = *state;
    assert_false(rebases_after(t, 15));
    assert_int_equal(compressed_count(t, "uncompressible", 0), 16);
    put_stranger(t, 4, 501);
    assert_int_equal(compressed_count(t, "rebases", 0), 1);
    compressed_free(t);
    compressed_make(t, &L2_SHAPE, "");
    assert_true(rebases_after(t, 16));
    assert_int_equal(compressed_count(t, "uncompressible", 0), 16);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    put(t, in_set(4, 600ULL << 13 | 1), 1500 << 9 | 9); /* by the new base */
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 3);
    for (uint32_t i = 17; i < 33; i++) /* and the counter has started over */
        put_stranger(t, 4, i);
    assert_int_equal(compressed_count(t, "rebases", 0), 1);
    put_stranger(t, 4, 33);
    assert_int_equal(compressed_count(t, "rebases", 0), 2);
}

/* Neither compressible translations nor ones that are there already count. */
static void only_uncompressible_insertions_lower_the_counter(void **state)
{
    struct compressed_tlb *t = *state;
    put(t, in_set(4, 1), BASE_FRAME);
    for (uint32_t i = 0; i < 15; i++)
        put_stranger(t, 4, i);
    for (uint32_t i = 0; i < 100; i++) {
        put_stranger(t, 4, 14);
        put(t, in_set(4, 2 + i % 3), BASE_FRAME + 1 + i % 3);
        put_stranger(t, 5, i);
    }
    put_stranger(t, 4, 15);
    assert_false(holds(t, in_set(4, 105ULL << 13))); /* 8 entries */
    assert_true(holds(t, in_set(4, 1)));
    put(t, in_set(4, 1), BASE_FRAME); /* that is there already */
    assert_true(holds(t, in_set(4, 2)));
    put(t, in_set(4, 10), BASE_FRAME + 10); /* a compressible one can be the new base */
    assert_false(holds(t, in_set(4, 1)) || holds(t, in_set(4, 2)));
    assert_true(holds(t, in_set(4, 10)));
}

/* comp-sec45-flush, comp-sec52-flush-keeps-uncomp: the places of the set go, and nothing else. */
static void a_new_base_flushes_the_places_of_its_set(void **state)
{
    struct compressed_tlb *t = *state;
    put(t, in_set(5, 1), BASE_FRAME);
    for (uint32_t i = 1; i <= 10; i++)
        put(t, in_set(4, i), BASE_FRAME + i);
    for (uint32_t i = 0; i < 16; i++)
        put_stranger(t, 4, i);
    assert_int_equal(held(t), 1 + 10 + 8);
    put_stranger(t, 4, 16);
    assert_int_equal(compressed_count(t, "rebase_flushed", 0), 10);
    assert_int_equal(held(t), 1 + 1 + 8);
    assert_true(holds(t, in_set(5, 1)));
    for (uint32_t i = 8; i < 16; i++)
        assert_true(holds(t, in_set(4, (100ULL + i) << 13)));
    for (uint32_t i = 1; i <= 10; i++)
        assert_int_equal(look(t, in_set(4, i)), UINT32_MAX);
}

/* comp-sec45-naive, comp-sec46-first-base: without a counter the first translation of a set stays its base. */
static void without_a_counter_the_base_stays(void **state)
{
    struct compressed_tlb *t = *state;
    compressed_free(t);
    compressed_make(t, &L2_SHAPE, "counter=0");
    put(t, in_set(4, 1), BASE_FRAME);
    for (uint32_t i = 0; i < 1000; i++)
        put_stranger(t, 4, i);
    put(t, in_set(4, 2), BASE_FRAME + 2);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
    assert_int_equal(compressed_count(t, "rebases", 0), 0);
    assert_int_equal(held(t), 2 + 8);
}

/* A page that is mapped elsewhere now is in one place only, whichever of the two it was in. */
static void a_changed_frame_replaces_the_old_one(void **state)
{
    struct compressed_tlb *t = *state;
    put(t, in_set(0, 1), BASE_FRAME);
    put(t, in_set(0, 1), 7 << 9);
    assert_int_equal(held(t), 1);
    assert_int_equal(look(t, in_set(0, 1)), 7 << 9);
    put(t, in_set(0, 1), BASE_FRAME + 4);
    assert_int_equal(held(t), 1);
    assert_int_equal(look(t, in_set(0, 1)), BASE_FRAME + 4);
    assert_int_equal(compressed_count(t, "compressed_fills", 0), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_page_is_compressible_by_the_bits_from_18_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_frame_is_compressible_by_the_bits_from_9_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_set_holds_8_translations_and_16_compressed_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_part_of_a_set_has_an_lru_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lookup_finds_a_page_in_either_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_place_has_a_state_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_address_space_is_uncompressible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_set_has_a_base_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_17th_uncompressible_translation_becomes_the_base, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_uncompressible_insertions_lower_the_counter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_base_flushes_the_places_of_its_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_counter_the_base_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_frame_replaces_the_old_one, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
