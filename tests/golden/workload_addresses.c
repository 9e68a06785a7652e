/* Which element of which array each workload touches, and how often, against the definition of the algorithm: a kernel
 * that computes the right result but reports other addresses is found here. */
#include "touches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Each of the array's first `words` was touched `times`, and nothing behind them. */
static void expect_each(unsigned kind, unsigned array, uint64_t words, uint32_t times)
{
    for (uint64_t i = 0; i < TOUCHED_WORDS; i++)
        if (touches[kind][array][i] != (i < words ? times : 0))
            fail_msg("kind %u, array %u, word %llu: %u touches", kind, array, (unsigned long long)i,
                     touches[kind][array][i]);
}

static void vecadd_touches_each_element_once(void **state)
{
    (void)state;
    run_and_count("vecadd:n=12345:ctas=3:warps=5", 1);
    expect_each(PW_OP_LOAD, 0, 12345, 1);
    expect_each(PW_OP_LOAD, 1, 12345, 1);
    expect_each(PW_OP_STORE, 2, 12345, 1);
    expect_each(PW_OP_STORE, 0, 0, 0);
}

static void gather_reads_the_whole_table_and_nothing_else(void **state)
{
    (void)state;
    run_and_count("gather:n=12000:ctas=3:warps=5:table=400:locality=1", 1);
    expect_each(PW_OP_LOAD, 0, 12000, 1);
    expect_each(PW_OP_LOAD, 1, 100, 120);
    expect_each(PW_OP_STORE, 2, 12000, 1);

    run_and_count("gather:n=12000:ctas=3:warps=5:table=16", 1);
    for (uint32_t i = 0; i < 4; i++) /* 3000 expected, standard deviation 47 */
        assert_in_range(touches[PW_OP_LOAD][1][i], 2700, 3300);
    expect_each(PW_OP_LOAD, 2, 0, 0);
    assert_int_equal(touches[PW_OP_LOAD][1][4], 0);

    run_and_count("gather:n=12000:ctas=3:warps=5:table=40000:locality=0.5", 1); /* 10,000 elements */
    uint32_t sequential = 0;
    for (uint32_t i = 0; i < 10000; i++)
        sequential += touches[PW_OP_LOAD][1][i] > 0;
    /* An element is missed with probability 1/2 * e^-0.6 or, for the 2,000 met twice, half that: 7,530 are met. */
    assert_in_range(sequential, 7300, 7800);
}

static void pointer_chase_is_one_cycle_through_all_places(void **state)
{
    (void)state;
    static const char *const orders[] = {"random", "stride"};
    for (size_t o = 0; o < 2; o++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            char text[96];
            snprintf(text, sizeof text, "pointer_chase:bytes=12800:stride=128:hops=300:order=%s", orders[o]);
            run_and_count(text, seed);
            for (uint32_t i = 0; i < TOUCHED_WORDS; i++)
                assert_int_equal(touches[PW_OP_LOAD][0][i], i < 3200 && i % 32 == 0 ? 3 : 0);
        }
}

static void hotspot_loads_each_tile_with_its_halo(void **state)
{
    (void)state;
    enum { SIZE = 70, PYRAMID = 3, SMALL = 16 - 2 * PYRAMID, BLOCKS = (SIZE + SMALL - 1) / SMALL };
    run_and_count("HS:side=70:pyramid=3:iterations=3", 1);
    static uint32_t loads[SIZE * SIZE];
    memset(loads, 0, sizeof loads);
    for (int by = 0; by < BLOCKS; by++)
        for (int bx = 0; bx < BLOCKS; bx++)
            for (int y = by * SMALL - PYRAMID; y < by * SMALL - PYRAMID + 16; y++)
                for (int x = bx * SMALL - PYRAMID; x < bx * SMALL - PYRAMID + 16; x++)
                    if (y >= 0 && y < SIZE && x >= 0 && x < SIZE)
                        loads[y * SIZE + x]++;
    enum { TEMPERATURE, NEXT, POWER };
    for (size_t i = 0; i < TOUCHED_WORDS; i++) {
        assert_int_equal(touches[PW_OP_LOAD][TEMPERATURE][i], i < SIZE * SIZE ? loads[i] : 0);
        assert_int_equal(touches[PW_OP_LOAD][POWER][i], i < SIZE * SIZE ? loads[i] : 0);
    }
    expect_each(PW_OP_STORE, NEXT, SIZE * SIZE, 1);
    run_and_count("HS:side=70:pyramid=3:iterations=6", 1);
    expect_each(PW_OP_STORE, NEXT, SIZE * SIZE, 1);
    expect_each(PW_OP_STORE, TEMPERATURE, SIZE * SIZE, 1);
}

