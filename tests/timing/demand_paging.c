/* Demand paging through the whole machine: from an access to a page that is not there to its replay. */
#include "timed.h"

enum { FAULT = 66645 /* 45 us at 1481 MHz */ };

/* Loads of the first word of pages t->n[1] apart, n[0] of them, one after the other. */
static void touch_in_turn(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_fetch(w, t, i * t->n[1] * PW_PAGE_BYTES);
}

static void store_in_turn(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++) {
        timed_store(w, t, i * t->n[1] * PW_PAGE_BYTES);
        timed_fetch(w, t, i * t->n[1] * PW_PAGE_BYTES);
    }
}

/* 32 lanes, each in a page of its own. */
static void touch_at_once(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, 32, (int64_t)t->n[1] * PW_PAGE_BYTES);
    pw_use(w);
}

static pw_cycle transfer(uint64_t bytes)
{
    struct timed t = {.machine = "pascal"};
    struct pw_link *link;
    timed_configure(&t);
    assert_int_equal(pw_link_create(&t.config.link, t.config.gpu.clock_mhz, NULL, &link, &t.err), PW_OK);
    pw_cycle cycles = pw_link_cycles(link, PW_LINK_H2D, bytes);
    pw_link_destroy(link);
    timed_end(&t);
    return cycles;
}

/* uvm-tab2-fault, uvm-sec22-two-costs: beyond a TLB miss, a far fault costs its handling and the migration of a page;
 * then the page is there and the access completes (mosaic-sec22-demand-paging). */
static void a_far_fault_costs_its_latency_and_its_transfer(void **state)
{
    (void)state;
    struct timed free = {.machine = "pascal", .kernel = touch_in_turn, .n = {1, 1}};
    struct timed demand = {.machine = "pascal", .design = "uvm-none-lru4k", .kernel = touch_in_turn, .n = {1, 1}};
    pw_cycle mapped = timed_cycles(free);
    pw_cycle faulted = timed_run(&demand);
    assert_int_equal(timed_count(&demand, "uvm.far_faults"), 1);
    assert_int_equal(timed_count(&demand, "uvm.pages_in"), 1);
    assert_true(pw_page_table_lookup(demand.system->spaces[0].table, pw_vpn_of(demand.a.base)).present);
    assert_int_equal((uint64_t)timed_value(&demand, "uvm.fault_latency_mean"), FAULT + transfer(4096));
    /* DRAM's clock is not the core's: the load may wait a cycle more or less for its edge. */
    assert_in_range(faulted, mapped + FAULT + transfer(4096) - 1, mapped + FAULT + transfer(4096) + 1);
    timed_end(&demand);
}

/* uvm-fig1-s2: a TLB is an SM's own, so both SMs miss and both ask the walker for the page; it faults once, and both
 * accesses are replayed. uvm-sec22-mshr-merge, uvm-fig1-s6. */
static void an_sm_has_a_tlb_of_its_own_and_a_page_faults_once(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal", .design = "uvm-none-lru4k", .kernel = touch_in_turn, .ctas = 2, .n = {1, 1}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.misses"), 2);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 1);
    assert_int_equal(timed_count(&t, "uvm.pages_in"), 1);
    assert_int_equal(timed_count(&t, "sm.warps"), 2);
    timed_end(&t);
}

/* A launch later the page is still there, and the TLBs know it: nothing more is asked. uvm-fig1-s6: the TLB has gained
 * an entry with the page's arrival, so the replay looks nothing up. */
static void a_page_that_has_come_stays(void **state)
{
    (void)state;
    struct timed t = {
        .machine = "pascal", .design = "uvm-none-lru4k", .kernel = touch_in_turn, .launches = 3, .n = {4, 1}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 4);
    assert_int_equal(timed_count(&t, "walk.count"), 4);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 8);
    timed_end(&t);
}

/* With serial service 32 faults at once take 32 latencies, in parallel one; the link serves one transfer at a time. */
static void faults_are_served_one_by_one_or_together(void **state)
{
    (void)state;
    struct timed serial = {.machine = "pascal", .design = "uvm-none-lru4k", .kernel = touch_at_once, .n = {0, 1}};
    struct timed parallel = serial;
    parallel.sets[0] = "uvm.service=parallel";
    pw_cycle one_by_one = timed_cycles(serial), together = timed_cycles(parallel);
    assert_in_range(one_by_one, 32 * FAULT + transfer(4096), 32 * FAULT + transfer(4096) + 5000);
    assert_in_range(together, FAULT + 32 * transfer(4096), FAULT + 32 * transfer(4096) + 5000);
}

/* An instruction that needs 32 pages runs in memory for one: pages that are waited for stay until they were
 * accessed. */
static void one_page_of_memory_is_enough(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal",
                      .design = "uvm-none-lru4k",
                      .sets = {"uvm.memory=4KB"},
                      .kernel = touch_at_once,
                      .n = {0, 1}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 32);
    assert_int_equal(timed_count(&t, "uvm.pages_evicted"), 31);
    timed_end(&t);
}

