/* Frames: runs, owners, searches across the levels of the summaries, limits. */
#include "page/frames.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

enum { BLOCK = 512, OWNER = PW_OWNER_APP, OTHER = PW_OWNER_APP + 1 };

static struct pw_frames *create(uint64_t bytes)
{
    struct pw_frames *f = NULL;
    struct pw_error err;
    assert_int_equal(pw_frames_create(bytes, &f, &err), PW_OK);
    return f;
}

static void check(struct pw_frames *f)
{
    struct pw_error err = {0};
    if (pw_frames_check(f, &err))
        fail_msg("%s", err.message);
}

static uint32_t take(struct pw_frames *f, enum pw_page_order order, uint32_t from)
{
    pw_pfn out = {UINT32_MAX};
    assert_true(pw_frames_take(f, order, (pw_pfn){from}, OWNER, &out));
    return out.v;
}

static bool can_take(struct pw_frames *f, enum pw_page_order order, uint32_t from)
{
    pw_pfn out;
    return pw_frames_take(f, order, (pw_pfn){from}, OWNER, &out);
}

/* Decides mosaic-sec4-pages-per-frame and mosaic-sec1-large-page-frame. */
static void a_large_frame_is_512_aligned_frames(void **state)
{
    (void)state;
    struct pw_frames *f = create(8 * MIB);
    assert_int_equal(take(f, PW_PAGE_4K, 0), 0);
    assert_int_equal(take(f, PW_PAGE_2M, 0), 512);
    assert_int_equal(pw_frames_free(f), 4 * 512 - 513);
    assert_int_equal(pw_frames_owner(f, (pw_pfn){511}), PW_OWNER_FREE);
    assert_int_equal(pw_frames_owner(f, (pw_pfn){512}), OWNER);
    assert_int_equal(pw_frames_owner(f, (pw_pfn){1023}), OWNER);
    assert_int_equal(pw_frames_owner(f, (pw_pfn){1024}), PW_OWNER_FREE);
    check(f);
    pw_frames_destroy(f);
}

static void the_lowest_aligned_run_at_or_above_the_place_is_taken(void **state)
{
    (void)state;
    struct pw_frames *f = create(6 * MIB);
    assert_int_equal(take(f, PW_PAGE_4K, 5), 5);
    assert_int_equal(take(f, PW_PAGE_4K, 5), 6);
    assert_int_equal(take(f, PW_PAGE_4K, 0), 0);
    assert_int_equal(take(f, PW_PAGE_64K, 0), 16);
    assert_int_equal(take(f, PW_PAGE_64K, 33), 48);
    assert_int_equal(take(f, PW_PAGE_64K, 32), 32);
    assert_int_equal(take(f, PW_PAGE_64K, 500), BLOCK);
    assert_int_equal(take(f, PW_PAGE_2M, 0), 2 * BLOCK);
    assert_int_equal(take(f, PW_PAGE_4K, 511), 511);
    assert_int_equal(take(f, PW_PAGE_4K, 511), BLOCK + 16);
    check(f);
    assert_false(can_take(f, PW_PAGE_2M, 0));
    assert_false(can_take(f, PW_PAGE_4K, 2 * BLOCK));
    assert_false(can_take(f, PW_PAGE_4K, 3 * BLOCK));
    assert_false(can_take(f, PW_PAGE_4K, UINT32_MAX));
    check(f);
    pw_frames_destroy(f);
}

static void a_large_run_above_a_place_inside_a_free_block_starts_in_the_next(void **state)
{
    (void)state;
    struct pw_frames *f = create(4 * MIB);
    assert_int_equal(take(f, PW_PAGE_2M, 1), BLOCK);
    assert_false(can_take(f, PW_PAGE_2M, 1));
    assert_int_equal(take(f, PW_PAGE_2M, 0), 0);
    check(f);
    pw_frames_destroy(f);
}

