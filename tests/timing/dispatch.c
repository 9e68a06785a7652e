/* Which SM gets which CTA, and when. A kernel's function begins when its CTA is dispatched, so a kernel can say when
 * and in which order that was. */
#include "gpu/gpu_internal.h"
#include "timed.h"

#include <stdio.h>

enum { CTAS = 96, DEPENDENCY = 9 };

struct log {
    uint32_t order[CTAS]; /* CTAs as they were dispatched */
    pw_cycle begun[CTAS]; /* by CTA */
    uint32_t count, resident, most;
};

static struct timed with_log(struct log *log, void (*kernel)(struct pw_warp *, struct timed *))
{
    *log = (struct log){0};
    return (struct timed){.kernel = kernel, .data = log, .design = "ideal-tlb"};
}

static void note_begin(struct pw_warp *w, struct timed *t)
{
    struct log *log = t->data;
    if (w->index != 0)
        return;
    log->order[log->count++] = w->cta_index;
    log->begun[w->cta_index] = t->system->events->now;
    if (++log->resident > log->most)
        log->most = log->resident;
}

/* n[0] instructions; the first warp of a CTA says when it comes and when it has done them. */
static void visit(struct pw_warp *w, struct timed *t)
{
    note_begin(w, t);
    pw_compute(w, (uint32_t)t->n[0]);
    pw_barrier(w);
    if (w->index == 0)
        ((struct log *)t->data)->resident--;
}

static void nothing(struct pw_warp *w, struct timed *t)
{
    note_begin(w, t);
}

static void a_launch_begins_after_the_launch_latency(void **state)
{
    (void)state;
    struct log log;
    struct timed t = with_log(&log, nothing);
    assert_int_equal(timed_cycles(t), 0);
    t.machine = "volta";
    assert_int_equal(timed_cycles(t), 5000);
    t.launches = 3;
    assert_int_equal(timed_cycles(t), 3 * 5000);
    t.sets[0] = "gpu.launch_latency=0"; /* the three exits take a cycle each */
    assert_int_equal(timed_cycles(t), 2);
}

static void the_gpus_own_part_of_a_launch_comes_after_the_latency(void **state)
{
    (void)state;
    struct log log;
    struct timed t = with_log(&log, nothing);
    t.launches = 3;
    t.sets[0] = "gpu.launch_latency=70";
    t.sets[1] = "gpu.launch_work=30";
    assert_int_equal(timed_cycles(t), 3 * 100);
}

/* CTA i starts at ceil(i * interval), on the next SM that has room. */
static void ctas_start_one_after_the_other_at_the_interval(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint32_t quarters;
    } cases[] = {{"gpu.cta_interval=1", 4}, {"gpu.cta_interval=1.25", 5}, {"gpu.cta_interval=40", 160}};
    for (unsigned i = 0; i < 3; i++) {
        struct log log;
        struct timed t = with_log(&log, nothing);
        t.ctas = 32;
        t.sets[0] = "sm.count=4";
        t.sets[1] = cases[i].set;
        timed_run(&t);
        timed_end(&t);
        for (uint32_t cta = 0; cta < 32; cta++) {
            assert_int_equal(log.order[cta], cta);
            assert_int_equal(log.begun[cta], (cta * cases[i].quarters + 3) / 4);
        }
    }
}

/* Where there is no room, a CTA comes as before in the cycle of an exit, but no sooner than its interval. */
static void an_interval_lets_no_cta_come_before_there_is_room(void **state)
{
    (void)state;
    for (uint64_t interval = 1; interval < 200; interval += 99) {
        char set[32];
        snprintf(set, sizeof set, "gpu.cta_interval=%u", (unsigned)interval);
        struct log log;
        struct timed t = with_log(&log, visit);
        t.ctas = 5;
        t.n[0] = 100;
        t.sets[0] = "sm.count=1";
        t.sets[1] = "sm.ctas=1";
        t.sets[2] = set;
        timed_run(&t);
        timed_end(&t);
        uint64_t stay = 100 - 1 + DEPENDENCY + 1; /* from a CTA's first instruction to its exit */
        pw_cycle expected = 0;
        for (uint32_t cta = 1; cta < 5; cta++) {
            pw_cycle exit = expected + (cta > 1 && interval <= stay) + stay; /* the exit before takes a cycle */
            expected = exit > expected + interval ? exit : expected + interval;
            assert_int_equal(log.begun[cta], expected);
        }
    }
}