/* Clean pages leave without a transfer, written ones with one, and the frame is used again only after it. */
static void written_pages_go_back_before_their_frame_is_used(void **state)
{
    (void)state;
    struct timed reads = {.machine = "pascal",
                          .design = "uvm-none-lru4k",
                          .sets = {"uvm.memory=4KB"},
                          .kernel = touch_in_turn,
                          .n = {4, 1}};
    struct timed writes = reads;
    writes.kernel = store_in_turn;
    pw_cycle clean = timed_run(&reads), dirty = timed_run(&writes);
    assert_int_equal(timed_count(&reads, "uvm.pages_written"), 0);
    assert_int_equal(timed_count(&writes, "uvm.pages_written"), 3);
    assert_int_equal(timed_count(&writes, "link.d2h.bytes"), 3 * PW_PAGE_BYTES);
    assert_in_range(dirty, clean + 3 * transfer(4096), clean + 3 * transfer(4096) + 200);
    timed_end(&reads);
    timed_end(&writes);
}

/* Preload: everything is there when the kernel starts, and the way there is paid. */
static void preloading_pays_the_transfer_before_the_kernel(void **state)
{
    (void)state;
    struct timed free = {.machine = "pascal", .kernel = touch_in_turn, .n = {1, 1}};
    struct timed t = free;
    t.sets[0] = "paging.mode=preload";
    pw_cycle mapped = timed_cycles(free);
    pw_cycle preloaded = timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 0);
    assert_int_equal(timed_count(&t, "uvm.pages_in"), 256);
    assert_in_range(preloaded, mapped + transfer(1 << 20) - 1, mapped + transfer(1 << 20) + 1);
    timed_end(&t);
}

/* Nothing of a page that has left is found under its frame, whatever finds translations. */
static void a_frame_keeps_nothing_of_the_page_before(void **state)
{
    (void)state;
    static const char *const organisations[] = {"l1_tlb.organisation=plain", "l1_tlb.organisation=ideal"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.machine = "pascal",
                          .design = "uvm-none-lru4k",
                          .sets = {"uvm.memory=4KB", organisations[i]},
                          .kernel = touch_in_turn,
                          .n = {4, 1}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.pages_evicted"), 3);
        assert_int_equal(timed_count(&t, "l1d.hits"), 0);
        assert_int_equal(timed_count(&t, "l2.hits"), 0);
        timed_end(&t);
    }
}

/* An ideal TLB hits a page that was prefetched and never asked for; what is cached of it goes with it all the same. */
static void a_prefetched_page_that_only_hits_is_forgotten_too(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal",
                      .design = "uvm-sl-sl",
                      .sets = {"uvm.memory=64KB", "l1_tlb.organisation=ideal"},
                      .kernel = touch_in_turn,
                      .n = {32, 1}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 2);
    assert_int_equal(timed_count(&t, "uvm.pages_evicted"), 16);
    assert_int_equal(timed_count(&t, "l1d.hits"), 0);
    assert_int_equal(timed_count(&t, "l2.hits"), 0);
    timed_end(&t);
}

static void prefetch_then_launch(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    pw_prefetch(h, &t->a);
    timed_launch(h, t);
}

/* uvm-sec61-api: managed allocation, asynchronous prefetch and waiting for the device work. The kernel starts beside
 * the transfer, merges into it, and takes no fault latency. */
static void an_explicit_prefetch_moves_pages_beside_the_kernel(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal",
                      .design = "uvm-none-lru4k",
                      .body = prefetch_then_launch,
                      .kernel = touch_in_turn,
                      .n = {2, 128}};
    pw_cycle cycles = timed_run(&t);
    assert_int_equal(timed_count(&t, "uvm.far_faults"), 0);
    assert_int_equal(timed_count(&t, "uvm.pages_in"), 256);
    assert_true(cycles < transfer(1 << 20) + 5000);
    timed_end(&t);
}

/* 32 pages in two blocks, and one miss register, which a far fault frees long before the page has come: all 32 are
 * walked for. Where memory instructions go one at a time, and one page at a time within them, the page that faults
 * comes first and the others of its block behind it: two walks for each block, since an ideal TLB has all the others by
 * the time that the second has been answered. */
static void an_ideal_tlb_has_what_came_while_an_access_waited(void **state)
{
    (void)state;
    struct timed t = {.machine = "pascal",
                      .design = "uvm-tbn-tbn",
                      .kernel = touch_at_once,
                      .n = {0, 1},
                      .sets = {"l1_tlb.mshrs=1", "l1_tlb.organisation=ideal"}};
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 32);
    assert_int_equal(timed_count(&t, "walk.count"), 32);
    timed_end(&t);
    t.sets[0] = "sm.serial=on";
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 32);
    assert_int_equal(timed_count(&t, "walk.count"), 4);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_far_fault_costs_its_latency_and_its_transfer),
        cmocka_unit_test(an_sm_has_a_tlb_of_its_own_and_a_page_faults_once),
        cmocka_unit_test(a_page_that_has_come_stays),
        cmocka_unit_test(faults_are_served_one_by_one_or_together),
        cmocka_unit_test(one_page_of_memory_is_enough),
        cmocka_unit_test(written_pages_go_back_before_their_frame_is_used),
        cmocka_unit_test(a_frame_keeps_nothing_of_the_page_before),
        cmocka_unit_test(a_prefetched_page_that_only_hits_is_forgotten_too),
        cmocka_unit_test(preloading_pays_the_transfer_before_the_kernel),
        cmocka_unit_test(an_explicit_prefetch_moves_pages_beside_the_kernel),
        cmocka_unit_test(an_ideal_tlb_has_what_came_while_an_access_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
