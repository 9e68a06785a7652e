/* What a program finds when it starts over beside a longer one: its pages as they were (apps.restart = keep), or
 * nothing (fresh).
 *
 * The short program is app0. The long one only computes, so that what is counted of pages is app0's. */
#include "timed.h"

enum { PAGES = 24, SCRATCH = 8, REGION = 2 << 20, NOTED = 16 };

static void compute(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

static struct timed long_program(uint64_t cycles)
{
    return (struct timed){.kernel = compute, .n = {cycles}};
}

static uint64_t count(const struct timed *t, const char *metric)
{
    return pw_stats_exact(t->system->stats, timed_index(t, metric), 0, NULL, t->system->region_to);
}

/* Loads a line of each of t->n[0] pages. */
static void touch_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < t->n[0]; page++)
        timed_fetch(w, t, page * PW_PAGE_BYTES);
}

/* Where the pages lay at the end of a run, of the first runs. */
struct places {
    uint64_t runs;
    pw_pfn frames[NOTED][PAGES];
};

/* As CUDA programs do: what is allocated is freed at the end. */
static void allocate_and_free(struct pw_host *h, struct timed *t)
{
    struct places *p = t->data;
    t->a = pw_alloc(h, "a", PAGES * PW_PAGE_BYTES, 1);
    timed_launch(h, t);
    for (uint64_t i = 0; p->runs < NOTED && i < PAGES; i++)
        p->frames[p->runs][i] =
            pw_page_table_lookup(t->system->spaces[0].table, (pw_vpn){pw_vpn_of(t->a.base).v + i}).frame;
    p->runs++;
    pw_free(h, &t->a);
}

static void run_pair(struct timed *t, struct places *p, struct timed *other, const char *restart, const char *paging)
{
    *p = (struct places){0};
    *t = (struct timed){.body = allocate_and_free,
                        .kernel = touch_pages,
                        .n = {PAGES},
                        .data = p,
                        .neighbours = {other},
                        .sets = {restart, paging}};
    timed_run(t);
    assert_true(p->runs > 5);
}

/* One far fault for each page, in the first run; every later run finds its pages where they were, and its TLB entries:
 * nothing was shot down, so not one more lookup misses. */
static void kept_pages_are_fetched_once_and_stay_where_they_are(void **state)
{
    (void)state;
    static const char *const modes[] = {"paging.mode=demand", "paging.mode=preload", "paging.mode=free"};
    static const uint64_t cycles[] = {1600000, 200000, 100000};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct timed t, other = long_program(cycles[i]);
        struct places p;
        run_pair(&t, &p, &other, "apps.restart=keep", modes[i]);
        for (unsigned run = 1; run < p.runs && run < NOTED; run++)
            assert_memory_equal(p.frames[run], p.frames[0], sizeof p.frames[0]);
        assert_int_equal(count(&t, "l1_tlb.misses"), PAGES);
        assert_int_equal(count(&t, "walk.count"), PAGES);
        if (i < 2) {
            assert_int_equal(count(&t, "uvm.far_faults"), i ? 0 : PAGES);
            assert_int_equal(count(&t, "uvm.pages_in"), PAGES);
        }
        assert_int_equal(count(&t, "mem.allocated_bytes"), PAGES * PW_PAGE_BYTES);
        assert_int_equal(count(&t, "mem.touched_bytes"), PAGES * PW_PAGE_BYTES);
        timed_end(&t);
    }
}

/* Every run faults, walks and misses as the first; the last one may not have come to its end. */
static void fresh_pages_are_fetched_in_every_run(void **state)
{
    (void)state;
    struct timed t, other = long_program(12000000);
    struct places p;
    run_pair(&t, &p, &other, "apps.restart=fresh", "paging.mode=demand");
    assert_in_range(count(&t, "uvm.far_faults"), p.runs * PAGES, (p.runs + 1) * PAGES);
    assert_in_range(count(&t, "uvm.pages_in"), p.runs * PAGES, (p.runs + 1) * PAGES);
    assert_in_range(count(&t, "walk.count"), p.runs * PAGES, (p.runs + 1) * PAGES);
    timed_end(&t);
}

