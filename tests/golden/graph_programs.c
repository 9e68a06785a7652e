/* Graph programs access as much as their graphs say, where a closed form tells. Their results are checked in
 * workload_results.c. */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void page_rank_adds_once_per_edge(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("page_rank:nodes=1000:kind=mesh3d:iterations=3", 1, &t);
    uint64_t nodes = 1000, edges = 6 * 10 * 10 * 9;
    assert_int_equal(c.launches, 1 + 2 * 3);
    assert_int_equal(t.lanes[PW_OP_ATOMIC], 3 * edges);
    /* both ends of a row but the last one's, rank and target per edge; the next rank */
    assert_int_equal(t.lanes[PW_OP_LOAD], 3 * (2 * nodes - 1 + 2 * edges + nodes));
    assert_int_equal(t.lanes[PW_OP_STORE], 2 * nodes + 3 * 2 * nodes);
}

/* In the first round all are open: per node its state, both ends of its row, value and minimum, and its mark; per edge
 * the target, its state and value. Who joins looks at its own state and row, and per edge at the target and its
 * state. */
static void mis_looks_at_every_edge_in_the_first_round(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("mis:nodes=729:kind=mesh3d:iterations=1", 1, &t);
    uint64_t nodes = 729, edges = 6 * 9 * 9 * 8, looks = (1 + 2 + 2 + 1) * nodes - 1 + 3 * edges;
    assert_int_equal(c.launches, 4);
    uint64_t joining = t.lanes[PW_OP_LOAD] - looks;
    assert_in_range(joining, nodes / 7 * (3 + 2 * 3), nodes / 3 * (3 + 2 * 6));
}

static void fw_reads_three_distances_per_pair_and_step(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("fw:nodes=33:degree=2", 1, &t);
    assert_int_equal(c.launches, 33);
    assert_int_equal(c.ctas, 33 * 3 * 3);
    assert_int_equal(t.lanes[PW_OP_LOAD], 3 * 33 * 33 * 33);
    assert_true(t.lanes[PW_OP_STORE] > 2 * 33 && t.lanes[PW_OP_STORE] % 2 == 0);
}

/* A search from one corner of a grid adds over every edge that leads away from it, and back; nodes but the source are
 * found once. */
static void bc_adds_over_every_edge_of_a_grid_both_ways(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("bc:nodes=100:kind=grid:sources=1", 1, &t);
    uint64_t nodes = 100, edges = 2 * 2 * 10 * 9, levels = 19;
    assert_int_equal(c.launches, 1 + 2 + 2 * levels);
    assert_int_equal(t.lanes[PW_OP_ATOMIC], 2 * edges / 2);
    /* sums, three per node, the matrix, flag and level of those found (at least), and the sum of all but the source */
    assert_in_range(t.lanes[PW_OP_STORE], nodes + 3 * nodes + nodes * nodes + 2 * (nodes - 1) + nodes - 1,
                    nodes + 3 * nodes + nodes * nodes + 2 * edges / 2 + nodes - 1);
}

/* The joins of all iterations make a tree of the grid; each component's root is told by somebody in every iteration. */
static void mst_joins_all_nodes_of_a_grid(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("mst:nodes=900:kind=grid", 1, &t);
    assert_true(c.launches >= 1 + 3 * 5 && c.launches < 1 + 11 * 10);
    /* additions to the size per join, and at least one of each of three per warp and round of joins */
    assert_true(t.lanes[PW_OP_ATOMIC] >= 899 + 3 && t.lanes[PW_OP_ATOMIC_RETURN] > 3 * 899);
}

/* Weights come from a file where it has some, and must be what the originals can hold. */
static void weights_of_a_file_are_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *message;
    } table[] = {{"1 2 3\n2 3 4\n", NULL},
                 {"1 2 1.5\n2 3 4\n", "weights must be whole numbers from 0 to "},
                 {"1 2 3\n2 3 -4\n", "weights must be whole numbers from 0 to "},
                 {"1 2 3\n2 3 1e9\n", "weights must be whole numbers from 0 to "}};
    static const char *const programs[] = {"fw", "mst"};
    char path[] = "graph_programs.XXXXXX", text[64];
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        fputs(table[i].lines, out);
        fclose(out);
        for (size_t k = 0; k < 2; k++) {
            struct pw_program p;
            struct pw_error err = {0};
            struct pw_functional_counts counts;
            snprintf(text, sizeof text, "%s:graph=%s:format=snap", programs[k], path);
            assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
            enum pw_status status = pw_functional_run(&p, 1, true, NULL, NULL, &counts, &err);
            assert_int_equal(status, table[i].message ? PW_USER_ERROR : PW_OK);
            if (table[i].message)
                assert_non_null(strstr(err.message, table[i].message));
            pw_program_release(&p);
        }
    }
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_rank_adds_once_per_edge),
        cmocka_unit_test(mis_looks_at_every_edge_in_the_first_round),
        cmocka_unit_test(fw_reads_three_distances_per_pair_and_step),
        cmocka_unit_test(bc_adds_over_every_edge_of_a_grid_both_ways),
        cmocka_unit_test(mst_joins_all_nodes_of_a_grid),
        cmocka_unit_test(weights_of_a_file_are_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