/* The SM on which a warp is. */
static uint32_t sm_of(const struct pw_warp *w, const struct timed *t)
{
    const struct pw_gpu *g = t->system->nodes[0].gpu;
    for (uint32_t sm = 0; sm < g->config.sm.count; sm++)
        for (uint32_t slot = 0; slot < PW_MAX_WARPS; slot++)
            if (g->sms[sm].active_slots >> slot & 1 && g->sms[sm].warps[slot].warp == w)
                return sm;
    fail_msg("CTA %u is on no SM", w->cta_index);
    return 0;
}

/* CTA 2 of each launch is short. */
static void one_is_short(struct pw_warp *w, struct timed *t)
{
    uint32_t *sms = t->data;
    pw_compute(w, 1);
    sms[8 * t->launch + w->cta_index] = sm_of(w, t);
    pw_compute(w, w->cta_index == 2 ? 1 : 1000);
}

/* CTAs come 40 cycles apart, so that CTA 2 has left SM 2 when CTA 3 comes: it goes there, not to SM 0, whose turn it
 * would be, and the others where they find as many as everywhere. A launch begins at SM 0, wherever the one before
 * has ended. */
static void a_cta_goes_to_the_sm_with_the_most_room_and_the_first_to_the_first(void **state)
{
    (void)state;
    static const uint32_t expected[] = {0, 1, 2, 2, 0};
    uint32_t sms[16];
    struct timed t = {.design = "ideal-tlb", .kernel = one_is_short, .data = sms, .ctas = 5, .launches = 2};
    t.sets[0] = "sm.count=3";
    t.sets[1] = "gpu.cta_interval=40";
    timed_run(&t);
    timed_end(&t);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(sms[8 * (i / 5) + i % 5], expected[i % 5]);
}

/* 10 registers a thread: 3 CTAs of a warp fit into 1,024 exactly, in eights 2 do. */
static void registers_are_rounded_up_to_their_unit(void **state)
{
    (void)state;
    static const char *const units[] = {"sm.register_unit=1", "sm.register_unit=8"};
    for (uint32_t i = 0; i < 2; i++) {
        struct log log;
        struct timed t = with_log(&log, visit);
        t.ctas = 6;
        t.n[0] = 100;
        t.registers = 10;
        t.sets[0] = "sm.count=1";
        t.sets[1] = "sm.registers=1024";
        t.sets[2] = units[i];
        timed_run(&t);
        timed_end(&t);
        assert_int_equal(log.most, 3 - i);
    }
}

/* The CTA's own page, shared with the CTA `SMs` further on. */
static void page_by_sm(struct pw_warp *w, struct timed *t)
{
    note_begin(w, t);
    timed_fetch(w, t, w->cta_index % t->n[0] * PW_PAGE_BYTES);
}

/* comp-tab3-tb-sched: CTA i goes to SM i mod 4, so CTAs of one SM share a page, and each page is asked for by one SM
 * only. */
static void ctas_go_round_the_sms_in_order(void **state)
{
    (void)state;
    struct log log;
    struct timed t = with_log(&log, page_by_sm);
    t.design = "gpu-mmu";
    t.ctas = 32;
    t.sets[0] = "sm.count=4";
    t.n[0] = 4;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), 32);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 4);
    assert_int_equal(timed_count(&t, "sm.ctas"), 32);
    timed_end(&t);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(log.order[i], i);
        assert_int_equal(log.begun[i], 0);
    }
    t = with_log(&log, page_by_sm);
    t.design = "gpu-mmu";
    t.ctas = 32;
    t.sets[0] = "sm.count=4";
    t.n[0] = 8; /* now an SM sees two pages */
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), 8);
    timed_end(&t);
}

/* One CTA at a time: the next one comes in the cycle of the exit and issues in the one after. */
static void the_next_cta_comes_when_a_slot_is_free(void **state)
{
    (void)state;
    struct log log;
    struct timed t = with_log(&log, visit);
    t.ctas = 5;
    t.n[0] = 100;
    t.sets[0] = "sm.count=1";
    t.sets[1] = "sm.ctas=1";
    /* Arithmetic, then the barrier when its result is there, then the exit. */
    uint64_t each = 100 - 1 + DEPENDENCY + 1;
    assert_int_equal(timed_cycles(t), 5 * each + 4);
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(log.begun[i], i * each + (i - 1));
    assert_int_equal(log.most, 1);
}

/* CTA 0 is long, the others short: its SM takes no other meanwhile, and the rest go to the SM that is free. */
static void long_and_short(struct pw_warp *w, struct timed *t)
{
    note_begin(w, t);
    pw_compute(w, w->cta_index == 0 ? 5000 : 100);
}

