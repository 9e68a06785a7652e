/* Which element of which array BP, NW, LUD and SC touch, and how often, against the definition of the algorithm and the
 * way the original divides it among threads. */
#include "touches.h"

static uint32_t once(uint64_t word)
{
    (void)word;
    return 1;
}

enum { BP_CTAS = 20, BP_INPUTS = 16 * BP_CTAS, BP_PITCH = 17, BP_WEIGHTS = (BP_INPUTS + 1) * BP_PITCH };

/* By thread column 0 in the first kernel, by 16 threads twice in the second. */
static uint32_t bp_input_loads(uint64_t word)
{
    return word ? 1 + 2 * 16 : 0;
}

/* Twice by each row of threads, and twice for the bias. */
static uint32_t bp_delta_loads(uint64_t word)
{
    return word ? 2 * 16 * BP_CTAS + 2 : 0;
}

/* Once per kernel; the bias only in the second; column 0 never. */
static uint32_t bp_weight_accesses(uint64_t word)
{
    return word % BP_PITCH ? 1 + (word >= BP_PITCH) : 0;
}

static uint32_t bp_old_weight_stores(uint64_t word)
{
    return word % BP_PITCH ? 1 : 0;
}

static uint32_t bp_old_weight_loads(uint64_t word)
{
    return 2 * bp_old_weight_stores(word);
}

static void backprop_touches_rows_of_17_weights_but_their_first(void **state)
{
    (void)state;
    enum { INPUT, HIDDEN, WEIGHTS, SUMS, DELTA, OLD };
    struct pw_functional_counts c = run_and_count("BP:inputs=320", 1);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.ctas, 2 * BP_CTAS);
    expect_touches(PW_OP_LOAD, INPUT, BP_INPUTS + 1, bp_input_loads);
    expect_touches(PW_OP_LOAD, HIDDEN, 0, once);
    expect_touches(PW_OP_STORE, HIDDEN, 0, once);
    expect_touches(PW_OP_LOAD, WEIGHTS, BP_WEIGHTS, bp_weight_accesses);
    expect_touches(PW_OP_STORE, WEIGHTS, BP_WEIGHTS, bp_weight_accesses);
    expect_touches(PW_OP_STORE, SUMS, 16 * BP_CTAS, once);
    expect_touches(PW_OP_LOAD, SUMS, 0, once);
    expect_touches(PW_OP_LOAD, DELTA, 17, bp_delta_loads);
    expect_touches(PW_OP_LOAD, OLD, BP_WEIGHTS, bp_old_weight_loads);
    expect_touches(PW_OP_STORE, OLD, BP_WEIGHTS, bp_old_weight_stores);
}

enum { NW_LENGTH = 80, NW_COLUMNS = NW_LENGTH + 1, NW_CELLS = NW_COLUMNS * NW_COLUMNS };

static uint32_t nw_inner(uint64_t word)
{
    return word / NW_COLUMNS && word % NW_COLUMNS;
}

/* A block loads the row above it, the column to its left and the corner between them. */
static uint32_t nw_matrix_loads(uint64_t word)
{
    uint64_t y = word / NW_COLUMNS, x = word % NW_COLUMNS;
    bool last_row_of_block = y % 16 == 0 && y < NW_LENGTH, last_column_of_block = x % 16 == 0 && x < NW_LENGTH;
    return (last_row_of_block && x) + (last_column_of_block && y) + (last_row_of_block && last_column_of_block);
}

static void needleman_wunsch_loads_the_rim_of_each_block_and_writes_each_cell_once(void **state)
{
    (void)state;
    enum { REFERENCE, MATRIX };
    struct pw_functional_counts c = run_and_count("NW:length=80", 1);
    assert_int_equal(c.launches, 9);
    assert_int_equal(c.ctas, 25);
    assert_int_equal(c.warps, 25);
    assert_int_equal(c.memory_instructions, 25 * (16 + 1 + 1 + 1 + 16));
    expect_touches(PW_OP_LOAD, REFERENCE, NW_CELLS, nw_inner);
    expect_touches(PW_OP_LOAD, MATRIX, NW_CELLS, nw_matrix_loads);
    expect_touches(PW_OP_STORE, MATRIX, NW_CELLS, nw_inner);
    assert_int_equal(run_and_count("nw:length=1024:scale=0.01", 1).launches, 2 * (96 / 16) - 1);
}

enum { LUD_BLOCKS = 5, LUD_SIDE = 16 * LUD_BLOCKS };

