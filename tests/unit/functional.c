/* The functional executor: canonical order, fresh shared memory per CTA, warps that leave before a barrier,
 * and who watches them. */
#include "workload.h"

#include "sim/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CTAS = 5, WARPS = 3 };

struct arguments {
    struct pw_array a, b;
};

/* Warp 1 leaves before the barrier. */
static void kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint32_t *shared = w->shared;
    assert_int_equal(shared[w->index], 0);
    shared[w->index] = w->index + 1;
    pw_load_run(w, w->lanes, &g->a, w->index);
    if (w->index == 1)
        return;
    pw_barrier(w);
    assert_int_equal(shared[0] + shared[1] + shared[2], 6);
    pw_compute(w, 10);
    pw_store_run(w, w->lanes & 3, &g->b, w->cta_index);
}

static void program_main(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    struct arguments g = {.a = pw_alloc(h, "a", 1000, 4), .b = pw_alloc(h, "b", 3 << 20, 1)};
    struct pw_array c = pw_alloc(h, "c", 1, 1);
    assert_int_equal(g.b.base.v - g.a.base.v, 2 << 20);
    assert_int_equal(c.base.v - g.b.base.v, 4 << 20);
    assert_int_equal(g.a.base.v % (2 << 20), 0);
    struct pw_launch launch = {.grid = {CTAS, 1, 1},
                               .block = {WARPS * 32, 1, 1},
                               .shared_bytes = WARPS * 4,
                               .kernel = kernel,
                               .arguments = &g};
    pw_launch(h, &launch);
    pw_launch(h, &launch);
}

struct order {
    uint32_t position; /* in the expected sequence of (cta, warp, kind) */
};

static void check_order(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)words;
    static const struct {
        uint32_t warp, kind;
    } sequence[] = {
        {0, PW_OP_LOAD}, {0, PW_OP_BARRIER}, {1, PW_OP_LOAD},    {1, PW_OP_EXIT},
        {2, PW_OP_LOAD}, {2, PW_OP_BARRIER}, {0, PW_OP_COMPUTE}, {0, PW_OP_STORE},
        {0, PW_OP_EXIT}, {2, PW_OP_COMPUTE}, {2, PW_OP_STORE},   {2, PW_OP_EXIT},
    };
    enum { LENGTH = sizeof sequence / sizeof sequence[0] };
    struct order *o = context;
    assert_int_equal(w->cta_index, o->position / LENGTH % CTAS);
    assert_int_equal(w->index, sequence[o->position % LENGTH].warp);
    assert_int_equal(op->kind, sequence[o->position % LENGTH].kind);
    o->position++;
}

static void operations_come_in_canonical_order_and_are_counted(void **state)
{
    (void)state;
    TEST_PROGRAM(program, program_main);
    struct order order = {0};
    struct pw_functional_counts c;
    struct pw_error err;
    assert_int_equal(pw_functional_run(&program, 1, false, check_order, &order, &c, &err), PW_OK);
    assert_int_equal(order.position, 2 * CTAS * 12);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.ctas, 2 * CTAS);
    assert_int_equal(c.warps, 2 * CTAS * WARPS);
    assert_int_equal(c.warp_instructions, 2 * CTAS * (3 + 2 + 2 * 11 + 3));
    assert_int_equal(c.memory_instructions, 2 * CTAS * 5);
    assert_int_equal(c.lane_accesses, 2 * CTAS * (3 * 32 + 2 * 2));
    assert_int_equal(c.allocated_bytes, 4000 + (3 << 20) + 1);
}

static void failing_main(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    pw_alloc(h, "a", 10, 4);
    pw_host_fail(h, "no");
}

static void the_programs_error_is_handed_on(void **state)
{
    (void)state;
    TEST_PROGRAM(program, failing_main);
    struct pw_functional_counts c;
    struct pw_error err;
    assert_int_equal(pw_functional_run(&program, 1, false, NULL, NULL, &c, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "workload test:x=1: no");
}

/* Notes what is observed, and fails at the event it is told to. */
struct diary {
    char text[256];
    const char *fail_at;
};

static enum pw_status note(struct diary *d, const char *event, struct pw_error *err)
{
    strncat(d->text, event, sizeof d->text - strlen(d->text) - 1);
    strncat(d->text, " ", sizeof d->text - strlen(d->text) - 1);
    return d->fail_at && strcmp(d->fail_at, event) == 0 ? pw_fail(err, PW_INTERRUPTED, "stop") : PW_OK;
}

static enum pw_status note_allocation(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                      struct pw_error *err)
{
    char event[64];
    snprintf(event, sizeof event, "%s%u=%llu", name, id, (unsigned long long)bytes);
    assert_int_equal(base.v % (2 << 20), 0);
    return note(context, event, err);
}

static enum pw_status note_free(void *context, uint32_t id, struct pw_error *err)
{
    char event[64];
    snprintf(event, sizeof event, "free%u", id);
    return note(context, event, err);
}

static enum pw_status note_launch(void *context, const struct pw_launch *launch, struct pw_error *err)
{
    return note(context, launch->name, err);
}

static enum pw_status note_position(void *context, const struct pw_functional_position *at, struct pw_error *err)
{
    char event[64];
    snprintf(event, sizeof event, "%llu/%u:%u", (unsigned long long)at->launches, at->planned_launches, at->ctas);
    return note(context, event, err);
}

static void do_nothing(struct pw_warp *w, const void *arguments)
{
    (void)w, (void)arguments;
}

static void observed_main(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    struct pw_launch launch = {.name = "k", .grid = {2, 1, 1}, .block = {32, 1, 1}, .kernel = do_nothing};
    pw_host_plan(h, 2);
    struct pw_array a = pw_alloc(h, "a", 10, 4);
    pw_launch(h, &launch);
    pw_free(h, &a);
    pw_alloc(h, "b", 1, 1);
    launch.grid.x = 1;
    pw_launch(h, &launch);
}

static void an_observer_sees_everything_in_order_and_can_stop_it(void **state)
{
    (void)state;
    static const char whole[] = "a0=40 k 1/2:1 1/2:2 free0 b1=1 k 2/2:1 ";
    static const char *const events[] = {"a0=40", "k", "1/2:2", "free0", "b1=1", "2/2:1"};
    TEST_PROGRAM(program, observed_main);
    struct pw_functional_counts c;
    struct pw_error err;
    struct diary diary = {{0}, NULL};
    const struct pw_functional_observer observer = {.context = &diary,
                                                    .allocated = note_allocation,
                                                    .freed = note_free,
                                                    .launched = note_launch,
                                                    .advanced = note_position};
    assert_int_equal(pw_functional_observe(&program, 1, false, &observer, &c, &err), PW_OK);
    assert_string_equal(diary.text, whole);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        diary = (struct diary){{0}, events[i]};
        assert_int_equal(pw_functional_observe(&program, 1, false, &observer, &c, &err), PW_INTERRUPTED);
        assert_string_equal(err.message, "stop");
        assert_int_equal(strncmp(diary.text, whole, strlen(diary.text)), 0);
        const char *last = diary.text + strlen(diary.text) - strlen(events[i]) - 1;
        assert_int_equal(strncmp(last, events[i], strlen(events[i])), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_come_in_canonical_order_and_are_counted),
        cmocka_unit_test(the_programs_error_is_handed_on),
        cmocka_unit_test(an_observer_sees_everything_in_order_and_can_stop_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
