/* The conventional coalescer through the whole machine: which region it takes, what it costs, and what stops it.
 *
 * Kernels walk pages at the beginning and then compute, so that copying disturbs nobody and a pause is all that it
 * adds. */
#include "timed.h"

enum { PAGES = 512, REGION = 2 << 20, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M, LINES = PAGES * 32 };

static const char *const conventional = "conventional-coalescing";

/* n[r] pages of region r, one after the other, and then n[7] cycles of arithmetic. */
static void walk_then_compute(struct pw_warp *w, struct timed *t)
{
    for (uint64_t region = 0; region < 6; region++)
        for (uint64_t page = 0; page < t->n[region]; page++)
            timed_fetch(w, t, region * REGION + (page << 12) + (page % 32) * PW_LINE_BYTES);
    pw_compute(w, (uint32_t)t->n[7]);
}

static bool is_large(const struct timed *t, uint64_t region)
{
    return pw_page_table_is_large(t->system->spaces[0].table, pw_vpn_of((pw_vaddr){t->a.base.v + region * REGION}));
}

static struct timed moves_one(void)
{
    return (struct timed){.design = conventional,
                          .bytes = 4 * REGION,
                          .kernel = walk_then_compute,
                          .n = {3, 9, 0, 5, [7] = 300000},
                          .sets = {"coalesce.interval=50000"}};
}

/* mosaic-sec43-baseline-steps, mosaic-sec43-baseline-candidates */
static void the_most_walked_region_is_moved_in_four_steps(void **state)
{
    (void)state;
    struct timed t = moves_one();
    timed_run(&t);
    for (uint64_t region = 0; region < 4; region++)
        assert_int_equal(is_large(&t, region), region == 1);
    assert_true(timed_count(&t, "page.checks") > 0); /* 1: of the regions that were walked */
    assert_int_equal(timed_count(&t, "page.migrated"), PAGES);
    assert_int_equal(timed_count(&t, "page.table_writes"), PAGES / 16 + 1);
    assert_int_equal(timed_count(&t, "page.flushes"), 1);
    assert_int_equal(timed_count(&t, "page.pauses"), 1);
    assert_int_equal(timed_count(&t, "page.coalesced"), 1);
    pw_vpn first = pw_vpn_of((pw_vaddr){t.a.base.v + REGION});
    pw_pfn block = pw_page_table_lookup(t.system->spaces[0].table, first).frame;
    assert_int_equal(block.v % PAGES, 0);
    assert_int_equal(pw_page_table_disabled(t.system->spaces[0].table, first), PAGES);
    for (uint32_t i = 0; i < PAGES; i++) {
        pw_pfn frame;
        assert_true(pw_page_table_has_base(t.system->spaces[0].table, (pw_vpn){first.v + i}, &frame));
        assert_int_equal(frame.v, block.v + i);
    }
    timed_end(&t);
}

/* mosaic-sec43-baseline-migrate: the L2 slices see each line of the pages twice and each line of entries once; DRAM
 * sees what they do not have. */
static void moving_takes_bandwidth_for_data_and_for_entries(void **state)
{
    (void)state;
    struct timed t = moves_one(), alone = t;
    alone.design = "gpu-mmu";
    alone.orders = BOTH;
    timed_run(&t);
    timed_run(&alone);
    assert_int_equal(timed_count(&t, "l2.accesses") - timed_count(&alone, "l2.accesses"), 2 * LINES + PAGES / 16 + 1);
    uint64_t reads = timed_count(&t, "dram.reads") - timed_count(&alone, "dram.reads");
    assert_int_equal(reads, LINES - 9); /* that the kernel has loaded and the L2 still has */
    assert_int_equal(timed_count(&t, "dram.translation.reads"), timed_count(&alone, "dram.translation.reads"));
    timed_end(&t);
    timed_end(&alone);
}

/* mosaic-sec43-baseline-flush: arithmetic stands still for the flush and for nothing else; the flush takes as long as
 * the entries took. */
