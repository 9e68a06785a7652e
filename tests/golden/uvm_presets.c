/* The seven programs of the paper on demand paging at its sizes: launches, grids, CTAs and allocations. And programs
 * far beyond the host's memory, of which only the first and the last CTA of each launch are run: they must touch both
 * ends of their arrays and nothing else. */
#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_ARRAYS = 8, MAX_LAUNCHES = 200, MAX_WARPS = 16 };

struct allocation {
    char name[32];
    uint64_t base, bytes, low, end; /* of what was touched */
};

/* A backend that writes down what a program does, and runs all of its CTAs or the first and the last of a launch. */
struct record {
    bool sparse, astray;
    uint32_t arrays, launches, freed;
    uint64_t next, bytes;
    struct allocation allocation[MAX_ARRAYS];
    struct {
        char name[32];
        struct pw_dim3 grid, block;
    } launch[MAX_LAUNCHES];
    struct pw_warp_pool *pool;
};

static enum pw_status record_allocation(void *backend, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                                        struct pw_error *err)
{
    (void)id;
    struct record *r = backend;
    if (r->arrays == MAX_ARRAYS)
        return pw_fail(err, PW_FAILED, "more than %d arrays", MAX_ARRAYS);
    struct allocation *a = &r->allocation[r->arrays++];
    *a = (struct allocation){.base = r->next, .bytes = bytes, .low = UINT64_MAX};
    snprintf(a->name, sizeof a->name, "%s", name);
    out->v = r->next;
    r->next += (bytes / 4096 + 2) * 4096; /* at least a page that belongs to nobody */
    r->bytes += bytes;
    return PW_OK;
}

static enum pw_status record_free(void *backend, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    (void)id, (void)base, (void)bytes, (void)err;
    ((struct record *)backend)->freed++;
    return PW_OK;
}

static void touch(struct record *r, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < r->arrays; i++) {
        struct allocation *a = &r->allocation[i];
        uint64_t offset = address - a->base;
        if (address < a->base || offset + bytes > a->bytes)
            continue;
        a->low = offset < a->low ? offset : a->low;
        a->end = offset + bytes > a->end ? offset + bytes : a->end;
        return;
    }
    r->astray = true;
}

/* Whether the warp has come to a barrier. */
static bool consume(struct record *r, struct pw_warp *w)
{
    struct pw_op op = {0};
    while (w->read < w->write) {
        const uint64_t *words = &w->words[w->read];
        memcpy(&op, words++, sizeof op);
        w->read++;
        if (op.kind < PW_OP_LOAD || op.kind > PW_OP_ATOMIC_RETURN)
            continue;
        bool affine = op.form == PW_FORM_AFFINE;
        w->read = (uint16_t)(w->read + (affine ? 2 : pw_lane_count(op.count_or_mask)));
        PW_FOR_LANES(lane, op.count_or_mask)
        touch(r, affine ? words[0] + lane * words[1] : *words++, op.bytes);
    }
    return op.kind == PW_OP_BARRIER;
}

static void run_cta(struct record *r, const struct pw_launch *launch, uint32_t cta)
{
    struct pw_warp *warps[MAX_WARPS];
    uint32_t count = pw_launch_warps(launch), running = count;
    void *shared = calloc(1, launch->shared_bytes + 1);
    assert_non_null(shared);
    assert_in_range(count, 1, MAX_WARPS);
    for (uint32_t i = 0; i < count; i++)
        warps[i] = pw_warp_start(r->pool, launch, cta, i, shared);
    while (running) {
        running = 0;
        for (uint32_t i = 0; i < count; i++) {
            while (!warps[i]->exited) {
                pw_warp_refill(warps[i]);
                if (consume(r, warps[i]))
                    break;
            }
            running += !warps[i]->exited;
        }
    }
    while (count)
        pw_warp_finish(r->pool, warps[--count]);
    free(shared);
}

/* Programs without passes never ask. */
static uint64_t none_issued(void *backend)
{
    (void)backend;
    return 0;
}

static enum pw_status record_launch(void *backend, const struct pw_launch *launch, struct pw_error *err)
{
    (void)err;
    struct record *r = backend;
    if (r->launches < MAX_LAUNCHES) {
        snprintf(r->launch[r->launches].name, sizeof r->launch[0].name, "%s", launch->name);
        r->launch[r->launches].grid = launch->grid;
        r->launch[r->launches].block = launch->block;
    }
    r->launches++;
    uint32_t ctas = pw_launch_ctas(launch);
    for (uint32_t cta = 0; cta < ctas; cta += r->sparse && ctas > 2 && !cta ? ctas - 1 : 1)
        run_cta(r, launch, cta);
    return PW_OK;
}

