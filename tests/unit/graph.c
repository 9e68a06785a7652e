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

static void mesh3d(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_MESH3D, 100, 1, 1);
    check_rows(&g);
    assert_int_equal(g.nodes, 64);
    assert_int_equal(g.edges, 2 * 3 * 4 * 4 * 3);
    for (uint32_t v = 0; v < 64; v++)
        for (uint32_t u = 0; u < 64; u++) {
            int dx = (int)(v % 4) - (int)(u % 4), dy = (int)(v / 4 % 4) - (int)(u / 4 % 4);
            int dz = (int)(v / 16) - (int)(u / 16);
            assert_int_equal(edges_between(&g, v, u), dx * dx + dy * dy + dz * dz == 1);
        }
    g = pw_graph_make(h, PW_GRAPH_MESH3D, 1, 1, 1);
    assert_int_equal(g.edges, 0);
}

static void mesh3d_joins_neighbours_only(void **state)
{
    (void)state;
    on_host(mesh3d);
}

/* Both ends list an edge, once, in ascending order, and nobody lists itself. */
static void check_undirected(const struct pw_graph *g)
{
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            assert_true(g->target[e] != v && (e == g->first[v] || g->target[e - 1] < g->target[e]));
            assert_int_equal(edges_between(g, g->target[e], v), 1);
        }
}

/* Of the pairs of a node's neighbours, the share that is joined too, over all nodes. */
static double clustering(const struct pw_graph *g)
{
    uint64_t pairs = 0, joined = 0;
    for (uint32_t v = 0; v < g->nodes; v++)
        for (uint64_t a = g->first[v]; a < g->first[v + 1]; a++)
            for (uint64_t b = a + 1; b < g->first[v + 1]; b++) {
                pairs++;
                joined += edges_between(g, g->target[a], g->target[b]);
            }
    return (double)joined / (double)pairs;
}

static void cliques(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_CLIQUES, NODES, 7, 1);
    check_rows(&g);
    check_undirected(&g);
    assert_in_range(g.edges, NODES * 69 / 10, NODES * 75 / 10);
    uint64_t most = 0;
    for (uint32_t v = 0; v < NODES; v++) {
        assert_true(degree_of(&g, v) >= 1);
        most = degree_of(&g, v) > most ? degree_of(&g, v) : most;
    }
    assert_true(most > 30);
    struct pw_graph random = pw_graph_make(h, PW_GRAPH_UNIFORM, NODES, 7, 1);
    assert_true(clustering(&g) > 0.2 && clustering(&g) > 20 * clustering(&random));
    static const uint32_t sizes[] = {1, 2, 3, 10, 100}, degrees[] = {1, 2, 16, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof degrees / sizeof degrees[0]; k++)
            for (uint64_t seed = 1; seed < 20; seed++) {
                g = pw_graph_make(h, PW_GRAPH_CLIQUES, sizes[i], degrees[k], seed);
                check_rows(&g);
                check_undirected(&g);
            }
}

static void cliques_overlap_like_those_of_co_authors(void **state)
{
    (void)state;
    on_host(cliques);
}

static void random_pairs(struct pw_host *h)
{
    struct pw_graph g = pw_graph_make(h, PW_GRAPH_RANDOM, NODES, 60, 1);
    double squares = 0;
    check_rows(&g);
    assert_int_equal(g.edges, NODES * 60);
    for (uint32_t v = 0; v < NODES; v++) {
        double more = (double)degree_of(&g, v) - 60;
        squares += more * more;
        for (uint64_t e = g.first[v] + 1; e < g.first[v + 1]; e++)
            assert_true(g.target[e - 1] < g.target[e]);
    }
    /* Of a sum of many unlikely events, the variance is the mean. */
    assert_in_range((uint64_t)(squares / NODES), 53, 65);
    /* Where every pair is asked for, every pair is there. */
    g = pw_graph_make(h, PW_GRAPH_RANDOM, 5, 4096, 1);
    check_rows(&g);
    assert_int_equal(g.edges, 25);
}

static void random_pairs_are_different_and_ascend(void **state)
{
    (void)state;
    on_host(random_pairs);
}

