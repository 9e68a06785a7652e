/* What TLB fill policies decide, in exact cycles: policies made for the test take the place of the one that is
 * chosen. */
#include "gpu/gpu_internal.h"
#include "timed.h"

enum { WALK = 500, MAX_CALLS = 64 };

#define FIXED_WALKS                                                                                                    \
    "sm.count=2", "walk.model=fixed", "walk.latency=500", "gpu.launch_latency=0", "l1_tlb.latency=1",                  \
        "l2_tlb.latency=10", "l2_tlb.distance=10"

/* What a policy of the test answers, and what it has been told. */
struct script {
    unsigned (*answer)(pw_asid app, uint32_t sm, uint32_t warp);
    unsigned asked;
    struct pw_fill_environment environment;
    pw_cycle epoch; /* how long one is */
    unsigned epochs;
    pw_cycle at[MAX_CALLS];
    uint64_t lookups[MAX_CALLS], hits[MAX_CALLS]; /* in the L2 TLB, by then */
};

static struct script script;

/* Its one word of state says that it is the one that was made. */
static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    *(uint64_t *)state = 42;
    script.environment = *(const struct pw_fill_environment *)setup->environment;
    return PW_OK;
}

static unsigned may_fill(void *state, pw_asid app, uint32_t sm, uint32_t warp)
{
    assert_int_equal(*(uint64_t *)state, 42);
    script.asked++;
    return script.answer(app, sm, warp);
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    assert_int_equal(*(uint64_t *)state, 42);
    assert_true(script.epochs < MAX_CALLS);
    script.at[script.epochs] = now;
    script.environment.l2_tlb_use(script.environment.l2_tlb, 0, &script.lookups[script.epochs],
                                  &script.hits[script.epochs]);
    script.epochs++;
    return script.epoch ? pw_epoch_end(now, script.epoch) : PW_NEVER;
}

static const struct pw_fill_policy scripted = {
    .head = {.name = "scripted", .summary = "", .state_bytes = sizeof(uint64_t), .init = init, .epoch = epoch},
    .may_fill = may_fill,
};

static void use_script(struct timed *t)
{
    struct pw_gpu *g = t->system->nodes[0].gpu;
    pw_policy_use_release(&g->fill.use);
    assert_int_equal(pw_fill_create(g, &scripted.head, &t->err), PW_OK);
    pw_policies_begin(&t->system->nodes[0].policies, t->system->events);
}

/* Runs with the scripted policy; the caller looks at counters and ends it. */
static pw_cycle run_with(struct timed *t, unsigned (*answer)(pw_asid app, uint32_t sm, uint32_t warp))
{
    script = (struct script){.answer = answer, .epoch = script.epoch};
    t->prepare = use_script;
    return timed_run(t);
}

static unsigned both(pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app, (void)sm, (void)warp;
    return PW_FILL_BOTH;
}

static unsigned only_l1(pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app, (void)sm, (void)warp;
    return PW_FILL_L1;
}

static unsigned only_l2(pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app, (void)sm, (void)warp;
    return PW_FILL_L2;
}

static unsigned nowhere(pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app, (void)sm, (void)warp;
    return 0;
}

static unsigned even_warps_fill_l2(pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app, (void)sm;
    return PW_FILL_L1 | (warp % 2 ? 0 : PW_FILL_L2);
}

/* Warp n[0] of the first CTA loads; 5000 cycles later the second CTA, on the other SM, loads the same page. */
static void load_after_another_sm(struct pw_warp *w, struct timed *t)
{
    if (w->index != t->n[0])
        return;
    if (w->cta_index)
        pw_compute(w, 5000);
    timed_fetch(w, t, 0);
}

/* A hit in the L2 TLB, or a walk once more. */
static void the_warp_that_misses_decides_whether_the_l2_tlb_is_filled(void **state)
{
    (void)state;
    for (uint64_t warp = 0; warp < 4; warp++) {
        struct timed t = {
            .kernel = load_after_another_sm, .ctas = 2, .threads = 128, .n = {warp}, .sets = {FIXED_WALKS}};
        pw_cycle always = timed_cycles(t), cycles = run_with(&t, even_warps_fill_l2);
        assert_int_equal(cycles, always + (warp % 2 ? WALK : 0));
        assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 2);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), warp % 2 ? 0 : 1);
        assert_int_equal(timed_count(&t, "walk.count"), warp % 2 ? 2 : 1);
        assert_int_equal(script.asked, 2);
        timed_end(&t);
    }
}

static void load_lines(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 4; i++)
        timed_fetch(w, t, i * PW_LINE_BYTES);
}

/* Where the L1 TLB is not filled, each of three further loads goes to the L2 TLB: 10 cycles there, 10 of it, 10
 * back. Where that is not filled either, each is walked for. */
