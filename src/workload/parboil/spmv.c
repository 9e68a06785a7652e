/* spmv: Parboil's product of a sparse matrix in JDS form and a vector, the "cuda" version (prefetching by hand).
 *
 * Kept: rows sorted by length, longest first, 32 at a time padded to the longest, entries stored diagonal by diagonal;
 * a thread a row; of each entry the index, the value and, a step later, the element of x; the result stored where the
 * row was before sorting; CTAs of 192 threads (of 32 where all threads fit into 16 SMs of 1,536); diagonals' starts and
 * rows' lengths in constant memory; the arrays, their order, and those that are allocated although no kernel reads
 * them.
 * The matrix is made after Parboil's large input, Dubcova3: finite elements of degree 3 on a square of 128x128, whose
 * inner nodes are 383x383 rows, and whose nodes meet all nodes of their elements, 49, 28 or 16 of them: 1,907^2 =
 * 3,636,649 entries, the number of the original's. Nodes are numbered row by row here; values are random and symmetric.
 * Simplified: 1 product by default instead of 50 of the same; padding points at column 0, where the original's index is
 * -1. scale= applies to the elements of a side.
 * Instruction counts, loads in flight, the order of loads and registers are those of the kernel as nvcc 13 compiles it
 * for sm_90: four diagonals at a time. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { WARP = PW_WARP_LANES, BLOCK = 192, SMALL = 16 * 1536, UNROLLED = 4, MAX_DEGREE = 8 };

struct parameters {
    uint32_t elements, degree, rounds;
};

struct arguments {
    struct pw_array data, indices, starts, permutation, lengths, x, result;
    uint32_t rows;
    const uint32_t *start; /* of a diagonal in data and indices; constant memory, as is the next */
    const uint32_t *bound; /* of a warp: entries of its longest row */
};

/* The mesh along one side: nodes are numbered from 0, node n lies at n + 1 between the elements' corners, the multiples
 * of the degree. */
struct side {
    uint32_t nodes, degree;
};

static uint32_t first_met(struct side s, uint32_t node)
{
    uint32_t at = node + 1, corner = (at - 1) / s.degree * s.degree;
    return corner ? corner - 1 : 0;
}

static uint32_t last_met(struct side s, uint32_t node)
{
    uint32_t corner = ((node + 1) / s.degree + 1) * s.degree;
    return corner - 1 < s.nodes ? corner - 1 : s.nodes - 1;
}

static uint32_t row_length(struct side s, uint32_t row)
{
    uint32_t y = row / s.nodes, x = row % s.nodes;
    return (last_met(s, y) - first_met(s, y) + 1) * (last_met(s, x) - first_met(s, x) + 1);
}

static uint32_t column_of(struct side s, uint32_t row, uint32_t entry)
{
    uint32_t y = row / s.nodes, x = row % s.nodes, width = last_met(s, x) - first_met(s, x) + 1;
    return (first_met(s, y) + entry / width) * s.nodes + first_met(s, x) + entry % width;
}

static float value_of(uint64_t seed, uint32_t row, uint32_t column)
{
    uint64_t low = row < column ? row : column, high = row < column ? column : row;
    return pw_hash_unit(pw_hash(seed, high << 32 | low)) - 0.5F;
}

/* Lane i: the element of x that entry at + i names. */
static void load_x(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t at)
{
    const uint32_t *indices = g->indices.data;
    uint64_t index[WARP];
    PW_FOR_LANES(lane, mask) index[lane] = indices[at + lane];
    pw_load_lanes(w, mask, &g->x, index);
}

/* Diagonals k to k + 3, of which the last is only fetched; that before k has been. */
static void four_diagonals(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t row, uint32_t k)
{
    int64_t at[UNROLLED + 1];
    for (uint32_t i = 0; i <= UNROLLED; i++)
        at[i] = g->start[k - 1 + i] + row;
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 1);
    load_x(w, g, mask, at[0]);
    pw_compute(w, 5);
    pw_load_run(w, mask, &g->indices, at[1]);
    pw_load_run(w, mask, &g->indices, at[2]);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->indices, at[3]);
    pw_compute(w, 3);
    pw_load_run(w, mask, &g->data, at[1]);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->data, at[2]);
    pw_use_all_but(w, 5);
    pw_compute(w, 2);
    pw_load_run(w, mask, &g->data, at[3]);
    pw_use_all_but(w, 1);
    pw_compute(w, 2);
    load_x(w, g, mask, at[1]);
    load_x(w, g, mask, at[2]);
    pw_compute(w, 1);
    load_x(w, g, mask, at[3]);
    pw_compute(w, 2);
    pw_load_run(w, mask, &g->indices, at[4]);
    pw_load_run(w, mask, &g->data, at[4]);
    pw_compute(w, 4);
    pw_use_all_but(w, 4);
    pw_compute(w, 1);
    pw_use_all_but(w, 3);
    pw_compute(w, 2);
}

