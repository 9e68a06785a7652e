/* Every workload computes the right result at odd sizes and several seeds, with the instruction counts and the numbers
 * of accesses that follow from its definition. */
#include "tally.h"
#include "workload_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_workload_verifies_at_odd_sizes_and_seeds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof workload_cases / sizeof workload_cases[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            run(workload_cases[i], seed, NULL);
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        bool covered = (*w)->required; /* it has no results of its own */
        for (size_t i = 0; i < sizeof workload_cases / sizeof workload_cases[0]; i++)
            covered |= !strncmp(workload_cases[i], (*w)->name, strlen((*w)->name)) &&
                       workload_cases[i][strlen((*w)->name)] == ':';
        if (!covered)
            fail_msg("workload %s has no case here", (*w)->name);
    }
}

/* Printed by the generator of the Accel-Sim traces that these kernels stand for, for the same sizes. */
static void instruction_counts_equal_those_of_the_traces(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t instructions, memory;
    } table[] = {
        {"vecadd:ctas=2:warps=3:iterations=4", 276, 72},
        {"vecadd:ctas=5:warps=1:iterations=7", 380, 105},
        {"gather:ctas=2:warps=3:iterations=4", 276, 72},
        {"gather:ctas=5:warps=1:iterations=7", 380, 105},
        {"alu:ctas=2:warps=3:iterations=4", 276, 0},
        {"alu:ctas=5:warps=1:iterations=7", 380, 0},
        {"vecadd", 626688, 184320},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pw_functional_counts c = run(table[i].text, 1, NULL);
        assert_int_equal(c.warp_instructions, table[i].instructions);
        assert_int_equal(c.memory_instructions, table[i].memory);
        assert_int_equal(c.lane_accesses, 32 * table[i].memory);
        assert_int_equal(c.launches, 1);
    }
}

/* Counted by capture/emulate, which executes the machine code of capture/programs for the same sizes. Of 2dconv, whose
 * size is compiled in there, a warp of the rim has 14 instructions and another one 42. */
static void with_sm_90_instruction_counts_equal_those_of_the_machine_code(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t instructions, memory;
    } table[] = {
        {"vecadd:ctas=2:iterations=3:code=sm_90", 768, 144},
        {"gather:ctas=2:table=1MB:code=sm_90", 912, 192},
        {"RED:bytes=4KB:iterations=1:code=sm_90", 19488, 96},
        {"RED:bytes=1MB:iterations=1:code=sm_90", 69440, 8256},
        {"BLK:options=1920:code=sm_90", 29280, 300},
        {"BLK:options=200000:code=sm_90", 866590, 31250},
        {"BLK:options=307200:code=sm_90", 1276800, 48000},
        {"LUD:side=64:code=sm_90", 36094, 1046},
        {"2dconv:rows=37:columns=101:code=sm_90", 140 * 42 + 20 * 14, 1400},
        {"relu:length=32:code=sm_90", 25, 2},
        {"relu:length=1000:code=sm_90", 544, 64},
        {"maxpool:channels=1:height=90:width=90:code=sm_90", 11904, 320},
        {"maxpool:channels=1:height=88:width=88:window=4:stride=4:code=sm_90", 4480, 272},
        {"maxpool:channels=1:height=90:width=90:window=6:stride=6:code=sm_90", 3952, 296},
        {"fir:length=900:taps=5:code=sm_90", 3217, 319},
        {"fir:length=900:code=sm_90", 6523, 957},
        {"transpose:width=192:code=sm_90", 7056, 576},
        {"stencil2d:rows=64:columns=192:code=sm_90", 9588, 1248},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct pw_functional_counts c = run(table[i].text, 1, NULL);
        if (c.warp_instructions != table[i].instructions || c.memory_instructions != table[i].memory)
            fail_msg("%s: %llu instructions, %llu of memory", table[i].text, (unsigned long long)c.warp_instructions,
                     (unsigned long long)c.memory_instructions);
    }
}

static void code_of_another_gpu_is_a_mistake_that_names_what_there_is(void **state)
{
    (void)state;
    struct pw_program p;
    struct pw_error err;
    assert_int_equal(pw_program_parse("fir:code=sm_80", &p, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "gcn3"));
    assert_non_null(strstr(err.message, "sm_90"));
}