static void laplace_loads_each_plane_of_a_tile_with_its_halo(void **state)
{
    (void)state;
    enum { NX = 70, NY = 13, NZ = 9, PITCH = 128 };
    run_and_count("LPS:nx=70:ny=13:nz=9", 1);
    for (int i = 0; i < PITCH * NY * NZ; i++) {
        int x = i % PITCH, y = i / PITCH % NY;
        uint32_t tiles = 0;
        for (int by = 0; by < NY; by += 4)
            for (int bx = 0; bx < NX; bx += 32)
                tiles += x >= bx - 1 && x <= bx + 32 && y >= by - 1 && y <= by + 4;
        assert_int_equal(touches[PW_OP_LOAD][0][i], x < NX ? tiles : 0);
        assert_int_equal(touches[PW_OP_STORE][1][i], x < NX);
    }
}

static void stencil_3d_loads_columns_once_and_tiles_with_their_halo(void **state)
{
    (void)state;
    enum { NX = 64, NY = 16, NZ = 21, PLANE = NX * NY, FIRST = 4, PLANES = NZ - 16, HALO = 8 };
    static uint32_t loads[PLANE * NZ];
    memset(loads, 0, sizeof loads);
    struct pw_functional_counts c = run_and_count("3DS:nx=64:ny=16:nz=21", 1);
    for (int i = 0; i < PLANE * (PLANES + 8); i++) /* along z */
        loads[i]++;
    for (int i = FIRST * PLANE; i < (FIRST + PLANES) * PLANE; i++) { /* of one cell: above, below; left, right */
        loads[i - HALO * NX]++;
        loads[i + HALO * NX]++;
        if (i % 32 < HALO) {
            loads[i - HALO]++;
            loads[i + 32]++;
        }
    }
    for (int i = 0; i < PLANE * NZ; i++) {
        assert_int_equal(touches[PW_OP_LOAD][0][i], loads[i]);
        assert_int_equal(touches[PW_OP_STORE][1][i], i >= FIRST * PLANE && i < (FIRST + PLANES) * PLANE);
    }
    expect_each(PW_OP_LOAD, 2, 5, (uint32_t)(c.warps * 32 * PLANES));
}

static void convolution_loads_a_halo_of_one_step_on_either_side(void **state)
{
    (void)state;
    enum { WIDTH = 192, HEIGHT = 96, INPUT = 0, OUTPUT = 1, BUFFER = 2 };
    run_and_count("CONS:width=192:height=96:iterations=1", 1);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        int x = i % WIDTH, y = i / WIDTH, in_row = x % 64, in_column = y % 32;
        assert_int_equal(touches[PW_OP_LOAD][INPUT][i],
                         1 + (in_row < 16 && x >= 64) + (in_row >= 48 && x < WIDTH - 64));
        assert_int_equal(touches[PW_OP_LOAD][BUFFER][i],
                         1 + (in_column < 8 && y >= 32) + (in_column >= 24 && y < HEIGHT - 32));
    }
    expect_each(PW_OP_STORE, BUFFER, WIDTH * HEIGHT, 1);
    expect_each(PW_OP_STORE, OUTPUT, WIDTH * HEIGHT, 1);
}

