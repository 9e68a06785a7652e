/* How often bfs, fdtd, pathfinder, srad and the managed version of backprop touch each word of each array, against a
 * plain walk over all threads with the index arithmetic of the original kernels. */
#include "touches.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t expected[PW_OP_KIND_COUNT][8][TOUCHED_WORDS];

static void forget(void)
{
    memset(expected, 0, sizeof expected);
}

static void load(unsigned array, int64_t word)
{
    assert_in_range(word, 0, TOUCHED_WORDS - 1);
    expected[PW_OP_LOAD][array][word]++;
}

static void store(unsigned array, int64_t word)
{
    assert_in_range(word, 0, TOUCHED_WORDS - 1);
    expected[PW_OP_STORE][array][word]++;
}

static void compare(unsigned arrays)
{
    for (unsigned kind = PW_OP_LOAD; kind <= PW_OP_STORE; kind++)
        for (unsigned array = 0; array < arrays; array++)
            for (uint32_t word = 0; word < TOUCHED_WORDS; word++)
                if (touches[kind][array][word] != expected[kind][array][word])
                    fail_msg("kind %u, array %u, word %u: %u touches instead of %u", kind, array, word,
                             touches[kind][array][word], expected[kind][array][word]);
    assert_in_range(arrays_touched, 1, arrays);
}

static void fdtd_thread(int kernel, int64_t i, int64_t j, int64_t nx, int64_t ny, int64_t t)
{
    enum { SOURCE, EX, EY, HZ };
    if (i >= nx || j >= ny)
        return;
    if (kernel == 1 && !i) {
        load(SOURCE, t);
        store(EY, j);
    } else if (kernel == 1) {
        load(EY, i * ny + j);
        load(HZ, i * ny + j);
        load(HZ, (i - 1) * ny + j);
        store(EY, i * ny + j);
    } else if (kernel == 2 && j > 0) {
        load(EX, i * (ny + 1) + j);
        load(HZ, i * ny + j);
        load(HZ, i * ny + (j - 1));
        store(EX, i * (ny + 1) + j);
    } else if (kernel == 3) {
        load(HZ, i * ny + j);
        load(EX, i * (ny + 1) + (j + 1));
        load(EX, i * (ny + 1) + j);
        load(EY, (i + 1) * ny + j);
        load(EY, i * ny + j);
        store(HZ, i * ny + j);
    }
}

static void fdtd_reads_the_fields_around_each_cell(void **state)
{
    (void)state;
    enum { NX = 45, NY = 70, STEPS = 3, GRID_X = 3, GRID_Y = 6 };
    forget();
    struct pw_functional_counts c = run_and_count("fdtd:nx=45:ny=70:steps=3", 1);
    for (int t = 0; t < STEPS; t++)
        for (int kernel = 1; kernel <= 3; kernel++)
            for (int i = 0; i < GRID_Y * 8; i++)
                for (int j = 0; j < GRID_X * 32; j++)
                    fdtd_thread(kernel, i, j, NX, NY, t);
    compare(4);
    assert_int_equal(c.launches, 3 * STEPS);
    assert_int_equal(c.ctas, 3 * STEPS * GRID_X * GRID_Y);
    /* one row of 32 cells per warp: loads and stores by kernel */
    uint64_t first_row = GRID_X * 2, other_rows = (NX - 1) * GRID_X * 4, warps = NX * GRID_X;
    assert_int_equal(c.memory_instructions, STEPS * (first_row + other_rows + warps * 4 + warps * 6));
}

/* dynproc_kernel for one thread. */
static void pathfinder_thread(int64_t bx, int64_t tx, int64_t columns, int64_t steps, int64_t start, int64_t border,
                              unsigned source)
{
    enum { BLOCK = 256, WALL = 2 };
    int64_t left = (BLOCK - steps * 2) * bx - border, right = left + BLOCK - 1, x = left + tx;
    int64_t valid_min = left < 0 ? -left : 0;
    int64_t valid_max = right > columns - 1 ? BLOCK - 1 - (right - columns + 1) : BLOCK - 1;
    if (x >= 0 && x <= columns - 1)
        load(source, x);
    bool computed = false;
    for (int64_t i = 0; i < steps; i++) {
        computed = tx >= i + 1 && tx <= BLOCK - i - 2 && tx >= valid_min && tx <= valid_max;
        if (computed)
            load(WALL, columns * (start + i) + x);
    }
    if (computed)
        store(1 - source, x);
}