static void loads_wait_where_the_original_uses_them(void **state)
{
    (void)state;
    struct tally t = {0};
    run("vecadd:ctas=1:warps=1:iterations=10", 1, &t);
    assert_int_equal(t.waits, 10); /* both loads, one wait */
    t = (struct tally){0};
    run("gather:ctas=1:warps=1:iterations=10", 1, &t);
    assert_int_equal(t.waits, 20); /* index, then table */
    t = (struct tally){0};
    run("pointer_chase:bytes=1MB:hops=10", 1, &t);
    assert_int_equal(t.waits, 10);
    t = (struct tally){0};
    run("HS:side=12:iterations=1:pyramid=1", 1, &t); /* one CTA, its 8 warps wait once for temperature and power */
    assert_int_equal(t.waits, 8);
    t = (struct tally){0};
    run("MM:m=128:n=16:k=80", 1, &t); /* each of a tile's 8 values of A when it is its turn */
    for (int k = 1; k < 8; k++)
        assert_int_equal(t.waits_for_all_but[k], 4 * 10);
    assert_int_equal(t.waits_for_all_but[8], 0);
    t = (struct tally){0};
    run("transpose:width=64", 1, &t); /* each of 8 warps for four loads, one after the other */
    assert_int_equal(t.waits_for_all_but[0], 8 * 4);
    assert_int_equal(t.waits, t.waits_for_all_but[0]);
    t = (struct tally){0};
    run("stencil2d:rows=16:columns=64", 1, &t); /* both warps for 18 rows of the tile and of their side */
    assert_int_equal(t.waits, 2 * (18 + 18));
    t = (struct tally){0};
    run("transpose:width=64:code=sm_90", 1, &t); /* all four in flight, used in their order */
    for (int k = 0; k < 4; k++)
        assert_int_equal(t.waits_for_all_but[k], 8);
    t = (struct tally){0};
    run("stencil2d:rows=16:columns=64:code=sm_90", 1, &t); /* each warp: its own 18, then those of a side */
    assert_int_equal(t.waits_for_all_but[0], 2 * 2);
    assert_int_equal(t.waits, 2 * (5 + 4));
    t = (struct tally){0};
    run("kmeans:variant=heteromark:points=32:features=7:clusters=3:iterations=1", 1, &t); /* turned, then by centre */
    assert_int_equal(t.waits, 7 + 3 * 7);
    t = (struct tally){0};
    run("page_rank:variant=heteromark:nodes=64:kind=mesh3d:iterations=1", 1, &t); /* ends; column, then both factors */
    assert_int_equal(t.waits, 64 * (2 + 2));
}

static void hotspot_writes_every_cell_once_per_launch(void **state)
{
    (void)state;
    for (uint32_t size = 5; size < 80; size += 23)
        for (uint32_t pyramid = 1; pyramid <= 7; pyramid += 3) {
            char text[64];
            snprintf(text, sizeof text, "HS:side=%u:pyramid=%u:iterations=%u", size, pyramid, 2 * pyramid);
            struct tally t = {0};
            struct pw_functional_counts c = run(text, 1, &t);
            assert_int_equal(c.launches, 2);
            assert_int_equal(t.lanes[PW_OP_STORE], 2 * size * size);
            assert_true(t.lanes[PW_OP_LOAD] >= 4 * size * size);
        }
}

static void sgemm_reads_and_writes_what_its_tiles_say(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("MM:m=256:n=48:k=40", 1, &t);
    assert_int_equal(c.ctas, 2 * 3);
    assert_int_equal(c.warps, 2 * 3 * 4);
    assert_int_equal(t.lanes[PW_OP_STORE], 256 * 48);
    /* C once; A once per column of CTAs; B once per row of CTAs */
    assert_int_equal(t.lanes[PW_OP_LOAD], 256 * 48 + 3 * 256 * 40 + 2 * 48 * 40);
    assert_int_equal(t.operations[PW_OP_BARRIER], c.warps * 2 * (40 / 8));
}

static void bfs_visits_every_edge_of_a_grid_once(void **state)
{
    (void)state;
    struct tally t = {0};
    struct pw_functional_counts c = run("BFS2:nodes=900:kind=grid", 1, &t);
    uint64_t nodes = 900, edges = 4 * 30 * 29, levels = 59;
    assert_int_equal(c.launches, levels);
    /* minimum on the cost per edge, exchange on the colour per node found, the tail once per CTA */
    assert_int_equal(t.lanes[PW_OP_ATOMIC_RETURN], edges + (nodes - 1) + c.ctas);
    /* black mark per node, place in the queue per node found */
    assert_int_equal(t.lanes[PW_OP_STORE], nodes + (nodes - 1));
    /* per node: queue, cost, node; per edge: edge; per node found: colour */
    assert_int_equal(t.lanes[PW_OP_LOAD], 3 * nodes + edges + (nodes - 1));
}

