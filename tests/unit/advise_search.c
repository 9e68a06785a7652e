/* The search for CUDA calls, with programs that are functions from a plan to cycles: it finds what was planted, alone
 * or together, recommends nothing that does not help, and makes no more runs than it may. */
#include "exp/tools/advise_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum {
    HOST = PW_ADVICE_PREFER_HOST,
    COPY = PW_ADVICE_READ_MOSTLY,
    MAPPED = PW_ADVICE_ACCESSED_BY,
    FETCH = PW_ADVICE_PREFETCH
};

/* A program: cycles of a plan, 0 when it fails. */
typedef uint64_t program(const uint8_t *calls);

struct fake {
    program *cycles;
    size_t runs, batches, stop_after; /* runs after which it is interrupted; 0: never */
    bool contradicted;                /* two kinds of advice for one allocation were tried */
    uint64_t cycles_run;              /* of all runs, as far as they went */
    bool goes_on;                     /* it never stops a run */
};

static enum pw_status run(void *context, struct pw_try *tries, size_t count, struct pw_error *err)
{
    struct fake *f = context;
    f->batches++;
    for (size_t i = 0; i < count; i++) {
        if (f->stop_after && f->runs == f->stop_after)
            return pw_fail(err, PW_INTERRUPTED, "interrupted");
        f->runs++;
        tries[i].cycles = f->cycles(tries[i].plan.calls);
        tries[i].failure = tries[i].cycles ? NULL : "it is stuck";
        if (!f->goes_on && tries[i].limit && tries[i].cycles > tries[i].limit) {
            tries[i].stopped = tries[i].limit;
            tries[i].cycles = 0;
        }
        f->cycles_run += tries[i].cycles + tries[i].stopped;
        for (size_t a = 0; a < PW_MOST_ADVISED; a++)
            f->contradicted |= __builtin_popcount(tries[i].plan.calls[a] & ~FETCH) > 1;
    }
    return PW_OK;
}

static struct pw_search searched(struct fake *f, size_t allocations, size_t most)
{
    static const uint8_t none[PW_MOST_ADVISED];
    struct pw_error err;
    struct pw_search s = {
        .allocation_count = allocations, .baseline = f->cycles(none), .most = most, .run = run, .context = f};
    enum pw_status status = pw_search_run(&s, &err);
    assert_int_equal(status, f->stop_after ? PW_INTERRUPTED : PW_OK);
    assert_false(f->contradicted);
    assert_true(f->runs <= most + 2 * pw_plan_calls(&s.best)); /* alone, and beside the others */
    return s;
}

static void expect_best(const struct pw_search *s, const uint8_t *calls, size_t count, uint64_t cycles)
{
    struct pw_plan expected = {{0}};
    memcpy(expected.calls, calls, count);
    assert_memory_equal(&s->best, &expected, sizeof expected);
    assert_int_equal(s->best_cycles, cycles);
}

/* One call on allocation 2 makes the difference; everything else costs a little. */
static uint64_t one_call(const uint8_t *calls)
{
    uint64_t cycles = calls[2] == MAPPED ? 1000 : 18000;
    for (size_t i = 0; i < PW_MOST_ADVISED; i++)
        cycles += 1000 * (calls[i] && !(i == 2 && calls[i] == MAPPED));
    return cycles;
}

static void the_one_call_that_helps_is_found_wherever_it_is(void **state)
{
    (void)state;
    struct fake f = {.cycles = one_call};
    struct pw_search s = searched(&f, 5, 100);
    expect_best(&s, (uint8_t[]){0, 0, MAPPED}, 3, 1000);
    assert_false(s.cut);
    /* Each call alone, each kind on all; harmful ones are not tried again. */
    assert_int_equal(f.runs, 5 * PW_CALL_KINDS + PW_CALL_KINDS);
    pw_search_free(&s);
}

/* Three calls that help each a third, on three allocations, one of them a prefetch beside advice. */
static uint64_t three_calls(const uint8_t *calls)
{
    uint64_t cycles = 100000;
    cycles = calls[0] & COPY ? cycles * 2 / 3 : cycles;
    cycles = calls[0] & FETCH ? cycles * 2 / 3 : cycles;
    cycles = calls[3] & HOST ? cycles * 2 / 3 : cycles;
    return cycles;
}