static void one_diagonal(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t row, uint32_t k)
{
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 1);
    load_x(w, g, mask, g->start[k - 1] + row);
    pw_compute(w, 4);
    pw_load_run(w, mask, &g->indices, g->start[k] + row);
    pw_load_run(w, mask, &g->data, g->start[k] + row);
    pw_compute(w, 5);
    pw_use_all_but(w, 2);
    pw_compute(w, 2);
}

/* All but the first diagonal, which has been fetched. */
static void further_diagonals(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t row, uint32_t bound)
{
    uint32_t k = 2;
    pw_compute(w, 4);
    pw_load_run(w, mask, &g->indices, g->start[1] + row);
    pw_load_run(w, mask, &g->data, g->start[1] + row);
    pw_compute(w, 4);
    pw_use(w);
    pw_compute(w, 2);
    if (bound > 2) {
        pw_compute(w, bound - 2 >= UNROLLED ? 10 + 5 : 10);
        for (; k + UNROLLED <= bound; k += UNROLLED)
            four_diagonals(w, g, mask, row, k);
        pw_compute(w, k < bound ? 2 + 2 : 2);
        for (; k < bound; k++)
            one_diagonal(w, g, mask, row, k);
        pw_compute(w, 3);
    }
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 1);
    load_x(w, g, mask, g->start[bound - 1] + row);
    pw_compute(w, 1);
}

static void store_sums(const struct arguments *g, uint32_t mask, int64_t row, uint32_t bound)
{
    const float *data = g->data.data, *x = g->x.data;
    const uint32_t *indices = g->indices.data, *permutation = g->permutation.data;
    float *result = g->result.data;
    PW_FOR_LANES(lane, mask)
    {
        float sum = 0;
        for (uint32_t k = 0; k < bound; k++) {
            int64_t at = g->start[k] + row + lane;
            sum += data[at] * x[indices[at]];
        }
        result[permutation[row + lane]] = sum;
    }
}

static void spmv_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    int64_t row = (int64_t)w->cta.x * w->launch->block.x + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)row, g->rows);
    pw_compute(w, 7);
    if (!mask)
        return;
    uint32_t bound = g->bound[row / WARP];
    const uint32_t *permutation = g->permutation.data;
    uint64_t index[WARP];
    pw_compute(w, 1 + 7);
    pw_load_run(w, mask, &g->indices, g->start[0] + row);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->data, g->start[0] + row);
    pw_compute(w, 4);
    pw_use_all_but(w, 1);
    pw_compute(w, 1);
    load_x(w, g, mask, g->start[0] + row);
    pw_compute(w, 3);
    pw_use_all_but(w, 1);
    pw_compute(w, 2);
    if (bound > 1)
        further_diagonals(w, g, mask, row, bound);
    pw_compute(w, 1 + 3);
    pw_load_run(w, mask, &g->permutation, row);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, mask) index[lane] = permutation[row + lane];
    pw_store_lanes(w, mask, &g->result, index);
    store_sums(g, mask, row, bound);
}

/* Row by row, in the order of columns, of the mesh itself. */
static void verify(struct pw_host *h, const struct arguments *g, struct side s, uint64_t seed)
{
    const float *x = g->x.data, *result = g->result.data;
    uint32_t wrong = g->rows;
    for (uint32_t row = g->rows; row-- > 0;) {
        float sum = 0;
        for (uint32_t i = 0; i < row_length(s, row); i++) {
            uint32_t column = column_of(s, row, i);
            sum += value_of(seed, row, column) * x[column];
        }
        if (result[row] != sum)
            wrong = row;
    }
    pw_host_expect(h, wrong == g->rows, "row %u differs from the sequential product", wrong);
}

/* Rows by length, longest first; those of one length stay in order, as qsort leaves them. */
static void sort_rows(struct side s, uint32_t rows, uint32_t longest, uint32_t *permutation, uint32_t *at)
{
    for (uint32_t row = 0; row < rows; row++)
        at[longest - row_length(s, row) + 1]++;
    for (uint32_t i = 1; i <= longest; i++)
        at[i] += at[i - 1];
    for (uint32_t row = 0; row < rows; row++)
        permutation[at[longest - row_length(s, row)]++] = row;
}

/* Writes entry k of all rows whose warp has one, k by k; rows beyond the last are empty. */
static void fill(const struct arguments *g, struct side s, uint64_t seed, uint32_t depth)
{
    float *data = g->data.data;
    uint32_t *indices = g->indices.data;
    const uint32_t *permutation = g->permutation.data;
    for (uint32_t k = 0; k < depth; k++)
        for (uint32_t i = 0; i < g->rows && g->bound[i / WARP] > k; i++) {
            uint32_t row = permutation[i], at = g->start[k] + i;
            if (k < row_length(s, row)) {
                indices[at] = column_of(s, row, k);
                data[at] = value_of(seed, row, indices[at]);
            }
        }
}