/* mask-sec6-relaunch: it is started again as long as the other one runs. IPC is that of the first run: its instructions
 * and its end are those of the program alone, whatever follows. */
static void what_counts_for_ipc_is_the_first_run(void **state)
{
    (void)state;
    pw_cycle end[2];
    uint64_t issued[2];
    for (unsigned i = 0; i < 2; i++) {
        struct timed t, other = long_program(300000);
        struct places p;
        run_pair(&t, &p, &other, i ? "apps.restart=keep" : "apps.restart=fresh", "paging.mode=free");
        end[i] = t.system->apps[0].end;
        issued[i] = t.system->apps[0].instructions;
        assert_true(count(&t, "sm.issued") > 5 * issued[i]);
        timed_end(&t);
    }
    assert_int_equal(end[0], end[1]);
    assert_int_equal(issued[0], issued[1]);
}

/* Scratch memory for the first launch, which is freed before the second. */
static void free_in_the_middle(struct pw_host *h, struct timed *t)
{
    struct places *p = t->data;
    t->n[0] = SCRATCH;
    t->a = pw_alloc(h, "scratch", SCRATCH * PW_PAGE_BYTES, 1);
    timed_launch(h, t);
    pw_free(h, &t->a);
    t->n[0] = PAGES;
    t->a = pw_alloc(h, "a", PAGES * PW_PAGE_BYTES, 1);
    timed_launch(h, t);
    p->runs++;
}

/* What a program frees while it goes on is gone, and comes anew in each run; what it leaves at its end stays. */
static void memory_freed_before_the_last_launch_is_not_kept(void **state)
{
    (void)state;
    struct timed other = long_program(20000000);
    struct places p = {0};
    struct timed t = {.body = free_in_the_middle,
                      .kernel = touch_pages,
                      .data = &p,
                      .neighbours = {&other},
                      .sets = {"paging.mode=demand"}};
    timed_run(&t);
    assert_true(p.runs > 5);
    uint64_t faults = count(&t, "uvm.far_faults");
    assert_in_range(faults, PAGES + p.runs * SCRATCH, PAGES + (p.runs + 1) * SCRATCH);
    timed_end(&t);
}

/* Allocates another size in every run, as a program does whose input changes under it. */
static void allocate_more_each_time(struct pw_host *h, struct timed *t)
{
    struct places *p = t->data;
    t->a = pw_alloc(h, "a", REGION, 1);
    struct pw_array b = pw_alloc(h, "b", (1 + p->runs % 3) * REGION, 1);
    struct pw_array c = pw_alloc(h, "c", REGION, 1);
    timed_launch(h, t);
    t->a = p->runs % 2 ? b : c;
    timed_launch(h, t);
    p->runs++;
}

/* The first array is the same in every run and stays; from the first that differs on, nothing does. */
static void allocations_that_differ_from_those_before_are_made_anew(void **state)
{
    (void)state;
    static const char *const modes[] = {"paging.mode=demand", "paging.mode=free"};
    for (size_t i = 0; i < 2; i++) {
        struct timed other = long_program(40000000);
        struct places p = {0};
        struct timed t = {.body = allocate_more_each_time,
                          .kernel = touch_pages,
                          .n = {PAGES},
                          .data = &p,
                          .neighbours = {&other},
                          .sets = {modes[i], "dram.bytes=64MB"}};
        timed_run(&t);
        assert_true(p.runs > 5);
        if (i == 0)
            assert_in_range(count(&t, "uvm.far_faults"), (1 + p.runs) * PAGES, (2 + p.runs) * PAGES);
        assert_int_equal(count(&t, "mem.allocated_bytes"), 5 * REGION);
        timed_end(&t);
    }
}