static void calls_that_help_together_are_found_and_no_others(void **state)
{
    (void)state;
    struct fake f = {.cycles = three_calls};
    struct pw_search s = searched(&f, 4, 200);
    expect_best(&s, (uint8_t[]){COPY | FETCH, 0, 0, HOST}, 4, 29629);
    for (size_t i = 0; i < s.try_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(&s.tries[i].plan, &s.tries[j].plan, sizeof s.tries[i].plan); /* none twice */
    pw_search_free(&s);
}

/* Memory thrashes until two of four allocations are out of the way; one alone costs time. */
static uint64_t two_or_nothing(const uint8_t *calls)
{
    unsigned away = 0;
    for (size_t i = 0; i < 4; i++)
        away += calls[i] == MAPPED;
    return away >= 2 ? 1000 + 100 * away : 50000 + 5000 * away;
}

static void calls_that_help_only_together_are_found(void **state)
{
    (void)state;
    struct fake f = {.cycles = two_or_nothing};
    struct pw_search s = searched(&f, 4, 100);
    assert_int_equal(pw_plan_calls(&s.best), 2);
    assert_int_equal(s.best_cycles, 1200);
    pw_search_free(&s);
}

static uint64_t nothing_helps(const uint8_t *calls)
{
    uint64_t cycles = 100000;
    for (size_t i = 0; i < PW_MOST_ADVISED; i++)
        cycles = calls[i] == FETCH ? cycles - 100 : calls[i] ? cycles * 6 / 5 : cycles;
    return calls[1] == HOST ? 0 : cycles;
}

/* 0.1% is no reason for a call, 20% more and a failure even less. */
static void what_gains_too_little_costs_time_or_fails_is_not_recommended(void **state)
{
    (void)state;
    struct fake f = {.cycles = nothing_helps};
    struct pw_search s = searched(&f, 3, 100);
    expect_best(&s, (uint8_t[]){0}, 1, 100000);
    assert_true(pw_search_harms(&s, &(struct pw_plan){{COPY}}));
    assert_true(pw_search_harms(&s, &(struct pw_plan){{0, HOST}}));
    assert_false(pw_search_harms(&s, &(struct pw_plan){{FETCH}}));
    assert_int_equal(f.batches, 1);
    pw_search_free(&s);
}

static void no_more_runs_are_made_than_allowed_and_that_is_known(void **state)
{
    (void)state;
    for (size_t most = 1; most < 40; most++) {
        struct fake f = {.cycles = three_calls};
        struct pw_search s = searched(&f, 4, most);
        assert_int_equal(f.runs, s.try_count);
        assert_int_equal(s.cut, s.try_count >= most);
        assert_true(s.best_cycles <= 100000);
        pw_search_free(&s);
    }
}

static uint64_t runs_only_mapped(const uint8_t *calls)
{
    return calls[1] == MAPPED ? 7000 : 0;
}

/* A program in which most calls cost much time. */
static uint64_t mostly_harmful(const uint8_t *calls)
{
    uint64_t cycles = three_calls(calls);
    for (size_t i = 0; i < 4; i++)
        cycles *= calls[i] & MAPPED || (calls[i] & HOST && i < 3) ? 20 : 1;
    return cycles;
}

static void tries_that_are_stopped_change_nothing_but_the_time(void **state)
{
    (void)state;
    program *const programs[] = {one_call,      three_calls,      two_or_nothing,
                                 nothing_helps, runs_only_mapped, mostly_harmful};
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        struct fake whole = {.cycles = programs[p], .goes_on = true}, cut = {.cycles = programs[p]};
        struct pw_search a = searched(&whole, 4, 200), b = searched(&cut, 4, 200);
        assert_memory_equal(&a.best, &b.best, sizeof a.best);
        assert_int_equal(a.best_cycles, b.best_cycles);
        assert_int_equal(a.try_count, b.try_count);
        assert_true(cut.cycles_run <= whole.cycles_run);
        if (programs[p] == mostly_harmful)
            assert_true(cut.cycles_run < whole.cycles_run / 4);
        pw_search_free(&a);
        pw_search_free(&b);
    }
}