static void only_the_owner_of_every_frame_gives_a_run_back(void **state)
{
    (void)state;
    struct pw_frames *f = create(2 * MIB);
    assert_true(pw_frames_take_at(f, PW_PAGE_64K, (pw_pfn){32}, OWNER));
    assert_false(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){40}, OTHER));
    assert_false(pw_frames_take_at(f, PW_PAGE_2M, (pw_pfn){0}, OTHER));
    assert_false(pw_frames_take_at(f, PW_PAGE_64K, (pw_pfn){8}, OTHER));
    assert_false(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){512}, OTHER));
    assert_false(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){0}, PW_OWNER_FREE));
    assert_false(pw_frames_release(f, PW_PAGE_64K, (pw_pfn){32}, OTHER));
    assert_false(pw_frames_release(f, PW_PAGE_64K, (pw_pfn){48}, OWNER));
    assert_false(pw_frames_release(f, PW_PAGE_4K, (pw_pfn){48}, PW_OWNER_FREE));
    assert_true(pw_frames_release(f, PW_PAGE_4K, (pw_pfn){40}, OWNER));
    assert_true(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){40}, OTHER));
    assert_false(pw_frames_release(f, PW_PAGE_64K, (pw_pfn){32}, OWNER));
    assert_int_equal(pw_frames_free(f), 512 - 16);
    assert_true(pw_frames_release(f, PW_PAGE_4K, (pw_pfn){40}, OTHER));
    assert_true(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){40}, OWNER));
    assert_int_equal(pw_frames_free_blocks(f), 0);
    assert_true(pw_frames_release(f, PW_PAGE_64K, (pw_pfn){32}, OWNER));
    assert_int_equal(pw_frames_free_blocks(f), 1);
    check(f);
    pw_frames_destroy(f);
}

/* 64 * 64 + 1 blocks use three levels of the summaries. */
static void a_search_crosses_every_level_of_the_summaries(void **state)
{
    (void)state;
    enum { BLOCKS = 64 * 64 + 1 };
    struct pw_frames *f = create(2 * MIB * BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_int_equal(take(f, PW_PAGE_2M, 0), i * BLOCK);
    for (unsigned i = 0; i < 3; i++)
        assert_false(can_take(f, (enum pw_page_order[]){PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M}[i], 0));
    const uint32_t holes[] = {4096, 4095, 4032, 64, 63, 1};
    for (unsigned i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        assert_true(pw_frames_release(f, PW_PAGE_2M, (pw_pfn){holes[i] * BLOCK}, OWNER));
        assert_int_equal(take(f, PW_PAGE_2M, BLOCK), holes[i] * BLOCK);
        assert_true(pw_frames_release(f, PW_PAGE_2M, (pw_pfn){holes[i] * BLOCK}, OWNER));
    }
    check(f);
    assert_int_equal(take(f, PW_PAGE_4K, 65 * BLOCK), 4032 * BLOCK);
    assert_int_equal(take(f, PW_PAGE_64K, 4033 * BLOCK), 4095 * BLOCK);
    assert_int_equal(take(f, PW_PAGE_2M, 4095 * BLOCK), 4096 * BLOCK);
    check(f);
    pw_frames_destroy(f);
}

static void sizes_are_whole_blocks_within_the_frame_numbers(void **state)
{
    (void)state;
    struct pw_frames *f = create(5 * MIB);
    assert_int_equal(pw_frames_total(f), 2 * BLOCK);
    pw_frames_destroy(f);
    struct pw_error err = {0};
    assert_int_equal(pw_frames_create(2 * MIB - 1, &f, &err), PW_USER_ERROR);
    assert_int_equal(pw_frames_create(16384 * GIB, &f, &err), PW_USER_ERROR);
    f = create(144 * GIB);
    assert_int_equal(pw_frames_free(f), 144 * 262144);
    assert_int_equal(take(f, PW_PAGE_2M, 143U * 262144), 143 * 262144);
    pw_frames_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_frame_is_512_aligned_frames),
        cmocka_unit_test(the_lowest_aligned_run_at_or_above_the_place_is_taken),
        cmocka_unit_test(a_large_run_above_a_place_inside_a_free_block_starts_in_the_next),
        cmocka_unit_test(only_the_owner_of_every_frame_gives_a_run_back),
        cmocka_unit_test(a_search_crosses_every_level_of_the_summaries),
        cmocka_unit_test(sizes_are_whole_blocks_within_the_frame_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
