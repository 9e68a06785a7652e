/* Exact cycles of l1_tlb.on_miss: who goes on under a miss in the L1 TLB, and from which cycle on the others do.
 *
 * Warp 0 brings some pages in and then, at cycle m, loads from page A. Warp 1 has some instructions to do and loads
 * from page B at cycle b, and many more instructions follow, so that the run ends with it. The L1 TLB has room for
 * three translations, the L2 TLB for all, and every line but those of pages that nobody has touched is in the L1 cache:
 * no time has DRAM in it. What a miss of warp 0 costs warp 1 is the difference to the run in which warp 0 hits. */
#include "closed_form.h"
#include "timed.h"

/* Pages. Those of MISSES and OTHER have left the L1 TLB, the next three are there, and nobody has touched ABSENT. */
enum { MISSES, OTHER, LEAVES, HITS, HITS_TOO, ABSENT };
enum { WARP_0, WARP_1, DELAY, REST, STORES };

enum { NONBLOCKING, HIT_UNDER_MISS, STALL_LSU, VALUES };

static uint64_t byte_of(uint64_t page, uint64_t line)
{
    return page * PW_PAGE_BYTES + (page * 2 + line) * PW_LINE_BYTES;
}

static void two_warps(struct pw_warp *w, struct timed *t)
{
    if (w->index == 0) {
        for (uint64_t page = MISSES; page <= HITS_TOO; page++)
            for (uint64_t line = 0; line < 2; line++)
                timed_fetch(w, t, byte_of(page, line));
        pw_barrier(w);
        if (t->n[STORES])
            timed_store(w, t, byte_of(t->n[WARP_0], 0));
        else
            timed_load(w, t, byte_of(t->n[WARP_0], 0));
    } else {
        pw_barrier(w);
        pw_compute(w, (uint32_t)t->n[DELAY]);
        timed_fetch(w, t, byte_of(t->n[WARP_1], 1));
        pw_compute(w, (uint32_t)t->n[REST]);
    }
}

static struct timed pair(unsigned value, uint64_t warp_0, uint64_t warp_1)
{
    static const char *const sets[] = {"l1_tlb.on_miss=nonblocking", "l1_tlb.on_miss=hit_under_miss",
                                       "l1_tlb.on_miss=stall_lsu"};
    struct timed t = {.kernel = two_warps,
                      .threads = 64,
                      .n = {warp_0, warp_1, 1, 300000},
                      .sets = {"sm.count=1", "walk.model=fixed", "walk.latency=500", "l1_tlb.base_entries=3",
                               "l1_tlb.base_ways=0", sets[value]}};
    return t;
}

static struct pw_gpu_config config_of(struct timed t)
{
    timed_configure(&t);
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    return c;
}

/* By how many cycles warp 1 is later, or earlier, because warp 0 misses; it loads `after` cycles after warp 0 does. */
static int64_t cost(struct timed t, uint64_t after)
{
    t.n[DELAY] = after - config_of(t).sm.dependency_latency;
    pw_cycle cycles = timed_cycles(t);
    t.n[WARP_0] = HITS_TOO;
    return (int64_t)cycles - (int64_t)timed_cycles(t);
}

/* From a lookup to the answer of the L2 TLB, and to that of a walk. */
static int64_t l2_hit(const struct pw_gpu_config *c)
{
    return (int64_t)form_l2_tlb(c, 1);
}

static int64_t walk(const struct pw_gpu_config *c)
{
    return (int64_t)form_l2_tlb(c, 1) + 500;
}

static int64_t at_least_0(int64_t cycles)
{
    return cycles > 0 ? cycles : 0;
}

/* The answer is there `l2_hit` cycles after the lookup; in that cycle the parked line goes on, and nothing else does.
 * mask-sec6-nonblocking */
static void a_hit_goes_on_under_a_miss_unless_the_unit_stalls(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++) {
        struct timed t = pair(value, MISSES, HITS);
        const struct pw_gpu_config c = config_of(t);
        for (int64_t after = l2_hit(&c) - 2; after <= l2_hit(&c) + 3; after++)
            assert_int_equal(cost(t, (uint64_t)after),
                             value == STALL_LSU ? at_least_0(l2_hit(&c) + 1 - after) : after == l2_hit(&c));
    }
}

/* The cycle after that is the other warp's. What a store misses is missed as what a load does; the warp that stores
 * exits in the next cycle, which the other one loses. */
static void another_warps_miss_waits_until_the_first_is_answered(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++)
        for (unsigned stores = 0; stores < 2; stores++) {
            struct timed t = pair(value, MISSES, OTHER);
            const struct pw_gpu_config c = config_of(t);
            t.n[STORES] = stores;
            for (int64_t after = l2_hit(&c) - 2; after <= l2_hit(&c) + 3; after++)
                assert_int_equal(cost(t, (uint64_t)after - stores),
                                 value == NONBLOCKING ? after == l2_hit(&c) : at_least_0(l2_hit(&c) + 1 - after));
        }
}

/* Without the first miss the second warp has one of its own. With it, its line goes on behind that of the first, or it
 * is looked up then, and hits. */
static void a_merge_goes_on_with_the_miss_that_it_joins(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++) {
        struct timed t = pair(value, MISSES, MISSES);
        const struct pw_gpu_config c = config_of(t);
        int64_t latency = c.l1_tlb.tlb.latency, after = 12, alone = after + l2_hit(&c);
        assert_int_equal(cost(t, 12), l2_hit(&c) + 1 + (value == STALL_LSU ? latency : 0) -
                                          (alone + (value == STALL_LSU ? latency : 0)));
        t.n[DELAY] = 12 - c.sm.dependency_latency;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "l1_tlb.mshr_merges"), value == STALL_LSU ? 0 : 1);
        timed_end(&t);
    }
}

