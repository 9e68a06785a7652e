/* Exact cycles of instruction issue: schedules, dependencies, loads in flight, barriers and the way into the load-store
 * unit. */
#include "closed_form.h"
#include "timed.h"

/* What an instruction's user waits for on mosaic (MASK, Table 1: a 9-stage pipeline) and kepler (5 stages). */
enum { DEPENDENCY = 9 };

static struct timed one_sm(void (*kernel)(struct pw_warp *, struct timed *), uint32_t warps)
{
    return (struct timed){
        .design = "ideal-tlb", .kernel = kernel, .threads = warps * PW_WARP_LANES, .sets = {"sm.count=1"}};
}

/* n[0] instructions, then n[1] that use the last result. */
static void two_runs(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
    pw_compute(w, (uint32_t)t->n[1]);
}

/* mask-tab1-pipeline, comp-tab3-pipeline */
static void a_run_of_arithmetic_takes_a_cycle_each_and_its_user_the_dependency_latency(void **state)
{
    (void)state;
    static const char *const schedules[] = {"sm.schedule=gto", "sm.schedule=rr"};
    for (unsigned i = 0; i < 2; i++)
        for (uint64_t n = 1; n < 40; n += 7) {
            struct timed t = one_sm(two_runs, 1);
            t.sets[1] = schedules[i];
            t.n[0] = n;
            assert_int_equal(timed_cycles(t), n - 1 + DEPENDENCY);
            t.n[1] = 3;
            assert_int_equal(timed_cycles(t), n - 1 + DEPENDENCY + 3 - 1 + DEPENDENCY);
            t.sets[2] = "sm.dependency_latency=1";
            assert_int_equal(timed_cycles(t), n + 3);
        }
    struct timed kepler = one_sm(two_runs, 1);
    kepler.machine = "kepler";
    kepler.n[0] = 1;
    assert_int_equal(timed_cycles(kepler), 5);
}

/* The instructions of a run come at their distance, a fraction of a cycle included; another warp fills the gaps. */
static void a_run_of_one_warp_leaves_gaps_that_another_fills(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t quarters;
    } cases[] = {{"sm.issue_interval=1", 4}, {"sm.issue_interval=3", 12}, {"sm.issue_interval=3.25", 13}};
    for (unsigned i = 0; i < 3; i++)
        for (uint64_t n = 1; n < 40; n += 7) {
            struct timed t = one_sm(two_runs, 1);
            t.sets[1] = cases[i].set;
            t.n[0] = n;
            pw_cycle alone = n - 1 + (n - 1) * (cases[i].quarters - 4) / 4 + DEPENDENCY;
            assert_int_equal(timed_cycles(t), alone);
            t.threads = 2 * PW_WARP_LANES; /* the second warp's run begins when the first one's has issued */
            pw_cycle both = n + alone;
            assert_int_equal(timed_cycles(t), both);
            t.sets[2] = "sm.schedule=rr"; /* one by one, each waits for whole cycles */
            t.threads = PW_WARP_LANES;
            assert_int_equal(timed_cycles(t), (n - 1) * (cases[i].quarters / 4) + DEPENDENCY);
        }
}

/* A run of n instructions takes a warp that is alone, whose launch has a pace in thousandths. */
static pw_cycle run_at(uint32_t pace, uint64_t n)
{
    return n - 1 + ((n - 1) * (uint64_t)((pace - 1000) * 256 / 1000) >> 8) + DEPENDENCY;
}

static void a_launch_whose_code_is_known_has_its_own_pace(void **state)
{
    (void)state;
    static const uint32_t paces[] = {1000, 2875, 3000, 12345};
    for (unsigned i = 0; i < sizeof paces / sizeof *paces; i++)
        for (uint64_t n = 1; n < 200; n += 33) {
            struct timed t = one_sm(two_runs, 1);
            t.sets[1] = "sm.issue_interval=5";
            t.n[0] = n;
            t.pace = paces[i];
            assert_int_equal(timed_cycles(t), run_at(5000, n)); /* unless it is asked for */
            t.sets[2] = "sm.recorded_pace=on";
            assert_int_equal(timed_cycles(t), run_at(paces[i], n));
            t.sets[3] = "sm.schedule=rr";
            assert_int_equal(timed_cycles(t), (n - 1) * (paces[i] / 1000) + DEPENDENCY);
            t.sets[3] = NULL;
            t.pace = 0; /* not known */
            assert_int_equal(timed_cycles(t), run_at(5000, n));
        }
    struct timed quick = one_sm(two_runs, 1);
    quick.sets[1] = "sm.recorded_pace=on";
    quick.n[0] = 50;
    quick.pace = 1; /* a warp issues no faster than one instruction a cycle */
    assert_int_equal(timed_cycles(quick), run_at(1000, 50));
}

