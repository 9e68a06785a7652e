/* TLBs whose base and large entries are organised differently: exact hits, walks and cycles.
 *
 * An array of three regions of 2 MiB, of which the first two are large pages; every array of a TLB has one entry. */
#include "gpu/gpu_internal.h"
#include "timed.h"
#include "toy_tlb.h"

enum { PAGES = 512, REGION = 2 << 20, BOTH = 1U << PW_PAGE_4K | 1U << PW_PAGE_2M };

static void make_two_large(struct timed *t)
{
    struct pw_address_space *space = &t->system->spaces[t->app];
    pw_owner owner = (pw_owner)(PW_OWNER_APP + t->app);
    for (uint64_t region = 0; region < 2; region++) {
        pw_vpn first = pw_vpn_of((pw_vaddr){t->a.base.v + region * REGION});
        pw_pfn block;
        assert_true(pw_frames_take(space->physical->frames, PW_PAGE_2M, (pw_pfn){0}, owner, &block));
        for (uint32_t i = 0; i < PAGES; i++)
            assert_true(pw_frames_release(
                space->physical->frames, PW_PAGE_4K,
                pw_page_table_move(space->table, (pw_vpn){first.v + i}, (pw_pfn){block.v + i}), owner));
        pw_page_table_set_large(space->table, first, true);
    }
}

/* Each page twice, and another of its size in between. */
static uint64_t places[] = {5 << 12,    REGION + (9 << 12), 6 << 12, 2 * REGION, 2 * REGION + (1 << 12),
                            2 * REGION, REGION + (7 << 12)};
enum { LARGE = 4, BASE = 3 };

static struct timed with(const char *base, const char *large)
{
    return (struct timed){.data = places,
                          .bytes = 3 * REGION,
                          .orders = BOTH,
                          .prepare = make_two_large,
                          .kernel = timed_chain,
                          .n = {LARGE + BASE},
                          .sets = {"l1_tlb.base_entries=1", "l1_tlb.base_ways=0", "l1_tlb.large_entries=1",
                                   "l2_tlb.base_entries=1", "l2_tlb.base_ways=0", "l2_tlb.large_entries=1", base,
                                   large}};
}

static void assert_l1_hits(struct timed t, uint64_t hits)
{
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), LARGE + BASE);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), hits);
    assert_int_equal(timed_count(&t, "walk.count"), LARGE + BASE - hits);
    timed_end(&t);
}

static void an_ideal_array_of_an_l1_tlb_hits_its_own_pages_only(void **state)
{
    (void)state;
    assert_l1_hits(with("l1_tlb.organisation=plain", "l1_tlb.large_organisation=same"), 0);
    assert_l1_hits(with("l1_tlb.organisation=plain", "l1_tlb.large_organisation=plain"), 0);
    assert_l1_hits(with("l1_tlb.organisation=plain", "l1_tlb.large_organisation=ideal"), LARGE);
    assert_l1_hits(with("l1_tlb.organisation=ideal", "l1_tlb.large_organisation=plain"), BASE);
    assert_l1_hits(with("l1_tlb.organisation=ideal", "l1_tlb.large_organisation=same"), LARGE + BASE);
    assert_l1_hits(with("l1_tlb.organisation=ideal", "l1_tlb.large_organisation=ideal"), LARGE + BASE);
}

static void assert_l2_hits(struct timed t, uint64_t hits)
{
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 0);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), LARGE + BASE);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), hits);
    assert_int_equal(timed_count(&t, "walk.count"), LARGE + BASE - hits);
    timed_end(&t);
}

static void an_ideal_array_of_the_l2_tlb_hits_its_own_pages_only(void **state)
{
    (void)state;
    assert_l2_hits(with("l2_tlb.organisation=plain", "l2_tlb.large_organisation=same"), 0);
    assert_l2_hits(with("l2_tlb.organisation=plain", "l2_tlb.large_organisation=ideal"), LARGE);
    assert_l2_hits(with("l2_tlb.organisation=ideal", "l2_tlb.large_organisation=plain"), BASE);
    assert_l2_hits(with("l2_tlb.organisation=ideal", "l2_tlb.large_organisation=same"), LARGE + BASE);
}

/* Ideal is what an array holds, not how long a probe takes: large entries first, then base entries. */
static void a_probe_of_an_ideal_array_takes_as_long_as_of_another(void **state)
{
    (void)state;
    static uint64_t large[] = {5 << 12, REGION, 5 << 12}, base[] = {2 * REGION, 2 * REGION + 4096, 2 * REGION};
    struct timed t = with("l2_tlb.organisation=plain", "l2_tlb.large_organisation=ideal");
    t.data = large;
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 10 + 10 + 1);
    t.sets[6] = "l2_tlb.organisation=ideal";
    t.sets[7] = "l2_tlb.large_organisation=plain";
    t.data = base;
    assert_int_equal(timed_cost_of_last(t, 2), 1 + 10 + 2 * 10 + 10 + 1);
}

enum { CYCLE = 5, ACCESSES = 400 };

/* What a scan of five pages, one after the other, hits in four entries whose replacement draws from this stream. */
static uint64_t hits_of_model(uint64_t seed, const char *stream)
{
    struct pw_random random;
    uint64_t held[CYCLE - 1], hits = 0;
    pw_random_init(&random, seed, stream);
    for (uint64_t i = 0; i < ACCESSES; i++) {
        bool hit = false;
        for (unsigned e = 0; e < CYCLE - 1 && i >= CYCLE - 1; e++)
            hit |= held[e] == i % CYCLE;
        if (!hit)
            held[i < CYCLE - 1 ? CYCLE - 2 - i : pw_random_below(&random, CYCLE - 1)] = i % CYCLE;
        hits += hit;
    }
    return hits;
}