/* Two arrays, of which memory has room for one at a time. */
static void one_after_the_other(struct pw_host *h, struct timed *t)
{
    struct places *p = t->data;
    for (unsigned i = 0; i < 2; i++) {
        t->a = pw_alloc(h, i ? "second" : "first", 5 << 20, 1);
        if (t->n[1])
            pw_prefetch(h, &t->a);
        timed_launch(h, t);
        if (!i)
            pw_free(h, &t->a);
    }
    p->runs++;
}

/* The second array of the run before is in the way of the first. */
static void kept_memory_is_given_up_where_there_is_no_room_for_more(void **state)
{
    (void)state;
    for (uint64_t prefetch = 0; prefetch < 2; prefetch++) {
        struct timed other = long_program(1000000);
        struct places p = {0};
        struct timed t = {.body = one_after_the_other,
                          .kernel = touch_pages,
                          .n = {PAGES, prefetch},
                          .data = &p,
                          .neighbours = {&other},
                          .sets = {"dram.bytes=8MB"}};
        timed_run(&t);
        assert_true(p.runs > 5);
        assert_int_equal(count(&t, "mem.allocated_bytes"), 10 << 20); /* for as long as it took to find no frame */
        assert_true(count(&t, "mem.mapped_bytes") < 8 << 20);
        timed_end(&t);
    }
}

/* Large pages stay large, and what CoCoA holds for the program does not grow. */
static void large_pages_stay_coalesced(void **state)
{
    (void)state;
    struct timed t = {.design = "mosaic", .kernel = touch_pages, .n = {4 * 512}, .bytes = 4 * REGION};
    struct timed other = long_program(2000000);
    t.neighbours[0] = &other;
    timed_run(&t);
    assert_true(t.system->apps[0].launches > 5);
    assert_int_equal(count(&t, "page.coalesced"), 4);
    assert_int_equal(count(&t, "page.checks"), 4);
    assert_int_equal(count(&t, "mem.held_bytes"), 4 * REGION);
    assert_int_equal(timed_count(&t, "page.flushes"), 0);
    timed_end(&t);
}

/* Data comes once with its frames: when scratch memory is backed anew in front of it, nothing is checked again but the
 * scratch memory. */
static void kept_regions_are_not_checked_again(void **state)
{
    (void)state;
    struct timed other = long_program(300000);
    struct places p = {0};
    struct timed t = {
        .design = "mosaic", .body = free_in_the_middle, .kernel = touch_pages, .data = &p, .neighbours = {&other}};
    timed_run(&t);
    assert_true(p.runs > 5);
    assert_in_range(count(&t, "page.checks"), 1 + p.runs, 2 + p.runs);
    timed_end(&t);
}

/* Memory for half of the pages: what has left comes again, whichever run wants it. */
static void pages_that_were_evicted_come_again(void **state)
{
    (void)state;
    struct timed other = long_program(40000000);
    struct places p = {0};
    struct timed t = {.body = allocate_and_free,
                      .kernel = touch_pages,
                      .n = {PAGES},
                      .data = &p,
                      .neighbours = {&other},
                      .sets = {"paging.mode=demand", "uvm.memory=48KB", "uvm.evict=lru4k", "uvm.prefetch=none"}};
    timed_run(&t);
    assert_true(p.runs > 2);
    uint64_t in = count(&t, "uvm.pages_in");
    assert_in_range(in, p.runs * PAGES, (p.runs + 1) * PAGES); /* a sweep of twice the memory finds nothing under LRU */
    assert_int_equal(count(&t, "uvm.pages_thrashed"), in - PAGES);
    assert_in_range(in - count(&t, "uvm.pages_evicted"), 0, PAGES / 2);
    timed_end(&t);
}

/* Data that is to be there before the first kernel is sent for in every run. There is memory for 12 of 24 pages, and
 * the kernel wants the first 8: those come twice in the first run. Then they are there, and later runs would have
 * nothing to fetch if they did not send for the rest. */
