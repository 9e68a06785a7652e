/* The range TLB in a machine: when a range can be hit, and what whole runs gain from it, frames as the allocator puts
 * them. */
#include "timed.h"

#include <stdio.h>

enum { ACCESSES = 12 };

static uint64_t places[ACCESSES];

/* A chain of loads, one page after the other, through TLBs of one entry. */
static struct timed chain_of(uint64_t bytes)
{
    return (struct timed){.design = "range-tlb",
                          .data = places,
                          .bytes = bytes,
                          .kernel = timed_chain,
                          .n = {ACCESSES},
                          .sets = {"l1_tlb.base_entries=1", "l1_tlb.base_ways=0", "l2_tlb.base_entries=1",
                                   "l2_tlb.base_ways=0", "l2_tlb.large_entries=1"}};
}

/* From the second page on: with first-free, the page table lies between the first one and the others. */
static void set_places(uint64_t stride)
{
    for (uint64_t i = 0; i < ACCESSES; i++)
        places[i] = (i + 1) * stride;
}

static uint64_t walks_with(const char *first, const char *second, const char *third)
{
    struct timed t = chain_of(1 << 20);
    t.sets[5] = first;
    t.sets[6] = second;
    t.sets[7] = third;
    timed_run(&t);
    uint64_t walks = timed_count(&t, "walk.count");
    timed_end(&t);
    return walks;
}

/* The most cycles of a range walk with which the second page of the chain still finds the range. */
static uint32_t latest(const char *distance)
{
    char walk[64];
    uint32_t low = 0, high = 1 << 16;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        snprintf(walk, sizeof walk, "l2_tlb.organisation.walk=%u", middle);
        if (walks_with(walk, "walk.model=fixed", distance) == 1)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void a_range_is_there_when_its_own_walk_has_ended(void **state)
{
    (void)state;
    set_places(4096);
    assert_int_equal(walks_with("l2_tlb.organisation.walk=0", NULL, NULL), 1);
    assert_int_equal(walks_with("l2_tlb.organisation.walk=1000000", NULL, NULL), ACCESSES);
    assert_int_equal(walks_with("l2_tlb.organisation.walk=0", "l2_tlb.organisation.ranges=0", NULL), ACCESSES);
    /* Between the end of the first walk and the second lookup lies the way to the SM and back. */
    assert_int_equal(latest("l2_tlb.distance=17"), latest("l2_tlb.distance=10") + 2 * 7);
}

static void load_pages_at_once(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, PW_PAGE_BYTES, 8, PW_PAGE_BYTES);
    pw_use(w);
}

/* Eight misses of one range with one miss register: the second is walked, since it comes before the range; the third
 * waits, is known to be absent by then, and finds the range all the same. */
