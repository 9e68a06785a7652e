/* QTC: quality threshold clustering of SHOC, compact storage. Each round grows a candidate cluster around every point
 * not yet in one, adding the point that widens it least while its diameter stays within the threshold; the largest
 * candidate becomes a cluster and its points are taken out.
 *
 * Kept: CTAs of 64 threads, 576 of them while there are as many points, each trying every 576th point as a seed and
 * skipping those with too few neighbours; rows of neighbours and of distances, all as long as the longest; 12
 * candidates per thread in registers; per step the cached distance, the two masks and the search through the latest
 * point's row, which goes on where the thread's last unsuccessful one ended; thread 0's reduction; compute_degrees,
 * QTC_device, reduce_card_device, trim_ungrouped_pnts_indr_array and update_clustered_pnts_mask in the original's
 * sequence; points in groups of random radius and number on a square of 20 by 20; the order of allocations and frees.
 * Simplified: the original tries all seeds in every round and goes on until all points are in clusters, billions of
 * instructions; here a CTA tries at most `seeds` points per round (0: as the original), and the rounds are cut. Where
 * the original's threads race (a CTA's mask is cleared while the seed is set, the list is compacted in place), what was
 * meant happens. Counts are estimates for compiled code: 6 instructions per step of the search, 6 per entry of the
 * reduction. Every load is waited for by the test that follows it. */
#include "workload/shoc/qtc.h"

#include <string.h>

enum { BLOCK = PW_QTC_BLOCK, MAX_POINTS = 1 << 16 };

struct parameters {
    uint32_t points, ctas, seeds, rounds;
    double threshold;
};

static void load_one(struct pw_warp *w, uint32_t mask, const struct pw_array *a, uint64_t index)
{
    pw_load_strided(w, mask, a, (int64_t)index, 0);
    pw_use(w);
}

static void degrees_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_qtc *g = arguments;
    const int32_t *neighbours = g->neighbours.data;
    uint32_t share = (g->points + g->ctas - 1) / g->ctas, first = w->cta_index * share;
    uint32_t end = first + share < g->points ? first + share : g->points;
    pw_compute(w, 16);
    for (uint32_t i = first + pw_first_thread(w); i < end; i += w->launch->block.x) {
        uint32_t mask = pw_lanes_below(w, i, end);
        for (uint32_t j = 0; j < g->row; j++) {
            pw_load_strided(w, mask, &g->neighbours, (int64_t)((uint64_t)i * g->row + j), g->row);
            pw_use(w);
            pw_compute(w, 4);
        }
        pw_store_run(w, mask, &g->degrees, i);
        pw_compute(w, 3);
        PW_FOR_LANES(lane, mask)
        for (uint32_t j = 0; j < g->row; j++)
            ((int32_t *)g->degrees.data)[i + lane] += neighbours[(uint64_t)(i + lane) * g->row + j] >= 0;
    }
}

static void qtc_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_qtc *g = arguments;
    const int32_t *ungrouped = g->ungrouped.data, *degrees = g->degrees.data;
    int32_t *best = &((int32_t *)g->cardinalities.data)[2 * w->cta_index], cardinality = -1, winner = PW_QTC_NONE;
    pw_compute(w, 14);
    for (uint32_t i = w->cta_index, tried = 0; i < g->left && (!g->seeds || tried < g->seeds); i += g->ctas) {
        int32_t seed = ungrouped[i];
        pw_compute(w, 4);
        load_one(w, w->lanes, &g->ungrouped, i);
        pw_compute(w, 1);
        load_one(w, w->lanes, &g->degrees, (uint64_t)seed);
        pw_compute(w, 2);
        if (degrees[seed] <= cardinality)
            continue;
        int32_t count = (int32_t)pw_qtc_grow(w, g, seed, false);
        winner = count > cardinality ? seed : winner;
        cardinality = count > cardinality ? count : cardinality;
        tried++;
    }
    if (!w->index) {
        pw_compute(w, 4);
        pw_store_run(w, 1, &g->cardinalities, 2 * (int64_t)w->cta_index);
        pw_store_run(w, 1, &g->cardinalities, 2 * (int64_t)w->cta_index + 1);
        best[0] = cardinality;
        best[1] = winner;
    }
}