static void diffusion_touches_each_pixel_as_often_as_its_kernels_say(void **state)
{
    (void)state;
    enum { ROWS = 40, COLUMNS = 30, PIXELS = ROWS * COLUMNS, CTAS = 3 };
    enum { IMAGE, NORTH, SOUTH, EAST, WEST, SUMS, SQUARES, DIFFERENCES, C = DIFFERENCES + 4 };
    run_and_count("SRAD:rows=40:columns=30:iterations=1", 1);
    for (int i = 0; i < PIXELS; i++) {
        int y = i % ROWS, x = i / ROWS;
        /* from below, above, right and left; the rim reads itself */
        uint32_t south = (y > 0) + (y == ROWS - 1), north = (y < ROWS - 1) + (y == 0);
        uint32_t east = (x > 0) + (x == COLUMNS - 1), west = (x < COLUMNS - 1) + (x == 0);
        /* itself: extract, prepare twice, srad, srad2, compress */
        assert_int_equal(touches[PW_OP_LOAD][IMAGE][i], 6 + north + south + east + west);
        assert_int_equal(touches[PW_OP_LOAD][C][i], 1 + south + east);
    }
    expect_each(PW_OP_STORE, IMAGE, PIXELS, 3);
    expect_each(PW_OP_STORE, C, PIXELS, 1);
    expect_each(PW_OP_LOAD, NORTH, ROWS, COLUMNS);
    expect_each(PW_OP_LOAD, SOUTH, ROWS, 2 * COLUMNS);
    expect_each(PW_OP_LOAD, EAST, COLUMNS, 2 * ROWS);
    expect_each(PW_OP_LOAD, WEST, COLUMNS, ROWS);
    for (unsigned side = 0; side < 4; side++) {
        expect_each(PW_OP_LOAD, DIFFERENCES + side, PIXELS, 1);
        expect_each(PW_OP_STORE, DIFFERENCES + side, PIXELS, 1);
    }
    /* The last CTA of the first reduction has 176 sums, 48 beyond the pairs; the second has 3, one beyond, 1 apart. */
    for (unsigned array = SUMS; array <= SQUARES; array++)
        for (int i = 0; i < PIXELS; i++) {
            assert_int_equal(touches[PW_OP_LOAD][array][i], 1 + (i >= 2 * 512 + 128) + (i % 512 == 0) + (i == 2));
            assert_int_equal(touches[PW_OP_STORE][array][i], 1 + (i % 512 == 0) + (i == 0));
        }
}

static void sgemm_reads_a_per_column_of_tiles_and_b_per_row(void **state)
{
    (void)state;
    run_and_count("MM:m=256:n=48:k=40", 1);
    expect_each(PW_OP_LOAD, 0, 256 * 40, 48 / 16);
    expect_each(PW_OP_LOAD, 1, 48 * 40, 256 / 128);
    expect_each(PW_OP_LOAD, 2, 256 * 48, 1);
    expect_each(PW_OP_STORE, 2, 256 * 48, 1);
}

static void bfs_touches_what_a_search_over_a_grid_must(void **state)
{
    (void)state;
    enum { SIDE = 30, NODES = SIDE * SIDE, EDGES = 4 * SIDE * (SIDE - 1) };
    enum { NODE, EDGE, COLOR, COST, Q1, Q2, TAIL };
    struct pw_functional_counts c = run_and_count("BFS2:nodes=900:kind=grid", 1);
    for (uint32_t v = 0; v < NODES; v++) {
        uint32_t x = v % SIDE, y = v / SIDE, degree = (x > 0) + (y > 0) + (x < SIDE - 1) + (y < SIDE - 1);
        assert_int_equal(touches[PW_OP_LOAD][NODE][2 * v], 1);
        assert_int_equal(touches[PW_OP_LOAD][NODE][2 * v + 1], 0);
        assert_int_equal(touches[PW_OP_LOAD][COST][v], 1);
        assert_int_equal(touches[PW_OP_STORE][COLOR][v], 1);
        assert_int_equal(touches[PW_OP_ATOMIC_RETURN][COST][v], degree);
        assert_int_equal(touches[PW_OP_ATOMIC_RETURN][COLOR][v], v > 0);
        assert_int_equal(touches[PW_OP_LOAD][COLOR][v], v > 0);
    }
    for (uint32_t e = 0; e < EDGES; e++)
        assert_int_equal(touches[PW_OP_LOAD][EDGE][2 * e], 1);
    assert_int_equal(touches[PW_OP_ATOMIC_RETURN][TAIL][0], c.ctas);
    /* Level d of the search is the d-th diagonal; queue 1 holds the even ones, queue 2 the odd ones. */
    for (uint32_t i = 0; i < NODES; i++) {
        uint32_t loads[2] = {0}, stores[2] = {0};
        for (uint32_t level = 0; level <= 2 * (SIDE - 1); level++) {
            uint32_t size = level < SIDE ? level + 1 : 2 * SIDE - 1 - level;
            loads[level % 2] += i < size;
            stores[level % 2] += level && i < size;
        }
        assert_int_equal(touches[PW_OP_LOAD][Q1][i], loads[0]);
        assert_int_equal(touches[PW_OP_LOAD][Q2][i], loads[1]);
        assert_int_equal(touches[PW_OP_STORE][Q1][i], stores[0]);
        assert_int_equal(touches[PW_OP_STORE][Q2][i], stores[1]);
    }
}

