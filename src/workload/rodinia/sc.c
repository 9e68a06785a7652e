/* SC: streamcluster of Rodinia, online clustering; the kernel that weighs a new centre against the present ones.
 *
 * Kept: kernel_compute_cost, one thread per point in CTAs of 512: the distance to point x over coordinates stored
 * dimension by dimension (a warp's load of each dimension lies points * 4 bytes behind the last, and x's coordinate is
 * one address for all lanes); the point's record of 32 bytes; the branch on whether x is nearer, with the membership
 * flag on one side and the chain assign -> centre table -> row of work memory on the other; the host's pgain around it,
 * which opens x and closes others where that pays; work memory of points * (centres + 1), allocated and freed per call.
 * Simplified: the host's control loop. The original searches for a facility cost that gives 10 to 20 centres, calling
 * pgain some hundreds of times on the same points; here `gains` calls at one facility cost, a fixed share of the
 * clustering's cost, start from `centers` random points: one round of its search, 3 k ln k calls for at most k = 20
 * centres, which are cut. All points come in one chunk.
 * Instruction counts and loads in flight are those of the kernel as nvcc 13 compiles it for sm_90: the loop over
 * dimensions is unrolled by 16 with 32 loads in flight, its rest by 8, 4 and 1. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <string.h>

enum { CTA_THREADS = 512, UNROLL = 16, FACILITY_SHARE = 512 };

struct parameters {
    uint32_t points, dimensions, centers, gains;
};

struct point {
    float weight;
    uint64_t coordinates; /* a pointer of the host's, copied along */
    int64_t assign;       /* its centre's number among the points */
    float cost;           /* weight times squared distance to it */
};
_Static_assert(sizeof(struct point) == 32, "as in the original");

struct arguments {
    struct pw_array work, center_table, switches, points, coordinates;
    uint64_t n, dimensions, x, centers; /* centers: the original's K */
    float *costs;                       /* of the host's, by point */
};

/* Lane i accesses a member of point first + i. */
static void load_member(struct pw_warp *w, uint32_t mask, const struct arguments *g, uint64_t first, size_t offset,
                        uint32_t bytes)
{
    pw_access_affine(w, PW_OP_LOAD, mask, g->points.base.v + first * sizeof(struct point) + offset,
                     sizeof(struct point), bytes);
}

static void distances(struct pw_warp *w, const struct arguments *g, uint32_t mask, uint64_t first, float *sum)
{
    const float *coordinates = g->coordinates.data;
    pw_compute(w, 17);
    for (uint64_t i = 0, unroll = UNROLL; i < g->dimensions; i += unroll) {
        while (unroll > g->dimensions - i)
            unroll = unroll > 4 ? unroll / 2 : 1;
        for (uint64_t k = i; k < i + unroll; k++) {
            pw_load_run(w, mask, &g->coordinates, (int64_t)(k * g->n + first));
            pw_load_strided(w, mask, &g->coordinates, (int64_t)(k * g->n + g->x), 0);
            pw_compute(w, 2);
        }
        pw_use(w);
        pw_compute(w, (uint32_t)(2 * unroll + 4));
        for (uint64_t k = i; k < i + unroll; k++) {
            const float *row = &coordinates[k * g->n];
            for (uint32_t lane = 0; lane < pw_lane_count(mask); lane++)
                sum[lane] += (row[first + lane] - row[g->x]) * (row[first + lane] - row[g->x]);
        }
    }
}

/* Points that stay: what moving each to x would cost goes to its centre's column. */
static void stay(struct pw_warp *w, const struct arguments *g, uint32_t mask, uint64_t first, const float *x_cost)
{
    const int32_t *table = g->center_table.data;
    float *work = g->work.data;
    uint64_t center[PW_WARP_LANES], lower[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        const struct point *p = (const struct point *)g->points.data + first + lane;
        center[lane] = (uint64_t)p->assign;
        lower[lane] = (first + lane) * (g->centers + 1) + (uint32_t)table[p->assign];
        work[lower[lane]] += p->cost - x_cost[lane];
    }
    load_member(w, mask, g, first, offsetof(struct point, assign), 8);
    pw_use(w);
    pw_compute(w, 4);
    pw_load_lanes(w, mask, &g->center_table, center);
    pw_use(w);
    pw_compute(w, 4);
    pw_load_lanes(w, mask, &g->work, lower);
    pw_use(w);
    pw_compute(w, 2);
    pw_store_lanes(w, mask, &g->work, lower);
}