static void what_is_kept_out_of_the_l1_tlb_is_asked_for_again(void **state)
{
    (void)state;
    static const struct {
        unsigned (*answer)(pw_asid app, uint32_t sm, uint32_t warp);
        uint64_t more_each, l1_hits, l2_lookups, walks;
    } cases[] = {{both, 0, 3, 1, 1}, {only_l1, 0, 3, 1, 1}, {only_l2, 30, 0, 4, 1}, {nowhere, 30 + WALK, 0, 4, 4}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct timed t = {.kernel = load_lines, .sets = {FIXED_WALKS}};
        pw_cycle always = timed_cycles(t), cycles = run_with(&t, cases[i].answer);
        assert_int_equal(cycles, always + 3 * cases[i].more_each);
        assert_int_equal(timed_count(&t, "l1_tlb.hits"), cases[i].l1_hits);
        assert_int_equal(timed_count(&t, "l2_tlb.lookups"), cases[i].l2_lookups);
        assert_int_equal(timed_count(&t, "walk.count"), cases[i].walks);
        assert_int_equal(script.asked, cases[i].l2_lookups);
        timed_end(&t);
    }
}

/* All warps load and store lines of the page at once: the first miss parks, the others merge. */
static void load_and_store(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, (uint64_t)w->index * 512, 4, PW_LINE_BYTES);
    timed_store(w, t, 64 * 1024 + (uint64_t)w->index * 128);
    pw_use(w);
}

/* The parked lines go on with the translation that has come, whether a TLB keeps it or not; so they take as long. */
static void lines_that_wait_are_replayed_without_a_fill(void **state)
{
    (void)state;
    static const char *const waits[] = {"l1_tlb.on_miss=nonblocking", "l1_tlb.on_miss=stall_lsu"};
    for (unsigned i = 0; i < 2; i++) {
        struct timed t = {.kernel = load_and_store, .threads = 256, .sets = {FIXED_WALKS, waits[i]}};
        pw_cycle always = timed_cycles(t), cycles = run_with(&t, nowhere);
        assert_int_equal(timed_count(&t, "l1_tlb.hits"), 0);
        if (i == 0) {
            assert_int_equal(cycles, always);
            assert_int_equal(timed_count(&t, "walk.count"), 2);
            assert_int_equal(timed_count(&t, "l1_tlb.mshr_merges"), 2 * 8 - 2);
        } else { /* each of 16 instructions has a walk to itself */
            assert_int_equal(timed_count(&t, "walk.count"), 16);
        }
        timed_end(&t);
    }
}

/* The policy that is chosen, one that says the same, and the default: alike in every cycle and every counter. */
static void always_is_what_happens_without_a_policy(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "mosaic", "pwcache", "uvm-tbn-tbn"};
    for (unsigned i = 0; i < 4; i++) {
        struct timed t = {.program = "gather:table=4MB:ctas=8:iterations=2",
                          .design = designs[i],
                          .machine = i == 3 ? "pascal" : "mosaic",
                          .sets = {"sm.count=4", "l1_tlb.base_entries=8"}};
        struct timed chosen = t;
        chosen.sets[2] = "fill.policy=always";
        timed_run(&t);
        timed_run(&chosen);
        assert_null(t.system->nodes[0].gpu->fill.may_fill);
        assert_int_equal(t.cycles, chosen.cycles);
        size_t raw = pw_stats_raw_count(t.system->stats);
        assert_int_equal(raw, pw_stats_raw_count(chosen.system->stats));
        assert_memory_equal(t.system->region_to, chosen.system->region_to, raw * sizeof(uint64_t));
        timed_end(&chosen);
        timed_end(&t);
    }
    struct timed t = {.kernel = load_after_another_sm, .ctas = 2, .sets = {FIXED_WALKS}};
    pw_cycle always = timed_cycles(t);
    assert_int_equal(run_with(&t, both), always);
    timed_end(&t);
}

static void a_policy_sees_the_gpu_and_the_use_of_the_l2_tlb_at_its_epochs(void **state)
{
    (void)state;
    struct timed t = {.kernel = load_after_another_sm, .ctas = 2, .sets = {FIXED_WALKS, "sm.warps=48"}};
    script.epoch = 1000;
    pw_cycle end = run_with(&t, both);
    script.epoch = 0;
    assert_int_equal(script.environment.sms, 2);
    assert_int_equal(script.environment.warps, 48);
    assert_int_equal(script.environment.app_sms[0], 2);
    assert_true(end > 5000 && end < 6000);
    assert_int_equal(script.epochs, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(script.at[i], i * 1000);
        assert_int_equal(script.lookups[i], i ? 1 : 0);
        assert_int_equal(script.hits[i], 0);
    }
    timed_end(&t);
}

static void a_policy_that_wants_no_further_epoch_is_called_once(void **state)
{
    (void)state;
    struct timed t = {.kernel = load_after_another_sm, .ctas = 2, .sets = {FIXED_WALKS}};
    run_with(&t, both);
    assert_int_equal(script.epochs, 1);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warp_that_misses_decides_whether_the_l2_tlb_is_filled),
        cmocka_unit_test(what_is_kept_out_of_the_l1_tlb_is_asked_for_again),
        cmocka_unit_test(lines_that_wait_are_replayed_without_a_fill),
        cmocka_unit_test(always_is_what_happens_without_a_policy),
        cmocka_unit_test(a_policy_sees_the_gpu_and_the_use_of_the_l2_tlb_at_its_epochs),
        cmocka_unit_test(a_policy_that_wants_no_further_epoch_is_called_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