static void reduce_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_qtc *g = arguments;
    int32_t *best = g->cardinalities.data, cardinality = -1, winner = PW_QTC_NONE;
    for (uint32_t i = 0; i < 2 * g->ctas; i += 2) {
        load_one(w, 1, &g->cardinalities, i);
        pw_compute(w, 4);
        if (best[i] > cardinality) {
            cardinality = best[i];
            winner = best[i + 1];
            load_one(w, 1, &g->cardinalities, i + 1);
            pw_compute(w, 1);
        }
    }
    pw_store_run(w, 1, &g->cardinalities, 0);
    pw_store_run(w, 1, &g->cardinalities, 1);
    best[0] = cardinality;
    best[1] = winner;
}

static void trim_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_qtc *g = arguments;
    const char *taken = g->candidate.data;
    int32_t *ungrouped = g->ungrouped.data;
    pw_compute(w, 6);
    load_one(w, w->lanes, &g->degrees, (uint64_t)g->seed);
    pw_qtc_grow(w, g, g->seed, true);
    pw_barrier(w);
    for (uint32_t i = 0, count = 0; i < g->left; i += BLOCK) {
        uint32_t first = i + pw_first_thread(w), mask = pw_lanes_below(w, first, g->left), stays = mask, block = 0;
        uint64_t point[PW_WARP_LANES];
        PW_FOR_LANES(lane, mask)
        {
            point[lane] = (uint64_t)g->before[first + lane];
            stays &= ~((uint32_t)taken[point[lane]] << lane);
        }
        pw_load_run(w, mask, &g->ungrouped, first);
        pw_use(w);
        pw_compute(w, 3);
        pw_load_lanes(w, mask, &g->candidate, point);
        pw_use(w);
        pw_compute(w, 4);
        pw_store_run(w, stays, &g->ungrouped, (int64_t)count + pw_first_thread(w));
        pw_barrier(w);
        uint32_t end = i + BLOCK < g->left ? i + BLOCK : g->left, kept = count;
        for (uint32_t j = i; j < end; j++)
            block += !taken[g->before[j]];
        for (uint32_t j = i; !w->index && j < end; j++)
            if (!taken[g->before[j]]) {
                ungrouped[kept] = g->before[j];
                if (block < end - i) {
                    pw_compute(w, 6);
                    pw_store_run(w, 1, &g->ungrouped, kept);
                }
                kept++;
            }
        count += block;
        pw_compute(w, 4);
        pw_barrier(w);
    }
}

static void update_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_qtc *g = arguments;
    const char *taken = g->candidate.data;
    char *clustered = g->clustered.data;
    pw_compute(w, 5);
    for (uint32_t i = pw_first_thread(w); i < g->points; i += BLOCK) {
        uint32_t mask = pw_lanes_below(w, i, g->points);
        pw_load_run(w, mask, &g->clustered, i);
        pw_load_run(w, mask, &g->candidate, i);
        pw_use(w);
        pw_compute(w, 2);
        pw_store_run(w, mask, &g->clustered, i);
        pw_compute(w, 3);
        PW_FOR_LANES(lane, mask)
        clustered[i + lane] |= taken[i + lane];
    }
    pw_barrier(w);
}

static void launch(struct pw_host *h, struct pw_qtc *g, const char *name, uint32_t ctas, uint32_t threads,
                   pw_kernel_fn *kernel)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = {ctas, 1, 1},
                                     .block = {threads, 1, 1},
                                     .shared_bytes = sizeof(struct pw_qtc_shared),
                                     .registers = 48,
                                     .kernel = kernel,
                                     .arguments = g});
}

