/* Stack switching: locals survive, control returns to the resumer, stacks are aligned, guarded and reusable. */
#include "workload/runtime/coroutine.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STACK = 16 << 10 };

struct job {
    struct pw_coroutine c;
    uint64_t number, result;
    struct job *inner;
    struct pw_stack_arena *stacks;
};

static struct pw_stack stack_from(struct pw_stack_arena *a)
{
    struct pw_stack s;
    assert_true(pw_stack_arena_take(a, &s));
    return s;
}

static void sum_in_steps(void *argument)
{
    struct job *j = argument;
    uint64_t a = j->number, b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13, g = a * 17;
    double x = (double)a;
    for (int i = 0; i < 10; i++) {
        pw_coroutine_suspend(&j->c);
        a += 1, b += 2, c += 3, d += 4, e += 5, f += 6, g += 7, x += 0.5;
    }
    j->result = a + b + c + d + e + f + g + (uint64_t)x;
}

static void interleaved_coroutines_keep_their_locals(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 64);
    struct job *jobs = calloc(COUNT, sizeof *jobs);
    for (uint64_t i = 0; i < COUNT; i++) {
        jobs[i].number = i;
        pw_coroutine_init(&jobs[i].c, stack_from(stacks), sum_in_steps, &jobs[i]);
    }
    for (int step = 0; step < 11; step++)
        for (size_t i = 0; i < COUNT; i++) {
            size_t at = (i * 7 + (size_t)step) % COUNT;
            assert_false(jobs[at].c.ended);
            pw_coroutine_resume(&jobs[at].c);
        }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(jobs[i].c.ended);
        assert_int_equal(jobs[i].result, i * 57 + 280 + i + 5);
    }
    free(jobs);
    pw_stack_arena_destroy(stacks);
}

static void outer(void *argument)
{
    struct job *j = argument;
    for (int i = 0; i < 11; i++) {
        pw_coroutine_resume(&j->inner->c);
        pw_coroutine_suspend(&j->c);
    }
    j->result = j->inner->result;
}

static void control_returns_to_whoever_resumed(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 2);
    struct job inner = {.number = 4}, around = {.inner = &inner};
    pw_coroutine_init(&inner.c, stack_from(stacks), sum_in_steps, &inner);
    pw_coroutine_init(&around.c, stack_from(stacks), outer, &around);
    for (int i = 0; i < 12; i++)
        pw_coroutine_resume(&around.c);
    assert_true(around.c.ended);
    assert_int_equal(around.result, 4 * 58 + 285);
    pw_stack_arena_destroy(stacks);
}

static uint64_t __attribute__((noinline)) fill_and_sum(struct job *j, unsigned char value)
{
    volatile unsigned char big[12 << 10];
    _Alignas(16) volatile float vector[4] = {1, 2, 3, 4};
    assert_int_equal((uintptr_t)vector % 16, 0);
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = value;
    pw_coroutine_suspend(&j->c);
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof big; i++)
        sum += big[i];
    return sum + (uint64_t)vector[3];
}

static void use_most_of_the_stack(void *argument)
{
    struct job *j = argument;
    j->result = fill_and_sum(j, (unsigned char)j->number);
}

static void neighbouring_stacks_do_not_overlap(void **state)
{
    (void)state;
    enum { COUNT = 33 };
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 8);
    struct job jobs[COUNT] = {0};
    for (uint64_t i = 0; i < COUNT; i++) {
        jobs[i].number = i + 1;
        pw_coroutine_init(&jobs[i].c, stack_from(stacks), use_most_of_the_stack, &jobs[i]);
        pw_coroutine_resume(&jobs[i].c);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        pw_coroutine_resume(&jobs[i].c);
        assert_int_equal(jobs[i].result, (i + 1) * (12 << 10) + 4);
    }
    pw_stack_arena_destroy(stacks);
}

static void exit_at_depth(struct job *j, int depth)
{
    if (depth < 0)
        return;
    volatile char room[64];
    memset((char *)room, depth, sizeof room);
    if (!depth)
        pw_coroutine_exit(&j->c);
    exit_at_depth(j, depth - 1);
    j->result = (uint64_t)room[0];
}

static void leave_early(void *argument)
{
    struct job *j = argument;
    exit_at_depth(j, 20);
    j->result = 99;
}

static void exit_at_any_depth_never_returns(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 1);
    struct job j = {.result = 5};
    pw_coroutine_init(&j.c, stack_from(stacks), leave_early, &j);
    pw_coroutine_resume(&j.c);
    assert_true(j.c.ended);
    assert_int_equal(j.result, 5);
    pw_stack_arena_destroy(stacks);
}

static void an_abandoned_stack_can_be_used_again(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 1);
    struct pw_stack stack = stack_from(stacks);
    struct job j = {.number = 1};
    for (int round = 0; round < 50; round++) {
        bool finish = round % 3 == 0;
        j.result = 0;
        pw_coroutine_init(&j.c, stack, round % 2 ? sum_in_steps : use_most_of_the_stack, &j);
        for (int i = 0; i < 1 + round % 2; i++)
            pw_coroutine_resume(&j.c);
        while (finish && !j.c.ended)
            pw_coroutine_resume(&j.c);
        assert_int_equal(j.result != 0, finish);
        pw_coroutine_abandon(&j.c);
        assert_true(j.c.ended);
    }
    pw_stack_arena_destroy(stacks);
}

static void overflow_meets_a_guard_page(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 4);
    stack_from(stacks);
    struct pw_stack stack = stack_from(stacks);
    memset(stack.low, 1, stack.bytes);
    pid_t child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        ((volatile char *)stack.low)[-1] = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    pw_stack_arena_destroy(stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_coroutines_keep_their_locals),
        cmocka_unit_test(control_returns_to_whoever_resumed),
        cmocka_unit_test(neighbouring_stacks_do_not_overlap),
        cmocka_unit_test(exit_at_any_depth_never_returns),
        cmocka_unit_test(an_abandoned_stack_can_be_used_again),
        cmocka_unit_test(overflow_meets_a_guard_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