static void pathfinder_walks_the_wall_with_overlapping_halos(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t columns, rows, pyramid;
    } table[] = {{"pathfinder:columns=1013:rows=31:pyramid=4", 1013, 31, 4},
                 {"pathfinder:columns=700:rows=24:pyramid=10", 700, 24, 10},
                 {"pathfinder:columns=256:rows=100:pyramid=60", 256, 100, 60}};
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        forget();
        struct pw_functional_counts c = run_and_count(table[k].text, 1);
        int64_t columns = table[k].columns, rows = table[k].rows, pyramid = table[k].pyramid;
        int64_t small = 256 - 2 * pyramid, blocks = columns / small + (columns % small != 0);
        unsigned source = 0;
        uint64_t launches = 0;
        for (int64_t t = 0; t < rows - 1; t += pyramid, source = 1 - source, launches++)
            for (int64_t thread = 0; thread < blocks * 256; thread++)
                pathfinder_thread(thread / 256, thread % 256, columns, pyramid < rows - t - 1 ? pyramid : rows - t - 1,
                                  t, pyramid, source);
        compare(3);
        assert_int_equal(c.launches, launches);
        assert_int_equal(c.ctas, launches * (uint64_t)blocks);
    }
}

/* srad_cuda_1 and srad_cuda_2 for one thread. What lies outside the array is not loaded. */
static void load_inside(unsigned array, int64_t word, int64_t words)
{
    if (word >= 0 && word < words)
        load(array, word);
}

static void srad_thread(int64_t bx, int64_t by, int64_t tx, int64_t ty, int64_t columns, int64_t rows)
{
    enum { J, C, E, W, S, N, BLOCK = 16 };
    int64_t grid_x = columns / BLOCK, grid_y = rows / BLOCK, words = rows * columns;
    int64_t tile = columns * BLOCK * by + BLOCK * bx, index = tile + columns * ty + tx;
    int64_t last_row = columns * BLOCK * (grid_y - 1) + BLOCK * bx + columns * (BLOCK - 1) + tx;
    int64_t last_column = columns * BLOCK * by + BLOCK * (grid_x - 1) + columns * ty + BLOCK - 1;
    load_inside(J, tile + tx - columns, words);
    load_inside(J, tile + columns * BLOCK + tx, words);
    if (by == 0)
        load(J, BLOCK * bx + tx);
    else if (by == grid_y - 1)
        load(J, last_row);
    load_inside(J, tile + columns * ty - 1, words);
    load_inside(J, tile + columns * ty + BLOCK, words);
    if (bx == 0)
        load(J, columns * BLOCK * by + columns * ty);
    else if (bx == grid_x - 1)
        load(J, last_column);
    load(J, index);
    for (unsigned array = C; array <= N; array++)
        store(array, index);

    load(J, index);
    load_inside(C, tile + columns * BLOCK + tx, words);
    if (by == grid_y - 1)
        load(C, last_row);
    load_inside(C, tile + columns * ty + BLOCK, words);
    if (bx == grid_x - 1)
        load(C, last_column);
    load(C, index);
    for (unsigned array = E; array <= N; array++)
        load(array, index);
    store(J, index);
}

static void srad_loads_the_rim_of_a_tile_in_every_thread(void **state)
{
    (void)state;
    enum { ROWS = 80, COLUMNS = 112, ITERATIONS = 2 };
    forget();
    struct pw_functional_counts c = run_and_count("srad:rows=80:columns=112:iterations=2", 1);
    for (int iteration = 0; iteration < ITERATIONS; iteration++)
        for (int64_t y = 0; y < ROWS; y++)
            for (int64_t x = 0; x < COLUMNS; x++)
                srad_thread(x / 16, y / 16, x % 16, y % 16, COLUMNS, ROWS);
    compare(6);
    assert_int_equal(c.launches, 2 * ITERATIONS);
    assert_int_equal(c.ctas, 2 * ITERATIONS * (ROWS / 16) * (COLUMNS / 16));
}

/* A square of cells with edges up, left, right and down. */
enum { SIDE = 31, NODES = SIDE * SIDE, EDGES = 4 * SIDE * (SIDE - 1) };

struct grid {
    uint32_t first[NODES + 1], target[EDGES];
};

static struct grid make_grid(void)
{
    struct grid g = {{0}, {0}};
    uint32_t edges = 0;
    for (uint32_t v = 0; v < NODES; v++) {
        g.first[v] = edges;
        if (v >= SIDE)
            g.target[edges++] = v - SIDE;
        if (v % SIDE)
            g.target[edges++] = v - 1;
        if (v % SIDE < SIDE - 1)
            g.target[edges++] = v + 1;
        if (v < NODES - SIDE)
            g.target[edges++] = v + SIDE;
    }
    g.first[NODES] = edges;
    assert_int_equal(edges, EDGES);
    return g;
}