/* Points that are nearer to x: flag them, and what they save goes to the last column. */
static void move_to_x(struct pw_warp *w, const struct arguments *g, uint32_t mask, uint64_t first, const float *x_cost)
{
    const struct point *points = g->points.data;
    int64_t stride = (int64_t)g->centers + 1, lower = (int64_t)first * stride + (int64_t)g->centers;
    PW_FOR_LANES(lane, mask)
    {
        ((uint8_t *)g->switches.data)[first + lane] = 1;
        ((float *)g->work.data)[lower + lane * stride] += x_cost[lane] - points[first + lane].cost;
    }
    pw_compute(w, 10);
    pw_store_run(w, mask, &g->switches, (int64_t)first);
    pw_compute(w, 1);
    load_member(w, mask, g, first, offsetof(struct point, cost), 4); /* again: the flag may alias it */
    pw_load_strided(w, mask, &g->work, lower, stride);
    pw_use(w);
    pw_compute(w, 2);
    pw_store_strided(w, mask, &g->work, lower, stride);
}

static void compute_cost_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct point *points = g->points.data;
    uint64_t first = (uint64_t)w->cta_index * CTA_THREADS + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, g->n), nearer = 0;
    pw_compute(w, 12);
    if (!mask)
        return;
    float x_cost[PW_WARP_LANES] = {0};
    distances(w, g, mask, first, x_cost);
    load_member(w, mask, g, first, offsetof(struct point, weight), 4);
    load_member(w, mask, g, first, offsetof(struct point, cost), 4);
    pw_use(w);
    pw_compute(w, 3);
    PW_FOR_LANES(lane, mask)
    {
        x_cost[lane] *= points[first + lane].weight;
        nearer |= (uint32_t)(x_cost[lane] < points[first + lane].cost) << lane;
    }
    if (mask & ~nearer)
        stay(w, g, mask & ~nearer, first, x_cost);
    if (nearer)
        move_to_x(w, g, nearer, first, x_cost);
}

/* Cost of every point when assigned to x, by the operations of its thread in their order. */
static const float *costs_to(const struct arguments *g, uint64_t x)
{
    const float *row = g->coordinates.data;
    const struct point *points = g->points.data;
    memset(g->costs, 0, g->n * sizeof *g->costs);
    for (uint64_t k = 0; k < g->dimensions; k++, row += g->n)
        for (uint64_t i = 0; i < g->n; i++)
            g->costs[i] += (row[i] - row[x]) * (row[i] - row[x]);
    for (uint64_t i = 0; i < g->n; i++)
        g->costs[i] *= points[i].weight;
    return g->costs;
}

/* The kernel's work memory and flags, point by point. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const struct point *points = g->points.data;
    const float *work = g->work.data, *costs = costs_to(g, g->x);
    uint64_t wrong = g->n, stride = g->centers + 1;
    for (uint64_t i = g->n; i-- > 0;) {
        float difference = costs[i] - points[i].cost;
        bool nearer = costs[i] < points[i].cost;
        uint64_t column = nearer ? g->centers : (uint32_t)((const int32_t *)g->center_table.data)[points[i].assign];
        bool right = ((const uint8_t *)g->switches.data)[i] == nearer;
        for (uint64_t k = 0; k < stride; k++)
            right &= work[i * stride + k] == (k != column ? 0 : nearer ? difference : -difference);
        wrong = right ? wrong : i;
    }
    pw_host_expect(h, wrong == g->n, "the gain of point %llu is wrong", (unsigned long long)wrong);
}

/* Which centres x would make superfluous, whether opening it pays, and if so, doing it. */
static void decide(struct pw_host *h, struct arguments *g, float facility_cost, bool *is_center)
{
    struct point *points = g->points.data;
    const int32_t *table = g->center_table.data;
    const uint8_t *switches = g->switches.data;
    float *work = g->work.data, cost_of_opening = facility_cost, *lower = pw_host_keep(h, g->centers * sizeof *lower);
    uint64_t stride = g->centers + 1, closed = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        if (is_center[i]) {
            float low = facility_cost;
            for (uint64_t j = 0; j < g->n; j++)
                low += work[j * stride + (uint32_t)table[i]];
            lower[table[i]] = low;
            closed += low > 0;
            cost_of_opening -= low > 0 ? low : 0;
        }
        cost_of_opening += work[i * stride + g->centers];
    }
    if (cost_of_opening >= 0)
        return;
    const float *costs = costs_to(g, g->x);
    for (uint64_t i = 0; i < g->n; i++) {
        if (switches[i] || lower[table[points[i].assign]] > 0) {
            points[i].cost = costs[i];
            points[i].assign = (int64_t)g->x;
        }
        is_center[i] = is_center[i] && !(lower[table[i]] > 0);
    }
    is_center[g->x] = true;
    g->centers = g->centers + 1 - closed;
}