static void who_waits_for_a_register_finds_a_range_that_comes_meanwhile(void **state)
{
    (void)state;
    struct timed t = {
        .design = "range-tlb",
        .kernel = load_pages_at_once,
        .sets = {"l2_tlb.mshrs=1", "walk.model=fixed", "l2_tlb.organisation.walk=100", "l1_tlb.on_miss=nonblocking"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 8);
    assert_int_equal(timed_count(&t, "walk.count"), 2);
    timed_end(&t);
}

static uint64_t cycles_of(struct timed t, uint64_t *out_hits)
{
    timed_run(&t);
    uint64_t cycles = t.cycles;
    *out_hits = timed_count(&t, "l2_tlb.hits");
    timed_end(&t);
    return cycles;
}

/* comp-sec53-range-os: the range TLB lives on contiguity that the operating system makes. Without any it is the
 * baseline to the cycle; the longer the pieces, the fewer walks. */
static void ranges_are_as_good_as_the_allocator(void **state)
{
    (void)state;
    static const struct {
        const char *frames;
        uint64_t hits; /* of lookups of 12 pages, 64 KiB apart */
    } rows[] = {{"page.frames=random", 0}, {"page.frames=chunks", 0}, {"page.frames=first-free", ACCESSES - 1}};
    set_places(64 << 10);
    for (unsigned i = 0; i < 3; i++) {
        struct timed ranges = chain_of(1 << 20), plain = ranges;
        uint64_t hits, none;
        ranges.sets[5] = plain.sets[5] = rows[i].frames;
        ranges.sets[6] = plain.sets[6] = "walk.model=fixed";
        ranges.sets[7] = "l2_tlb.organisation.walk=0";
        plain.design = "gpu-mmu";
        uint64_t with = cycles_of(ranges, &hits), without = cycles_of(plain, &none);
        assert_int_equal(hits, rows[i].hits);
        assert_int_equal(none, 0);
        assert_int_equal(with<without, hits> 0);
        assert_int_equal(with == without, hits == 0);
        /* Of 2 MiB that one allocation fills, chunks makes one piece. */
        ranges = chain_of(2 << 20);
        ranges.sets[5] = rows[i].frames;
        ranges.sets[6] = "l2_tlb.organisation.walk=0";
        cycles_of(ranges, &hits);
        assert_int_equal(hits, i ? ACCESSES - 1 : 0);
    }
}

static void large_pages_have_ranges_of_their_own(void **state)
{
    (void)state;
    set_places(2 << 20);
    struct timed t = chain_of((ACCESSES + 1) * (2 << 20));
    t.sets[5] = "page.size=2MB";
    t.sets[6] = "l2_tlb.organisation.walk=0";
    t.sets[7] = "l1_tlb.large_entries=1";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 1);
    assert_int_equal(timed_count(&t, "l2_tlb.large_organisation.range_hits"), ACCESSES - 1);
    assert_int_equal(timed_count(&t, "l2_tlb.large_organisation.range_fills"), 1);
    assert_int_equal(timed_count(&t, "l2_tlb.large_organisation.range_pages"), ACCESSES + 1);
    timed_end(&t);
}

/* Programs whose pages are evicted, moved, coalesced or protected while ranges hold them: timed_run checks at the end
 * that every entry maps to the page table's frame, and each hit was compared with it. */
static void ranges_stay_right_while_pages_change(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *design, *program, *sets[4];
    } runs[] = {
        {"pascal", "range-tlb+uvm-tbn-tbn", "nw:length=256", {"uvm.oversubscription=150", "page.frames=chunks"}},
        {"pascal", "range-tlb+uvm-sl-lru4k", "nw:length=256", {"uvm.oversubscription=150", "page.frames=first-free"}},
        {"pascal", "range-tlb+uvm-nvidia", "nw:length=256", {"uvm.oversubscription=150", "page.frames=contiguity"}},
        {"mosaic",
         "mosaic+range-tlb",
         "gather:table=4MB:ctas=8:iterations=2",
         {"dram.bytes=64MB", "page.fragmentation=100", "page.occupancy=10"}},
        {"mosaic",
         "conventional-coalescing+range-tlb",
         "gather:table=4MB:ctas=8:iterations=2",
         {"coalesce.interval=1000", "page.frames=chunks", "page.frames.large=64KB"}},
        {"mosaic", "mask+range-tlb", "gather:table=4MB:ctas=8:iterations=2", {"page.frames=chunks"}},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct timed neighbour = {.program = runs[i].program};
        struct timed t = {
            .machine = runs[i].machine,
            .design = runs[i].design,
            .program = runs[i].program,
            .sets = {"sm.count=2", "l2_tlb.organisation.walk=20", "l1_tlb.base_entries=4", "l1_tlb.base_ways=0"}};
        for (unsigned k = 0; k < 4; k++)
            t.sets[4 + k] = runs[i].sets[k];
        if (!strcmp(t.machine, "mosaic"))
            t.neighbours[0] = &neighbour;
        timed_run(&t);
        assert_true(timed_count(&t, "l2_tlb.organisation.range_fills") > 0);
        timed_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_there_when_its_own_walk_has_ended),
        cmocka_unit_test(who_waits_for_a_register_finds_a_range_that_comes_meanwhile),
        cmocka_unit_test(ranges_are_as_good_as_the_allocator),
        cmocka_unit_test(large_pages_have_ranges_of_their_own),
        cmocka_unit_test(ranges_stay_right_while_pages_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