/* Two launches of two paces beside each other, and each after another one on the same SM. */
static void applications_keep_their_own_paces(void **state)
{
    (void)state;
    static const uint32_t paces[] = {2500, 7125, 0};
    for (unsigned i = 0; i < 3; i++) {
        struct timed apps[2];
        for (unsigned k = 0; k < 2; k++) {
            apps[k] = one_sm(two_runs, 1);
            apps[k].n[0] = 100;
            apps[k].pace = paces[(i + k) % 3];
        }
        apps[0].sets[0] = "sm.count=2";
        apps[0].sets[1] = "sm.issue_interval=4";
        apps[0].sets[2] = "sm.recorded_pace=on";
        apps[0].neighbours[0] = &apps[1];
        timed_run(&apps[0]);
        for (unsigned k = 0; k < 2; k++) {
            const struct pw_span *span = timed_span(&apps[0], k, 1);
            uint32_t pace = apps[k].pace ? apps[k].pace : 4000;
            assert_int_equal(span->outer - span->first, run_at(pace, 100));
        }
        timed_end(&apps[0]);
    }
}

/* Warp n[0] has a chain of n[1] dependent instructions, the others one instruction each. */
static void chain_in_one_warp(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < (w->index == t->n[0] ? t->n[1] : 1); i++)
        pw_compute(w, 1);
}

/* mosaic-sec21-one-warp-per-sm: one instruction of one warp per cycle, and the next warp's while the one before
 * waits. */
static void the_oldest_warp_goes_first(void **state)
{
    (void)state;
    for (uint64_t warp = 0; warp < 8; warp++) {
        struct timed t = one_sm(chain_in_one_warp, 8);
        t.n[0] = warp;
        t.n[1] = 20;
        /* The first instruction of warp i issues in cycle i; from cycle 17 on it has the scheduler to itself. */
        assert_int_equal(timed_cycles(t), warp + 20 * DEPENDENCY);
    }
}

/* Warp 0: four instructions, then a chain of twenty. Warp 1: four instructions. */
static void four_and_four(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 4);
    for (unsigned i = 0; w->index == 0 && i < 20; i++)
        pw_compute(w, 1);
}

static void round_robin_alternates_where_greedy_stays(void **state)
{
    (void)state;
    struct timed t = one_sm(four_and_four, 2);
    t.sets[1] = "sm.schedule=gto"; /* warp 0 issues in cycles 0 to 3 */
    assert_int_equal(timed_cycles(t), 3 + DEPENDENCY + 20 * DEPENDENCY);
    t.sets[1] = "sm.schedule=rr"; /* in cycles 0, 2, 4 and 6 */
    assert_int_equal(timed_cycles(t), 6 + DEPENDENCY + 20 * DEPENDENCY);
}

/* Warp 0 has a chain and is ready again after three cycles, but warp 1 can go on loading meanwhile. */
static void keep_loading(struct pw_warp *w, struct timed *t)
{
    if (w->index == 0)
        for (unsigned i = 0; i < 40; i++)
            pw_compute(w, 1);
    else
        for (unsigned i = 0; i < 20; i++)
            timed_load(w, t, 0);
}

/* mosaic-tab1-scheduler, mask-tab1-scheduler */
static void a_greedy_scheduler_stays_with_a_warp_that_can_go_on(void **state)
{
    (void)state;
    struct timed t = one_sm(keep_loading, 2);
    t.sets[1] = "sm.dependency_latency=3";
    t.sets[2] = "sm.lsu_queue=32";
    t.sets[3] = "dram.path=0"; /* loads end before their warps do */
    t.sets[4] = "l2.path=0";
    assert_int_equal(timed_cycles(t), 21 + 39 * 3); /* as the machine has it */
    t.sets[5] = "sm.schedule=gto"; /* warp 1 in cycles 1 to 20, warp 0's second instruction in cycle 21 */
    assert_int_equal(timed_cycles(t), 21 + 39 * 3);
    t.sets[5] = "sm.schedule=rr"; /* warp 0 in every third cycle, warp 1 in the others */
    assert_int_equal(timed_cycles(t), 40 * 3);
}

/* n[0] instructions in every warp. */
static void same_run(struct pw_warp *w, struct timed *t)
{
    pw_compute(w, (uint32_t)t->n[0]);
}

