/* Stack switching: locals survive, control returns to the resumer, stacks are aligned, guarded and reusable. */
#include "workload/runtime/coroutine.h"
#include "exhaust.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

struct descent {
    struct pw_coroutine c;
    size_t bytes;
    bool suspend; /* and end only afterwards */
};

static __attribute__((no_sanitize_address)) void descend_once(void *argument)
{
    struct descent *d = argument;
    char here;
    descend((uintptr_t)&here, d->bytes);
    if (d->suspend)
        pw_coroutine_suspend(&d->c);
}

/* Three chunks of stacks, and in each of them the lowest, the highest and those in between. */
static void whoever_overruns_a_stack_is_found_when_control_comes_back(void **state)
{
    (void)state;
    enum { COUNT = 3 * 64 };
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 64);
    for (unsigned i = 0; i < COUNT; i++) {
        struct pw_stack stack = stack_from(stacks);
        struct descent d = {.suspend = i % 2};
        d.bytes = stack.bytes / 2;
        pw_coroutine_init(&d.c, stack, descend_once, &d);
        assert_true(pw_coroutine_resume(&d.c));
        pw_coroutine_abandon(&d.c);
        d.bytes = stack.bytes + 256;
        pw_coroutine_init(&d.c, stack, descend_once, &d);
        assert_false(pw_coroutine_resume(&d.c));
        assert_int_equal(d.c.ended, !d.suspend);
        d.c.ended = true; /* it may not run again, and so it is not abandoned */
    }
    pw_stack_arena_destroy(stacks);
}

static void one_byte_below_a_stack_is_enough(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 2);
    for (ptrdiff_t below = 1; below <= 64; below++) {
        struct pw_stack stack = stack_from(stacks);
        struct descent d = {.bytes = 256, .suspend = true};
        pw_coroutine_init(&d.c, stack, descend_once, &d);
        ((char *)stack.low)[-below] ^= 1;
        assert_false(pw_coroutine_resume(&d.c));
        ((char *)stack.low)[-below] ^= 1;
        assert_true(pw_coroutine_resume(&d.c));
    }
    pw_stack_arena_destroy(stacks);
}

static char *guard;

static void tell_whether_at_the_guard(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    char *at = info->si_addr;
    _exit(at >= guard && at < guard + sysconf(_SC_PAGESIZE) ? 0 : 1);
}

/* Runs on and on, in a child, which says where it was stopped. */
static void run_into_the_guard(struct pw_stack stack, struct pw_stack lowest)
{
    guard = (char *)lowest.low - 2 * sysconf(_SC_PAGESIZE);
    pid_t child = fork();
    if (!child) {
        static char other_stack[64 << 10];
        sigaltstack(&(stack_t){.ss_sp = other_stack, .ss_size = sizeof other_stack}, NULL);
        struct sigaction act = {.sa_sigaction = tell_whether_at_the_guard, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaction(SIGSEGV, &act, NULL);
        sigaction(SIGBUS, &act, NULL);
        struct descent d = {.bytes = stack.bytes + (1 << 20)};
        pw_coroutine_init(&d.c, stack, descend_once, &d);
        pw_coroutine_resume(&d.c);
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_runs_on_meets_a_guard_page_below_the_stacks_of_a_chunk(void **state)
{
    (void)state;
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 3);
    struct pw_stack lowest = {0};
    for (unsigned i = 0; i < 9; i++) {
        struct pw_stack stack = stack_from(stacks);
        lowest = i % 3 ? lowest : stack;
        memset(stack.low, 1, stack.bytes);
        run_into_the_guard(stack, lowest);
    }
    pw_stack_arena_destroy(stacks);
}

/* As many mappings as the limit allows, and then none: what was taken before still works. */
static enum exhaust take_until_memory_is_out(void)
{
    enum { ENOUGH = 1 << 20 };
    struct pw_stack_arena *stacks = pw_stack_arena_create(STACK, 64);
    struct pw_stack stack, last = {0};
    unsigned taken = 0;
    for (; stacks && taken < ENOUGH && pw_stack_arena_take(stacks, &stack); taken++)
        last = stack;
    if (!taken)
        return EXHAUST_WRONG;
    struct job j = {.number = 3};
    pw_coroutine_init(&j.c, last, sum_in_steps, &j);
    while (!j.c.ended)
        pw_coroutine_resume(&j.c);
    bool again = pw_stack_arena_take(stacks, &stack);
    pw_stack_arena_destroy(stacks);
    return taken < ENOUGH && taken % 64 == 0 && !again && j.result ? EXHAUST_OK : EXHAUST_WRONG;
}

static void memory_that_runs_out_is_said_to_and_harms_no_stack(void **state)
{
    (void)state;
    exhaust_memory(256 << 20, take_until_memory_is_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_coroutines_keep_their_locals),
        cmocka_unit_test(control_returns_to_whoever_resumed),
        cmocka_unit_test(neighbouring_stacks_do_not_overlap),
        cmocka_unit_test(exit_at_any_depth_never_returns),
        cmocka_unit_test(an_abandoned_stack_can_be_used_again),
        cmocka_unit_test(whoever_overruns_a_stack_is_found_when_control_comes_back),
        cmocka_unit_test(one_byte_below_a_stack_is_enough),
        cmocka_unit_test(what_runs_on_meets_a_guard_page_below_the_stacks_of_a_chunk),
        cmocka_unit_test(memory_that_runs_out_is_said_to_and_harms_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