static void a_busy_sm_is_passed_over(void **state)
{
    (void)state;
    struct log log;
    struct timed t = with_log(&log, long_and_short);
    t.ctas = 20;
    t.sets[0] = "sm.count=2";
    t.sets[1] = "sm.ctas=1";
    assert_int_equal(timed_cycles(t), 5000 - 1 + DEPENDENCY);
    uint64_t each = 100 - 1 + DEPENDENCY + 1;
    for (uint32_t i = 1; i < 20; i++)
        assert_int_equal(log.begun[i], i == 1 ? 0 : (i - 1) * each - 1);
}

struct limit {
    const char *set;
    uint32_t threads, shared_bytes, registers;
    uint32_t resident; /* CTAs on an SM at a time */
};

/* comp-tab3-warps, comp-tab3-threads, comp-tab3-shmem, comp-tab3-regfile: each limit binds alone; where CTAs do not
 * divide it, the rest stays empty. */
static void an_sm_holds_as_many_ctas_as_its_scarcest_resource_allows(void **state)
{
    (void)state;
    static const struct limit limits[] = {
        {"sm.ctas=5", 32, 0, 0, 5},
        {"sm.warps=16", 96, 0, 0, 5},
        {"sm.warps=15", 96, 0, 0, 5},
        {"sm.warps=14", 96, 0, 0, 4},
        {"sm.threads=512", 100, 0, 0, 5}, /* warps of 32 lanes, threads that exist */
        {"sm.threads=500", 100, 0, 0, 5},
        {"sm.threads=499", 100, 0, 0, 4},
        {"sm.shared_bytes=96KB", 32, 32768, 0, 3},
        {"sm.shared_bytes=98303", 32, 32768, 0, 2},
        {"sm.registers=65536", 64, 0, 256, 4},
        {"sm.registers=65535", 64, 0, 256, 3},
        {"sm.registers=8192", 40, 0, 64, 2}, /* registers are given to whole warps */
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct log log;
        struct timed t = with_log(&log, visit);
        t.ctas = 13;
        t.threads = limits[i].threads;
        t.shared_bytes = limits[i].shared_bytes;
        t.registers = limits[i].registers;
        t.n[0] = 1000;
        t.sets[0] = "sm.count=1";
        t.sets[1] = limits[i].set;
        timed_run(&t);
        if (log.most != limits[i].resident)
            fail_msg("%s: %u CTAs at a time", limits[i].set, log.most);
        assert_int_equal(log.count, 13);
        assert_int_equal(log.resident, 0);
        timed_end(&t);
    }
}

static void a_cta_that_can_never_fit_is_the_users_mistake(void **state)
{
    (void)state;
    static const struct limit limits[] = {
        {"sm.warps=2", 96, 0, 0, 0},
        {"sm.threads=64", 65, 0, 0, 0},
        {"sm.shared_bytes=1KB", 32, 1025, 0, 0},
        {"sm.registers=1024", 32, 0, 33, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct log log;
        struct timed t = with_log(&log, nothing);
        t.threads = limits[i].threads;
        t.shared_bytes = limits[i].shared_bytes;
        t.registers = limits[i].registers;
        t.sets[0] = limits[i].set;
        assert_int_equal(timed_try(&t), PW_USER_ERROR);
        assert_non_null(strstr(t.err.message, "does not fit on an SM"));
        timed_end(&t);
    }
}

/* comp-tab3-warps, comp-tab3-threads, comp-tab3-shmem, comp-tab3-regfile */
static void the_presets_hold_what_their_papers_say(void **state)
{
    (void)state;
    struct timed t = {.machine = "kepler"};
    timed_configure(&t);
    const struct pw_sm_config *c = &t.config.gpu.sm;
    assert_int_equal(c->warps, 64);
    assert_int_equal(c->threads, 2048);
    assert_int_equal(c->shared_bytes, 48 << 10);
    assert_int_equal(c->registers * 4, 64 << 10);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_begins_after_the_launch_latency),
        cmocka_unit_test(the_gpus_own_part_of_a_launch_comes_after_the_latency),
        cmocka_unit_test(ctas_start_one_after_the_other_at_the_interval),
        cmocka_unit_test(an_interval_lets_no_cta_come_before_there_is_room),
        cmocka_unit_test(a_cta_goes_to_the_sm_with_the_most_room_and_the_first_to_the_first),
        cmocka_unit_test(registers_are_rounded_up_to_their_unit),
        cmocka_unit_test(ctas_go_round_the_sms_in_order),
        cmocka_unit_test(the_next_cta_comes_when_a_slot_is_free),
        cmocka_unit_test(a_busy_sm_is_passed_over),
        cmocka_unit_test(an_sm_holds_as_many_ctas_as_its_scarcest_resource_allows),
        cmocka_unit_test(a_cta_that_can_never_fit_is_the_users_mistake),
        cmocka_unit_test(the_presets_hold_what_their_papers_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
