/* How deep reading goes into the stack: warps are coroutines with 16 KB each, and a cursor reads, unpacks and decodes
 * there. The stack is painted and looked at afterwards. */
#include "trace_fixture.h"

#include <stdio.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
enum { MOST_DEPTH = 48 << 10 }; /* frames have red zones */
#else
enum { MOST_DEPTH = 6 << 10 };
#endif
enum { STACK = 64 << 10, PAINT = 0xa5, OPS = 20000, CTAS = 3, WARPS = 8 };

struct reading {
    struct pw_trace_launch *launch;
    struct pw_error err;
    uint64_t read;
    ucontext_t here, there;
};

static void write_trace(struct pw_trace **out, bool incompressible)
{
    struct pw_trace_writer *w;
    struct pw_error err;
    struct pw_random r;
    pw_random_init(&r, 1, "stack");
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    struct pw_trace_event launch = {
        .kind = PW_TRACE_LAUNCH, .name = "kernel", .grid = {CTAS, 1, 1}, .block = {32 * WARPS, 1, 1}};
    pw_trace_write_launch(w, &launch);
    for (uint32_t i = 0; i < OPS; i++)
        for (uint32_t k = 0; k < WARPS; k++) {
            struct traced_op t = random_access(&r, 1 << 20, incompressible ? UINT64_C(1) << 40 : 1 << 16);
            assert_true(pw_trace_write_op(w, i % CTAS, k, &t.op, t.words));
        }
    assert_ok(pw_trace_writer_finish(w, out, &err), &err);
}

/* As a warp would: the cursor and the words are on its stack. */
static void read_warps(unsigned high, unsigned low)
{
    struct reading *reading = (struct reading *)((uintptr_t)high << 32 | low);
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    for (uint32_t i = 0; i < CTAS * WARPS; i++) {
        pw_trace_cursor_start(&c, reading->launch, i / WARPS, i % WARPS);
        while (pw_trace_cursor_next(&c, &op, words, &reading->err) == PW_TRACE_STEP_OP)
            reading->read++;
    }
    swapcontext(&reading->there, &reading->here);
}

static size_t depth_of_reading(bool incompressible)
{
    struct pw_trace *t;
    struct reading *reading = calloc(1, sizeof *reading);
    uint8_t *stack = malloc(STACK);
    write_trace(&t, incompressible);
    assert_ok(pw_trace_launch_open(t, 0, &reading->launch, &reading->err), &reading->err);
    memset(stack, PAINT, STACK);
    assert_int_equal(getcontext(&reading->there), 0);
    reading->there.uc_stack.ss_sp = stack;
    reading->there.uc_stack.ss_size = STACK;
    uintptr_t address = (uintptr_t)reading;
    makecontext(&reading->there, (void (*)(void))read_warps, 2, (unsigned)(address >> 32), (unsigned)address);
    assert_int_equal(swapcontext(&reading->here, &reading->there), 0);
    assert_int_equal(reading->read, (uint64_t)OPS * WARPS);
    size_t clean = 0;
    while (clean < STACK && stack[clean] == PAINT)
        clean++;
    pw_trace_launch_close(reading->launch);
    pw_trace_close(t);
    free(reading);
    free(stack);
    return STACK - clean;
}

static void reading_fits_on_the_stack_of_a_warp(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        size_t depth = depth_of_reading(i);
        print_message("%zu bytes of stack\n", depth);
        assert_in_range(depth, sizeof(struct pw_trace_cursor), MOST_DEPTH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_fits_on_the_stack_of_a_warp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
