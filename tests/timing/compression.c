/* Runs with compressed TLBs: that they reach further, cost no time by themselves, are what gpu-mmu has where nothing is
 * compressed, hear of launches, and go together with the other designs. */
#include "timed.h"

#include <stdio.h>

enum { MB = 1 << 20, PAGE = 4 << 10 };

static struct timed kepler(const char *design, const char *program)
{
    return (struct timed){.machine = "kepler", .design = design, .program = program};
}

static uint64_t count_of(struct timed t, const char *metric)
{
    timed_run(&t);
    uint64_t count = timed_count(&t, metric);
    timed_end(&t);
    return count;
}

/* 768 pages, one after the other: 24 in each set, of which 16 entries hold none when it comes back. */
static void a_compressed_tlb_holds_a_chain_of_768_pages(void **state)
{
    (void)state;
    static const char chain[] = "pointer_chase:bytes=3MB:stride=4KB";
    assert_int_equal(count_of(kepler("gpu-mmu", chain), "l2_tlb.lookups"), 10001);
    assert_int_equal(count_of(kepler("gpu-mmu", chain), "l2_tlb.hits"), 0);
    assert_true(count_of(kepler("compress", chain), "l2_tlb.hits") > 6000);
}

/* Without compressed ways it is the baseline, to the cycle. */
static void without_compressed_ways_a_run_takes_the_baselines_cycles(void **state)
{
    (void)state;
    static const char *const programs[] = {"nw:length=1024", "bfs:nodes=20000"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed base = kepler("gpu-mmu", programs[i]), half = kepler("compress-l1", programs[i]);
        base.sets[0] = half.sets[0] = "page.frames=random"; /* so that not everything is compressible */
        struct timed none = half;
        none.sets[1] = "l2_tlb.organisation.share=0";
        none.sets[2] = "l1_tlb.organisation.share=0";
        pw_cycle cycles = timed_cycles(base);
        assert_int_equal(timed_cycles(none), cycles);
        assert_int_not_equal(timed_cycles(half), cycles);
    }
}

static uint64_t a_b_a[] = {0, 2 * MB, 0};

/* Loads of pages A, B and A again, of which the L1 TLB holds one. */
static struct timed three_loads(const char *design)
{
    return (struct timed){.machine = "kepler",
                          .design = design,
                          .kernel = timed_chain,
                          .data = a_b_a,
                          .n = {3},
                          .bytes = 4 * MB,
                          .sets = {"l1_tlb.base_entries=1", "l1_tlb.base_ways=0"}};
}

/* comp-sec44-latency, comp-sec43-insert-time: the last load hits in the compressed part of the L2 TLB, where a walk has
 * put its page, in the time of an uncompressed hit. */
static void a_hit_in_a_compressed_entry_takes_no_longer(void **state)
{
    (void)state;
    pw_cycle cycles = timed_cycles(three_loads("gpu-mmu"));
    struct timed t = three_loads("compress");
    assert_int_equal(timed_run(&t), cycles);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    assert_int_equal(timed_count(&t, "l2_tlb.organisation.compressed_fills") +
                         timed_count(&t, "l2_tlb.organisation.uncompressible"),
                     2);
    assert_true(timed_count(&t, "l2_tlb.organisation.compressed_fills") >= 1);
    timed_end(&t);
}

/* Each launch loads four pages of the same set in 2 MB of its own. */
static void a_region_each(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 4; i++)
        timed_fetch(w, t, (t->launch % 3) * 8 * MB + i * 32 * PAGE);
}

/* comp-sec46-first-base: of the run, or of each launch, at both levels. */
static void a_launch_begins_with_a_base_of_its_own_if_so_chosen(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.machine = "kepler",
                          .design = "compress-l1",
                          .kernel = a_region_each,
                          .launches = 3,
                          .bytes = 24 * MB,
                          .sets = {i ? "l2_tlb.organisation.first_base=launch" : "l2_tlb.organisation.first_base=run",
                                   i ? "l1_tlb.organisation.first_base=launch" : "l1_tlb.organisation.first_base=run"}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l2_tlb.organisation.rebases"), i ? 2 : 0);
        assert_int_equal(timed_count(&t, "l1_tlb.organisation.rebases"), i ? 2 : 0);
        assert_int_equal(timed_count(&t, "l2_tlb.organisation.compressed_fills"), i ? 12 : 4);
        timed_end(&t);
    }
}

/* All identities hold, among them that every TLB entry maps to the frame that the page table has. */
static void compression_goes_together_with_other_designs(void **state)
{
    (void)state;
    static const char *const designs[] = {"mosaic+compress",        "mask+compress",      "gpu-mmu-2m+compress",
                                          "compress+uvm-tbn-tbn",   "mosaic+compress-l1", "mask+compress-l1",
                                          "gpu-mmu-64k+compress-l1"};
    for (size_t i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed neighbour = {.program = "gather:table=4MB:ctas=8:iterations=2"};
        struct timed t = kepler(designs[i], "nw:length=256");
        t.neighbours[0] = &neighbour;
        t.sets[0] = "sm.count=4";
        t.sets[1] = i == 3 ? "uvm.oversubscription=150" : NULL;
        timed_run(&t);
        const char *array = strstr(designs[i], "2m") ? "l2_tlb.large_organisation" : "l2_tlb.organisation";
        char metric[64];
        snprintf(metric, sizeof metric, "%s.compressed_fills", array);
        assert_true(timed_count(&t, metric) > 0);
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compressed_tlb_holds_a_chain_of_768_pages),
        cmocka_unit_test(without_compressed_ways_a_run_takes_the_baselines_cycles),
        cmocka_unit_test(a_hit_in_a_compressed_entry_takes_no_longer),
        cmocka_unit_test(a_launch_begins_with_a_base_of_its_own_if_so_chosen),
        cmocka_unit_test(compression_goes_together_with_other_designs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
