/* Exact cycles of address translation through the whole machine, from the SM to the page table and back.
 *
 * The third load of the pages A, B, A with room for one translation finds its data in the L1 cache and its translation
 * one level further down than a hit, so that its time has no DRAM in it. */
#include "closed_form.h"
#include "timed.h"

static uint64_t a_b_a[] = {0, 2 << 20, 0};

static void a_hit_in_the_l1_tlb_takes_its_latency(void **state)
{
    (void)state;
    uint64_t twice[] = {0, 0};
    struct timed t = {.data = twice};
    timed_configure(&t);
    assert_int_equal(form_l1_hit(&t.config.gpu), 2); /* mosaic-tab1-l1tlb-latency and mosaic-tab1-l1-latency */
    assert_int_equal(timed_cost_of_last(t, 1), 2);
    timed_end(&t);
    struct timed slow = {.data = twice, .sets = {"l1_tlb.latency=5", "l1d.latency=7"}};
    assert_int_equal(timed_cost_of_last(slow, 1), 5 + 7);
}

/* mosaic-sec31-miss-order, mosaic-sec31-no-pwcache, mask-sec3-sharedtlb-flow, mask-sec3-sharedtlb-no-pwc,
 * comp-sec22-miss-path, comp-sec22-fill: the third lookup finds what the first walk has left in the L2 TLB, the fourth
 * what the L1 TLB got from there. */
static void only_a_miss_in_the_l1_tlb_asks_the_l2_tlb_and_only_a_miss_there_walks(void **state)
{
    (void)state;
    uint64_t list[] = {0, 2 << 20, 0, 0};
    struct timed t = {
        .kernel = timed_chain, .data = list, .n = {4}, .bytes = 4 << 20, .sets = {"l1_tlb.base_entries=1"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 4);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 3);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    assert_int_equal(timed_count(&t, "walk.reads"), 8);
    assert_int_equal(timed_count(&t, "pwc.lookups"), 0);
    timed_end(&t);
}

/* mosaic-tab1-l2tlb-latency */
static void a_hit_in_the_l2_tlb_takes_the_way_there_and_back_and_its_latency(void **state)
{
    (void)state;
    struct timed t = {.data = a_b_a, .bytes = 4 << 20, .sets = {"l1_tlb.base_entries=1"}};
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + 10 + 1);
    t.sets[1] = "l2_tlb.latency=23";
    t.sets[2] = "l2_tlb.distance=31";
    t.sets[3] = "l1_tlb.latency=3";
    assert_int_equal(timed_cost_of_last(t, 2), 3 + 31 + 23 + 31 + 1);
}

/* mosaic-tab1-l2tlb-inclusion: what the L2 TLB has lost the L1 TLB may still have, and the other way round. */
static void neither_tlb_level_has_to_have_what_the_other_has(void **state)
{
    (void)state;
    static const char *const small[] = {"l2_tlb.base_entries=1", "l1_tlb.base_entries=1"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.kernel = timed_chain, .data = a_b_a, .n = {3}, .bytes = 4 << 20, .sets = {small[i]}};
        t.sets[1] = i ? NULL : "l2_tlb.base_ways=0";
        timed_run(&t);
        assert_int_equal(timed_count(&t, "walk.count"), 2);
        assert_int_equal(timed_count(&t, "l1_tlb.hits"), !i);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), i);
        timed_end(&t);
    }
}

/* Reads of a walk by page size: a 2 MB page is mapped one level higher (mosaic-sec43-walk-depth). */
static const struct {
    const char *size;
    unsigned reads;
} page_sizes[] = {{"page.size=4KB", 4}, {"page.size=64KB", 4}, {"page.size=2MB", 3}};

/* mosaic-sec31-walk-through-l2, mask-sec3-sharedtlb-flow, mask-sec6-walk-dependent: reads follow each other, and each
 * is served by the L2 cache. */
