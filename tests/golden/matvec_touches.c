/* Which element of which array atax, mvt and bicg touch, how often and with which lanes, against the definition of a
 * product. */
#include "touches.h"

enum { NX = 70, NY = 45, TERMS = 20, CTAS = 1, WARPS = 8 };

/* Both kernels. */
static uint32_t all_products(uint64_t word)
{
    (void)word;
    return 2;
}

/* The first TERMS columns by rows, the first TERMS rows by columns. */
static uint32_t some_products(uint64_t word)
{
    return (uint32_t)(word % NY < TERMS) + (uint32_t)(word / NY < TERMS);
}

/* So often, whatever the element: as many rows, columns or terms as there are, and once more where sums are loaded
 * before the first product or cleared. */
#define DEFINE_TIMES(name, number)                                                                                     \
    static uint32_t name(uint64_t word)                                                                                \
    {                                                                                                                  \
        (void)word;                                                                                                    \
        return number;                                                                                                 \
    }
DEFINE_TIMES(once, 1)
DEFINE_TIMES(times_rows, NX)
DEFINE_TIMES(times_columns, NY)
DEFINE_TIMES(times_rows_and_once, NX + 1)
DEFINE_TIMES(times_columns_and_once, NY + 1)
DEFINE_TIMES(times_terms_and_once, TERMS + 1)

static void expect_shape(const struct pw_functional_counts *c)
{
    assert_int_equal(c->launches, 2);
    assert_int_equal(c->ctas, 2 * CTAS);
    assert_int_equal(c->warps, 2 * CTAS * WARPS);
}

static void atax_stores_every_sum_at_every_step_and_loads_it_once(void **state)
{
    (void)state;
    enum { A, X, Y, TMP };
    struct pw_functional_counts c = run_and_count("atax:nx=70:ny=45:terms=0", 1);
    expect_shape(&c);
    expect_touches(PW_OP_LOAD, A, NX * NY, all_products);
    expect_touches(PW_OP_STORE, A, 0, once);
    expect_touches(PW_OP_LOAD, X, NY, times_rows);
    expect_touches(PW_OP_LOAD, TMP, NX, times_columns_and_once);
    expect_touches(PW_OP_STORE, TMP, NX, times_columns);
    expect_touches(PW_OP_LOAD, Y, NY, once);
    expect_touches(PW_OP_STORE, Y, NY, times_rows);
}

static void mvt_has_a_vector_and_sums_for_each_of_its_products(void **state)
{
    (void)state;
    enum { A, X1, X2, Y1, Y2, N = NY };
    run_and_count("mvt:n=45:terms=0", 1);
    expect_touches(PW_OP_LOAD, A, N * N, all_products);
    for (unsigned sums = X1; sums <= X2; sums++) {
        expect_touches(PW_OP_LOAD, sums, N, once);
        expect_touches(PW_OP_STORE, sums, N, times_columns);
    }
    expect_touches(PW_OP_LOAD, Y1, N, times_columns);
    expect_touches(PW_OP_LOAD, Y2, N, times_columns);
}

static void bicg_clears_its_sums_and_never_loads_them(void **state)
{
    (void)state;
    enum { A, R, S, P, Q };
    struct pw_functional_counts c = run_and_count("bicg:nx=70:ny=45:terms=0", 1);
    expect_shape(&c);
    expect_touches(PW_OP_LOAD, A, NX * NY, all_products);
    expect_touches(PW_OP_LOAD, R, NX, times_columns);
    expect_touches(PW_OP_LOAD, P, NY, times_rows);
    expect_touches(PW_OP_STORE, S, NY, times_rows_and_once);
    expect_touches(PW_OP_STORE, Q, NX, times_columns_and_once);
    expect_touches(PW_OP_LOAD, S, 0, once);
    expect_touches(PW_OP_LOAD, Q, 0, once);
}

static void a_limit_on_terms_leaves_the_matrix_and_the_lanes(void **state)
{
    (void)state;
    enum { A, R, S, P, Q };
    struct pw_functional_counts c = run_and_count("bicg:nx=70:ny=45:terms=20", 1);
    expect_shape(&c);
    assert_int_equal(c.allocated_bytes, 4 * (NX * NY + 2 * NX + 2 * NY));
    expect_touches(PW_OP_LOAD, A, NX * NY, some_products);
    expect_touches(PW_OP_LOAD, R, TERMS, times_columns);
    expect_touches(PW_OP_LOAD, P, TERMS, times_rows);
    expect_touches(PW_OP_STORE, S, NY, times_terms_and_once);
    expect_touches(PW_OP_STORE, Q, NX, times_terms_and_once);
}

/* A row of 1,024 floats is a page. */
enum { PITCH = 1024 * sizeof(float) };

static void visit_strides(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    uint32_t *seen = context;
    if (op->kind != PW_OP_LOAD || words[0] >= TOUCHED_FIRST_ADDRESS + 64 * PITCH)
        return;
    bool by_rows = !strcmp(w->launch->name, "mvt_kernel1");
    assert_int_equal(words[1], by_rows ? PITCH : sizeof(float));
    assert_int_equal(op->count_or_mask, PW_ALL_LANES);
    seen[by_rows]++;
}

static void lanes_are_a_row_apart_by_rows_and_neighbours_by_columns(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts;
    uint32_t seen[2] = {0};
    assert_int_equal(pw_program_parse("mvt:n=1024:terms=3", &p, &err), PW_OK);
    assert_int_equal(pw_functional_run(&p, 1, true, visit_strides, seen, &counts, &err), PW_OK);
    pw_program_release(&p);
    assert_int_equal(seen[0], 3 * 1024 / 32);
    assert_int_equal(seen[1], 3 * 64 / 32);
}

/* As the compiled loops have them: 4 in a step, 9 more in each 16 steps by rows and 10 more in each 40 by columns. */
static void instructions_are_those_of_the_compiled_loops(void **state)
{
    (void)state;
    uint64_t few = run_and_count("mvt:n=80:terms=0", 1).warp_instructions;
    uint64_t warps = 3, rows = 7 + 8 + 8 + 80 * 4 + 5 * 9 + 1, columns = 7 + 8 + 1 + 80 * 4 + 2 * 10 + 1;
    uint64_t idle = 2 * (WARPS - warps) * (7 + 1);
    assert_int_equal(few, warps * (rows + columns) + idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atax_stores_every_sum_at_every_step_and_loads_it_once),
        cmocka_unit_test(mvt_has_a_vector_and_sums_for_each_of_its_products),
        cmocka_unit_test(bicg_clears_its_sums_and_never_loads_them),
        cmocka_unit_test(a_limit_on_terms_leaves_the_matrix_and_the_lanes),
        cmocka_unit_test(lanes_are_a_row_apart_by_rows_and_neighbours_by_columns),
        cmocka_unit_test(instructions_are_those_of_the_compiled_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