static void allocate(struct pw_host *h, struct pw_qtc *g, const struct pw_point *p)
{
    uint64_t matrix = (uint64_t)g->points * g->row;
    g->distances = pw_alloc(h, "distance_matrix", matrix, sizeof(float));
    g->neighbours = pw_alloc(h, "indr_mtrx", matrix, sizeof(int32_t));
    g->degrees = pw_alloc(h, "degrees", g->points, sizeof(int32_t));
    g->ungrouped = pw_alloc(h, "ungrpd_pnts_indr", g->points, sizeof(int32_t));
    g->candidate = pw_alloc(h, "Ai_mask", (uint64_t)g->ctas * g->points, sizeof(char));
    g->cache = pw_alloc(h, "dist_to_clust", (uint64_t)g->ctas * g->row, sizeof(float));
    g->clustered = pw_alloc(h, "clustered_pnts_mask", g->points, sizeof(char));
    g->cardinalities = pw_alloc(h, "cardnl", 2 * (uint64_t)g->ctas, sizeof(int32_t));
    g->result = pw_alloc(h, "result", g->points, sizeof(int32_t));
    g->before = pw_host_keep(h, g->points * sizeof *g->before);
    pw_points_neighbours(p, g->points, g->threshold, g->row, g->neighbours.data, g->distances.data);
    for (uint32_t i = 0; i < g->points; i++)
        ((int32_t *)g->ungrouped.data)[i] = (int32_t)i;
}

static void qtc_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t points = pw_host_scaled(h, p->points, 1);
    if (points > MAX_POINTS)
        pw_host_fail(h, "points is at most %d", MAX_POINTS);
    const struct pw_point *at = pw_points_make(h, (uint32_t)points, pw_random_next(pw_host_random(h)));
    struct pw_qtc g = {.points = (uint32_t)points, .left = (uint32_t)points, .seeds = p->seeds};
    g.threshold = (float)p->threshold;
    g.row = pw_points_max_degree(at, g.points, g.threshold);
    g.row = g.row ? g.row : 1;
    g.ctas = g.left < p->ctas ? g.left : p->ctas;
    allocate(h, &g, at);
    launch(h, &g, "compute_degrees", g.ctas, g.points < BLOCK ? g.points : BLOCK, degrees_kernel);
    for (uint32_t round = 0, size = 2; size > 1 && g.left && pw_host_pass(h, round, p->rounds); round++) {
        const int32_t *best = g.cardinalities.data;
        g.ctas = g.left < p->ctas ? g.left : p->ctas;
        launch(h, &g, "QTC_device", g.ctas, BLOCK, qtc_kernel);
        if (g.ctas > 1)
            launch(h, &g, "reduce_card_device", 1, 1, reduce_kernel);
        size = (uint32_t)best[0];
        g.seed = best[1];
        memcpy(g.before, g.ungrouped.data, g.left * sizeof *g.before);
        launch(h, &g, "trim_ungrouped_pnts_indr_array", 1, BLOCK, trim_kernel);
        if (pw_host_verifying(h))
            pw_qtc_verify_round(h, &g, at, size);
        launch(h, &g, "update_clustered_pnts_mask", 1, BLOCK, update_kernel);
        g.left -= size;
        if (pw_host_verifying(h))
            pw_qtc_verify_list(h, &g);
    }
    struct pw_array *freed[] = {&g.distances, &g.neighbours, &g.degrees,       &g.ungrouped, &g.candidate,
                                &g.cache,     &g.clustered,  &g.cardinalities, &g.result};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const struct pw_option rows[] = {
    {"points", PW_OPTION_COUNT, offsetof(struct parameters, points), 1, MAX_POINTS, "8192", "points", NULL,
     "points to cluster", false},
    {"threshold", PW_OPTION_NUMBER, offsetof(struct parameters, threshold), 0, 40, "1", "", NULL,
     "largest diameter of a cluster, on a square of 20 by 20", false},
    {"ctas", PW_OPTION_COUNT, offsetof(struct parameters, ctas), 1, 65535, "576", "CTAs", NULL,
     "CTAs of the main kernel while there are as many points", false},
    {"seeds", PW_OPTION_COUNT, offsetof(struct parameters, seeds), 0, 0, "1", "points", NULL,
     "points that a CTA tries as seeds per round; 0: all of its points", false},
    {"rounds", PW_OPTION_COUNT, offsetof(struct parameters, rounds), 0, 0, "0", "clusters", NULL,
     "clusters to find; 0: until all points are in one", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "points=4096"}, {"full", "points=4096:seeds=0:rounds=0"}, {0}};

const struct pw_workload pw_workload_qtc = {
    .name = "QTC",
    .suite = "SHOC",
    .papers = "mosaic mask",
    .summary = "quality threshold clustering: clusters grown by searching rows of neighbours",
    .parameters = rows,
    .presets = presets,
    .passes = "rounds",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = qtc_main,
};