static void each_read_of_a_walk_that_hits_the_l2_takes_its_latency(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = {.data = a_b_a,
                          .bytes = 4 << 20,
                          .sets = {page_sizes[i].size, "l1_tlb.base_entries=1", "l2_tlb.base_entries=1",
                                   "l2_tlb.base_ways=0", "l1_tlb.large_entries=1", "l2_tlb.large_entries=1"}};
        assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + page_sizes[i].reads * (120 + 10) + 10 + 1);
        t.sets[6] = "l2.latency=77";
        assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + page_sizes[i].reads * (120 + 77) + 10 + 1);
    }
}

/* One bank, so that the row an access finds open is the row of the access before. */
static struct timed one_bank(const char *machine, const char *size)
{
    return (struct timed){.machine = machine, .kernel = timed_chain, .sets = {size, "dram.channels=1", "dram.banks=1"}};
}

static void remember_walk(struct timed *t)
{
    pw_paddr *reads = t->data;
    t->n[1] = pw_page_table_walk(t->system->spaces[0].table, pw_vpn_of(t->a.base), reads, NULL);
    reads[t->n[1]].v = timed_physical(t, 0);
}

static void cold(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

/* mosaic-sec31-walk-through-l2, mask-sec41-dependent, mask-sec6-walk-dependent: in the first load of a run every
 * page-table read and the load itself go to DRAM, each after the one before. Nothing is paid for bringing the page to
 * the GPU (mosaic-fig03-nopaging-def). */
static void every_read_of_a_cold_walk_goes_to_dram(void **state)
{
    (void)state;
    const char *machines[] = {"mosaic", "volta", "mosaic"};
    for (unsigned m = 0; m < 3; m++)
        for (unsigned i = 0; i < 3; i++) {
            pw_paddr reads[PW_TABLE_LEVELS + 1];
            struct timed t = one_bank(machines[m], page_sizes[i].size);
            t.sets[3] = m == 2 ? "walk.distance=17" : NULL;
            t.kernel = cold;
            t.prepare = remember_walk;
            t.data = reads;
            timed_run(&t);
            const struct pw_gpu_config *c = &t.config.gpu;
            assert_int_equal(t.n[1], page_sizes[i].reads);
            pw_cycle start = c->launch_latency + c->l1_tlb.tlb.latency + c->l2_tlb.distance + c->l2_tlb.tlb.latency;
            pw_cycle at = start;
            uint64_t row = UINT64_MAX;
            for (unsigned level = 0; level <= t.n[1]; level++) {
                uint64_t wanted = reads[level].v / c->dram.row_bytes;
                enum row use = level == 0 ? ROW_CLOSED : wanted == row ? ROW_OPEN : ROW_OTHER;
                row = wanted;
                if (level < t.n[1]) {
                    at += c->walk.distance + form_walk_read(c) + c->dram.path;
                    at = form_dram_done(c, at, use) + c->walk.distance;
                } else {
                    assert_int_equal(timed_walk_cycles(&t), at - start);
                    at = form_dram_load(c, at + c->l2_tlb.distance, use);
                }
            }
            assert_int_equal(t.cycles, at);
            assert_int_equal(timed_count(&t, "dram.translation.bytes"),
                             t.n[1] * 32 * form_sectors(c->l2.sectored) / c->dram.burst_bytes * c->dram.burst_bytes);
            assert_int_equal(timed_count(&t, "l2.ptw_level1.accesses"), 1);
            assert_int_equal(timed_count(&t, "l2.ptw_level3.accesses"), 1);
            assert_int_equal(timed_count(&t, "l2.ptw_level4.accesses"), t.n[1] == 4);
            assert_int_equal(timed_count(&t, "l2.ptw_level1.hits"), 0);
            timed_end(&t);
        }
}

static void fixed_walks_take_500_cycles_and_read_nothing(void **state)
{
    (void)state;
    struct timed t = {
        .data = a_b_a,
        .bytes = 4 << 20,
        .machine = "kepler",
        .sets = {"l1_tlb.base_entries=1", "l1_tlb.base_ways=0", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}};
    assert_int_equal(timed_cost_of_last(t, 2),
                     1 + 10 + 10 + 500 + 10 + 35); /* comp-tab3-walk-lat, comp-tab3-l2tlb-lat */
    t.kernel = timed_chain;
    t.n[0] = 3;
    timed_run(&t);
    assert_int_equal(timed_walk_cycles(&t), 3 * 500);
    assert_int_equal(timed_count(&t, "walk.reads"), 0);
    assert_int_equal(timed_count(&t, "dram.translation.bytes"), 0);
    timed_end(&t);
}

/* mask-tab1-pwc-latency, mask-sec3-pwcache-flow: no lookup lies between the miss and the walk. */
static void a_walk_through_the_page_walk_cache_takes_its_latency_per_read(void **state)
{
    (void)state;
    struct timed t = {.design = "pwcache", .data = a_b_a, .bytes = 4 << 20, .sets = {"l1_tlb.base_entries=1"}};
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 4 * 10 + 10 + 1);
    t.sets[1] = "pwc.latency=37";
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 4 * 37 + 10 + 1);
}

