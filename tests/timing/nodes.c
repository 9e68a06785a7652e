/* Systems of several GPUs of which each has work of its own, on pages of its own: so each does what one alone does, to
 * the cycle, and their sum is known. */
#include "timed.h"

enum { NODES = 3, PAGES = 40, PART = 128 * PW_PAGE_BYTES }; /* pages accessed of those that a GPU has */
enum { PARTS, LATE_NODE, LATE };                            /* of n */

/* A load from each of some pages of its GPU, one after the other, by two warps. The first page is left out: on the
 * first GPU it has its frame before the page table's nodes have theirs, on others behind. */
static void load_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 1; page <= PAGES; page++)
        timed_fetch(w, t, w->cta_index % t->n[PARTS] * PART + page * PW_PAGE_BYTES);
}

static const struct timed one = {
    .sets = {"walk.model=fixed"}, .kernel = load_pages, .bytes = PART, .ctas = 2, .launches = 2, .n = {[PARTS] = 1}};

static struct timed several(void)
{
    struct timed t = one;
    static const char *const sets[] = {"walk.model=fixed", "gpu.count=3", "iommu.walkers=8", "place.policy=split",
                                       "place.ctas=interleaved"};
    memcpy(t.sets, sets, sizeof sets);
    t.bytes *= NODES;
    t.ctas *= NODES;
    t.n[PARTS] = NODES;
    return t;
}

static uint64_t count_on(const struct timed *t, const char *metric, int node)
{
    return pw_stats_exact_in(t->system->stats, timed_index(t, metric), node, -1, NULL, t->system->region_to);
}

static double value_on(const struct timed *t, const char *metric, int node)
{
    return pw_stats_value_in(t->system->stats, timed_index(t, metric), node, -1, NULL, t->system->region_to);
}

static void each_node_counts_for_itself_and_all_of_them_are_the_sum(void **state)
{
    (void)state;
    static const char *const metrics[] = {"sm.issued",   "sm.lines",   "sm.launches", "sm.ctas",      "l1_tlb.misses",
                                          "l2_tlb.hits", "walk.count", "l2.accesses", "dram.row_hits"};
    static const char *const ratios[] = {"walk.latency_mean", "walk.queue_mean", "dram.data.latency_mean"};
    struct timed alone = one, together = several();
    pw_cycle cycles = timed_run(&alone);
    assert_int_equal(timed_run(&together), cycles);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        uint64_t count = timed_count(&alone, metrics[i]);
        for (int node = 0; node < NODES; node++)
            assert_int_equal(count_on(&together, metrics[i], node), count);
        assert_int_equal(timed_count(&together, metrics[i]), NODES * count);
    }
    assert_true(timed_count(&alone, "walk.count") == PAGES);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (int node = PW_ALL_SCOPES; node < NODES; node++)
            assert_true(value_on(&together, ratios[i], node) == timed_value(&alone, ratios[i]));
    /* Time passes once, and a maximum is the largest. */
    assert_true(timed_value(&together, "walk.concurrent_mean") == NODES * timed_value(&alone, "walk.concurrent_mean"));
    assert_int_equal(timed_count(&together, "walk.concurrent_max"), timed_count(&alone, "walk.concurrent_max"));
    assert_int_equal(timed_count(&together, "mem.allocated_bytes"), NODES * PART);
    assert_int_equal(timed_count(&together, "route.local"), NODES * PAGES);
    assert_int_equal(timed_count(&together, "route.remote"), 0);
    timed_end(&alone);
    timed_end(&together);
}

static void hold_one_back(struct timed *t)
{
    pw_gpu_pause(t->system->nodes[t->n[LATE_NODE]].gpu, t->n[LATE]);
}

static void a_launch_has_finished_when_it_has_on_every_node(void **state)
{
    (void)state;
    struct timed alone = one, together = several();
    alone.launches = together.launches = 1;
    alone.prepare = together.prepare = hold_one_back;
    alone.n[LATE] = together.n[LATE] = 5000;
    pw_cycle late = timed_cycles(alone);
    assert_true(late > 5000);
    for (together.n[LATE_NODE] = 0; together.n[LATE_NODE] < NODES; together.n[LATE_NODE]++)
        assert_int_equal(timed_cycles(together), late);
}

static void shoot_down(struct pw_host *h, struct timed *t)
{
    uint64_t *dropped = t->data;
    t->a = pw_alloc(h, "a", t->bytes, 1);
    timed_launch(h, t);
    pw_vpn first = pw_vpn_of(t->a.base), outer = {first.v + t->bytes / PW_PAGE_BYTES};
    dropped[0] = pw_system_shootdown(t->system, (pw_asid)t->app, first, outer);
    dropped[1] = pw_system_shootdown(t->system, (pw_asid)t->app, first, outer);
}

static void a_shootdown_reaches_every_node(void **state)
{
    (void)state;
    struct timed alone = one, together = several();
    uint64_t of_one[2], of_all[2];
    alone.body = together.body = shoot_down;
    alone.data = of_one;
    together.data = of_all;
    timed_cycles(alone);
    timed_cycles(together);
    assert_true(of_one[0] >= PAGES);
    assert_int_equal(of_all[0], NODES * of_one[0]);
    assert_int_equal(of_all[1], 0);
}

static const struct pw_metric *metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return &r->metrics[i];
    return NULL;
}

/* Each row of a result, and who has which. */
static void a_result_names_each_node_and_all_of_them(void **state)
{
    (void)state;
    struct timed alone = one, together = several();
    struct pw_result *a = NULL, *b = NULL;
    timed_run(&alone);
    timed_run(&together);
    assert_int_equal(pw_system_result(alone.system, alone.options, "m", "d", 0, &a, &alone.err), PW_OK);
    assert_int_equal(pw_system_result(together.system, together.options, "m", "d", 0, &b, &together.err), PW_OK);
    uint64_t walks = metric(a, "gpu0.walk.count")->integer;
    assert_null(metric(a, "gpus.walk.count"));
    assert_null(metric(a, "gpu1.walk.count"));
    assert_int_equal(metric(b, "gpu0.walk.count")->integer, walks);
    assert_int_equal(metric(b, "gpu2.walk.count")->integer, walks);
    assert_null(metric(b, "gpu3.walk.count"));
    assert_int_equal(metric(b, "gpus.walk.count")->integer, NODES * walks);
    assert_int_equal(metric(b, "app0.walk.count")->integer, NODES * walks);
    assert_true(metric(b, "gpus.walk.latency_mean")->real == metric(a, "gpu0.walk.latency_mean")->real);
    assert_non_null(metric(a, "gpu0.mem.allocated_bytes"));
    assert_null(metric(b, "gpu0.mem.allocated_bytes"));
    assert_non_null(metric(b, "gpus.mem.allocated_bytes"));
    assert_int_equal(b->memory_operations, NODES * a->memory_operations);
    pw_result_free(a);
    pw_result_free(b);
    timed_end(&alone);
    timed_end(&together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_counts_for_itself_and_all_of_them_are_the_sum),
        cmocka_unit_test(a_launch_has_finished_when_it_has_on_every_node),
        cmocka_unit_test(a_shootdown_reaches_every_node),
        cmocka_unit_test(a_result_names_each_node_and_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