/* 0 -> 1 twice (weights 5 and 3), 1 -> 0 (4), 2 -> 2 (9), 3 -> 1 (2), 1 -> 2 (7). */
static void turned(struct pw_host *h)
{
    uint64_t first[] = {0, 2, 4, 5, 6};
    uint32_t target[] = {1, 1, 2, 0, 2, 1};
    float weight[] = {5, 3, 7, 4, 9, 2};
    struct pw_graph g = {.nodes = 4, .edges = 6, .first = first, .target = target, .weight = weight};
    struct pw_graph t = pw_graph_transposed(h, &g), u = pw_graph_undirected(h, &g);
    static const uint32_t in[] = {1, 0, 0, 3, 1, 2}, both[] = {1, 0, 2, 3, 1, 1};
    static const float in_weight[] = {4, 5, 3, 2, 7, 9}, both_weight[] = {3, 3, 7, 2, 7, 2};
    assert_int_equal(t.edges, 6);
    assert_memory_equal(t.target, in, sizeof in);
    assert_memory_equal(t.weight, in_weight, sizeof in_weight);
    assert_int_equal(u.edges, 6);
    assert_memory_equal(u.target, both, sizeof both);
    assert_memory_equal(u.weight, both_weight, sizeof both_weight);
    assert_int_equal(u.first[2] - u.first[1], 3);
    check_undirected(&u);
    struct pw_graph made = pw_graph_make(h, PW_GRAPH_RMAT, NODES, 6, 1), without = pw_graph_undirected(h, &made);
    check_rows(&without);
    check_undirected(&without);
    for (uint32_t v = 0; v < NODES; v++)
        for (uint64_t e = made.first[v]; e < made.first[v + 1]; e++)
            assert_int_equal(edges_between(&without, v, made.target[e]), made.target[e] != v);
}

static void a_graph_can_be_turned_and_listed_at_both_ends(void **state)
{
    (void)state;
    on_host(turned);
}

static void weighed(struct pw_host *h)
{
    struct pw_graph a = pw_graph_make(h, PW_GRAPH_CLIQUES, NODES, 6, 1), b = a, c = a;
    pw_graph_weigh(h, &a, 10, 1);
    pw_graph_weigh(h, &b, 10, 1);
    pw_graph_weigh(h, &c, 10, 2);
    assert_memory_equal(a.weight, b.weight, a.edges * sizeof *a.weight);
    assert_memory_not_equal(a.weight, c.weight, a.edges * sizeof *a.weight);
    uint64_t seen[11] = {0};
    for (uint32_t v = 0; v < NODES; v++)
        for (uint64_t e = a.first[v]; e < a.first[v + 1]; e++) {
            unsigned weight = (unsigned)a.weight[e];
            assert_true(weight >= 1 && weight <= 10 && (float)weight == a.weight[e]);
            seen[weight]++;
            for (uint64_t back = a.first[a.target[e]]; back < a.first[a.target[e] + 1]; back++)
                if (a.target[back] == v)
                    assert_true(a.weight[back] == a.weight[e]);
        }
    for (unsigned weight = 1; weight <= 10; weight++)
        assert_in_range(seen[weight], a.edges / 12, a.edges / 8);
}

static void weights_are_the_same_at_both_ends(void **state)
{
    (void)state;
    on_host(weighed);
}

static void seeds(struct pw_host *h)
{
    for (unsigned kind = 0; pw_graph_kinds[kind]; kind++) {
        struct pw_graph a = pw_graph_make(h, kind, NODES, 6, 1), b = pw_graph_make(h, kind, NODES, 6, 1);
        struct pw_graph c = pw_graph_make(h, kind, NODES, 6, 2);
        assert_int_equal(a.edges, b.edges);
        assert_memory_equal(a.target, b.target, a.edges * sizeof *a.target);
        uint64_t common = a.edges < c.edges ? a.edges : c.edges;
        assert_int_equal(!memcmp(a.target, c.target, common * sizeof *a.target),
                         kind == PW_GRAPH_GRID || kind == PW_GRAPH_MESH3D);
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
        cmocka_unit_test(uniform_degrees_lie_around_the_mean),
        cmocka_unit_test(rmat_has_hubs),
        cmocka_unit_test(grid_joins_neighbours_only),
        cmocka_unit_test(graphgen_lists_edges_at_both_ends),
        cmocka_unit_test(mesh3d_joins_neighbours_only),
        cmocka_unit_test(cliques_overlap_like_those_of_co_authors),
        cmocka_unit_test(random_pairs_are_different_and_ascend),
        cmocka_unit_test(a_graph_can_be_turned_and_listed_at_both_ends),
        cmocka_unit_test(weights_are_the_same_at_both_ends),
        cmocka_unit_test(the_seed_decides_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