static void triad_uses_its_two_sets_of_arrays_in_turn(void **state)
{
    (void)state;
    run_and_count("TRD:bytes=16KB:sizes=3:passes=1", 1); /* 4096 elements in 4 blocks, 2 blocks and 1 block */
    for (uint32_t i = 0; i < TOUCHED_WORDS; i++)
        for (unsigned set = 0; set < 2; set++) {
            uint32_t times = i < 1024 ? 4 - set : i < 2048 ? 2 - set : i < 4096 ? 1 - set : 0;
            assert_int_equal(touches[PW_OP_LOAD][3 * set][i], times);
            assert_int_equal(touches[PW_OP_LOAD][3 * set + 1][i], times);
            assert_int_equal(touches[PW_OP_STORE][3 * set + 2][i], times);
            assert_int_equal(touches[PW_OP_STORE][3 * set][i] + touches[PW_OP_LOAD][3 * set + 2][i], 0);
        }
}

static void reduction_reads_each_element_once_and_stores_one_sum_per_cta(void **state)
{
    (void)state;
    run_and_count("RED:bytes=120004:iterations=3", 1);
    expect_each(PW_OP_LOAD, 0, 30001, 3);
    expect_each(PW_OP_STORE, 1, 64, 3);
    expect_each(PW_OP_STORE, 0, 0, 0);
    expect_each(PW_OP_LOAD, 1, 0, 0);
}

static void scalar_product_reads_each_pair_once_and_stores_one_product(void **state)
{
    (void)state;
    run_and_count("SCP:vectors=7:elements=4099", 1);
    expect_each(PW_OP_LOAD, 0, 7 * 4099, 1);
    expect_each(PW_OP_LOAD, 1, 7 * 4099, 1);
    expect_each(PW_OP_STORE, 2, 7, 1);
    expect_each(PW_OP_STORE, 0, 0, 0);
}

/* A box of 4 x 4 x 4 cubes, two CTAs, one iteration: each stage reads neighbours, normals and fluxes once. */
static void cfd_gathers_the_five_variables_of_each_neighbour(void **state)
{
    (void)state;
    enum { SIDE = 4, CUBES = SIDE * SIDE * SIDE, CELLS = 6 * CUBES, STAGES = 3 };
    enum { AREAS, NEIGHBOURS, NORMALS, VARIABLES, OLD, FLUXES, STEPS };
    run_and_count("CFD:cells=384:bin=2:iterations=1", 1);
    expect_each(PW_OP_LOAD, AREAS, CELLS, 1);
    expect_each(PW_OP_LOAD, NEIGHBOURS, 4 * CELLS, STAGES);
    expect_each(PW_OP_LOAD, NORMALS, 12 * CELLS, STAGES);
    expect_each(PW_OP_LOAD, OLD, 5 * CELLS, STAGES);
    expect_each(PW_OP_LOAD, FLUXES, 5 * CELLS, STAGES);
    expect_each(PW_OP_LOAD, STEPS, CELLS, STAGES);
    expect_each(PW_OP_STORE, VARIABLES, 5 * CELLS, 1 + STAGES);
    expect_each(PW_OP_STORE, OLD, 5 * CELLS, 1);
    expect_each(PW_OP_STORE, FLUXES, 5 * CELLS, 1 + STAGES);
    expect_each(PW_OP_STORE, STEPS, CELLS, 1);
    uint32_t gathered = 0;
    for (uint32_t i = 0; i < CELLS; i++) {
        uint32_t loads = touches[PW_OP_LOAD][VARIABLES][i]; /* step factor; each stage itself and as a neighbour */
        assert_in_range(loads, 1 + STAGES, 1 + 5 * STAGES);
        assert_int_equal((loads - 1) % STAGES, 0);
        gathered += (loads - 1) / STAGES - 1;
        for (uint32_t v = 1; v < 5; v++)
            assert_int_equal(touches[PW_OP_LOAD][VARIABLES][i + v * CELLS], loads);
    }
    /* six triangles within a cube, two between neighbouring cubes, each seen from both sides */
    assert_int_equal(gathered, 2 * (6 * CUBES + 2 * 3 * SIDE * SIDE * (SIDE - 1)));
}