/* comp-tab3-warp-sched: warps go to the schedulers in turn, and each scheduler issues one instruction per cycle. */
static void schedulers_work_side_by_side(void **state)
{
    (void)state;
    static const char *const schedulers[] = {"sm.schedulers=1", "sm.schedulers=2", "sm.schedulers=4"};
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t warps = 1; warps <= 9; warps += 2) {
            struct timed t = one_sm(same_run, warps);
            t.sets[1] = schedulers[i];
            t.n[0] = 100;
            /* Before the last warp of the busiest scheduler the others have issued their runs and, but for the one just
             * before it, their exits. */
            uint64_t before = ceil_div(warps, 1U << i) - 1;
            assert_int_equal(timed_cycles(t), before * 100 + (before ? before - 1 : 0) + 100 - 1 + DEPENDENCY);
        }
    struct timed t = {.machine = "kepler"};
    timed_configure(&t);
    assert_int_equal(t.config.gpu.sm.schedulers, 2);
    timed_end(&t);
}

/* Warp 0 comes late to the barrier; after it, warp n[0] has a chain. */
static void meet(struct pw_warp *w, struct timed *t)
{
    if (w->index == 0)
        pw_compute(w, 50);
    pw_barrier(w);
    if (w->index == t->n[0])
        for (unsigned i = 0; i < 20; i++)
            pw_compute(w, 1);
}

static void nobody_passes_a_barrier_before_the_last_has_come(void **state)
{
    (void)state;
    pw_cycle last = 50 - 1 + DEPENDENCY; /* warp 0's barrier issues */
    for (uint64_t warp = 0; warp < 4; warp++) {
        struct timed t = one_sm(meet, 4);
        t.n[0] = warp;
        /* Warp 0 goes on in the next cycle (or exits in it), the others after it, in order of age. */
        assert_int_equal(timed_cycles(t), last + 1 + warp + 20 * DEPENDENCY);
    }
}

/* Warp 0 waits at the barrier, warp 1 exits without it. */
static void a_barrier_holds_its_warps_for_its_latency(void **state)
{
    (void)state;
    struct timed t = one_sm(meet, 4);
    t.sets[1] = "sm.barrier_latency=0";
    pw_cycle without = timed_cycles(t);
    t.sets[1] = "sm.barrier_latency=1";
    assert_int_equal(timed_cycles(t), without); /* the cycle in which the last one issues */
    t.sets[1] = "sm.barrier_latency=77";
    assert_int_equal(timed_cycles(t), without + 76);
}

static void meet_or_leave(struct pw_warp *w, struct timed *t)
{
    (void)t;
    if (w->index == 1)
        pw_compute(w, 50);
    else
        pw_barrier(w);
}

static void a_warp_that_has_exited_is_not_waited_for(void **state)
{
    (void)state;
    struct timed t = one_sm(meet_or_leave, 2);
    /* Warp 0's barrier issues first, warp 1's run after it; its exit lets warp 0 exit in the next cycle. */
    assert_int_equal(timed_cycles(t), 1 + 50 - 1 + DEPENDENCY + 1);
}

/* Byte 0 hits after its first load, the next page misses. n[0]: whether the miss comes first; n[2]: how many loads may
 * be outstanding when the arithmetic begins. */
static void use_all_but(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
    timed_load(w, t, t->n[0] ? PW_PAGE_BYTES : 0);
    timed_load(w, t, t->n[0] ? 0 : PW_PAGE_BYTES);
    pw_use_all_but(w, (uint8_t)t->n[2]);
    pw_compute(w, 1000);
}

static void waiting_for_all_but_the_youngest_load_does_not_wait_for_it(void **state)
{
    (void)state;
    struct timed t = one_sm(use_all_but, 1);
    t.sets[1] = "dram.channels=1";
    t.sets[2] = "dram.banks=1";
    t.sets[3] = "dram.row_bytes=128"; /* the second DRAM access finds another row */
    timed_configure(&t);
    const struct pw_gpu_config c = t.config.gpu;
    timed_end(&t);
    pw_cycle first = form_dram_load(&c, c.l1_tlb.tlb.latency, ROW_CLOSED), arithmetic = 1000 - 1 + DEPENDENCY;
    for (uint64_t miss_first = 0; miss_first < 2; miss_first++) {
        pw_cycle hit = first + miss_first, miss = first + !miss_first;
        pw_cycle hit_done = hit + form_l1_hit(&c);
        pw_cycle miss_done = form_dram_load(&c, miss + c.l1_tlb.tlb.latency, ROW_OTHER);
        pw_cycle oldest_done = miss_first ? miss_done : hit_done;
        t.n[0] = miss_first;
        t.n[2] = 2; /* neither: the cycle after the second load */
        assert_int_equal(timed_cycles(t), first + 2 + arithmetic);
        t.n[2] = 1; /* the older one */
        assert_int_equal(timed_cycles(t), oldest_done + arithmetic);
        t.n[2] = 0; /* both */
        assert_int_equal(timed_cycles(t), miss_done + arithmetic);
    }
}

