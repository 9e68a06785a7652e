/* A run that stops making progress, or whose program does something impossible, fails with a message that says who
 * waits for whom, or where. */
#include "timed.h"
#include "uvm/driver_internal.h"

#include <stdio.h>

static void load_once(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
}

static void assert_says(const struct timed *t, const char *what)
{
    if (!strstr(t->err.message, what))
        fail_msg("'%s' is not in: %s", what, t->err.message);
}

/* A cold walk whose reads take 100,000 cycles each. */
static struct timed slow_walk(const char *limit)
{
    return (struct timed){
        .kernel = load_once, .ctas = 2, .sets = {"dram.path=100000", limit, "sm.count=2", "dram.channels=6"}};
}

static void a_run_without_an_instruction_for_too_long_fails_and_says_who_waits(void **state)
{
    (void)state;
    struct timed t = slow_walk("sim.progress_limit=1000");
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_int_equal(t.err.status, PW_FAILED);
    assert_says(&t, "no progress at cycle ");
    assert_true(t.system->events->now > 1000 && t.system->events->now < 110000); /* while the first read is under way */
    assert_says(&t, "sim.progress_limit");
    assert_says(&t, "1 misses in the L2 TLB's registers");
    assert_says(&t, "1 walks under way");
    assert_says(&t, "SM 0: 1 CTAs");
    assert_says(&t, "SM 1: 1 CTAs");
    assert_says(&t, "1 for loads");
    assert_says(&t, "1 pages");
    timed_end(&t);
}

/* Slow is not stuck: the limit says how long to wait. */
static void a_slow_run_goes_on_as_long_as_the_limit_allows(void **state)
{
    (void)state;
    struct timed t = slow_walk("sim.progress_limit=1000000");
    assert_true(timed_run(&t) > 500000);
    timed_end(&t);
}

enum { MOST_LOSSES = 20000 };

/* A page that came in the cycle before leaves before the access that waits for it has got its translation, which faults
 * again. n[0]: how often. */
static void lose_page(void *object, uint64_t vpn, pw_cycle now)
{
    struct timed *t = object;
    struct pw_uvm *u = t->system->uvm;
    uint32_t left = 0;
    pw_uvm_touch(u, 0, (pw_vpn){vpn}, false, now);
    assert_true(pw_uvm_evict(u, now, &left) && left == 1);
    assert_true(pw_uvm_fault(u, 0, (pw_vpn){vpn}, now));
    if (++t->n[0] == MOST_LOSSES)
        *(bool *)t->data = true;
}

static struct timed *loser;

static void lose_instead_of_replay(void *node, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    (void)node, (void)asid;
    pw_events_post(loser->system->events, now + 1, lose_page, loser, vpn.v);
}

static void lose_all_pages(struct pw_host *h, struct timed *t)
{
    loser = t;
    t->system->uvm->wiring.replay = lose_instead_of_replay;
    t->a = pw_alloc(h, "a", 4 * PW_PAGE_BYTES, 1);
    timed_launch(h, t);
}

/* Pages come without end and every one of them leaves unused: the run is given up when more have come than there are,
 * a few times over. */
static void pages_that_come_and_leave_unused_are_no_progress(void **state)
{
    (void)state;
    bool endless = false;
    struct timed t = {.body = lose_all_pages,
                      .kernel = load_once,
                      .sets = {"paging.mode=demand", "uvm.prefetch=none", "sim.progress_limit=1000000"},
                      .spec = {.interrupted = &endless},
                      .data = &endless};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_in_range(t.n[0], 4 * 4, MOST_LOSSES / 10);
    assert_says(&t, "no progress at cycle ");
    assert_says(&t, "pages came, some again and again, but for sim.progress_limit cycles no instruction was issued");
    assert_says(&t, "SM 0: 1 CTAs");
    assert_says(&t, "1 for loads");
    timed_end(&t);
}

/* All of an array before the first instruction, which takes many times as long as the limit. */
static void pages_that_are_loaded_before_the_first_kernel_are_progress(void **state)
{
    (void)state;
    struct timed t = {
        .kernel = load_once, .bytes = 32 << 20, .sets = {"paging.mode=preload", "sim.progress_limit=300000"}};
    assert_true(timed_run(&t) > 10 * 300000);
    assert_int_equal(timed_count(&t, "uvm.pages_in"), (32 << 20) / PW_PAGE_BYTES);
    timed_end(&t);
}

/* 32 pages in each instruction and memory for half of them, under a driver that takes nearly half of the limit for
 * each batch. */
