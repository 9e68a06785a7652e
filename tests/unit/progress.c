/* A run that stops making progress, or whose program does something impossible, fails with a message that says who
 * waits for whom, or where. */
#include "timed.h"

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
        cmocka_unit_test(a_run_in_which_nothing_is_left_to_happen_fails),
        cmocka_unit_test(an_access_to_memory_that_is_not_allocated_fails_with_its_address),
        cmocka_unit_test(an_access_to_memory_that_was_freed_fails),
        cmocka_unit_test(an_interrupted_run_says_so),
        cmocka_unit_test(an_allocation_beyond_device_memory_is_the_users_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