/* Of the first cycle, in which nothing moves yet: every element is looked at as if compressed. */
static void lulesh_gathers_what_its_mesh_says(void **state)
{
    (void)state;
    uint64_t edge = 7, elements = edge * edge * edge, nodes = (edge + 1) * (edge + 1) * (edge + 1);
    uint64_t plane = (edge + 1) * (edge + 1), inner_sides = 6 * (elements - edge * edge);
    struct tally t = {0};
    assert_int_equal(run("LUH:edge=7:cycles=1", 1, &t).launches, 10);
    uint64_t corners = 8 * elements; /* of elements; as many as elements of nodes */
    uint64_t forces = 6 * elements + corners + 6 * corners, node_forces = 2 * nodes + corners + 3 * corners;
    uint64_t kinematics = corners + 6 * corners + 2 * elements, viscosity = 13 * elements + 2 * inner_sides;
    uint64_t streamed = 4 * nodes + 3 * plane + 9 * nodes + 9 * elements;
    assert_int_equal(t.lanes[PW_OP_LOAD], forces + node_forces + kinematics + viscosity + streamed);
    assert_int_equal(t.lanes[PW_OP_STORE], 3 * corners + 12 * nodes + 3 * plane + 20 * elements);
}

static void the_address_stream_follows_from_the_seed_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool data_dependent;
    } table[] = {
        {"vecadd:ctas=3", false},
        {"gather:ctas=3", true},
        {"alu:ctas=3", false},
        {"pointer_chase:hops=100:bytes=1MB", true},
        {"HS:side=40", false},
        {"MM:m=128:n=16:k=16", false},
        {"BFS2:nodes=2000", true},
        {"BFS2:nodes=2000:kind=rmat", true},
        {"BP:inputs=48", false},
        {"NW:length=48", false},
        {"LUD:side=48", false},
        {"SC:points=70:dimensions=5:gains=3", true},
        {"bfs:nodes=2000", true},
        {"fdtd:nx=20:ny=50", false},
        {"pathfinder:columns=300:rows=9:pyramid=2", false},
        {"srad:rows=32:columns=48", false},
        {"page_rank:nodes=2000", true},
        {"page_rank:variant=heteromark:nodes=200:kind=random", true},
        {"kmeans:variant=heteromark:points=300", false},
        {"color:nodes=2000:kind=grid", true},
        {"mis:nodes=2000:kind=grid", true},
        {"fw:nodes=60", true},
        {"bc:nodes=60", true},
        {"mst:nodes=2000:kind=grid", true},
        {"atax:nx=40:ny=50", false},
        {"bh:bodies=200:sms=1", true},
        {"transpose:width=128", false},
        {"stencil2d:rows=32:columns=128", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        uint64_t first = run(table[i].text, 1, NULL).address_hash;
        assert_int_equal(first, run(table[i].text, 1, NULL).address_hash);
        assert_int_equal(first != run(table[i].text, 2, NULL).address_hash, table[i].data_dependent);
    }
}

static void without_values_the_addresses_are_the_same(void **state)
{
    (void)state;
    static const char *const texts[] = {"vecadd:n=1000:ctas=3",
                                        "gather:ctas=3:locality=0.5",
                                        "alu:ctas=3",
                                        "pointer_chase:hops=5000:bytes=100KB",
                                        "HS:side=40:iterations=3",
                                        "LPS:nx=70:ny=13:nz=9",
                                        "3DS:nx=96:ny=24:nz=21",
                                        "CONS:width=128:height=96:iterations=1",
                                        "SRAD:rows=31:columns=133:iterations=1",
                                        "MM:m=128:n=32:k=16",
                                        "TRD:bytes=12340:passes=1",
                                        "RED:bytes=12340:iterations=4",
                                        "SCP:vectors=5:elements=2000",
                                        "BLK:options=3001",
                                        "SCAN:bytes=70000:iterations=1",
                                        "BP:inputs=304",
                                        "backprop:inputs=304:managed=on",
                                        "NW:length=64",
                                        "LUD:side=64",
                                        "fdtd:nx=33:ny=70:steps=2",
                                        "pathfinder:columns=700:rows=20:pyramid=3",
                                        "srad:rows=64:columns=48:iterations=2",
                                        "2dconv:rows=37:columns=101",
                                        "stencil:nx=70:ny=13:nz=9:steps=2",
                                        "kmeans:points=1025:features=7",
                                        "kmeans:variant=heteromark:points=333:features=7:iterations=2",
                                        "transpose:width=128",
                                        "stencil2d:rows=32:columns=128:iterations=2",
                                        "dwt:width=133:height=41:levels=2",
                                        "atax:nx=40:ny=300",
                                        "mvt:n=70:terms=9",
                                        "bicg:nx=40:ny=300",
                                        "relu:length=12345",
                                        "maxpool:channels=3:height=20:width=31:window=3:stride=1:pad=1",
                                        "fir:length=777",
                                        "fir:length=777:taps=21:code=sm_90",
                                        "maxpool:channels=3:height=33:width=17:window=6:code=sm_90",
                                        "stencil2d:rows=32:columns=128:iterations=2:code=sm_90",
                                        "LUD:side=64:code=sm_90",
                                        "BLK:options=123456:code=sm_90",
                                        "pointer_chase:order=stride:bytes=1MB"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char off[128];
        snprintf(off, sizeof off, "%s:values=off", texts[i]);
        struct pw_functional_counts with = run(texts[i], 5, NULL), without = run(off, 5, NULL);
        assert_memory_equal(&with, &without, sizeof with);
    }
    /* far beyond the host's memory */
    assert_int_equal(run("pointer_chase:values=off:bytes=80GB:hops=1000", 1, NULL).allocated_bytes,
                     (UINT64_C(80) << 30) + 8);
}