static void assert_hits_of_scan(struct timed t, const char *metric, uint64_t hits)
{
    static uint64_t pages[ACCESSES];
    for (uint64_t i = 0; i < ACCESSES; i++)
        pages[i] = i % CYCLE << 12;
    t.data = pages;
    t.kernel = timed_chain;
    t.n[0] = ACCESSES;
    timed_run(&t);
    assert_int_equal(timed_count(&t, metric), hits);
    timed_end(&t);
}

/* Where LRU never hits; the draws are those of the run's seed, from a stream of each TLB's own. */
static void random_replacement_draws_from_the_seed_of_the_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct timed t = {
            .spec = {.seed = seed},
            .sets = {"l1_tlb.base_entries=4", "l1_tlb.base_ways=0", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0"}};
        assert_hits_of_scan(t, "l1_tlb.hits", 0);
        t.sets[4] = "l1_tlb.organisation.replacement=random";
        assert_hits_of_scan(t, "l1_tlb.hits", hits_of_model(seed, "l1_tlb 0 base"));
        t.sets[0] = "l1_tlb.base_entries=1";
        t.sets[2] = "l2_tlb.base_entries=4";
        assert_hits_of_scan(t, "l2_tlb.hits", 0);
        t.sets[4] = "l2_tlb.organisation.replacement=random";
        assert_hits_of_scan(t, "l2_tlb.hits", hits_of_model(seed, "l2_tlb 0 base"));
    }
    assert_true(hits_of_model(1, "l1_tlb 0 base") > ACCESSES / 3);
    assert_true(hits_of_model(1, "l1_tlb 0 base") != hits_of_model(2, "l1_tlb 0 base"));
}

static struct pw_policy_use toys[2];
static struct toy_counters *counted;

static void use_toy(struct timed *t)
{
    counted = toy_take_over(&toys[0], &pw_mmu_tlb(t->system->nodes[0].gpu->mmu)->base, 8, 1);
}

static void end_with_toys(struct timed *t)
{
    timed_end(t);
    pw_policy_use_release(&toys[0]);
    pw_policy_use_release(&toys[1]);
}

/* A walk brings a line of the page table with it, sixteen entries of 8 bytes, or one of 128. */
static void one_walk_fills_an_entry_of_several_pages(void **state)
{
    (void)state;
    static uint64_t pages[16];
    for (uint64_t i = 0; i < 16; i++)
        pages[i] = (i * 5 % 16) << 12;
    struct timed t = {.data = pages,
                      .prepare = use_toy,
                      .kernel = timed_chain,
                      .n = {16},
                      .sets = {"l1_tlb.base_entries=1", "l1_tlb.base_ways=0"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 16);
    assert_int_equal(timed_count(&t, "walk.count"), 4);
    assert_int_equal(counted->lines, 4);
    assert_int_equal(counted->neighbours, 12);
    end_with_toys(&t);
    t.sets[2] = "page.entry_stride=128";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 16);
    assert_int_equal(counted->lines, 16);
    assert_int_equal(counted->neighbours, 0);
    end_with_toys(&t);
    t.sets[2] = "page.entry_stride=64"; /* two to a line */
    timed_run(&t);
    assert_int_equal(timed_count(&t, "walk.count"), 8);
    assert_int_equal(counted->neighbours, 8);
    end_with_toys(&t);
}

static void launch_with_toys(struct pw_host *h, struct timed *t)
{
    use_toy(t);
    toy_take_over(&toys[1], &t->system->nodes[0].gpu->sms[0].tlb.base, 8, 1);
    t->a = pw_alloc(h, "a", t->bytes, 1);
    timed_launch(h, t);
}

/* Pages come and go while entries hold their neighbours, in both TLBs. Every translation that is used is compared with
 * the page table, and every entry at the end. */
static void entries_of_several_pages_lose_those_that_are_evicted(void **state)
{
    (void)state;
    static uint64_t pages[2000];
    for (uint64_t i = 0; i < 2000; i++)
        pages[i] = (i / 64 * 3 % 4 * 16 + i * 5 % 16) << 12; /* 64 KiB for a while, then others */
    struct timed t = {.machine = "pascal",
                      .design = "uvm-tbn-tbn",
                      .data = pages,
                      .bytes = 64 << 12,
                      .body = launch_with_toys,
                      .kernel = timed_chain,
                      .n = {2000},
                      .sets = {"sm.count=1", "l2_tlb.enabled=on", "uvm.memory=128KB", "uvm.fault_latency=100"}};
    timed_run(&t);
    assert_true(timed_count(&t, "uvm.pages_evicted") > 100);
    assert_true(counted->neighbours > 100);
    assert_true(timed_count(&t, "l1_tlb.hits") > 0 && timed_count(&t, "l2_tlb.hits") > 100);
    end_with_toys(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ideal_array_of_an_l1_tlb_hits_its_own_pages_only),
        cmocka_unit_test(an_ideal_array_of_the_l2_tlb_hits_its_own_pages_only),
        cmocka_unit_test(a_probe_of_an_ideal_array_takes_as_long_as_of_another),
        cmocka_unit_test(random_replacement_draws_from_the_seed_of_the_run),
        cmocka_unit_test(one_walk_fills_an_entry_of_several_pages),
        cmocka_unit_test(entries_of_several_pages_lose_those_that_are_evicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
