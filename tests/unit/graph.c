/* Made graphs: rows that are rows, and of each kind what its name promises. */
#include "workload.h"

#include "workload/graph/graph.h"

#include <stdlib.h>

enum { NODES = 3000 };

static void (*examine)(struct pw_host *h);

static void body(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    examine(h);
}

/* Runs a function on a program's stack, where graphs live. */
static void on_host(void (*function)(struct pw_host *h))
{
    TEST_PROGRAM(program, body);
    struct pw_functional_counts counts;
    struct pw_error err = {0};
    examine = function;
    assert_int_equal(pw_functional_run(&program, 1, true, NULL, NULL, &counts, &err), PW_OK);
}

static void check_rows(const struct pw_graph *g)
{
    assert_int_equal(g->first[0], 0);
    assert_int_equal(g->first[g->nodes], g->edges);
    for (uint32_t v = 0; v < g->nodes; v++)
        assert_true(g->first[v] <= g->first[v + 1]);
    for (uint64_t e = 0; e < g->edges; e++)
        assert_true(g->target[e] < g->nodes);
    assert_null(g->weight);
    assert_int_equal(g->source, 0);
}

static uint64_t degree_of(const struct pw_graph *g, uint32_t v)
{
    return g->first[v + 1] - g->first[v];
}

static uint64_t edges_between(const struct pw_graph *g, uint32_t from, uint32_t to)
{
    uint64_t n = 0;
    for (uint64_t e = g->first[from]; e < g->first[from + 1]; e++)
        n += g->target[e] == to;
    return n;
}

static void uniform(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_UNIFORM, NODES, 6, 1);
    check_rows(&g);
    for (uint32_t v = 0; v < NODES; v++)
        assert_in_range(degree_of(&g, v), 1, 11);
    assert_in_range(g.edges, NODES * 58 / 10, NODES * 62 / 10);
}

static void uniform_degrees_lie_around_the_mean(void **state)
{
    (void)state;
    on_host(uniform);
}

static void rmat(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_RMAT, NODES, 6, 1);
    check_rows(&g);
    assert_int_equal(g.edges, NODES * 6);
    uint64_t most = 0;
    for (uint32_t v = 0; v < NODES; v++)
        most = degree_of(&g, v) > most ? degree_of(&g, v) : most;
    assert_true(most > 100);
}

static void rmat_has_hubs(void **state)
{
    (void)state;
    on_host(rmat);
}

static void grid(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_GRID, 30, 1, 1);
    check_rows(&g);
    assert_int_equal(g.nodes, 25);
    assert_int_equal(g.edges, 2 * 2 * 5 * 4);
    for (uint32_t v = 0; v < 25; v++)
        for (uint32_t u = 0; u < 25; u++) {
            int dx = (int)(v % 5) - (int)(u % 5), dy = (int)(v / 5) - (int)(u / 5);
            assert_int_equal(edges_between(&g, v, u), dx * dx + dy * dy == 1);
        }
}

static void grid_joins_neighbours_only(void **state)
{
    (void)state;
    on_host(grid);
}

/* Rodinia's generator: 2 to 4 partners each, listed at both ends; 6 edges a node on average, at least 2. */
static void graphgen(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_GRAPHGEN, NODES, 6, 1);
    check_rows(&g);
    assert_in_range(g.edges, NODES * 58 / 10, NODES * 62 / 10);
    for (uint32_t v = 0; v < NODES; v++) {
        assert_true(degree_of(&g, v) >= 2);
        for (uint64_t e = g.first[v]; e < g.first[v + 1]; e++)
            assert_int_equal(edges_between(&g, v, g.target[e]), edges_between(&g, g.target[e], v));
    }
    for (uint32_t degree = 1; degree < 20; degree++) {
        g = pw_graph_make(h, PW_GRAPH_GRAPHGEN, 200, degree, 1);
        check_rows(&g);
        assert_in_range(g.edges, 400, 400 * (uint64_t)degree);
        if (degree > 1)
            assert_in_range(g.edges, 170 * degree, 230 * degree);
    }
}

static void graphgen_lists_edges_at_both_ends(void **state)
{
    (void)state;
    on_host(graphgen);
}

static void seeds(struct pw_host *h)
{
    for (unsigned kind = 0; pw_graph_kinds[kind]; kind++) {
        struct pw_graph a = pw_graph_make(h, kind, NODES, 6, 1), b = pw_graph_make(h, kind, NODES, 6, 1);
        struct pw_graph c = pw_graph_make(h, kind, NODES, 6, 2);
        assert_int_equal(a.edges, b.edges);
        assert_memory_equal(a.target, b.target, a.edges * sizeof *a.target);
        uint64_t common = a.edges < c.edges ? a.edges : c.edges;
        assert_int_equal(!memcmp(a.target, c.target, common * sizeof *a.target), kind == PW_GRAPH_GRID);
    }
}

static void the_seed_decides_the_graph(void **state)
{
    (void)state;
    on_host(seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_degrees_lie_around_the_mean), cmocka_unit_test(rmat_has_hubs),
        cmocka_unit_test(grid_joins_neighbours_only),          cmocka_unit_test(graphgen_lists_edges_at_both_ends),
        cmocka_unit_test(the_seed_decides_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