static void scan_reads_each_element_twice_and_writes_it_once(void **state)
{
    (void)state;
    run_and_count("SCAN:bytes=120016:iterations=1",
                  1); /* the second time and the writes are vectors of four, counted at their first word */
    for (uint32_t i = 0; i < TOUCHED_WORDS; i++) {
        assert_int_equal(touches[PW_OP_LOAD][0][i], i < 30004 ? 1 + (i % 4 == 0) : 0);
        assert_int_equal(touches[PW_OP_STORE][1][i], i < 30004 && i % 4 == 0);
    }
    expect_each(PW_OP_STORE, 2, 64, 2); /* sums of the regions, and their scan */
    expect_each(PW_OP_LOAD, 2, 64, 2);
    expect_each(PW_OP_STORE, 0, 0, 0);
    expect_each(PW_OP_LOAD, 1, 0, 0);
}

static void black_scholes_reads_three_arrays_and_writes_two(void **state)
{
    (void)state;
    run_and_count("BLK:options=30001:iterations=2", 1);
    for (unsigned array = 0; array < 5; array++) {
        expect_each(PW_OP_STORE, array, array < 2 ? 30001 : 0, 2);
        expect_each(PW_OP_LOAD, array, array < 2 ? 0 : 30001, 2);
    }
}

static uint64_t all_touches(unsigned kind, unsigned array)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < TOUCHED_WORDS; i++)
        sum += touches[kind][array][i];
    return sum;
}

/* With a threshold beyond the square all points form one cluster. It is grown once by each of the 64 CTAs and once by
 * trim, in 63 steps; step s finds 64 - s candidates left and, from the second on, one that has just been taken. */
static void qtc_looks_at_each_candidate_left_in_each_step(void **state)
{
    (void)state;
    enum { POINTS = 64, NEAR = POINTS - 1, GROWTHS = POINTS + 1, LEFT = POINTS * (POINTS - 1) / 2 };
    enum { DISTANCES, NEIGHBOURS, DEGREES, UNGROUPED, TAKEN, CACHE, CLUSTERED, CARDINALITIES, RESULT };
    struct pw_functional_counts c = run_and_count("QTC:points=64:threshold=30:rounds=1", 1);
    assert_int_equal(c.launches, 5);
    assert_int_equal(all_touches(PW_OP_LOAD, DISTANCES), GROWTHS * LEFT);
    expect_each(PW_OP_STORE, DEGREES, POINTS, 1);
    assert_int_equal(all_touches(PW_OP_LOAD, DEGREES), GROWTHS * POINTS);
    assert_int_equal(all_touches(PW_OP_LOAD, UNGROUPED), POINTS * POINTS + POINTS);
    assert_int_equal(all_touches(PW_OP_STORE, UNGROUPED), 0);
    /* trim and update read it once more */
    assert_int_equal(all_touches(PW_OP_LOAD, TAKEN), GROWTHS * (LEFT + NEAR - 1) + 2 * POINTS);
    assert_int_equal(all_touches(PW_OP_STORE, TAKEN), GROWTHS * 2 * POINTS);
    assert_int_equal(all_touches(PW_OP_LOAD, CACHE), GROWTHS * (LEFT + NEAR - 1));
    assert_int_equal(all_touches(PW_OP_LOAD, CLUSTERED), GROWTHS * LEFT + POINTS);
    assert_int_equal(all_touches(PW_OP_STORE, CLUSTERED), POINTS);
    expect_each(PW_OP_STORE, RESULT, POINTS, 1);
}