static void only_the_flush_stops_the_sms(void **state)
{
    (void)state;
    struct timed t = moves_one(), alone = t;
    alone.design = "gpu-mmu";
    alone.orders = BOTH;
    pw_cycle cycles = timed_run(&t);
    uint64_t paused = timed_count(&t, "page.pause_cycles");
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    pw_cycle longer = cycles - timed_cycles(alone); /* what was issued before the flush ends during it */
    assert_true(longer <= paused && longer + c.sm.dependency_latency >= paused);
    /* Entries go beside the walker to their slices, then the level-3 entry; more than one line per slice waits for a
     * port. */
    assert_true(paused >= 2 * c.l2.path && paused <= 2 * c.l2.path + PAGES / 16);
    t.sets[1] = "l2.path=500";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "page.pause_cycles"), paused + 2 * (500 - c.l2.path));
    timed_end(&t);
}

/* The TLBs knew pages of the region by their old frames: the next access walks again, and finds the large page. */
static void touch_again(struct pw_warp *w, struct timed *t)
{
    walk_then_compute(w, t);
    for (uint64_t page = 0; page < 9; page++)
        timed_fetch(w, t, REGION + (page << 12));
    timed_fetch(w, t, 0);
}

/* mosaic-sec43-baseline-flush */
static void the_flush_drops_what_tlbs_knew_of_the_region_and_no_more(void **state)
{
    (void)state;
    struct timed t = moves_one();
    t.kernel = touch_again;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 3 + 9 + 5 + 1);
    timed_end(&t);
}

/* Region 0 has one page that is loaded again and again, region 1 two pages. */
static void use_little_walked_page(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 50; i++)
        timed_fetch(w, t, i * 4);
    timed_fetch(w, t, REGION);
    timed_fetch(w, t, REGION + (1 << 12));
    pw_compute(w, (uint32_t)t->n[7]);
}

/* mosaic-sec43-baseline-candidates */
static void utilisation_is_walks_not_accesses(void **state)
{
    (void)state;
    struct timed t = moves_one();
    t.kernel = use_little_walked_page;
    timed_run(&t);
    assert_true(is_large(&t, 1));
    assert_false(is_large(&t, 0));
    timed_end(&t);
}

/* The last region of an array that is not a multiple of 2 MiB has too few pages, however much it is used. */
static void a_region_with_pages_missing_is_no_candidate(void **state)
{
    (void)state;
    struct timed t = moves_one();
    t.bytes = 4 * REGION - PW_PAGE_BYTES;
    t.n[1] = 0;
    t.n[3] = 200;
    timed_run(&t);
    assert_true(is_large(&t, 0));
    assert_false(is_large(&t, 3));
    assert_int_equal(timed_count(&t, "page.coalesced"), 1);
    timed_end(&t);
}

/* Walks of the first interval only count for its end. With a base entry for each region, pages are walked again and
 * again, and the next most walked follows in the next interval. */
static void keep_walking(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++) {
        timed_fetch(w, t, 0 * REGION + (i % 200 << 12));
        if (i % 2)
            timed_fetch(w, t, 1 * REGION + (i % 200 << 12));
        if (i % 4 == 3)
            timed_fetch(w, t, 2 * REGION + (i % 200 << 12));
    }
}

/* mosaic-sec43-baseline-candidates */
static void regions_follow_in_the_order_of_their_walks(void **state)
{
    (void)state;
    struct timed t = {
        .design = conventional,
        .bytes = 4 * REGION,
        .kernel = keep_walking,
        .sets = {"coalesce.interval=150000", "l1_tlb.base_entries=1", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}};
    unsigned most = 0;
    for (t.n[0] = 400; t.n[0] <= 3000; t.n[0] += 400) {
        timed_run(&t);
        unsigned large = 0; /* what is on its way at the end has come to rest */
        while (large < 3 && is_large(&t, large))
            large++;
        for (uint64_t region = large; region < 4; region++)
            assert_false(is_large(&t, region));
        assert_true(large >= most);
        most = large;
        timed_end(&t);
    }
    assert_int_equal(most, 3);
}