static void what_is_refused_is_never_tried(void **state)
{
    (void)state;
    struct fake f = {.cycles = three_calls};
    struct pw_search s = {
        .allocation_count = 4, .refused = {{COPY, COPY}}, .baseline = 100000, .most = 200, .run = run, .context = &f};
    struct pw_error err;
    assert_int_equal(pw_search_run(&s, &err), PW_OK);
    for (size_t i = 0; i < s.try_count; i++)
        assert_false((s.tries[i].plan.calls[0] | s.tries[i].plan.calls[1]) & COPY);
    expect_best(&s, (uint8_t[]){FETCH, 0, 0, HOST}, 4, 44444);
    pw_search_free(&s);
}

static void each_call_that_is_recommended_was_tried_alone_and_left_out(void **state)
{
    (void)state;
    for (size_t most = 1; most < 40; most++) {
        struct fake f = {.cycles = two_or_nothing};
        struct pw_search s = searched(&f, 4, most);
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < PW_CALL_KINDS; k++)
                if (s.best.calls[i] & pw_call_kinds[k]) {
                    struct pw_plan others = s.best;
                    others.calls[i] &= (uint8_t)~pw_call_kinds[k];
                    assert_non_null(pw_search_alone(&s, i, pw_call_kinds[k]));
                    assert_true(!pw_plan_calls(&others) || pw_search_find(&s, &others));
                }
        pw_search_free(&s);
    }
}

static void an_interrupted_search_knows_the_best_so_far(void **state)
{
    (void)state;
    /* Four kinds on all, then those of allocations 0, 1 and 2: the 13th is the one. */
    struct fake before = {.cycles = one_call, .stop_after = 12}, after = {.cycles = one_call, .stop_after = 13};
    struct pw_search s = searched(&before, 5, 100);
    assert_int_equal(s.best_cycles, 5000); /* mapped altogether */
    pw_search_free(&s);
    s = searched(&after, 5, 100);
    expect_best(&s, (uint8_t[]){0, 0, MAPPED}, 3, 1000);
    pw_search_free(&s);
}

static void a_program_that_fails_is_made_to_run(void **state)
{
    (void)state;
    struct fake f = {.cycles = runs_only_mapped};
    struct pw_search s = searched(&f, 2, 100);
    expect_best(&s, (uint8_t[]){0, MAPPED}, 2, 7000);
    pw_search_free(&s);
}

static void what_the_program_says_already_is_not_contradicted(void **state)
{
    (void)state;
    struct fake f = {.cycles = three_calls};
    struct pw_search s = {
        .allocation_count = 1, .given = {{HOST}}, .baseline = 100000, .most = 100, .run = run, .context = &f};
    struct pw_error err;
    assert_int_equal(pw_search_run(&s, &err), PW_OK);
    assert_int_equal(f.runs, 1); /* a prefetch is all that can be added */
    expect_best(&s, (uint8_t[]){FETCH}, 1, 66666);
    pw_search_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_call_that_helps_is_found_wherever_it_is),
        cmocka_unit_test(calls_that_help_together_are_found_and_no_others),
        cmocka_unit_test(calls_that_help_only_together_are_found),
        cmocka_unit_test(what_gains_too_little_costs_time_or_fails_is_not_recommended),
        cmocka_unit_test(no_more_runs_are_made_than_allowed_and_that_is_known),
        cmocka_unit_test(tries_that_are_stopped_change_nothing_but_the_time),
        cmocka_unit_test(what_is_refused_is_never_tried),
        cmocka_unit_test(each_call_that_is_recommended_was_tried_alone_and_left_out),
        cmocka_unit_test(an_interrupted_search_knows_the_best_so_far),
        cmocka_unit_test(a_program_that_fails_is_made_to_run),
        cmocka_unit_test(what_the_program_says_already_is_not_contradicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