/* mask-sec3-pwcache-flow, mask-sec3-pwcache-no-l2tlb: a miss in it goes on to the L2 cache and costs both. */
static void a_read_that_misses_the_page_walk_cache_goes_on_to_the_l2(void **state)
{
    (void)state;
    struct timed t = {.design = "pwcache",
                      .data = a_b_a,
                      .bytes = 4 << 20,
                      .sets = {"l1_tlb.base_entries=1", "pwc.bytes=128", "pwc.ways=1"}};
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 4 * (10 + 120 + 10) + 10 + 1);
    t.kernel = timed_chain;
    t.n[0] = 3;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 0);
    assert_int_equal(timed_count(&t, "walk.count"), 3);
    assert_int_equal(timed_count(&t, "pwc.lookups"), 12);
    assert_int_equal(timed_count(&t, "pwc.hits"), 0);
    assert_int_equal(timed_count(&t, "walk.reads"), 12);
    timed_end(&t);
}

/* mosaic-sec31-ideal-def, mask-sec3-ideal-def, comp-fig5-ideal */
static void an_ideal_tlb_always_hits_and_never_walks(void **state)
{
    (void)state;
    struct timed t = {.design = "ideal-tlb", .data = a_b_a, .bytes = 4 << 20, .kernel = timed_chain, .n = {3}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 3);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 3);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 0);
    assert_int_equal(timed_count(&t, "walk.count"), 0);
    assert_int_equal(timed_count(&t, "dram.translation.bytes"), 0);
    timed_end(&t);
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 1);
}