static void without_a_free_large_frame_nothing_happens(void **state)
{
    (void)state;
    struct timed t = moves_one();
    t.bytes = 15 << 20;
    t.sets[1] = "dram.bytes=16MB";
    timed_run(&t);
    assert_true(timed_count(&t, "page.checks") > 0);
    assert_int_equal(timed_count(&t, "page.coalesced") + timed_count(&t, "page.table_writes"), 0);
    timed_end(&t);
    t.sets[1] = "dram.bytes=18MB";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "page.coalesced"), 1);
    timed_end(&t);
}

/* The array is freed at the end of a launch, with its region on the way; another one takes its place. */
static void free_while_moving(struct pw_host *h, struct timed *t)
{
    struct pw_array first = pw_alloc(h, "first", 4 * REGION, 1);
    t->a = first;
    timed_launch(h, t);
    pw_free(h, &first);
    t->a = pw_alloc(h, "second", 4 * REGION, 1);
    timed_launch(h, t);
}

/* That all frames have their owner is an identity, checked by timed_run. */
static void a_region_that_is_freed_meanwhile_is_given_up(void **state)
{
    (void)state;
    struct timed t = moves_one();
    t.body = free_while_moving;
    timed_run(&t);
    assert_int_equal(timed_launch_count(&t, 0, 1, "page.coalesced"), 1);
    timed_end(&t);
    for (t.n[7] = 60000; t.n[7] < 100000; t.n[7] += 9973) {
        timed_run(&t);
        assert_true(timed_launch_count(&t, 0, 1, "l2.accesses") > LINES / 4);
        assert_int_equal(timed_launch_count(&t, 0, 1, "page.coalesced"), 0);
        assert_true(timed_count(&t, "page.flushes") < 2);
        timed_end(&t);
    }
}

/* Pages leave for others all the time, large or being moved. */
static void pages_that_are_evicted_meanwhile_stop_it_or_splinter(void **state)
{
    (void)state;
    struct timed t = {.design = conventional,
                      .program = "gather:table=8MB",
                      .sets = {"coalesce.interval=5000", "paging.mode=demand", "uvm.memory=9MB", "uvm.prefetch=tbn",
                               "uvm.evict=lru2m", "l2.path=0", "dram.path=0"}};
    timed_run(&t);
    assert_true(timed_count(&t, "page.coalesced") > 0);
    assert_true(timed_count(&t, "page.splintered") > 0);
    timed_end(&t);
}

static uint64_t of_app(const struct timed *t, int app, const char *metric)
{
    return pw_stats_exact(t->system->stats, timed_index(t, metric), app, NULL, t->system->region_to);
}

/* The second program ends early, again and again, with a region of its own on the way. */
static void a_program_that_ends_meanwhile_takes_its_pages_along(void **state)
{
    (void)state;
    struct timed t = moves_one(), neighbour = moves_one();
    t.neighbours[0] = &neighbour;
    t.sets[1] = "apps.restart=fresh";
    t.n[7] = 900000;
    neighbour.n[1] = 60;
    neighbour.n[7] = 30000;
    timed_run(&t);
    assert_int_equal(of_app(&t, 1, "page.coalesced"), 0);
    assert_true(of_app(&t, 1, "l2.accesses") > LINES);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_walked_region_is_moved_in_four_steps),
        cmocka_unit_test(moving_takes_bandwidth_for_data_and_for_entries),
        cmocka_unit_test(only_the_flush_stops_the_sms),
        cmocka_unit_test(the_flush_drops_what_tlbs_knew_of_the_region_and_no_more),
        cmocka_unit_test(utilisation_is_walks_not_accesses),
        cmocka_unit_test(a_region_with_pages_missing_is_no_candidate),
        cmocka_unit_test(regions_follow_in_the_order_of_their_walks),
        cmocka_unit_test(without_a_free_large_frame_nothing_happens),
        cmocka_unit_test(a_region_that_is_freed_meanwhile_is_given_up),
        cmocka_unit_test(pages_that_are_evicted_meanwhile_stop_it_or_splinter),
        cmocka_unit_test(a_program_that_ends_meanwhile_takes_its_pages_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
