/* Mosaic in whole runs: with every way in which data comes, with pages that leave again, and with several applications.
 * Every identity is checked at the end of each run: frames, TLB entries, requests, large pages. */
#include "timed.h"

#include "vm/page_manager_internal.h"

enum { LARGE = 2 << 20 };

/* Loads from every page of the array, 32 pages at a time, t->n[0] times over. */
static void touch(struct pw_warp *w, struct timed *t)
{
    for (uint64_t again = 0; again < t->n[0]; again++)
        for (uint64_t i = 0; i < t->bytes / PW_PAGE_BYTES; i += 32) {
            timed_load_lanes(w, t, i * PW_PAGE_BYTES, 32, PW_PAGE_BYTES);
            pw_use(w);
        }
}

/* Frees its array and takes another one, t->n[1] times. */
static void come_and_go(struct pw_host *h, struct timed *t)
{
    for (uint64_t i = 0; i <= t->n[1]; i++) {
        t->a = pw_alloc(h, "a", t->bytes, 1);
        timed_launch(h, t);
        pw_free(h, &t->a);
    }
}

static const char *const modes[] = {"paging.mode=free", "paging.mode=preload", "paging.mode=demand"};
static const char *const designs[] = {"mosaic", "mosaic-no-cac", "mosaic-cac-bc", "mosaic-ideal-cac"};

static void large_pages_come_and_go_with_their_allocations(void **state)
{
    (void)state;
    for (size_t d = 0; d < 4; d++)
        for (size_t m = 0; m < 3; m++) {
            struct timed t = {.design = designs[d],
                              .sets = {modes[m]},
                              .bytes = 2 * LARGE + LARGE / 2,
                              .kernel = touch,
                              .body = come_and_go,
                              .n = {1, 2}};
            timed_run(&t);
            assert_int_equal(timed_count(&t, "page.coalesced"), 3 * 2);
            /* A page that is freed altogether needs no compaction, no flush and no write. */
            assert_int_equal(timed_count(&t, "page.table_writes"), 3 * 2 * 33);
            assert_int_equal(timed_count(&t, "page.splintered"), 0);
            assert_int_equal(timed_count(&t, "page.flushes"), 0);
            assert_int_equal(timed_count(&t, "page.compact_checks"), 0);
            assert_int_equal(timed_count(&t, "page.pause_cycles"), 0);
            timed_end(&t);
        }
}

/* Memory has room for two thirds of three regions, which are touched in turn. */
static void a_large_page_ends_when_the_first_of_its_pages_leaves(void **state)
{
    (void)state;
    for (uint64_t again = 1; again <= 2; again++) {
        struct timed t = {.design = "mosaic",
                          .sets = {"paging.mode=demand", "uvm.oversubscription=150", "uvm.evict=lru4k"},
                          .bytes = 3 * LARGE,
                          .kernel = touch,
                          .n = {again}};
        timed_run(&t);
        uint64_t coalesced = timed_count(&t, "page.coalesced"), splintered = timed_count(&t, "page.splintered");
        assert_true(timed_count(&t, "uvm.pages_evicted") >= 512);
        assert_int_equal(coalesced,
                         again == 1 ? 3 : 6); /* least recently used pages leave first: every region is whole once */
        assert_in_range(splintered, coalesced - 2, coalesced - 1);
        assert_int_equal(timed_count(&t, "page.flushes"), splintered);
        assert_int_equal(timed_count(&t, "page.table_writes"), 33 * (coalesced + splintered));
        assert_int_equal(timed_count(&t, "page.migrated"), 0);
        timed_end(&t);
    }
}

