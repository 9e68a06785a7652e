/* TLB-Fill Tokens in whole machines: what they leave as it was, what they count, and that no path leaves a translation
 * behind that has changed. */
#include "gpu/gpu_internal.h"
#include "timed.h"

#include <stdio.h>

#define GATHER "gather:table=4MB:ctas=16:iterations=4"

/* What a design costs in storage is its own. */
static void assert_same_counters(const struct timed *a, const struct timed *b)
{
    for (size_t i = 0; i < pw_stats_count(a->system->stats); i++) {
        struct pw_metric_info info = pw_stats_info(a->system->stats, i);
        if (strncmp(info.name, "cost.", 5) == 0)
            continue;
        for (int app = -1; app < (int)a->system->app_count; app++)
            if (pw_stats_value(a->system->stats, i, app, NULL, a->system->region_to) !=
                pw_stats_value(b->system->stats, timed_index(b, info.name), app, NULL, b->system->region_to))
                fail_msg("%s of app%d differs", info.name, app);
    }
}

static struct timed pair_of_programs(struct timed *other)
{
    *other = (struct timed){.program = "HISTO:scale=0.02"};
    return (struct timed){.machine = "mask", .program = "MUM:scale=0.02", .neighbours = {other}};
}

/* With tokens for all warps, no steps and no flushes it is the baseline in every cycle and every counter; with fewer
 * tokens it is not, and the bypass cache is used. */
static void tokens_for_all_are_the_baseline(void **state)
{
    (void)state;
    struct timed others[3];
    struct timed base = pair_of_programs(&others[0]), all = pair_of_programs(&others[1]),
                 some = pair_of_programs(&others[2]);
    static const char *const sets[] = {"fill.initial=100", "fill.step=0", "l2_tlb.flush=entries", "fill.epoch=2000"};
    all.design = some.design = "mask-tlb";
    memcpy(all.sets, sets, sizeof sets);
    some.sets[0] = "fill.epoch=2000";
    pw_cycle cycles = timed_run(&base);
    assert_int_equal(timed_run(&all), cycles);
    assert_same_counters(&base, &all);
    assert_int_equal(timed_count(&all, "fill.bypassed"), 0);
    timed_run(&some);
    assert_true(some.cycles != cycles);
    assert_true(timed_count(&some, "fill.bypassed") > 0);
    assert_true(timed_count(&some, "bypass_tlb.hits") > 0);
    timed_end(&some);
    timed_end(&all);
    timed_end(&base);
}

/* Paths on which translations change or go: programs that free and start over, demand paging with too little memory,
 * coalescing in place, splintering with compaction, migration; with base and large pages. Every hit is compared with
 * the page table, and so is every entry at the end. */
static void no_path_leaves_a_changed_translation_behind(void **state)
{
    (void)state;
    static const struct {
        const char *machine, *design, *program;
        const char *sets[4];
        const char *happened; /* a counter that says that the path was taken */
    } cases[] = {
        {"mask", "mask-tlb", "HS:scale=0.02", {"apps.restart=fresh"}, NULL},
        {"mask",
         "gpu-mmu-2m+mask-tlb",
         "gather:table=64MB:ctas=16:iterations=4",
         {"apps.restart=fresh", "l1_tlb.large_as_base=off"},
         NULL},
        {"mask", "gpu-mmu-64k+mask-tlb", "HS:scale=0.02", {"apps.restart=fresh"}, NULL},
        {"mask", "mosaic+mask-tlb", "HS:scale=0.02", {"apps.restart=fresh"}, "page.coalesced"},
        {"mask",
         "mosaic+mask-tlb",
         GATHER,
         {"dram.bytes=64MB", "page.fragmentation=100", "page.occupancy=10"},
         "page.compactions"},
        {"mask", "conventional-coalescing+mask-tlb", GATHER, {"coalesce.interval=1000"}, "page.migrated"},
        {"pascal", "uvm-tbn-lru4k+mask-tlb", "nw:length=256", {"uvm.oversubscription=150"}, "uvm.pages_evicted"},
    };
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *const own[] = {"sm.count=4",
                                   "l1_tlb.base_entries=4",
                                   "l1_tlb.large_entries=1",
                                   "fill.initial=0",
                                   "fill.epoch=20",
                                   "fill.bypass_entries=512",
                                   "l2_tlb.enabled=on",
                                   i % 2 ? "l2_tlb.flush=all" : "l2_tlb.flush=entries"};
        struct timed other = {.program = GATHER};
        struct timed t = {.machine = cases[i / 2].machine,
                          .design = cases[i / 2].design,
                          .program = cases[i / 2].program,
                          .neighbours = {&other}};
        memcpy(t.sets, own, sizeof own);
        memcpy(t.sets + sizeof own / sizeof *own, cases[i / 2].sets, sizeof cases[i / 2].sets);
        timed_run(&t);
        if (!timed_count(&t, "fill.bypassed"))
            fail_msg("%s: nothing was kept out of the L2 TLB", t.design);
        if (cases[i / 2].happened && !timed_count(&t, cases[i / 2].happened))
            fail_msg("%s: no %s", t.design, cases[i / 2].happened);
        timed_end(&t);
    }
}

/* What the vector of an SM said at a time. */
struct look {
    struct timed *t;
    uint64_t active[8];
    unsigned looks;
};

static void look(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument, (void)now;
    struct look *l = object;
    const struct pw_fill_environment *e = &l->t->system->nodes[0].gpu->fill.environment;
    l->active[l->looks++] = e->take_active_warps(e->gpu, 0);
}

static void run_and_end(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, w->cta_index ? 1000 : 30000);
}

static void look_at_times(struct timed *t)
{
    static const pw_cycle times[] = {500, 900, 25000, 25001, 29000};
    struct look *l = t->data;
    l->t = t;
    for (unsigned i = 0; i < 5; i++)
        pw_events_post(t->system->events, times[i], look, l, 0);
}

static void look_body(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    look_at_times(t);
    timed_launch(h, t);
    pw_host_suspend(h);
}

/* mask-sec74-warp-vector-set, mask-sec74-incrementer-rule: three CTAs of four warps; the first stays longer than the
 * others, whose slots are used one after the other and count once. What is still there when the vector is cleared is
 * set again. */
static void the_vector_has_a_bit_for_each_slot_that_was_used(void **state)
{
    (void)state;
    struct look l = {0};
    struct timed t = {.kernel = run_and_end,
                      .body = look_body,
                      .ctas = 3,
                      .threads = 128,
                      .data = &l,
                      .sets = {"sm.count=1", "sm.schedulers=8", "sm.ctas=2", "sm.warps=48", "gpu.launch_latency=0",
                               "sim.progress_limit=100000"}};
    timed_try(&t); /* its program never ends */
    assert_int_equal(l.looks, 5);
    assert_int_equal(l.active[0], 0xff);
    assert_int_equal(l.active[1], 0xff); /* still there */
    assert_int_equal(l.active[2], 0xff); /* the third CTA has come into the slots of one that has ended */
    assert_int_equal(l.active[3], 0xf);
    assert_int_equal(l.active[4], 0xf);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_for_all_are_the_baseline),
        cmocka_unit_test(no_path_leaves_a_changed_translation_behind),
        cmocka_unit_test(the_vector_has_a_bit_for_each_slot_that_was_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
