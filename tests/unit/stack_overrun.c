/* A kernel or a host program that overruns its stack fails the run with one line, simulated or only executed, whatever
 * it has written over. */
#include "exhaust.h"
#include "timed.h"
#include "workload/runtime/coroutine.h"
#include "workload/runtime/functional.h"

enum { CTAS = 40, WARPS = 5, WRITTEN_OVER = 6 << 10 };

/* One warp in the middle goes on into its neighbour's stack, and over the frames there. All of them are at a barrier,
 * on their way to another, or have yet to begin. */
static __attribute__((no_sanitize_address)) void overrun(struct pw_warp *w, struct timed *t)
{
    const struct pw_coroutine *c = w->coroutine;
    char here;
    for (unsigned i = 0; i < 3; i++) {
        timed_fetch(w, t, 128 * w->index);
        pw_barrier(w);
        if (i == t->n[0] && w->cta_index == 7 && w->index == 3)
            descend((uintptr_t)&here, (size_t)(&here - (char *)c->stack.low) + WRITTEN_OVER);
        pw_use(w);
    }
}

static struct timed overrun_in_round(uint64_t round)
{
    return (struct timed){.kernel = overrun, .ctas = CTAS, .threads = WARPS * PW_WARP_LANES, .n = {round}};
}

static const char *const said = "kernel test: warp 3 of CTA 7 has overrun its stack of 16 KB; keep large arrays "
                                "elsewhere";

static void a_kernel_that_overruns_fails_a_simulated_run(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 3; round++) {
        struct timed t = overrun_in_round(round);
        assert_int_equal(timed_try(&t), PW_FAILED);
        assert_string_equal(t.err.message, said);
        timed_end(&t);
    }
    struct timed whole = overrun_in_round(UINT64_MAX);
    timed_run(&whole);
    timed_end(&whole);
}

static enum pw_status execute(struct timed *t)
{
    struct pw_functional_counts counts;
    struct pw_program program = timed_program(t);
    enum pw_status status = pw_functional_run(&program, 1, false, NULL, NULL, &counts, &t->err);
    pw_program_release(&program);
    return status;
}

static void a_kernel_that_overruns_fails_a_run_without_time(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 3; round++) {
        struct timed t = overrun_in_round(round);
        assert_int_equal(execute(&t), PW_FAILED);
        assert_string_equal(t.err.message, said);
    }
    struct timed whole = overrun_in_round(UINT64_MAX);
    assert_int_equal(execute(&whole), PW_OK);
}

static void nothing(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 1);
}

static __attribute__((no_sanitize_address)) void overrun_in_main(struct pw_host *h, struct timed *t)
{
    char here;
    descend((uintptr_t)&here, t->n[0]);
    timed_launch(h, t);
}

/* Where its stack ends is found by trying, in steps smaller than the page below it. */
static void a_host_program_that_overruns_fails_the_run(void **state)
{
    (void)state;
    enum pw_status status = PW_OK;
    struct timed t = {.kernel = nothing, .body = overrun_in_main};
    for (t.n[0] = 128 << 10; status == PW_OK && t.n[0] < 4 << 20; t.n[0] += 1 << 10)
        status = execute(&t);
    assert_int_equal(status, PW_FAILED);
    assert_string_equal(t.err.message, "workload test: its host program has overrun its stack of 256 KB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_overruns_fails_a_simulated_run),
        cmocka_unit_test(a_kernel_that_overruns_fails_a_run_without_time),
        cmocka_unit_test(a_host_program_that_overruns_fails_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