/* n[0] hits without a use. */
static void many_loads(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
    for (unsigned i = 0; i < t->n[0]; i++)
        timed_load(w, t, 0);
}

static void a_warp_has_no_more_loads_in_flight_than_it_may(void **state)
{
    (void)state;
    static const char *const limits[] = {"sm.loads_per_warp=1", "sm.loads_per_warp=2", "sm.loads_per_warp=4"};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = one_sm(many_loads, 1);
        t.sets[1] = limits[i];
        t.sets[2] = "l1d.latency=9"; /* a hit takes 10 cycles */
        pw_cycle before = timed_cycles(t);
        t.n[0] = 16;
        uint64_t limit = 1U << i;
        assert_int_equal(timed_cycles(t) - before, 16 / limit * 10 + limit - 1);
    }
}

/* A load of 31 lines, one of a single line, then arithmetic that needs neither. */
static void behind_many_lines(struct pw_warp *w, struct timed *t)
{
    timed_load_lanes(w, t, 0, 31, PW_LINE_BYTES);
    timed_load(w, t, 0);
    pw_compute(w, 2000);
}

/* With room for one instruction the second issues in the cycle in which the first one's last line leaves. */
static void a_full_load_store_unit_holds_the_next_memory_instruction_back(void **state)
{
    (void)state;
    struct timed t = one_sm(behind_many_lines, 1);
    t.sets[1] = "sm.lsu_queue=8";
    assert_int_equal(timed_cycles(t), 2 + 2000 - 1 + DEPENDENCY);
    t.sets[1] = "sm.lsu_queue=1";
    assert_int_equal(timed_cycles(t), 30 + 1 + 2000 - 1 + DEPENDENCY);
}

/* Warp 0 is held back, warp 1 has only arithmetic. */
static void arithmetic_beside_a_full_unit(struct pw_warp *w, struct timed *t)
{
    if (w->index == 0) {
        timed_load_lanes(w, t, 0, 31, PW_LINE_BYTES);
        timed_load(w, t, 0);
    } else {
        pw_compute(w, 2000);
    }
}

static void a_full_load_store_unit_holds_no_arithmetic_back(void **state)
{
    (void)state;
    struct timed t = one_sm(arithmetic_beside_a_full_unit, 2);
    t.sets[1] = "sm.lsu_queue=1";
    /* Warp 1 from cycle 1 on; warp 0's second load and its exit come when the scheduler is free again. */
    timed_configure(&t);
    uint64_t hit = form_l1_hit(&t.config.gpu);
    timed_end(&t);
    assert_int_equal(timed_cycles(t), 1 + 2000 + (hit > DEPENDENCY - 1 ? hit : DEPENDENCY - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_arithmetic_takes_a_cycle_each_and_its_user_the_dependency_latency),
        cmocka_unit_test(a_run_of_one_warp_leaves_gaps_that_another_fills),
        cmocka_unit_test(a_launch_whose_code_is_known_has_its_own_pace),
        cmocka_unit_test(applications_keep_their_own_paces),
        cmocka_unit_test(the_oldest_warp_goes_first),
        cmocka_unit_test(round_robin_alternates_where_greedy_stays),
        cmocka_unit_test(a_greedy_scheduler_stays_with_a_warp_that_can_go_on),
        cmocka_unit_test(schedulers_work_side_by_side),
        cmocka_unit_test(nobody_passes_a_barrier_before_the_last_has_come),
        cmocka_unit_test(a_barrier_holds_its_warps_for_its_latency),
        cmocka_unit_test(a_warp_that_has_exited_is_not_waited_for),
        cmocka_unit_test(waiting_for_all_but_the_youngest_load_does_not_wait_for_it),
        cmocka_unit_test(a_warp_has_no_more_loads_in_flight_than_it_may),
        cmocka_unit_test(a_full_load_store_unit_holds_the_next_memory_instruction_back),
        cmocka_unit_test(a_full_load_store_unit_holds_no_arithmetic_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