static void run(const char *text, bool sparse, struct record *r)
{
    static const struct pw_backend backend = {
        .alloc = record_allocation, .free = record_free, .launch = record_launch, .issued = none_issued};
    struct pw_program p;
    struct pw_error err;
    struct pw_host *host = NULL;
    memset(r, 0, sizeof *r);
    r->sparse = sparse;
    r->next = UINT64_C(1) << 40;
    r->pool = pw_warp_pool_create(&err);
    assert_non_null(r->pool);
    if (pw_program_parse(text, &p, &err) || pw_host_create(&p, 1, 0, false, &backend, r, &host, &err))
        fail_msg("%s: %s", text, err.message);
    while (!pw_host_resume(host))
        continue;
    if (pw_host_outcome(host, &err))
        fail_msg("%s: %s", text, err.message);
    pw_host_destroy(host);
    pw_program_release(&p);
    pw_warp_pool_destroy(r->pool);
    assert_false(r->astray);
    assert_int_equal(r->freed, r->arrays);
}

struct expectation {
    const char *name;
    uint64_t bytes;
};

static void expect_allocations(const struct record *r, const struct expectation *arrays, uint32_t count)
{
    assert_int_equal(r->arrays, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(r->allocation[i].name, arrays[i].name);
        assert_int_equal(r->allocation[i].bytes, arrays[i].bytes);
    }
}

static void expect_launch(const struct record *r, uint32_t i, const char *name, struct pw_dim3 grid,
                          struct pw_dim3 block)
{
    assert_string_equal(r->launch[i].name, name);
    assert_memory_equal(&r->launch[i].grid, &grid, sizeof grid);
    assert_memory_equal(&r->launch[i].block, &block, sizeof block);
}

#define DIM3(x, y) ((struct pw_dim3){x, y, 1})
#define EXPECT_ALLOCATIONS(r, ...)                                                                                     \
    do {                                                                                                               \
        static const struct expectation arrays_[] = {__VA_ARGS__};                                                     \
        expect_allocations(r, arrays_, sizeof arrays_ / sizeof arrays_[0]);                                            \
    } while (0)

static struct record record;