/* A block in row or column d, whichever comes first, is updated in d steps. In step d it is loaded to be solved, and by
 * the LUD_BLOCKS - 1 - d CTAs that need it: perimeter ones for the diagonal block, else internal ones. */
static uint32_t lud_loads(uint64_t word)
{
    (void)word;
    return LUD_BLOCKS;
}

/* The first row of a block of U does not change in its last step. */
static uint32_t lud_stores(uint64_t word)
{
    uint64_t y = word / LUD_SIDE, x = word % LUD_SIDE, row = y / 16, column = x / 16;
    return (uint32_t)(row < column ? row : column) + !(row <= column && y % 16 == 0);
}

static void lu_loads_every_element_once_per_step(void **state)
{
    (void)state;
    struct pw_functional_counts c = run_and_count("LUD:side=80", 1);
    assert_int_equal(c.launches, 3 * LUD_BLOCKS - 2);
    assert_int_equal(c.ctas, LUD_BLOCKS + (4 + 3 + 2 + 1) + (16 + 9 + 4 + 1));
    expect_touches(PW_OP_LOAD, 0, LUD_SIDE * LUD_SIDE, lud_loads);
    expect_touches(PW_OP_STORE, 0, LUD_SIDE * LUD_SIDE, lud_stores);
}

/* Which points are nearer to the candidate follows from one array; the others must agree with it. */
static void streamcluster_takes_the_same_side_of_the_branch_in_every_array(void **state)
{
    (void)state;
    enum { WORK, TABLE, SWITCHES, POINTS, COORDINATES };
    enum { N = 600, DIMENSIONS = 21, WEIGHT = 0, ASSIGN = 4, COST = 6 };
    for (uint64_t seed = 1; seed < 4; seed++) {
        struct pw_functional_counts c = run_and_count("SC:points=600:dimensions=21:centers=1:gains=1", seed);
        assert_int_equal(c.ctas, 2);
        uint32_t moved = 0, flags = 0, looked_up = 0, candidates = 0;
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t *point = &touches[PW_OP_LOAD][POINTS][8 * i], *loads = &touches[PW_OP_LOAD][WORK][2 * i];
            uint32_t nearer = point[COST] - 1;
            assert_true(nearer <= 1);
            assert_int_equal(point[WEIGHT], 1);
            assert_int_equal(point[ASSIGN], 1 - nearer);
            assert_int_equal(loads[0], 1 - nearer);
            assert_int_equal(loads[1], nearer);
            assert_memory_equal(loads, &touches[PW_OP_STORE][WORK][2 * i], 2 * sizeof *loads);
            moved += nearer;
            flags += touches[PW_OP_STORE][SWITCHES][i];
            looked_up += touches[PW_OP_LOAD][TABLE][i];
            for (uint32_t k = 0; k < DIMENSIONS; k++) {
                uint32_t times = touches[PW_OP_LOAD][COORDINATES][k * N + i];
                assert_true(times == 1 || times == 1 + N);
                candidates += times > 1;
            }
        }
        assert_in_range(moved, 1, N - 1);
        assert_int_equal(flags, moved);
        assert_int_equal(looked_up, N - moved);
        assert_int_equal(candidates, DIMENSIONS);
    }
}

/* The launches of the paper on demand paging. */
static void sizes_of_the_demand_paging_paper_launch_as_it_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t launches, ctas;
    } table[] = {
        {"backprop:size=uvm:values=off", 2, 2 * 8191},
        {"nw:size=uvm:values=off", 127, 64 * 64},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pw_program p;
        struct pw_error err;
        struct pw_functional_counts c = {0};
        assert_int_equal(pw_program_parse(table[i].text, &p, &err), PW_OK);
        assert_int_equal(pw_functional_run(&p, 1, false, NULL, NULL, &c, &err), PW_OK);
        pw_program_release(&p);
        assert_int_equal(c.launches, table[i].launches);
        assert_int_equal(c.ctas, table[i].ctas);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backprop_touches_rows_of_17_weights_but_their_first),
        cmocka_unit_test(needleman_wunsch_loads_the_rim_of_each_block_and_writes_each_cell_once),
        cmocka_unit_test(lu_loads_every_element_once_per_step),
        cmocka_unit_test(streamcluster_takes_the_same_side_of_the_branch_in_every_array),
        cmocka_unit_test(sizes_of_the_demand_paging_paper_launch_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