/* Levels of a search from a node, all touches of which are noted. */
static uint64_t search_grid(const struct grid *g, uint32_t source)
{
    enum { NODE, EDGE, MASK, UPDATING, VISITED, COST, OVER };
    uint8_t mask[NODES] = {0}, updating[NODES] = {0}, visited[NODES] = {0};
    uint64_t levels = 0;
    mask[source] = visited[source] = 1;
    for (bool over = true; over; levels++) {
        over = false;
        for (uint32_t v = 0; v < NODES; v++) {
            load(MASK, v / 4);
            if (!mask[v])
                continue;
            mask[v] = 0;
            store(MASK, v / 4);
            load(NODE, 2 * v);
            load(NODE, 2 * v + 1);
            for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
                uint32_t id = g->target[e];
                load(EDGE, e);
                load(VISITED, id / 4);
                if (visited[id])
                    continue;
                load(COST, v);
                store(COST, id);
                store(UPDATING, id / 4);
                updating[id] = 1;
                load(NODE, 2 * v); /* for the condition of the loop: the stores may have changed it */
                load(NODE, 2 * v + 1);
            }
        }
        for (uint32_t v = 0; v < NODES; v++) {
            load(UPDATING, v / 4);
            if (!updating[v])
                continue;
            store(MASK, v / 4);
            store(VISITED, v / 4);
            store(OVER, 0);
            store(UPDATING, v / 4);
            mask[v] = visited[v] = over = true;
            updating[v] = 0;
        }
    }
    return levels;
}

static void bfs_looks_at_every_node_per_level_and_at_every_edge_once(void **state)
{
    (void)state;
    struct grid g = make_grid();
    forget();
    uint64_t levels = search_grid(&g, 200);
    struct pw_functional_counts c = run_and_count("bfs:nodes=961:kind=grid:source=200", 1);
    compare(7);
    assert_int_equal(c.launches, 2 * levels);
    assert_int_equal(c.ctas, 2 * levels * 2);
    assert_int_equal(levels, 1 + (30 - 200 % 31) + (30 - 200 / 31)); /* to the far corner, and one that finds nothing */
}

/* The original reads the source from the file and begins at node 0 nevertheless. */
static void bfs_searches_a_graph_from_a_file_from_node_0(void **state)
{
    (void)state;
    char path[] = "bfs-graph-XXXXXX", text[64];
    struct grid g = make_grid();
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    assert_non_null(file);
    fprintf(file, "%d\n", NODES);
    for (uint32_t v = 0; v < NODES; v++)
        fprintf(file, "%u %u\n", g.first[v], g.first[v + 1] - g.first[v]);
    fprintf(file, "\n17\n\n%d\n", EDGES);
    for (uint32_t e = 0; e < EDGES; e++)
        fprintf(file, "%u 1\n", g.target[e]);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text, "bfs:graph=%s", path);
    forget();
    uint64_t levels = search_grid(&g, 0);
    struct pw_functional_counts c = run_and_count(text, 1);
    unlink(path);
    compare(7);
    assert_int_equal(c.launches, 2 * levels);
    assert_int_equal(levels, 1 + 30 + 30);
}

/* Apart from the second kernel's own weights, instead of a copy, the managed version does what the other does:
 * uvm-sec62-port. */
static void managed_backprop_streams_over_two_sets_of_weights(void **state)
{
    (void)state;
    enum { INPUT, DELTA, WEIGHTS, WEIGHTS2, OLD, HIDDEN, SUMS };
    enum { CTAS = 20, PITCH = 17 };
    forget();
    for (int64_t y = 1; y <= 16 * CTAS; y++)
        for (int64_t x = 1; x <= 16; x++) {
            int64_t weight = y * PITCH + x;
            if (x == 1)
                load(INPUT, y);
            load(WEIGHTS, weight);
            store(WEIGHTS, weight);
            for (int again = 0; again < 2; again++) {
                load(DELTA, x);
                load(INPUT, y);
                load(OLD, weight);
            }
            load(WEIGHTS2, weight);
            store(WEIGHTS2, weight);
            store(OLD, weight);
        }
    for (int64_t sum = 0; sum < 16 * CTAS; sum++)
        store(SUMS, sum);
    for (int64_t x = 1; x <= 16; x++) { /* the bias */
        for (int again = 0; again < 2; again++) {
            load(DELTA, x);
            load(OLD, x);
        }
        load(WEIGHTS2, x);
        store(WEIGHTS2, x);
        store(OLD, x);
    }
    struct pw_functional_counts c = run_and_count("backprop:inputs=320:managed=on", 1);
    compare(7);
    assert_int_equal(c.launches, 2);
    assert_int_equal(c.ctas, 2 * CTAS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fdtd_reads_the_fields_around_each_cell),
        cmocka_unit_test(pathfinder_walks_the_wall_with_overlapping_halos),
        cmocka_unit_test(srad_loads_the_rim_of_a_tile_in_every_thread),
        cmocka_unit_test(bfs_looks_at_every_node_per_level_and_at_every_edge_once),
        cmocka_unit_test(bfs_searches_a_graph_from_a_file_from_node_0),
        cmocka_unit_test(managed_backprop_streams_over_two_sets_of_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