static void evicted_data_is_preloaded_again(void **state)
{
    (void)state;
    struct timed other = long_program(6000000);
    struct places p = {0};
    struct timed t = {.body = allocate_and_free,
                      .kernel = touch_pages,
                      .n = {8},
                      .data = &p,
                      .neighbours = {&other},
                      .sets = {"paging.mode=preload", "uvm.memory=48KB", "uvm.evict=lru4k", "uvm.prefetch=none"}};
    timed_run(&t);
    assert_true(p.runs > 5);
    assert_true(count(&t, "uvm.pages_in") > PAGES + 8 + 8 * (p.runs - 1));
    timed_end(&t);
}

/* A hundred runs need no more than one: neither the address space nor demand paging has more allocations. */
static void many_runs_need_the_memory_of_one(void **state)
{
    (void)state;
    struct timed t, other = long_program(3000000);
    struct places p;
    run_pair(&t, &p, &other, "apps.restart=keep", "paging.mode=demand");
    assert_true(p.runs > 100);
    assert_int_equal(t.system->spaces[0].range_count, 1);
    assert_int_equal(t.system->spaces[0].range_capacity, t.system->spaces[1].range_capacity);
    assert_int_equal(pw_residency_range_count(pw_uvm_residency(t.system->uvm)), 2);
    timed_end(&t);
}

/* Results are checked in every run, and hold. */
static void results_hold_in_every_run(void **state)
{
    (void)state;
    static const char *const programs[] = {"HS:side=64", "SC:points=512:dimensions=8:gains=3",
                                           "SCAN:scale=0.001:iterations=1", "BFS2:scale=0.001"};
    static const char *const modes[] = {"paging.mode=demand", "paging.mode=free"};
    for (size_t i = 0; i < 2 * sizeof programs / sizeof *programs; i++) {
        struct timed other = long_program(i % 2 ? 400000 : 10000000);
        struct timed t = {.program = programs[i / 2],
                          .design = "mosaic",
                          .spec = {.verify = true},
                          .neighbours = {&other},
                          .sets = {modes[i % 2]}};
        timed_run(&t);
        assert_true(t.system->apps[0].finished && t.system->apps[0].checks > 0);
        assert_true(count(&t, "sm.issued") > 2 * t.system->apps[0].instructions);
        timed_end(&t);
    }
}

static void free_twice(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", REGION, 1);
    struct pw_array again = t->a;
    timed_launch(h, t);
    pw_free(h, &t->a);
    pw_free(h, &again);
}

/* That a free is carried out later is no excuse. */
static void memory_freed_twice_is_an_error_at_once(void **state)
{
    (void)state;
    struct timed other = long_program(1000);
    struct timed t = {.body = free_twice, .kernel = touch_pages, .n = {1}, .neighbours = {&other}};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_non_null(strstr(t.err.message, "is freed but not allocated"));
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_pages_are_fetched_once_and_stay_where_they_are),
        cmocka_unit_test(fresh_pages_are_fetched_in_every_run),
        cmocka_unit_test(what_counts_for_ipc_is_the_first_run),
        cmocka_unit_test(memory_freed_before_the_last_launch_is_not_kept),
        cmocka_unit_test(allocations_that_differ_from_those_before_are_made_anew),
        cmocka_unit_test(kept_memory_is_given_up_where_there_is_no_room_for_more),
        cmocka_unit_test(large_pages_stay_coalesced),
        cmocka_unit_test(kept_regions_are_not_checked_again),
        cmocka_unit_test(pages_that_were_evicted_come_again),
        cmocka_unit_test(evicted_data_is_preloaded_again),
        cmocka_unit_test(many_runs_need_the_memory_of_one),
        cmocka_unit_test(results_hold_in_every_run),
        cmocka_unit_test(memory_freed_twice_is_an_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