static void backprop_has_two_launches_of_8191_ctas(void **state)
{
    (void)state;
    run("backprop:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 2);
    expect_launch(&record, 0, "layerforward", DIM3(1, 8191), DIM3(16, 16));
    expect_launch(&record, 1, "adjust_weights", DIM3(1, 8191), DIM3(16, 16));
    EXPECT_ALLOCATIONS(&record, {"input", 524228}, {"hidden_delta", 68}, {"input_hidden", 8911876},
                       {"input_hidden2", 8911876}, {"input_prev_weights", 8911876}, {"output_hidden", 68},
                       {"hidden_partial_sum", 524224});
}

static void bfs_has_512_ctas_per_launch(void **state)
{
    (void)state;
    run("bfs:size=uvm", false, &record);
    assert_in_range(record.launches, 2 * 5, 2 * 20); /* log(262144) / log(6) is 7 */
    assert_int_equal(record.launches % 2, 0);
    for (uint32_t i = 0; i < record.launches; i++)
        expect_launch(&record, i, i % 2 ? "Kernel2" : "Kernel", DIM3(512, 1), DIM3(512, 1));
    uint64_t edges = record.allocation[1].bytes;
    assert_in_range(edges, 6 * 262144 * 4 * 99 / 100, 6 * 262144 * 4 * 101 / 100);
    record.allocation[1].bytes = 0;
    EXPECT_ALLOCATIONS(&record, {"g_graph_nodes", 2097152}, {"g_graph_edges", 0}, {"g_graph_mask", 262144},
                       {"g_updating_graph_mask", 262144}, {"g_graph_visited", 262144}, {"g_cost", 1048576},
                       {"g_over", 1});
    assert_int_equal(record.allocation[1].end, edges); /* every edge is walked: the graph is in one piece */
}

static void fdtd_has_fifteen_launches_of_38_by_150_ctas(void **state)
{
    (void)state;
    static const char *const kernels[] = {"fdtd_step1_kernel", "fdtd_step2_kernel", "fdtd_step3_kernel"};
    run("fdtd:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 15);
    for (uint32_t i = 0; i < 15; i++)
        expect_launch(&record, i, kernels[i % 3], DIM3(38, 150), DIM3(32, 8));
    EXPECT_ALLOCATIONS(&record, {"_fict_", 20}, {"ex", 5764800}, {"ey", 5764800}, {"hz", 5760000});
}

static void hotspot_has_four_launches_of_86_by_86_ctas(void **state)
{
    (void)state;
    run("hotspot:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 4);
    for (uint32_t i = 0; i < 4; i++)
        expect_launch(&record, i, "calculate_temp", DIM3(86, 86), DIM3(16, 16));
    EXPECT_ALLOCATIONS(&record, {"temperature", 4194304}, {"temperature_next", 4194304}, {"power", 4194304});
}

static void nw_has_a_launch_per_diagonal(void **state)
{
    (void)state;
    run("nw:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 127);
    for (uint32_t i = 0; i < 127; i++)
        expect_launch(&record, i, i < 64 ? "needle_cuda_shared_1" : "needle_cuda_shared_2",
                      DIM3(i < 64 ? i + 1 : 127 - i, 1), DIM3(16, 1));
    EXPECT_ALLOCATIONS(&record, {"reference", 4202500}, {"matrix", 4202500});
}

static void pathfinder_has_twenty_launches_of_212_ctas(void **state)
{
    (void)state;
    run("pathfinder:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 20);
    for (uint32_t i = 0; i < 20; i++)
        expect_launch(&record, i, "dynproc_kernel", DIM3(212, 1), DIM3(256, 1));
    EXPECT_ALLOCATIONS(&record, {"gpuResult0", 200000}, {"gpuResult1", 200000}, {"gpuWall", 39800000});
}

static void srad_has_eight_launches_of_64_by_64_ctas(void **state)
{
    (void)state;
    run("srad:size=uvm:values=off", true, &record);
    assert_int_equal(record.launches, 8);
    for (uint32_t i = 0; i < 8; i++)
        expect_launch(&record, i, i % 2 ? "srad_cuda_2" : "srad_cuda_1", DIM3(64, 64), DIM3(16, 16));
    EXPECT_ALLOCATIONS(&record, {"J_cuda", 4194304}, {"C_cuda", 4194304}, {"E_C", 4194304}, {"W_C", 4194304},
                       {"S_C", 4194304}, {"N_C", 4194304});
}

static const char *const seven[] = {"backprop", "bfs", "fdtd", "hotspot", "nw", "pathfinder", "srad"};

/* uvm-sec62-count, uvm-sec62-named: seven programs, of which the text names all but fdtd; NW is nw under
 * Mosaic's name. */
static void the_paper_uses_seven_programs_of_rodinia_and_polybench(void **state)
{
    (void)state;
    uint32_t found = 0;
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        if (!(*w)->papers || !strstr((*w)->papers, "uvm") || !strcmp((*w)->name, "NW"))
            continue;
        bool listed = false, has_preset = false;
        for (uint32_t i = 0; i < 7; i++)
            listed |= !strcmp(seven[i], (*w)->name);
        for (const struct pw_preset *preset = (*w)->presets; preset && preset->name; preset++)
            has_preset |= !strcmp(preset->name, "uvm");
        assert_true(listed);
        assert_true(has_preset);
        assert_string_equal((*w)->suite, strcmp((*w)->name, "fdtd") ? "Rodinia" : "PolyBench");
        found++;
    }
    assert_int_equal(found, 7);
}

/* What is beyond whole 2 MB is rounded up to 64 KB times a power of two. */
static uint64_t rounded(uint64_t bytes)
{
    uint64_t tail = bytes % (2 << 20), size = 64 << 10;
    while (size < tail)
        size *= 2;
    return bytes - tail + (tail ? size : 0);
}

/* In 64 KB. Of backprop the larger kernel's arrays count, of srad the image, which is all that the authors' version of
 * the program has in managed memory. */
static uint64_t working_set(const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "%s:size=uvm%s", name, strcmp(name, "bfs") ? ":values=off" : "");
    run(text, true, &record);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < record.arrays; i++) {
        const char *array = record.allocation[i].name;
        bool backprop = !strcmp(name, "backprop"), srad = !strcmp(name, "srad");
        if ((backprop && (!strcmp(array, "input_hidden") || !strcmp(array, "output_hidden") ||
                          !strcmp(array, "hidden_partial_sum"))) ||
            (srad && strcmp(array, "J_cuda") != 0))
            continue;
        bytes += rounded(record.allocation[i].bytes);
    }
    return bytes >> 16;
}

/* uvm-sec62-ws-min, uvm-sec62-ws-max, uvm-sec62-ws-avg */
static void working_sets_are_those_of_the_paper(void **state)
{
    (void)state;
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t blocks = working_set(seven[i]);
        least = blocks < least ? blocks : least;
        most = blocks > most ? blocks : most;
        sum += blocks;
    }
    assert_int_equal(least, 4 * 16);                          /* 4 MB */
    assert_int_equal(most, 38 * 16 + 8);                      /* 38.5 MB */
    assert_in_range(sum * 100, 1540 * 16 * 7, 1560 * 16 * 7); /* 15.5 MB on average */
}

/* Lowest and highest element of four bytes that is touched; none: low is beyond high. */
struct extent {
    const char *name;
    uint64_t count, low, high;
};

static void expect_extents(const char *text, uint32_t launches, const struct extent *extents, uint32_t count)
{
    run(text, true, &record);
    assert_true(record.bytes >= UINT64_C(64) << 30);
    assert_int_equal(record.launches, launches);
    assert_int_equal(record.arrays, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct allocation *a = &record.allocation[i];
        assert_string_equal(a->name, extents[i].name);
        assert_int_equal(a->bytes, 4 * extents[i].count);
        if (extents[i].low > extents[i].high) {
            assert_int_equal(a->end, 0);
            continue;
        }
        if (a->low != 4 * extents[i].low || a->end != 4 * extents[i].high + 4)
            fail_msg("%s, %s: bytes %llu to %llu are touched", text, a->name, (unsigned long long)a->low,
                     (unsigned long long)a->end);
    }
}

static void footprints_of_64_gb_need_no_memory_and_reach_both_ends_of_the_arrays(void **state)
{
    (void)state;
    const uint64_t side = 75675, cells = side * side;
    const struct extent hotspot[] = {{"temperature", cells, 0, cells - 1},
                                     {"temperature_next", cells, 0, cells - 1},
                                     {"power", cells, 0, cells - 1}};
    expect_extents("hotspot:side=75675:iterations=2:values=off", 1, hotspot, 3);

    const struct extent fdtd[] = {{"_fict_", 2, 0, 1},
                                  {"ex", cells + side, 0, cells + side - 1},
                                  {"ey", cells + side, 0, cells + side - 1},
                                  {"hz", cells, 0, cells - 1}};
    expect_extents("fdtd:nx=75675:ny=75675:steps=2:values=off", 6, fdtd, 4);

    const uint64_t pixels = UINT64_C(53520) * 53520;
    const struct extent srad[] = {{"J_cuda", pixels, 0, pixels - 1}, {"C_cuda", pixels, 0, pixels - 1},
                                  {"E_C", pixels, 0, pixels - 1},    {"W_C", pixels, 0, pixels - 1},
                                  {"S_C", pixels, 0, pixels - 1},    {"N_C", pixels, 0, pixels - 1}};
    expect_extents("srad:rows=53520:columns=53520:iterations=1:values=off", 2, srad, 6);

    const uint64_t columns = 85049000, wall = columns * 200;
    const struct extent pathfinder[] = {{"gpuResult0", columns, 0, columns - 1},
                                        {"gpuResult1", columns, 0, columns - 1},
                                        {"gpuWall", wall, 0, wall - 1}};
    expect_extents("pathfinder:columns=85049000:rows=201:values=off", 20, pathfinder, 3);

    const uint64_t line = 92689, matrix = line * line;
    const struct extent nw[] = {{"reference", matrix, line + 1, matrix - 1}, {"matrix", matrix, 0, matrix - 1}};
    expect_extents("nw:length=92688:values=off", 2 * 5793 - 1, nw, 2);

    const uint64_t inputs = 324148480, weights = (inputs + 1) * 17;
    const struct extent backprop[] = {{"input", inputs + 1, 1, inputs},
                                      {"hidden_delta", 17, 1, 16},
                                      {"input_hidden", weights, 18, weights - 1},
                                      {"input_hidden2", weights, 1, weights - 1},
                                      {"input_prev_weights", weights, 1, weights - 1},
                                      {"output_hidden", 17, 1, 0},
                                      {"hidden_partial_sum", inputs, 0, inputs - 1}};
    expect_extents("backprop:inputs=324148480:managed=on:values=off", 2, backprop, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backprop_has_two_launches_of_8191_ctas),
        cmocka_unit_test(bfs_has_512_ctas_per_launch),
        cmocka_unit_test(fdtd_has_fifteen_launches_of_38_by_150_ctas),
        cmocka_unit_test(hotspot_has_four_launches_of_86_by_86_ctas),
        cmocka_unit_test(nw_has_a_launch_per_diagonal),
        cmocka_unit_test(pathfinder_has_twenty_launches_of_212_ctas),
        cmocka_unit_test(srad_has_eight_launches_of_64_by_64_ctas),
        cmocka_unit_test(the_paper_uses_seven_programs_of_rodinia_and_polybench),
        cmocka_unit_test(working_sets_are_those_of_the_paper),
        cmocka_unit_test(footprints_of_64_gb_need_no_memory_and_reach_both_ends_of_the_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