enum { BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

/* mosaic-sec43-large-first, mosaic-fig10-dual-probe: with both arrays there, the L2 TLB looks for a large page first
 * and pays a second lookup for a base page. */
static void the_l2_tlb_probes_large_entries_before_base_entries(void **state)
{
    (void)state;
    struct timed base = {
        .data = a_b_a, .bytes = 4 << 20, .orders = BOTH, .sets = {"page.size=4KB", "l1_tlb.base_entries=1"}};
    assert_int_equal(timed_cost_of_last(base, 2), 1 + 10 + 2 * 10 + 10 + 1);
    struct timed large = {
        .data = a_b_a, .bytes = 4 << 20, .orders = BOTH, .sets = {"page.size=2MB", "l1_tlb.large_entries=1"}};
    assert_int_equal(timed_cost_of_last(large, 2), 1 + 10 + 10 + 10 + 1);
    /* A miss has probed both before it walks. */
    base.sets[2] = "l2_tlb.base_entries=1";
    base.sets[3] = "l2_tlb.base_ways=0";
    assert_int_equal(timed_cost_of_last(base, 2), 1 + 10 + 2 * 10 + 4 * (120 + 10) + 10 + 1);
}

/* mosaic-sec22-split-entries, in both levels: room among the entries for the other page size helps nobody. */
static void base_and_large_translations_never_share_entries(void **state)
{
    (void)state;
    static const struct {
        const char *sets[4], *metric;
        uint64_t hits;
    } rows[] = {
        {{"page.size=4KB", "l1_tlb.base_entries=1", "l1_tlb.large_entries=16"}, "l1_tlb.hits", 0},
        {{"page.size=2MB", "l1_tlb.base_entries=128", "l1_tlb.large_entries=1"}, "l1_tlb.hits", 0},
        {{"page.size=2MB", "l1_tlb.base_entries=128", "l1_tlb.large_entries=2"}, "l1_tlb.hits", 1},
        {{"page.size=4KB", "l1_tlb.base_entries=1", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}, "l2_tlb.hits", 0},
        {{"page.size=2MB", "l1_tlb.large_entries=1", "l2_tlb.large_entries=1"}, "l2_tlb.hits", 0},
        {{"page.size=2MB", "l1_tlb.large_entries=1", "l2_tlb.large_entries=2"}, "l2_tlb.hits", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct timed t = {.data = a_b_a, .bytes = 4 << 20, .orders = BOTH, .kernel = timed_chain, .n = {3}};
        memcpy(t.sets, rows[i].sets, sizeof rows[i].sets);
        timed_run(&t);
        assert_int_equal(timed_count(&t, rows[i].metric), rows[i].hits);
        timed_end(&t);
    }
}

/* Sixteen lanes, each in a line of its own, go round n[0] pages. */
static void lanes_over_pages(struct pw_warp *w, struct timed *t)
{
    uint64_t *at =
        pw_emit(w, 17, (struct pw_op){.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 0xffff});
    for (uint64_t lane = 0; lane < 16; lane++)
        at[lane] = t->a.base.v + lane % t->n[0] * PW_PAGE_BYTES + lane * PW_LINE_BYTES;
    pw_use(w);
}

/* mosaic-sec31-access-merge */
static void lanes_in_one_page_make_one_lookup(void **state)
{
    (void)state;
    for (uint64_t pages = 1; pages <= 16; pages++) {
        struct timed t = {.kernel = lanes_over_pages, .n = {pages}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l1_tlb.lookups"), pages);
        assert_int_equal(timed_count(&t, "sm.lines"), 16);
        timed_end(&t);
    }
}

/* Every warp of every CTA loads a line of its own from the first page. */
static void a_line_each(struct pw_warp *w, struct timed *t)
{
    uint64_t lines = t->threads / PW_WARP_LANES;
    timed_fetch(w, t, (w->cta_index * lines + w->index) * PW_LINE_BYTES);
}

/* mosaic-sec5-mshr, mask-sec43-warp-hit-rule: one walk, and one hit in it, helps all warps that wait for the page. */
static void four_warps_of_an_sm_that_miss_one_page_share_one_walk(void **state)
{
    (void)state;
    struct timed t = {.kernel = a_line_each, .threads = 128, .sets = {"sm.count=1"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 4);
    assert_int_equal(timed_count(&t, "l1_tlb.misses"), 4);
    assert_int_equal(timed_count(&t, "l1_tlb.mshr_merges"), 3);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 1);
    assert_int_equal(timed_count(&t, "walk.count"), 1);
    assert_true(timed_value(&t, "walk.warps_stalled_mean") == 4); /* mask-fig04-four-warps: nobody is left to issue */
    timed_end(&t);
}

/* mosaic-sec5-mshr, mosaic-sec22-tlb-private-shared, mask-sec3-private-l1: each SM misses in a TLB of its own; what
 * comes after it is shared. */
static void two_sms_that_miss_one_page_share_one_walk(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "pwcache"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {
            .design = designs[i], .kernel = a_line_each, .threads = 32, .ctas = 2, .sets = {"sm.count=2"}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l1_tlb.misses"), 2);
        assert_int_equal(timed_count(&t, "l1_tlb.mshr_merges"), 0);
        assert_int_equal(timed_count(&t, "l2_tlb.lookups"), i ? 0 : 2);
        assert_int_equal(timed_count(&t, "l2_tlb.mshr_merges"), 1);
        assert_int_equal(timed_count(&t, "walk.count"), 1);
        assert_true(timed_value(&t, "walk.warps_stalled_mean") == 2);
        timed_end(&t);
    }
}

/* Four lines of one page, each in a channel of its own, with a fixed walk: parked lines go on one per cycle when the
 * translation comes, and their data arrives four flits apart (mask-fig04-data-after-walk). Without translation they go
 * out one per cycle at once (mask-fig04-no-translation). */
static void four_channels(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, timed_byte_in_slice(t, 0, w->index));
}

static void data_requests_wait_for_the_walk_and_then_queue(void **state)
{
    (void)state;
    struct timed t = {.kernel = four_channels,
                      .threads = 128,
                      .sets = {"sm.count=1", "dram.channels=8", "l2.slices=1", "walk.model=fixed", "walk.latency=500"}};
    timed_configure(&t);
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    uint64_t flits = form_flits(&c, 4);
    assert_int_equal(flits, 4);
    assert_int_equal(timed_cycles(t), form_dram_load(&c, form_l2_tlb(&c, 1) + 500, ROW_CLOSED) + 3 * flits);
    t.design = "ideal-tlb";
    assert_int_equal(timed_cycles(t), form_dram_load(&c, c.l1_tlb.tlb.latency, ROW_CLOSED) + 3 * flits);
}

/* Warp 0 misses page 2; warp 1 then hits page 1 in TLB and cache and has n[0] instructions to do. */
static void hit_under_miss(struct pw_warp *w, struct timed *t)
{
    if (w->index == 0) {
        timed_fetch(w, t, timed_byte_in_slice(t, 1, 0));
        pw_barrier(w);
        timed_load(w, t, timed_byte_in_slice(t, 2, 1));
    } else {
        pw_barrier(w);
        pw_compute(w, 1);
        timed_fetch(w, t, timed_byte_in_slice(t, 1, 0));
        pw_compute(w, (uint32_t)t->n[0]);
    }
}

/* mask-sec6-nonblocking, comp-sec22-replay */
static void on_miss_decides_whether_a_hit_passes_a_miss(void **state)
{
    (void)state;
    struct timed t = {.kernel = hit_under_miss,
                      .threads = 64,
                      .n = {2000},
                      .sets = {"sm.count=1", "dram.channels=8", "l2.slices=1", "walk.model=fixed", "walk.latency=500",
                               "l1_tlb.on_miss=nonblocking"}};
    timed_configure(&t);
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    pw_cycle fetched = form_dram_load(&c, form_l2_tlb(&c, 1) + 500, ROW_CLOSED);
    /* The barrier issues at `fetched`, the miss one cycle later, the instruction of warp 1 and its hit after it. */
    pw_cycle miss = fetched + 1, hit = miss + 1 + c.sm.dependency_latency;
    pw_cycle rest = 2000 - 1 + c.sm.dependency_latency;
    assert_int_equal(timed_cycles(t), hit + form_l1_hit(&c) + rest);
    /* The head goes through the TLB once more with the translation it has been given (Compression, Section 2.2:
     * replayed, and hits the L1 TLB); the hit's turn comes the cycle after it. */
    t.sets[5] = "l1_tlb.on_miss=stall_lsu";
    miss = form_dram_load(&c, form_l2_tlb(&c, 1) + 500 + c.l1_tlb.tlb.latency, ROW_CLOSED) + 1;
    assert_int_equal(timed_cycles(t), miss + form_l2_tlb(&c, 1) + 500 + 1 + form_l1_hit(&c) + rest);
}

/* Two lanes, two pages, each line in a channel of its own. */
static void two_pages(struct pw_warp *w, struct timed *t)
{
    uint64_t *at =
        pw_emit(w, 3, (struct pw_op){.kind = PW_OP_LOAD, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = 3});
    at[0] = t->a.base.v + timed_byte_in_slice(t, 1, 0);
    at[1] = t->a.base.v + timed_byte_in_slice(t, 2, 1);
    pw_use(w);
}

/* mask-sec6-nonblocking: two registers, two misses at once. */
static void a_page_without_a_miss_register_waits_at_the_head_of_the_lsu(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = two_pages,
        .sets = {"dram.channels=8", "l2.slices=1", "walk.model=fixed", "walk.latency=500", "l1_tlb.mshrs=2"}};
    timed_configure(&t);
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    uint64_t translation = form_l2_tlb(&c, 1) + 500;
    assert_int_equal(timed_cycles(t), form_dram_load(&c, translation, ROW_CLOSED) + form_flits(&c, 4));
    /* One register: the second page is looked up the cycle after the first page's line has gone on. */
    t.sets[4] = "l1_tlb.mshrs=1";
    assert_int_equal(timed_cycles(t), form_dram_load(&c, translation + 1 + translation, ROW_CLOSED));
}

/* A first array is touched and freed, a second one takes its frames. */
static void reuse_frames(struct pw_host *h, struct timed *t)
{
    struct pw_array first = pw_alloc(h, "first", 64 * PW_PAGE_BYTES, 1);
    t->a = first;
    timed_launch(h, t);
    t->n[0] = timed_physical(t, 0);
    pw_free(h, &first);
    t->a = pw_alloc(h, "second", 64 * PW_PAGE_BYTES, 1);
    timed_back(t);
    t->n[1] = timed_physical(t, 0);
    timed_launch(h, t);
}

static void touch_64_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < 64; page++)
        timed_load(w, t, page * PW_PAGE_BYTES);
    pw_use(w);
}