/* Lengths of warps and starts of diagonals; returns the number of entries with padding. */
static uint64_t lay_out(struct pw_host *h, struct arguments *g, struct side s, const uint32_t *permutation,
                        uint32_t depth)
{
    uint32_t warps = (g->rows + WARP - 1) / WARP;
    uint32_t *bound = pw_host_keep(h, warps * sizeof *bound), *start = pw_host_keep(h, (depth + 1) * sizeof *start);
    for (uint32_t i = 0; i < warps; i++)
        bound[i] = row_length(s, permutation[i * WARP]);
    uint32_t longer = warps;
    for (uint32_t k = 0; k < depth; k++) {
        while (longer && bound[longer - 1] <= k)
            longer--;
        start[k + 1] = start[k] + longer * WARP;
    }
    g->bound = bound;
    g->start = start;
    return start[depth];
}

static void launch_all(struct pw_host *h, const struct arguments *g, uint32_t rounds)
{
    uint32_t threads = (g->rows + WARP - 1) / WARP * WARP, block = threads > SMALL ? BLOCK : WARP;
    pw_host_plan(h, rounds);
    for (uint32_t i = 0; i < rounds; i++)
        pw_launch(h, &(struct pw_launch){.name = "spmv_jds",
                                         .grid = {(threads + block - 1) / block, 1, 1},
                                         .block = {block, 1, 1},
                                         .registers = 32,
                                         .pace = 3553,
                                         .kernel = spmv_kernel,
                                         .arguments = g});
}

static void spmv_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t elements = pw_host_scaled_side(h, p->elements, 1), nodes = elements * p->degree - 1;
    uint64_t most = (uint64_t)(2 * p->degree + 1) * (2 * p->degree + 1);
    if (elements * p->degree < 2 || nodes > INT32_MAX / nodes / most)
        pw_host_fail(h, "the original's indices are ints: elements * degree is at least 2, and below 2G entries");
    struct side s = {(uint32_t)nodes, p->degree};
    struct arguments g = {.rows = (uint32_t)(nodes * nodes)};
    uint32_t depth = 0, *permutation = pw_host_keep(h, g.rows * sizeof *permutation);
    for (uint32_t row = 0; row < g.rows; row++)
        depth = row_length(s, row) > depth ? row_length(s, row) : depth;
    sort_rows(s, g.rows, depth, permutation, pw_host_keep(h, (depth + 2) * sizeof *permutation));
    uint64_t length = lay_out(h, &g, s, permutation, depth);

    g.data = pw_alloc(h, "d_data", length, sizeof(float));
    g.indices = pw_alloc(h, "d_indices", length, sizeof(uint32_t));
    g.starts = pw_alloc(h, "d_ptr", depth + 1, sizeof(uint32_t));
    g.permutation = pw_alloc(h, "d_perm", g.rows, sizeof(uint32_t));
    g.lengths = pw_alloc(h, "d_nzcnt", (g.rows + WARP - 1) / WARP, sizeof(uint32_t));
    g.x = pw_alloc(h, "d_x_vector", g.rows, sizeof(float));
    g.result = pw_alloc(h, "d_Ax_vector", g.rows, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint32_t i = 0; i < g.rows; i++) {
        ((uint32_t *)g.permutation.data)[i] = permutation[i];
        ((float *)g.x.data)[i] = pw_hash_unit(pw_hash(~seed, i));
    }
    fill(&g, s, seed, depth);

    launch_all(h, &g, p->rounds);
    if (pw_host_verifying(h))
        verify(h, &g, s, seed);
    struct pw_array *const in_order[] = {&g.data, &g.indices, &g.starts, &g.permutation, &g.lengths, &g.x, &g.result};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

static const struct pw_option rows[] = {
    {"elements", PW_OPTION_COUNT, offsetof(struct parameters, elements), 1, 1 << 16, "128", "elements", NULL,
     "elements along a side of the square", false},
    {"degree", PW_OPTION_COUNT, offsetof(struct parameters, degree), 1, MAX_DEGREE, "3", "", NULL,
     "degree of the elements: rows are (elements * degree - 1) squared", false},
    {"rounds", PW_OPTION_COUNT, offsetof(struct parameters, rounds), 1, 1 << 24, "1", "products", NULL,
     "launches, all of the same product", false},
    {0},
};

static const struct pw_preset presets[] = {{"compression", "elements=128:degree=3:rounds=1"}, {0}};

const struct pw_workload pw_workload_spmv = {
    .name = "spmv",
    .suite = "Parboil",
    .papers = "compression",
    .summary = "sparse matrix in JDS form times a vector: diagonals in order, the vector by index",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = spmv_main,
};
