/* What the way between the page walker and the L2 slices adds, to the cycle.
 *
 * The last load of the pages A, B, A with room for one translation finds its data in the L1 cache and every page-table
 * entry in the L2 or the page walk cache, so that nothing but the walk makes its time. */
#include "timed.h"

enum { NEAR, ONE, FAR, DISTANCES };

static const struct {
    const char *set;
    unsigned cycles;
} distances[DISTANCES] = {{"walk.distance=0", 0}, {"walk.distance=1", 1}, {"walk.distance=35", 35}};

/* Of the loads of A, B, A. */
static pw_cycle cost_of_third(struct timed t)
{
    static uint64_t a_b_a[] = {0, 2 << 20, 0};
    t.data = a_b_a;
    t.bytes = 4 << 20;
    return timed_cost_of_last(t, 2);
}

/* By the sizes of pages, whose walks have four reads or three. */
static void each_read_of_a_walk_pays_the_way_there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *size;
        unsigned reads;
    } pages[] = {{"page.size=4KB", 4}, {"page.size=64KB", 4}, {"page.size=2MB", 3}};
    for (unsigned i = 0; i < 3; i++) {
        pw_cycle near = 0;
        for (unsigned d = 0; d < DISTANCES; d++) {
            struct timed t = {.sets = {pages[i].size, "l1_tlb.base_entries=1", "l2_tlb.base_entries=1",
                                       "l2_tlb.base_ways=0", "l1_tlb.large_entries=1", "l2_tlb.large_entries=1",
                                       distances[d].set}};
            pw_cycle cost = cost_of_third(t);
            if (d == NEAR)
                near = cost;
            assert_int_equal(cost - near, pages[i].reads * 2 * distances[d].cycles);
        }
    }
}

static void only_reads_that_miss_the_page_walk_cache_pay_it(void **state)
{
    (void)state;
    pw_cycle hits = 0, misses = 0;
    for (unsigned d = 0; d < DISTANCES; d++) {
        struct timed t = {.design = "pwcache", .sets = {distances[d].set, "l1_tlb.base_entries=1"}};
        pw_cycle cost = cost_of_third(t);
        if (d == NEAR)
            hits = cost;
        assert_int_equal(cost, hits);
        t.sets[2] = "pwc.bytes=128"; /* room for one line: every read misses */
        t.sets[3] = "pwc.ways=1";
        cost = cost_of_third(t);
        if (d == NEAR)
            misses = cost;
        assert_int_equal(cost - misses, 4 * 2 * distances[d].cycles);
    }
}

static void fixed_walks_do_not_pay_it(void **state)
{
    (void)state;
    struct timed t = {.sets = {"walk.model=fixed", "l2_tlb.base_entries=1", "l2_tlb.base_ways=0",
                               "l1_tlb.base_entries=1", distances[NEAR].set}};
    pw_cycle near = cost_of_third(t);
    t.sets[4] = distances[FAR].set;
    assert_int_equal(cost_of_third(t), near);
}

/* Each SM has one CTA; the second one's comes n[0] instructions later. */
static void early_and_late(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index)
        pw_compute(w, (uint32_t)t->n[0]);
    timed_fetch(w, t, 0);
}

/* The second SM's request reaches the L2 TLB in the last cycle of the walk and joins it, or a cycle later and hits. */
static void a_walk_ends_in_the_cycle_its_last_answer_has_come_back(void **state)
{
    (void)state;
    static const char *const far[] = {"walk.distance=20", "walk.distance=50"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.kernel = early_and_late, .ctas = 2, .n = {5000}, .sets = {"sm.count=2", far[i]}};
        timed_run(&t);
        assert_int_equal(timed_count(&t, "walk.count"), 1);
        const struct pw_gpu_config *c = &t.config.gpu;
        pw_cycle arrival = c->l1_tlb.tlb.latency + c->l2_tlb.distance; /* of a load that issues at 0 */
        pw_cycle end = arrival + c->l2_tlb.tlb.latency + timed_walk_cycles(&t);
        pw_cycle first_load = c->sm.dependency_latency - 1; /* n instructions let the load issue n cycles later */
        timed_end(&t);
        for (unsigned late = 0; late < 2; late++) {
            t.n[0] = end - 1 + late - arrival - first_load;
            timed_run(&t);
            assert_int_equal(timed_count(&t, "l2_tlb.hits"), late);
            assert_int_equal(timed_count(&t, "l2_tlb.mshr_merges"), !late);
            timed_end(&t);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_read_of_a_walk_pays_the_way_there_and_back),
        cmocka_unit_test(only_reads_that_miss_the_page_walk_cache_pay_it),
        cmocka_unit_test(fixed_walks_do_not_pay_it),
        cmocka_unit_test(a_walk_ends_in_the_cycle_its_last_answer_has_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