/* That no entry is left which differs from the page table is an identity, checked by timed_run. */
static void no_translation_of_freed_memory_is_left(void **state)
{
    (void)state;
    const char *designs[] = {"gpu-mmu", "gpu-mmu-2m", "pwcache"};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = {.design = designs[i], .body = reuse_frames, .kernel = touch_64_pages};
        timed_run(&t);
        assert_int_equal(t.n[0], t.n[1]);
        uint64_t pages = i == 1 ? 2 : 128;
        assert_int_equal(timed_count(&t, "l1_tlb.misses") - timed_count(&t, "l1_tlb.mshr_merges"), pages);
        assert_int_equal(timed_count(&t, "walk.count"), pages);
        timed_end(&t);
    }
}

/* The walks of the two arrays share their upper levels, but a shootdown lies between them. */
static void a_shootdown_empties_the_page_walk_cache(void **state)
{
    (void)state;
    struct timed t = {.design = "pwcache", .body = reuse_frames, .kernel = cold};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "pwc.lookups"), 8);
    assert_int_equal(timed_count(&t, "pwc.hits"), 0);
    timed_end(&t);
    uint64_t neighbours[] = {0, 2 << 20};
    struct timed kept = {.design = "pwcache", .kernel = timed_chain, .data = neighbours, .n = {2}, .bytes = 4 << 20};
    timed_run(&kept);
    assert_int_equal(timed_count(&kept, "pwc.hits"), 3); /* all but the leaf */
    timed_end(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_in_the_l1_tlb_takes_its_latency),
        cmocka_unit_test(only_a_miss_in_the_l1_tlb_asks_the_l2_tlb_and_only_a_miss_there_walks),
        cmocka_unit_test(a_hit_in_the_l2_tlb_takes_the_way_there_and_back_and_its_latency),
        cmocka_unit_test(neither_tlb_level_has_to_have_what_the_other_has),
        cmocka_unit_test(each_read_of_a_walk_that_hits_the_l2_takes_its_latency),
        cmocka_unit_test(every_read_of_a_cold_walk_goes_to_dram),
        cmocka_unit_test(fixed_walks_take_500_cycles_and_read_nothing),
        cmocka_unit_test(a_walk_through_the_page_walk_cache_takes_its_latency_per_read),
        cmocka_unit_test(a_read_that_misses_the_page_walk_cache_goes_on_to_the_l2),
        cmocka_unit_test(an_ideal_tlb_always_hits_and_never_walks),
        cmocka_unit_test(the_l2_tlb_probes_large_entries_before_base_entries),
        cmocka_unit_test(base_and_large_translations_never_share_entries),
        cmocka_unit_test(lanes_in_one_page_make_one_lookup),
        cmocka_unit_test(four_warps_of_an_sm_that_miss_one_page_share_one_walk),
        cmocka_unit_test(two_sms_that_miss_one_page_share_one_walk),
        cmocka_unit_test(data_requests_wait_for_the_walk_and_then_queue),
        cmocka_unit_test(on_miss_decides_whether_a_hit_passes_a_miss),
        cmocka_unit_test(a_page_without_a_miss_register_waits_at_the_head_of_the_lsu),
        cmocka_unit_test(no_translation_of_freed_memory_is_left),
        cmocka_unit_test(a_shootdown_empties_the_page_walk_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