static void touch_many_pages(struct pw_warp *w, struct timed *t)
{
    for (unsigned i = 0; i < 4; i++)
        timed_load_lanes(w, t, (w->cta_index * 4 + i) * 32 * PW_PAGE_BYTES, 32, PW_PAGE_BYTES);
}

static void faults_that_are_served_slowly_are_progress(void **state)
{
    (void)state;
    static const char *const services[] = {"uvm.service=serial", "uvm.service=parallel", "uvm.service=batch"};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++) {
        struct timed t = {.kernel = touch_many_pages,
                          .ctas = 4,
                          .bytes = 4 << 20,
                          .launches = 12, /* so that more pages come than are managed, four times over */
                          .sets = {"paging.mode=demand", "uvm.memory=64KB", "uvm.prefetch=none", services[i],
                                   "uvm.fault_latency=900000", "uvm.batch_latency=900000",
                                   "sim.progress_limit=2000000"}};
        timed_run(&t);
        assert_true(timed_count(&t, "uvm.pages_evicted") > 100);
        timed_end(&t);
    }
}

static void sleep_at_launch(struct pw_host *h, struct timed *t)
{
    (void)t;
    pw_host_suspend(h); /* nobody will wake it */
}

static void a_run_in_which_nothing_is_left_to_happen_fails(void **state)
{
    (void)state;
    struct timed t = {.body = sleep_at_launch, .kernel = load_once};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_says(&t, "no progress at cycle 0");
    assert_says(&t, "nothing is left to happen");
    timed_end(&t);
}

/* Byte n[0] of an array of one page. */
static void load_beyond(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, t->n[0]);
}

static void an_access_to_memory_that_is_not_allocated_fails_with_its_address(void **state)
{
    (void)state;
    static const char *const designs[] = {"gpu-mmu", "gpu-mmu-2m", "gpu-mmu-64k", "pwcache", "ideal-tlb"};
    for (unsigned i = 0; i < sizeof designs / sizeof *designs; i++) {
        struct timed t = {.design = designs[i], .kernel = load_beyond, .bytes = PW_PAGE_BYTES, .n = {64 << 20}};
        assert_int_equal(timed_try(&t), PW_FAILED);
        char address[32];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)(t.a.base.v + t.n[0]));
        assert_says(&t, address);
        assert_says(&t, "app0");
        assert_says(&t, "not allocated");
        timed_end(&t);
    }
}

static void use_after_free(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", PW_PAGE_BYTES, 1);
    timed_launch(h, t);
    struct pw_array gone = t->a;
    pw_free(h, &gone);
    timed_launch(h, t);
}

/* The translation was in both TLBs and the data in the L1 cache. */
static void an_access_to_memory_that_was_freed_fails(void **state)
{
    (void)state;
    struct timed t = {.body = use_after_free, .kernel = load_once};
    assert_int_equal(timed_try(&t), PW_FAILED);
    assert_says(&t, "not allocated");
    timed_end(&t);
}

static volatile bool flag;

static void interrupt_then_load(struct pw_warp *w, struct timed *t)
{
    flag = true;
    timed_fetch(w, t, 0);
    pw_compute(w, 100000000);
}

static void an_interrupted_run_says_so(void **state)
{
    (void)state;
    flag = false;
    struct timed t = {.kernel = interrupt_then_load, .spec = {.interrupted = &flag}};
    assert_int_equal(timed_try(&t), PW_INTERRUPTED);
    assert_says(&t, "interrupted at cycle");
    timed_end(&t);
}

static void allocate_too_much(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "everything", 4ULL << 30, 1);
}

static void an_allocation_beyond_device_memory_is_the_users_mistake(void **state)
{
    (void)state;
    struct timed t = {.body = allocate_too_much, .kernel = load_once};
    assert_int_equal(timed_try(&t), PW_USER_ERROR);
    assert_says(&t, "everything");
    assert_says(&t, "dram.bytes");
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_an_instruction_for_too_long_fails_and_says_who_waits),
        cmocka_unit_test(a_slow_run_goes_on_as_long_as_the_limit_allows),
        cmocka_unit_test(pages_that_come_and_leave_unused_are_no_progress),
        cmocka_unit_test(pages_that_are_loaded_before_the_first_kernel_are_progress),
        cmocka_unit_test(faults_that_are_served_slowly_are_progress),
        cmocka_unit_test(a_run_in_which_nothing_is_left_to_happen_fails),
        cmocka_unit_test(an_access_to_memory_that_is_not_allocated_fails_with_its_address),
        cmocka_unit_test(an_access_to_memory_that_was_freed_fails),
        cmocka_unit_test(an_interrupted_run_says_so),
        cmocka_unit_test(an_allocation_beyond_device_memory_is_the_users_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
