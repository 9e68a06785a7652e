/* Systems of several nodes, as far as there are any: every node runs the whole of a launch in a memory of its own.
 * So each does what one alone does, to the cycle, and their sum is known. */
#include "timed.h"

enum { NODES = 3, PAGES = 40 };

/* A load from each of some pages, one after the other, by two warps. */
static void load_pages(struct pw_warp *w, struct timed *t)
{
    for (uint64_t page = 0; page < PAGES; page++)
        timed_fetch(w, t, page * PW_PAGE_BYTES);
}

static const struct timed one = {.kernel = load_pages, .ctas = 2, .launches = 2};

static struct timed several(void)
{
    struct timed t = one;
    t.gpus = NODES;
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
    /* Time passes once, a maximum is the largest, and memory is allocated once. */
    assert_true(timed_value(&together, "walk.concurrent_mean") == NODES * timed_value(&alone, "walk.concurrent_mean"));
    assert_int_equal(timed_count(&together, "walk.concurrent_max"), timed_count(&alone, "walk.concurrent_max"));
    assert_int_equal(timed_count(&together, "mem.allocated_bytes"), timed_count(&alone, "mem.allocated_bytes"));
    timed_end(&alone);
    timed_end(&together);
}

static void hold_one_back(struct timed *t)
{
    pw_gpu_pause(t->system->nodes[t->n[0]].gpu, t->n[1]);
}

static void a_launch_has_finished_when_it_has_on_every_node(void **state)
{
    (void)state;
    enum { LATE = 5000 };
    struct timed t = one;
    t.launches = 1;
    t.prepare = hold_one_back;
    t.n[1] = LATE;
    pw_cycle late = timed_cycles(t);
    assert_true(late > LATE);
    t.gpus = NODES;
    for (t.n[0] = 0; t.n[0] < NODES; t.n[0]++)
        assert_int_equal(timed_cycles(t), late);
}

static void shoot_down(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    timed_launch(h, t);
    pw_vpn first = pw_vpn_of(t->a.base);
    t->n[0] = pw_system_shootdown(t->system, (pw_asid)t->app, first, (pw_vpn){first.v + PAGES});
    t->n[1] = pw_system_shootdown(t->system, (pw_asid)t->app, first, (pw_vpn){first.v + PAGES});
}

static void a_shootdown_reaches_every_node(void **state)
{
    (void)state;
    struct timed alone = one, together = several();
    alone.body = together.body = shoot_down;
    timed_run(&alone);
    timed_run(&together);
    assert_true(alone.n[0] >= PAGES);
    assert_int_equal(together.n[0], NODES * alone.n[0]);
    assert_int_equal(together.n[1], 0);
    timed_end(&alone);
    timed_end(&together);
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