static void applications_that_share_a_gpu_have_large_pages_of_their_own(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct timed second = {.bytes = LARGE + 32 * 4096, .kernel = touch, .body = come_and_go, .n = {3, 1}};
        struct timed third = {.bytes = LARGE / 2, .kernel = touch, .n = {1}};
        struct timed t = {.design = "mosaic",
                          .sets = {modes[m]},
                          .bytes = 4 * LARGE,
                          .kernel = touch,
                          .n = {2},
                          .neighbours = {&second, &third}};
        timed_run(&t);
        const struct pw_page_manager_counters *c = t.system->nodes[0].manager->counters;
        assert_true(c[0].coalesced >= 4 && c[0].coalesced % 4 == 0);
        assert_true(c[1].coalesced >= 2);
        assert_int_equal(c[2].coalesced, 0);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(c[i].splintered + c[i].flushes + c[i].migrated + c[i].pauses, 0);
        timed_end(&t);
    }
}

/* mosaic-sec43-walker-uncoalesced: where nothing is coalesced, mosaic is the baseline with another order of frames. */
static void without_whole_regions_walks_are_those_of_the_baseline(void **state)
{
    (void)state;
    struct timed t = {.bytes = LARGE - 4096 * 32, .kernel = touch, .n = {2}}, u = t;
    u.design = "mosaic";
    timed_run(&t);
    timed_run(&u);
    static const char *const same[] = {"walk.count", "walk.reads", "l1_tlb.misses", "l2_tlb.misses"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(timed_count(&t, same[i]), timed_count(&u, same[i]));
    timed_end(&t);
    timed_end(&u);
}

static void too_much_memory_is_a_users_error(void **state)
{
    (void)state;
    struct timed second = {.bytes = 40 * LARGE, .kernel = touch, .n = {1}};
    struct timed t = {.design = "mosaic",
                      .sets = {"dram.bytes=128MB"},
                      .bytes = 40 * LARGE,
                      .kernel = touch,
                      .n = {1},
                      .neighbours = {&second}};
    assert_int_equal(timed_try(&t), PW_USER_ERROR);
    assert_non_null(strstr(t.err.message, "does not fit"));
    timed_end(&t);
}

/* Counted by hand: 32 large frames, all of them with foreign data. An array of 3 MB is a whole region and half of one:
 * two large frames, emptied for it; its 768 pages are what a manager of 4 KB pages would hold. Page tables stay out.
 * The same 1 MB too much weighs less against more foreign data. */
static void bloat_counts_foreign_data_on_both_sides(void **state)
{
    (void)state;
    static const struct {
        const char *occupancy;
        uint64_t foreign_pages;
    } cases[] = {{"page.occupancy=1", 5}, {"page.occupancy=25", 128}, {"page.occupancy=75", 384}};
    double last = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t = {.design = "mosaic",
                          .sets = {"page.fragmentation=100", cases[i].occupancy, "dram.bytes=64MB"},
                          .bytes = 3 << 20,
                          .kernel = touch,
                          .n = {1}};
        timed_run(&t);
        uint64_t foreign = timed_count(&t, "mem.foreign_bytes"), held = timed_count(&t, "mem.held_bytes");
        assert_int_equal(foreign, 32 * cases[i].foreign_pages * PW_PAGE_BYTES);
        assert_int_equal(held, 2 * LARGE);
        assert_int_equal(timed_count(&t, "mem.mapped_bytes"), 3 << 20);
        assert_int_equal(timed_count(&t, "mem.foreign_frame_bytes"), 30 * LARGE);
        double bloat = (double)(held + foreign) / (double)((3 << 20) + foreign) - 1;
        assert_true(bloat > 0 && bloat < last);
        last = bloat;
        timed_end(&t);
    }
    struct timed base = {.sets = {"page.fragmentation=50", "page.occupancy=25", "dram.bytes=64MB"}, .kernel = touch};
    timed_run(&base);
    assert_int_equal(timed_count(&base, "mem.foreign_bytes"), 16 * 128 * PW_PAGE_BYTES);
    timed_end(&base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages_come_and_go_with_their_allocations),
        cmocka_unit_test(a_large_page_ends_when_the_first_of_its_pages_leaves),
        cmocka_unit_test(applications_that_share_a_gpu_have_large_pages_of_their_own),
        cmocka_unit_test(without_whole_regions_walks_are_those_of_the_baseline),
        cmocka_unit_test(too_much_memory_is_a_users_error),
        cmocka_unit_test(bloat_counts_foreign_data_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