/* Doubles: two words each. A node has as many corners of elements as its place in the cube gives it. */
static void lulesh_gathers_each_node_once_per_corner(void **state)
{
    (void)state;
    enum { EDGE = 4, ELEMENTS = EDGE * EDGE * EDGE, SIDE = EDGE + 1, NODES = SIDE * SIDE * SIDE };
    enum { NODELIST = 1, X = 18, XD = 21, XDD = 24, CORNERS = 36, CORNER_FORCE = 37, DELX_ZETA = 47 };
    run_and_count("LUH:edge=4:cycles=1", 1);
    expect_each(PW_OP_LOAD, NODELIST, 8 * ELEMENTS, 2);
    expect_each(PW_OP_LOAD, CORNERS, 8 * ELEMENTS, 1);
    for (uint32_t axis = 0; axis < 3; axis++) {
        for (uint32_t i = 0; i < 8 * ELEMENTS; i++) {
            assert_int_equal(touches[PW_OP_STORE][CORNER_FORCE + axis][2 * i], 1);
            assert_int_equal(touches[PW_OP_LOAD][CORNER_FORCE + axis][2 * i], 1);
        }
        for (uint32_t node = 0; node < NODES; node++) {
            uint32_t place[3] = {node % SIDE, node / SIDE % SIDE, node / SIDE / SIDE}, corners = 1;
            for (uint32_t k = 0; k < 3; k++)
                corners *= place[k] % EDGE ? 2 : 1;
            /* forces and kinematics of elements; once for the node itself */
            assert_int_equal(touches[PW_OP_LOAD][X + axis][2 * node], 2 * corners + 1);
            assert_int_equal(touches[PW_OP_LOAD][XD + axis][2 * node], 2 * corners + 1);
            assert_int_equal(touches[PW_OP_STORE][X + axis][2 * node], 1);
            assert_int_equal(touches[PW_OP_STORE][XD + axis][2 * node], 1);
            assert_int_equal(touches[PW_OP_LOAD][XDD + axis][2 * node], 1);
            assert_int_equal(touches[PW_OP_STORE][XDD + axis][2 * node], place[axis] ? 1 : 2);
        }
        for (uint32_t i = 0; i < ELEMENTS; i++) { /* gradients along zeta, xi, eta: position, then velocity */
            uint32_t place[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE}, delx = DELX_ZETA + 2 * ((axis + 1) % 3);
            uint32_t neighbours = (place[axis] > 0) + (place[axis] < EDGE - 1);
            assert_int_equal(touches[PW_OP_LOAD][delx][2 * i], 1);
            assert_int_equal(touches[PW_OP_LOAD][delx + 1][2 * i], 1 + neighbours);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vecadd_touches_each_element_once),
        cmocka_unit_test(gather_reads_the_whole_table_and_nothing_else),
        cmocka_unit_test(pointer_chase_is_one_cycle_through_all_places),
        cmocka_unit_test(hotspot_loads_each_tile_with_its_halo),
        cmocka_unit_test(laplace_loads_each_plane_of_a_tile_with_its_halo),
        cmocka_unit_test(stencil_3d_loads_columns_once_and_tiles_with_their_halo),
        cmocka_unit_test(convolution_loads_a_halo_of_one_step_on_either_side),
        cmocka_unit_test(diffusion_touches_each_pixel_as_often_as_its_kernels_say),
        cmocka_unit_test(sgemm_reads_a_per_column_of_tiles_and_b_per_row),
        cmocka_unit_test(bfs_touches_what_a_search_over_a_grid_must),
        cmocka_unit_test(triad_uses_its_two_sets_of_arrays_in_turn),
        cmocka_unit_test(reduction_reads_each_element_once_and_stores_one_sum_per_cta),
        cmocka_unit_test(scalar_product_reads_each_pair_once_and_stores_one_product),
        cmocka_unit_test(cfd_gathers_the_five_variables_of_each_neighbour),
        cmocka_unit_test(scan_reads_each_element_twice_and_writes_it_once),
        cmocka_unit_test(black_scholes_reads_three_arrays_and_writes_two),
        cmocka_unit_test(qtc_looks_at_each_candidate_left_in_each_step),
        cmocka_unit_test(lulesh_gathers_each_node_once_per_corner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
