/* The kernels of Hetero-Mark's k-means, as MGPUSim has them (kmeans:variant=heteromark).
 *
 * Kept: CTAs of 64 threads, a thread a point; kmeans_kernel_swap, which turns the array of points into one of features,
 * a warp's loads being a point apart and its stores consecutive; kmeans_kernel_compute, in which a thread reads its
 * point's features once for every centre, and with each the centre's. MGPUSim's version for several GPUs divides
 * `features`, `features_swap` and `membership` among them (driver.Distribute) and gives every GPU `clusters` of its
 * own; here there is one array of them. A CTA is one wavefront in the original, two warps here.
 * Simplified: the centres are read by a broadcast load, which in the original is a scalar one, past the vector TLB;
 * the original ends when no point changes its cluster, here all iterations are made (5 are MGPUSim's default, after
 * which random points still change).
 * Instruction counts (without waits), loads in flight and registers are those of MGPUSim's binary for GCN3: no loop is
 * unrolled, a thread waits for each feature (and the centre's beside it) before it asks for the next. */
#include "workload/rodinia/kmeans.h"

enum { BLOCK = 64 };

static void swap_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_kmeans *g = arguments;
    const float *from = g->flipped.data;
    float *to = g->features.data;
    int64_t point = (int64_t)w->cta.x * BLOCK + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)point, (uint64_t)g->points);
    pw_compute(w, 12);
    if (!mask)
        return;
    pw_compute(w, 3);
    for (uint32_t i = 0; i < g->feature_count; i++) {
        pw_compute(w, 5);
        pw_load_strided(w, mask, &g->flipped, point * g->feature_count + i, g->feature_count);
        pw_compute(w, 10);
        pw_use(w);
        pw_store_run(w, mask, &g->features, point + g->points * i);
        pw_compute(w, 1);
        if (to)
            PW_FOR_LANES(lane, mask)
        to[point + lane + g->points * i] = from[(point + lane) * g->feature_count + i];
    }
}

static void compute_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_kmeans *g = arguments;
    const float *features = g->features.data;
    int32_t *membership = g->membership.data;
    int64_t point = (int64_t)w->cta.x * BLOCK + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)point, (uint64_t)g->points);
    pw_compute(w, 10);
    if (!mask)
        return;
    pw_compute(w, 5 + 2 + 8);
    for (uint32_t i = 0; i < g->cluster_count; i++) {
        pw_compute(w, 5);
        for (uint32_t j = 0; j < g->feature_count; j++) {
            pw_compute(w, 5);
            pw_load_run(w, mask, &g->features, point + g->points * j);
            pw_compute(w, 2);
            pw_load_strided(w, mask, &g->clusters, (int64_t)i * g->feature_count + j, 0);
            pw_compute(w, 6);
            pw_use(w);
            pw_compute(w, 3);
        }
        pw_compute(w, 10);
    }
    pw_compute(w, 1 + 5);
    pw_store_run(w, mask, &g->membership, point);
    if (membership)
        PW_FOR_LANES(lane, mask)
    membership[point + lane] =
        pw_kmeans_nearest(features + point + lane, (uint64_t)g->points, g->centres, g->cluster_count, g->feature_count);
}

static struct pw_launch launch_of(const struct pw_kmeans *g, const char *name, pw_kernel_fn *kernel, uint32_t registers)
{
    return (struct pw_launch){.name = name,
                              .grid = {(uint32_t)((g->points + BLOCK - 1) / BLOCK), 1, 1},
                              .block = {BLOCK, 1, 1},
                              .registers = registers,
                              .kernel = kernel,
                              .arguments = g};
}

struct pw_launch pw_kmeans_heteromark_swap(const struct pw_kmeans *g)
{
    return launch_of(g, "kmeans_kernel_swap", swap_kernel, 8);
}

struct pw_launch pw_kmeans_heteromark_compute(const struct pw_kmeans *g)
{
    return launch_of(g, "kmeans_kernel_compute", compute_kernel, 15);
}