static void impossible_sizes_are_user_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {"MM:m=129",
                                        "MM:n=17",
                                        "MM:k=12",
                                        "3DS:nx=33",
                                        "3DS:ny=9",
                                        "CONS:width=96:iterations=1",
                                        "CONS:height=48:iterations=1",
                                        "gather:table=17GB:values=off",
                                        "pointer_chase:stride=12",
                                        "pointer_chase:bytes=64:stride=128",
                                        "BP:inputs=17",
                                        "NW:length=20",
                                        "LUD:side=24",
                                        "SC:points=9M:gains=3",
                                        "BFS2:nodes=1G:degree=4",
                                        "fw:nodes=50k:degree=1",
                                        "bc:nodes=50k:degree=1",
                                        "mis:nodes=1G:degree=4",
                                        "TRD:bytes=9GB:values=off:passes=1",
                                        "RED:bytes=1GB:scale=3:values=off:iterations=4",
                                        "SCP:vectors=1M:values=off",
                                        "BLK:options=2000M:scale=2:values=off",
                                        "SCAN:bytes=8GB:values=off:iterations=1",
                                        "HS:side=1000000:pyramid=7:values=off",
                                        "srad:rows=40",
                                        "srad:scale=1000000:values=off",
                                        "fdtd:scale=1000000:values=off",
                                        "atax:nx=46340:scale=2:values=off",
                                        "mvt:scale=1000000:values=off",
                                        "bicg:scale=1000000:values=off",
                                        "pathfinder:columns=4000M:pyramid=127:scale=2:values=off",
                                        "2dconv:scale=1000000:values=off",
                                        "stencil:nx=1M:ny=1M:values=off",
                                        "kmeans:features=400:clusters=3",
                                        "kmeans:points=100M:values=off",
                                        "kmeans:variant=heteromark:points=100M:values=off",
                                        "transpose:width=80",
                                        "transpose:width=1M:values=off",
                                        "stencil2d:rows=24",
                                        "stencil2d:columns=96",
                                        "stencil2d:scale=1000000:values=off",
                                        "spmv:elements=1:degree=1",
                                        "spmv:elements=60k",
                                        "dwt:width=263",
                                        "dwt:scale=10000:values=off",
                                        "heartwall:template=25:search=25",
                                        "heartwall:rows=599",
                                        "bh:scale=1000000",
                                        "relu:scale=1000000:values=off",
                                        "maxpool:height=1:values=off",
                                        "maxpool:scale=1000000:values=off",
                                        "maxpool:batch=1000:channels=1000:values=off",
                                        "fir:scale=1000000:values=off",
                                        "aes:bytes=3GB",
                                        "bfs:nodes=100:source=100",
                                        "bfs:nodes=1G:degree=4"};
    expect_user_errors(texts, sizeof texts / sizeof texts[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_verifies_at_odd_sizes_and_seeds),
        cmocka_unit_test(instruction_counts_equal_those_of_the_traces),
        cmocka_unit_test(with_sm_90_instruction_counts_equal_those_of_the_machine_code),
        cmocka_unit_test(code_of_another_gpu_is_a_mistake_that_names_what_there_is),
        cmocka_unit_test(loads_wait_where_the_original_uses_them),
        cmocka_unit_test(hotspot_writes_every_cell_once_per_launch),
        cmocka_unit_test(sgemm_reads_and_writes_what_its_tiles_say),
        cmocka_unit_test(bfs_visits_every_edge_of_a_grid_once),
        cmocka_unit_test(lulesh_gathers_what_its_mesh_says),
        cmocka_unit_test(the_address_stream_follows_from_the_seed_alone),
        cmocka_unit_test(without_values_the_addresses_are_the_same),
        cmocka_unit_test(impossible_sizes_are_user_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