static void pgain(struct pw_host *h, struct arguments *g, float facility_cost, bool *is_center)
{
    for (uint64_t i = 0, count = 0; i < g->n; i++)
        if (is_center[i])
            ((int32_t *)g->center_table.data)[i] = (int32_t)count++;
    memset(g->switches.data, 0, g->n);
    pw_launch(h, &(struct pw_launch){.name = "kernel_compute_cost",
                                     .grid = {(uint32_t)((g->n + CTA_THREADS - 1) / CTA_THREADS), 1, 1},
                                     .block = {CTA_THREADS, 1, 1},
                                     .registers = 32,
                                     .kernel = compute_cost_kernel,
                                     .arguments = g});
    if (pw_host_verifying(h))
        verify(h, g);
    decide(h, g, facility_cost, is_center);
}

/* Random points and centres, each point assigned to the nearest. Returns the total cost. */
static float start(struct pw_host *h, struct arguments *g, bool *is_center)
{
    uint64_t seed = pw_random_next(pw_host_random(h));
    struct point *points = g->points.data;
    float total = 0;
    for (uint64_t i = 0; i < g->coordinates.count; i++)
        ((float *)g->coordinates.data)[i] = pw_hash_unit(pw_hash(seed, i));
    for (uint64_t i = 0; i < g->n; i++)
        points[i].weight = 1;
    for (uint64_t c = 0; c < g->centers; c++) {
        uint64_t x = pw_permuted(seed, c, g->n);
        const float *costs = costs_to(g, x);
        is_center[x] = true;
        for (uint64_t i = 0; i < g->n; i++)
            if (!c || costs[i] < points[i].cost) {
                points[i].cost = costs[i];
                points[i].assign = (int64_t)x;
            }
    }
    for (uint64_t i = 0; i < g->n; i++)
        total += points[i].cost;
    return total;
}

static void streamcluster_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = {.n = pw_host_scaled(h, p->points, 1), .dimensions = p->dimensions};
    g.centers = p->centers < g.n ? p->centers : g.n;
    uint64_t columns = g.centers + p->gains + 1; /* of the work memory, at most */
    if (g.n > INT32_MAX / (columns > g.dimensions ? columns : g.dimensions))
        pw_host_fail(h, "the original's indices are ints: points * dimensions and points * centers are at most 2G");
    g.costs = pw_host_keep(h, g.n * sizeof *g.costs);
    bool *is_center = pw_host_keep(h, g.n * sizeof *is_center);
    float facility_cost = 0;
    pw_host_plan_passes(h, 1, 0);
    for (uint32_t gain = 0; pw_host_pass(h, gain, p->gains); gain++) {
        g.work = pw_alloc(h, "work_mem", (g.centers + 1) * (g.n + 1), sizeof(float));
        if (!gain) {
            g.center_table = pw_alloc(h, "center_table", g.n, sizeof(int32_t));
            g.switches = pw_alloc(h, "switch_membership", g.n, sizeof(uint8_t));
            g.points = pw_alloc(h, "p", g.n, sizeof(struct point));
            g.coordinates = pw_alloc(h, "coord", g.n * g.dimensions, sizeof(float));
            facility_cost = start(h, &g, is_center) / FACILITY_SHARE;
        }
        g.x = pw_random_below(pw_host_random(h), g.n);
        pgain(h, &g, facility_cost, is_center);
        pw_free(h, &g.work);
    }
    struct pw_array *const in_order[] = {&g.center_table, &g.switches, &g.points, &g.coordinates};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

static const struct pw_option rows[] = {
    {"points", PW_OPTION_COUNT, offsetof(struct parameters, points), 1, INT32_MAX, "65536", "points", NULL,
     "points to be clustered", false},
    {"dimensions", PW_OPTION_COUNT, offsetof(struct parameters, dimensions), 1, 65536, "256", "", NULL,
     "coordinates of a point", false},
    {"centers", PW_OPTION_COUNT, offsetof(struct parameters, centers), 1, 4096, "10", "points", NULL,
     "centres to start with", false},
    {"gains", PW_OPTION_COUNT, offsetof(struct parameters, gains), 1, 100000, "179", "launches", NULL,
     "candidates weighed, one launch each", false},
    {0},
};
static const struct pw_preset presets[] = {{"table", "points=65536:dimensions=256"}, {0}};

const struct pw_workload pw_workload_sc = {
    .name = "SC",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = "streamcluster: distances to a candidate centre over coordinates stored by dimension",
    .parameters = rows,
    .presets = presets,
    .passes = "gains",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = streamcluster_main,
};
