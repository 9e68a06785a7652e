/* What Barnes-Hut's kernels touch, against what its algorithm says: every body is put into the tree once, every cell is
 * summed and sorted once, and the walk for the forces looks at nodes with all lanes together. */
#include "touches.h"

enum { BODIES = 500, NODES = 1023, AXES = 3 };
enum { ERROR, CHILD, MASS, POS, VEL = POS + AXES, ACC = VEL + AXES, COUNT = ACC + AXES, START, SORTED };
static const char program[] = "bh:bodies=500:sms=1:forces=0";

static const char *only; /* the kernel that is counted */
static uint64_t uniform, loads, barriers;

static void visit_kernel(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    if (strcmp(w->launch->name, only) != 0)
        return;
    barriers += op->kind == PW_OP_BARRIER;
    if (op->kind == PW_OP_LOAD) {
        loads++;
        uniform += op->form == PW_FORM_AFFINE && words[1] == 0;
    }
    visit_touches(context, w, op, words);
}

static struct pw_functional_counts count_kernel(const char *text, const char *kernel)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts = {0};
    memset(touches, 0, sizeof touches);
    only = kernel;
    uniform = loads = barriers = 0;
    if (pw_program_parse(text, &p, &err) || pw_functional_run(&p, 1, true, visit_kernel, NULL, &counts, &err))
        fail_msg("%s: %s", text, err.message);
    pw_program_release(&p);
    return counts;
}

static uint64_t sum(unsigned kind, unsigned array, uint64_t first, uint64_t outer)
{
    uint64_t all = 0;
    for (uint64_t i = first; i < outer; i++)
        all += touches[kind][array][i];
    return all;
}

/* Cells that were made: those with a number of bodies. */
static uint64_t cells_summed(void)
{
    uint64_t cells = 0;
    for (uint64_t i = 0; i <= NODES; i++) {
        assert_in_range(touches[PW_OP_STORE][COUNT][i], 0, 1);
        cells += touches[PW_OP_STORE][COUNT][i];
    }
    return cells;
}

static uint32_t once(uint64_t word)
{
    (void)word;
    return 1;
}

static void the_tree_is_built_by_compare_and_swap(void **state)
{
    (void)state;
    assert_int_equal(count_kernel(program, "TreeBuildingKernel").launches, 9);
    uint64_t swaps = sum(PW_OP_ATOMIC_RETURN, CHILD, 0, TOUCHED_WORDS);
    uint64_t loads_of_bodies = sum(PW_OP_LOAD, POS, 0, BODIES);
    assert_true(swaps >= BODIES);
    for (unsigned axis = 1; axis < AXES; axis++)
        assert_int_equal(sum(PW_OP_LOAD, POS + axis, 0, BODIES), loads_of_bodies);
    /* a body is loaded when its turn comes, and once for each cell that is made around it */
    uint64_t splits = loads_of_bodies - BODIES;
    count_kernel(program, "SummarizationKernel");
    assert_int_equal(cells_summed(), splits + 1);
}

static void every_cell_is_summed_once_and_every_pass_asks_for_all(void **state)
{
    (void)state;
    count_kernel(program, "SummarizationKernel");
    uint64_t cells = cells_summed();
    for (unsigned axis = 0; axis < AXES; axis++) {
        assert_int_equal(sum(PW_OP_STORE, POS + axis, 0, NODES + 1), cells);
        /* each node but the root, once */
        assert_int_equal(sum(PW_OP_LOAD, POS + axis, 0, NODES + 1), BODIES + cells - 1);
        expect_touches(PW_OP_STORE, VEL + axis, 0, once);
    }
    assert_int_equal(sum(PW_OP_STORE, MASS, 0, NODES + 1), cells);
    assert_int_equal(sum(PW_OP_LOAD, MASS, 0, BODIES), BODIES);
    assert_int_equal(sum(PW_OP_LOAD, COUNT, 0, NODES + 1), cells - 1);
    /* five passes and at least one look in the last loop */
    assert_true(sum(PW_OP_LOAD, MASS, BODIES, NODES + 1) >= 6 * cells);
    assert_true(barriers > 0);
}

static void every_body_is_sorted_into_one_place(void **state)
{
    (void)state;
    count_kernel(program, "SortKernel");
    expect_touches(PW_OP_STORE, SORTED, BODIES, once);
    uint64_t cells = sum(PW_OP_STORE, START, 0, NODES + 1) + 1;
    assert_int_equal(sum(PW_OP_LOAD, CHILD, 0, TOUCHED_WORDS), 8 * cells);
    assert_true(sum(PW_OP_LOAD, START, 0, NODES + 1) > cells); /* some in vain */
}

static void the_warp_walks_as_one_and_stores_every_acceleration(void **state)
{
    (void)state;
    count_kernel(program, "ForceCalculationKernel");
    uint64_t walks = (BODIES + 31) / 32;
    for (unsigned axis = 0; axis < AXES; axis++)
        expect_touches(PW_OP_STORE, ACC + axis, BODIES, once);
    expect_touches(PW_OP_LOAD, SORTED, BODIES, once);
    /* all but the list and the bodies' own places */
    assert_int_equal(loads - uniform, 4 * walks);
}

static void a_limit_on_forces_leaves_the_tree(void **state)
{
    (void)state;
    count_kernel("bh:bodies=500:sms=1:forces=100", "ForceCalculationKernel");
    assert_int_equal(sum(PW_OP_STORE, ACC, 0, BODIES), 100);
    count_kernel("bh:bodies=500:sms=1:forces=100", "SortKernel");
    expect_touches(PW_OP_STORE, SORTED, BODIES, once);
}

static uint32_t bodies_only(uint64_t word)
{
    return word < BODIES;
}

static void every_body_moves_once(void **state)
{
    (void)state;
    count_kernel(program, "IntegrationKernel");
    for (unsigned array = POS; array < COUNT; array++) {
        expect_touches(PW_OP_LOAD, array, NODES + 1, bodies_only);
        if (array < ACC)
            expect_touches(PW_OP_STORE, array, NODES + 1, bodies_only);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_is_built_by_compare_and_swap),
        cmocka_unit_test(every_cell_is_summed_once_and_every_pass_asks_for_all),
        cmocka_unit_test(every_body_is_sorted_into_one_place),
        cmocka_unit_test(the_warp_walks_as_one_and_stores_every_acceleration),
        cmocka_unit_test(a_limit_on_forces_leaves_the_tree),
        cmocka_unit_test(every_body_moves_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
