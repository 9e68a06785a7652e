/* An address space that finds no frame: what it asks the page manager for, in which order, and when it gives up. */
#include "mosaic.h"

/* A large page of application 0 with `free` of its pages given back, kept for an emergency. */
static pw_vpn keep(struct mosaic *w, unsigned free)
{
    pw_vpn a = mosaic_allocate(w, 0, MOSAIC_PAGES);
    assert_true(mosaic_is_large(w, 0, a));
    mosaic_free(w, 0, a, free);
    assert_true(mosaic_is_large(w, 0, a));
    return a;
}

/* Fills all that is free outside large pages, in whole regions and then page by page. */
static void fill(struct mosaic *w, pw_asid asid)
{
    for (uint32_t i = 0; pw_frames_free_blocks(w->physical.frames); i++)
        mosaic_allocate(w, asid, MOSAIC_PAGES);
}

/* Decides mosaic-sec42-frames-exhausted: a region and an odd page are given large frames, by compaction if need be;
 * then kept pages of the application's own are splintered, one at a time; then frames of others are shared, which is
 * counted; and only when all that is used up is a page of another's splintered. */
static void large_pages_are_splintered_one_at_a_time_and_the_askers_first(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 8};
    mosaic_open(&w);
    pw_vpn kept[2] = {keep(&w, 100), keep(&w, 100)};
    fill(&w, 1);
    assert_int_equal(pw_frames_free_blocks(w.physical.frames), 0);
    /* Application 0: its own pages, in a region too. */
    pw_vpn a = mosaic_reserve(&w, 0, MOSAIC_PAGES);
    uint32_t block = mosaic_block(&w, 0, kept[0].v + 200);
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(mosaic_map(&w, 0, (pw_vpn){a.v + i}, 1));
        assert_int_equal(mosaic_block(&w, 0, a.v + i), block);
    }
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 1);
    assert_false(mosaic_is_large(&w, 0, kept[0]));
    assert_true(mosaic_is_large(&w, 0, kept[1]));
    /* Application 1 has none: what is left beside page tables comes first. */
    pw_vpn b = mosaic_reserve(&w, 1, 3 * MOSAIC_PAGES);
    uint64_t pages = 0, outside = pw_frames_free(w.physical.frames) - 100;
    for (; w.physical.violations == 0; pages++)
        assert_true(mosaic_map(&w, 1, (pw_vpn){b.v + pages}, 1));
    assert_true(mosaic_is_large(&w, 0, kept[1]));
    while (pw_frames_free(w.physical.frames) > 100)
        assert_true(mosaic_map(&w, 1, (pw_vpn){b.v + pages++}, 1));
    assert_true(mosaic_is_large(&w, 0, kept[1]));
    assert_true(pages > 2 && pages <= outside);
    while (pw_frames_free(w.physical.frames) > 0)
        assert_true(mosaic_map(&w, 1, (pw_vpn){b.v + pages++}, 1));
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 2);
    assert_false(mosaic_is_large(&w, 0, kept[1]));
    assert_false(mosaic_map(&w, 1, (pw_vpn){b.v + pages}, 1));
    mosaic_close(&w);
}

static void compaction_comes_before_everything_else(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 40, .page = {.fragmentation = 50, .occupancy = 10}};
    mosaic_open(&w);
    keep(&w, 100);
    fill(&w, 1);
    for (unsigned i = 1; i <= 10; i++) {
        pw_vpn a = mosaic_allocate(&w, i % 2 ? 0 : 2, MOSAIC_PAGES);
        assert_true(mosaic_is_large(&w, i % 2 ? 0 : 2, a));
    }
    assert_int_equal(mosaic_counters(&w, 0)->compactions + mosaic_counters(&w, 2)->compactions, 10);
    assert_int_equal(mosaic_counters(&w, 0)->emergencies, 0);
    assert_int_equal(w.physical.violations, 0);
    mosaic_close(&w);
}

/* Evicting a page ends its large page before it is unmapped; when it has come back the region is whole again. */
static void a_page_that_is_evicted_ends_its_large_page(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 6};
    mosaic_open(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES), odd = mosaic_reserve(&w, 0, 10);
    assert_true(mosaic_is_large(&w, 0, a));
    uint32_t block = mosaic_block(&w, 0, a.v);
    pw_address_space_unmap(&w.spaces[0], (pw_vpn){a.v + 7});
    assert_false(mosaic_is_large(&w, 0, a));
    assert_int_equal(mosaic_counters(&w, 0)->splintered, 1);
    assert_true(mosaic_map(&w, 0, odd, 10));
    assert_int_not_equal(mosaic_block(&w, 0, odd.v), block);
    assert_true(mosaic_map(&w, 0, (pw_vpn){a.v + 7}, 1));
    assert_true(mosaic_is_large(&w, 0, a));
    mosaic_close(&w);
}

/* Pages of an allocation that is being freed leave their large page as it is; it goes with the last of them. */
static void a_page_that_is_freed_leaves_its_large_page_alone(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 6};
    mosaic_open(&w);
    pw_vpn a = mosaic_reserve(&w, 0, MOSAIC_PAGES);
    assert_true(mosaic_map(&w, 0, a, MOSAIC_PAGES));
    for (uint64_t i = 0; i < MOSAIC_PAGES; i++) {
        assert_true(mosaic_is_large(&w, 0, a));
        pw_pfn frame = mosaic_frame(&w, 0, a.v + i);
        assert_int_equal(pw_address_space_unmap_freed(&w.spaces[0], (pw_vpn){a.v + i}).v, frame.v);
        assert_int_equal(pw_frames_owner(w.physical.frames, frame), PW_OWNER_FREE);
    }
    mosaic_free_all(&w, 0, a);
    assert_false(mosaic_is_large(&w, 0, a));
    assert_int_equal(mosaic_counters(&w, 0)->splintered, 0);
    assert_int_equal(mosaic_counters(&w, 0)->flushes, 0);
    mosaic_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages_are_splintered_one_at_a_time_and_the_askers_first),
        cmocka_unit_test(compaction_comes_before_everything_else),
        cmocka_unit_test(a_page_that_is_evicted_ends_its_large_page),
        cmocka_unit_test(a_page_that_is_freed_leaves_its_large_page_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