/* The page of warp 0 is not on the GPU. Its walk ends, and the news takes the way back of an answer: then the only miss
 * register is free, and with it the way for the miss of warp 1, tens of thousands of cycles before the page comes. No
 * line goes on in that cycle; a head that has stalled takes it to leave. */
static void a_far_fault_frees_the_register_when_the_sm_hears_of_it(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++) {
        struct timed t = pair(value, ABSENT, OTHER);
        t.sets[6] = "paging.mode=demand";
        t.sets[7] = "uvm.prefetch=none";
        t.sets[8] = "l1_tlb.mshrs=1";
        const struct pw_gpu_config c = config_of(t);
        for (int64_t after = walk(&c) - 2; after <= walk(&c) + 3; after++)
            assert_int_equal(cost(t, (uint64_t)after), at_least_0(walk(&c) + (value == STALL_LSU) - after));
        timed_run(&t);
        assert_true(timed_value(&t, "uvm.fault_latency_mean") > 50000);
        timed_end(&t);
    }
}

/* An access to a page that its SM waits for already joins what waits: it neither walks nor keeps others from doing
 * so. */
static void accesses_to_a_page_that_is_waited_for_wait_with_the_first(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++) {
        struct timed t = pair(value, ABSENT, ABSENT);
        t.sets[6] = "paging.mode=demand";
        t.sets[7] = "uvm.prefetch=none";
        t.n[DELAY] = 2000;
        t.n[REST] = 1;
        timed_run(&t);
        assert_int_equal(timed_count(&t, "uvm.far_faults"), 6);
        assert_int_equal(timed_count(&t, "walk.count"), 6);
        assert_int_equal(timed_count(&t, "l1_tlb.far_fault_waits"), 7);
        assert_int_equal(timed_count(&t, "l2_tlb.far_fault_waits"), 6);
        timed_end(&t);
    }
}

/* One warp: its next instruction is another one, whose misses wait as those of another warp do. */
static void two_loads(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = MISSES; page <= HITS_TOO; page++)
        timed_fetch(w, t, byte_of(page, 0));
    if (t->n[0])
        timed_load(w, t, byte_of(MISSES, 0));
    if (t->n[0])
        timed_load(w, t, byte_of(OTHER, 0));
    pw_use(w);
}

static void the_next_instruction_of_the_same_warp_waits_too(void **state)
{
    (void)state;
    for (unsigned value = 0; value < VALUES; value++) {
        struct timed t = pair(value, 0, 0);
        t.kernel = two_loads;
        t.threads = 32;
        const struct pw_gpu_config c = config_of(t);
        pw_cycle before = timed_cycles(t);
        t.n[0] = 1;
        int64_t second = value == NONBLOCKING ? 1 : l2_hit(&c) + 1;
        int64_t again = value == STALL_LSU ? c.l1_tlb.tlb.latency : 0;
        assert_int_equal(timed_cycles(t) - before, second + l2_hit(&c) + again + c.l1d.latency);
    }
}

/* One instruction, 32 pages, all in the L1 cache and none in the L1 TLB. */
static void pages_at_once(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < 36; page++)
        timed_fetch(w, t, page * (PW_PAGE_BYTES + PW_LINE_BYTES));
    if (t->n[0])
        timed_load_lanes(w, t, 0, 32, PW_PAGE_BYTES + PW_LINE_BYTES);
    pw_use(w);
}

/* A page is looked up in each cycle. With four registers the fifth page waits for the answer to the first and then for
 * the lines of the first four, which come one after the other and go on first. */
static void the_pages_of_one_instruction_miss_together_as_far_as_registers_go(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t registers;
    } sizes[] = {{"l1_tlb.mshrs=32", 32}, {"l1_tlb.mshrs=4", 4}, {"l1_tlb.mshrs=1", 1}};
    for (unsigned value = 0; value < VALUES; value++)
        for (unsigned i = 0; i < 3; i++) {
            struct timed t = pair(value, 0, 0);
            t.kernel = pages_at_once;
            t.threads = 32;
            t.sets[6] = sizes[i].set;
            t.sets[7] = "l2_tlb.latency=20"; /* no answer before the last lookup: its line would go first */
            const struct pw_gpu_config c = config_of(t);
            pw_cycle before = timed_cycles(t);
            t.n[0] = 1;
            uint64_t answer = form_l2_tlb(&c, 1), registers = value == STALL_LSU ? 1 : sizes[i].registers;
            uint64_t last_lookup = (32 / registers - 1) * (answer + registers) + registers - 1;
            uint64_t again = value == STALL_LSU ? c.l1_tlb.tlb.latency : 0;
            assert_int_equal(timed_cycles(t) - before, last_lookup + answer + again + c.l1d.latency);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_goes_on_under_a_miss_unless_the_unit_stalls),
        cmocka_unit_test(another_warps_miss_waits_until_the_first_is_answered),
        cmocka_unit_test(a_merge_goes_on_with_the_miss_that_it_joins),
        cmocka_unit_test(a_far_fault_frees_the_register_when_the_sm_hears_of_it),
        cmocka_unit_test(accesses_to_a_page_that_is_waited_for_wait_with_the_first),
        cmocka_unit_test(the_next_instruction_of_the_same_warp_waits_too),
        cmocka_unit_test(the_pages_of_one_instruction_miss_together_as_far_as_registers_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
