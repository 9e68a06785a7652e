/* kmeans: Rodinia's k-means clustering.
 *
 * Kept: 494,020 points of 34 features (kdd_cup) and 5 clusters; invert_mapping, which turns the array of points into
 * one of features, a thread a point: a warp's loads are a point apart, its stores consecutive; then per iteration
 * kmeansPoint, in which a thread reads its point's features from the inverted array once for every cluster, the centres
 * being in constant memory, and stores the nearest cluster's number; CTAs of 256 threads, as many as the next square
 * number, in a row for the first kernel and in a square for the second; the host between iterations, which moves the
 * centres to the means of their points; the first points as the first centres; the arrays and their order.
 * Simplified: points are uniformly random; 2 iterations by default, where the original goes on until no point changes
 * its cluster; fetches from a texture are plain loads.
 * Instruction counts, loads in flight and registers are those of the kernels as nvcc 13 compiles them for sm_90: four
 * features at a time in kmeansPoint, sixteen, eight or four in invert_mapping.
 *
 * variant=heteromark is Hetero-Mark's program, with kernels of its own (kmeans_heteromark.c): CTAs of 64 threads, as
 * many as the points need; all arrays allocated before the first launch; centres in global memory. Changed: a centre
 * without points stays, as in Rodinia's, where Hetero-Mark's becomes 0. */
#include "workload/rodinia/kmeans.h"

#include "workload/runtime/inputs.h"

#include <float.h>

enum { BLOCK = 256, UNROLLED = 4, MAX_CLUSTERS = 32, MAX_CENTRES = 32 * 34 };
enum variant { RODINIA, HETEROMARK };

struct parameters {
    uint32_t points, features, clusters, iterations, variant;
};

int32_t pw_kmeans_nearest(const float *at, uint64_t stride, const float *centres, uint32_t clusters, uint32_t features)
{
    int32_t index = -1;
    float smallest = FLT_MAX;
    for (uint32_t i = 0; i < clusters; i++) {
        float distance = 0;
        for (uint32_t j = 0; j < features; j++) {
            float difference = at[j * stride] - centres[i * features + j];
            distance += difference * difference;
        }
        if (distance < smallest) {
            smallest = distance;
            index = (int32_t)i;
        }
    }
    return index;
}

static void copy_features(struct pw_warp *w, const struct pw_kmeans *g, uint32_t mask, int64_t point, uint32_t first,
                          uint32_t count, uint32_t last)
{
    pw_compute(w, 3);
    for (uint32_t i = first; i < first + count; i++) {
        pw_load_strided(w, mask, &g->flipped, point * g->feature_count + i, g->feature_count);
        pw_compute(w, i == first + count - 1 ? last : 1);
        pw_use(w);
        pw_store_run(w, mask, &g->features, point + g->points * i);
    }
}

/* Whole fours: sixteen at a time while more than twelve are left, then eight, then four. */
static uint32_t copy_unrolled(struct pw_warp *w, const struct pw_kmeans *g, uint32_t mask, int64_t point)
{
    uint32_t fours = g->feature_count / UNROLLED * UNROLLED, done = 0;
    if (!fours)
        return 0;
    pw_compute(w, 8 + 3 + (fours > 12));
    for (; fours - done > 12; done += 16) {
        copy_features(w, g, mask, point, done, 16, 5);
        pw_compute(w, 2);
    }
    pw_compute(w, 2);
    if (fours - done > 4) {
        copy_features(w, g, mask, point, done, 8, 6);
        done += 8;
    }
    pw_compute(w, 2);
    for (; done < fours; done += 4) {
        copy_features(w, g, mask, point, done, 4, 5);
        pw_compute(w, 2);
    }
    return done;
}

static void invert_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_kmeans *g = arguments;
    int64_t point = (int64_t)w->cta.x * BLOCK + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)point, (uint64_t)g->points);
    const float *from = g->flipped.data;
    float *to = g->features.data;
    pw_compute(w, 8);
    if (!mask)
        return;
    pw_compute(w, 1 + 6);
    uint32_t done = copy_unrolled(w, g, mask, point);
    pw_compute(w, done < g->feature_count ? 2 + 6 : 1);
    for (; done < g->feature_count; done++) {
        pw_load_strided(w, mask, &g->flipped, point * g->feature_count + done, g->feature_count);
        pw_compute(w, 4);
        pw_use(w);
        pw_store_run(w, mask, &g->features, point + g->points * done);
        pw_compute(w, 2);
    }
    if (to)
        PW_FOR_LANES(lane, mask)
    for (uint32_t i = 0; i < g->feature_count; i++)
        to[point + lane + g->points * i] = from[(point + lane) * g->feature_count + i];
}

static void load_feature(struct pw_warp *w, const struct pw_kmeans *g, uint32_t mask, int64_t point, uint32_t feature)
{
    pw_load_run(w, mask, &g->features, point + g->points * feature);
}

/* The loads and instructions of one cluster's distance. */
static void weigh_cluster(struct pw_warp *w, const struct pw_kmeans *g, uint32_t mask, int64_t point)
{
    uint32_t j = 0, left = g->feature_count % UNROLLED;
    pw_compute(w, g->feature_count >= UNROLLED ? 6 + 6 : 6);
    for (; j + UNROLLED <= g->feature_count; j += UNROLLED) {
        pw_compute(w, 3);
        load_feature(w, g, mask, point, j);
        pw_compute(w, 1);
        load_feature(w, g, mask, point, j + 1);
        pw_compute(w, 1);
        load_feature(w, g, mask, point, j + 2);
        load_feature(w, g, mask, point, j + 3);
        pw_compute(w, 6);
        pw_use_all_but(w, 3);
        pw_compute(w, 5);
        pw_use_all_but(w, 1);
        pw_compute(w, 5);
        pw_use(w);
        pw_compute(w, 4);
    }
    pw_compute(w, 1);
    if (left) {
        pw_compute(w, 4);
        load_feature(w, g, mask, point, j);
        pw_compute(w, 5);
        pw_use(w);
        pw_compute(w, 3);
    }
    if (left > 1) {
        pw_compute(w, 5);
        load_feature(w, g, mask, point, j + 1);
        if (left > 2)
            load_feature(w, g, mask, point, j + 2);
        pw_compute(w, 2);
        pw_use(w);
        pw_compute(w, 4);
    }
    pw_compute(w, 7);
}

static void point_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_kmeans *g = arguments;
    int64_t point = (int64_t)w->cta_index * BLOCK + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, (uint64_t)point, (uint64_t)g->points);
    const float *features = g->features.data;
    int32_t *membership = g->membership.data;
    pw_compute(w, 12);
    if (!mask)
        return;
    pw_compute(w, 1 + 5 + 3 + 7);
    for (uint32_t i = 0; i < g->cluster_count; i++)
        weigh_cluster(w, g, mask, point);
    pw_compute(w, 2);
    pw_store_run(w, mask, &g->membership, point);
    if (membership)
        PW_FOR_LANES(lane, mask)
    membership[point + lane] =
        pw_kmeans_nearest(features + point + lane, (uint64_t)g->points, g->centres, g->cluster_count, g->feature_count);
}

/* Centres become the means of their points, summed in order; one without points stays. */
static void move_centres(const struct pw_kmeans *g, const float *points, const int32_t *membership, float *centres,
                         float *sums)
{
    uint32_t n = g->feature_count, members[MAX_CLUSTERS] = {0};
    for (uint32_t i = 0; i < g->cluster_count * n; i++)
        sums[i] = 0;
    for (int64_t point = 0; point < g->points; point++) {
        members[membership[point]]++;
        for (uint32_t j = 0; j < n; j++)
            sums[(uint32_t)membership[point] * n + j] += points[point * n + j];
    }
    for (uint32_t i = 0; i < g->cluster_count * n; i++) {
        uint32_t cluster = i / n;
        if (members[cluster])
            centres[i] = sums[i] / (float)members[cluster];
    }
}

/* Of the last iteration, from the points as they were read, not from the inverted array. */
static void verify(struct pw_host *h, const struct pw_kmeans *g, float *sums, uint32_t iterations)
{
    const float *points = g->flipped.data, *inverted = g->features.data;
    const int32_t *membership = g->membership.data;
    uint64_t centre_count = (uint64_t)g->cluster_count * g->feature_count, wrong = (uint64_t)g->points, misplaced = 0;
    int32_t *expected = pw_host_keep(h, (uint64_t)g->points * sizeof *expected);
    float *centres = pw_host_keep(h, centre_count * sizeof *centres);
    for (uint64_t i = 0; points && i < centre_count; i++)
        centres[i] = points[i];
    for (uint32_t iteration = 0; points && iteration < iterations; iteration++) {
        for (int64_t i = 0; i < g->points; i++)
            expected[i] =
                pw_kmeans_nearest(points + i * g->feature_count, 1, centres, g->cluster_count, g->feature_count);
        if (iteration < iterations - 1)
            move_centres(g, points, expected, centres, sums);
    }
    for (int64_t i = g->points; points && i-- > 0;) {
        wrong = membership[i] != expected[i] ? (uint64_t)i : wrong;
        for (uint32_t j = 0; j < g->feature_count; j++)
            misplaced += inverted[i + g->points * j] != points[i * g->feature_count + j];
    }
    pw_host_expect(h, !misplaced, "%llu features are not where they belong", (unsigned long long)misplaced);
    pw_host_expect(h, wrong == (uint64_t)g->points, "point %llu is in another cluster than sequentially",
                   (unsigned long long)wrong);
}

/* invert_mapping's grid is a row, kmeansPoint's a square. */
static uint32_t square_side(uint64_t points)
{
    uint64_t ctas = (points + BLOCK - 1) / BLOCK, side = 1;
    while (side * side < ctas)
        side++;
    return (uint32_t)side;
}

static void alloc_points(struct pw_host *h, struct pw_kmeans *g)
{
    uint64_t values = (uint64_t)g->points * g->feature_count, seed = pw_random_next(pw_host_random(h));
    g->flipped = pw_alloc(h, g->heteromark ? "features" : "feature_flipped_d", values, sizeof(float));
    g->features = pw_alloc(h, g->heteromark ? "features_swap" : "feature_d", values, sizeof(float));
    for (uint64_t i = 0; g->flipped.data && i < g->flipped.count; i++)
        ((float *)g->flipped.data)[i] = pw_hash_unit(pw_hash(seed, i));
}

static void alloc_clusters(struct pw_host *h, struct pw_kmeans *g)
{
    uint64_t centres = (uint64_t)g->cluster_count * g->feature_count;
    g->membership = pw_alloc(h, g->heteromark ? "membership" : "membership_d", (uint64_t)g->points, sizeof(int32_t));
    g->clusters = pw_alloc(h, g->heteromark ? "clusters" : "clusters_d", centres, sizeof(float));
}

static void launch_turn(struct pw_host *h, const struct pw_kmeans *g)
{
    uint32_t side = square_side((uint64_t)g->points);
    struct pw_launch rodinia = {.name = "invert_mapping",
                                .grid = {side * side, 1, 1},
                                .block = {BLOCK, 1, 1},
                                .registers = 28,
                                .pace = 4179,
                                .kernel = invert_kernel,
                                .arguments = g};
    struct pw_launch heteromark = pw_kmeans_heteromark_swap(g);
    pw_launch(h, g->heteromark ? &heteromark : &rodinia);
}

static void launch_sort(struct pw_host *h, const struct pw_kmeans *g)
{
    uint32_t side = square_side((uint64_t)g->points);
    struct pw_launch rodinia = {.name = "kmeansPoint",
                                .grid = {side, side, 1},
                                .block = {BLOCK, 1, 1},
                                .registers = 23,
                                .pace = 3183,
                                .kernel = point_kernel,
                                .arguments = g};
    struct pw_launch heteromark = pw_kmeans_heteromark_compute(g);
    pw_launch(h, g->heteromark ? &heteromark : &rodinia);
}

static void cluster(struct pw_host *h, struct pw_kmeans *g, uint32_t iterations)
{
    uint64_t centre_count = (uint64_t)g->cluster_count * g->feature_count;
    const float *points = g->flipped.data;
    float *centres = points ? pw_host_keep(h, centre_count * sizeof *centres) : NULL;
    float *sums = points ? pw_host_keep(h, centre_count * sizeof *sums) : NULL;
    if (g->heteromark)
        alloc_clusters(h, g);
    launch_turn(h, g);
    if (!g->heteromark) /* later, as in the original */
        alloc_clusters(h, g);
    for (uint64_t i = 0; centres && i < centre_count; i++)
        centres[i] = points[i];
    g->centres = centres;
    for (uint32_t i = 0; i < iterations; i++) {
        if (i && centres)
            move_centres(g, points, g->membership.data, centres, sums);
        launch_sort(h, g);
    }
    if (pw_host_verifying(h))
        verify(h, g, sums, iterations);
}

static void kmeans_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t points = pw_host_scaled(h, p->points, 1);
    struct pw_kmeans g = {.points = (int64_t)points,
                          .feature_count = p->features,
                          .cluster_count = p->clusters,
                          .heteromark = p->variant == HETEROMARK};
    if (points * p->features > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: points * features is below 2G");
    if (!g.heteromark && p->features * p->clusters > MAX_CENTRES)
        pw_host_fail(h, "features * clusters is at most %d, as in the original's constant memory", MAX_CENTRES);
    if (points < g.cluster_count)
        g.cluster_count = (uint32_t)points; /* as Rodinia's */
    alloc_points(h, &g);

    pw_host_plan(h, 1 + p->iterations);
    cluster(h, &g, p->iterations);
    struct pw_array *const freed[] = {&g.features, &g.flipped, &g.membership, &g.clusters};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const char *const variants[] = {"rodinia", "heteromark", NULL};

static const struct pw_option rows[] = {
    {"points", PW_OPTION_COUNT, offsetof(struct parameters, points), 1, 1 << 30, "494020", "points", NULL,
     "points to be clustered", false},
    {"features", PW_OPTION_COUNT, offsetof(struct parameters, features), 1, MAX_CENTRES, "34", "features", NULL,
     "coordinates of a point", false},
    {"clusters", PW_OPTION_COUNT, offsetof(struct parameters, clusters), 1, MAX_CLUSTERS, "5", "clusters", NULL,
     "centres", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 500, "2", "", NULL,
     "launches of the kernel that sorts the points, each with the centres of the last", false},
    {"variant", PW_OPTION_CHOICE, offsetof(struct parameters, variant), 0, 0, "rodinia", "", variants,
     "whose program: Rodinia's or Hetero-Mark's", false},
    {0},
};

/* gmmu-bypass: 64.0 MB with the features and clusters that MGPUSim has by default. Of its 5 iterations, which touch the
 * same pages, one: with the turning it takes 84 million events. */
static const struct pw_preset presets[] = {
    {"compression", "points=494020:features=34:clusters=5:iterations=2"},
    {"gmmu-bypass", "variant=heteromark:points=258048:features=32:clusters=5:iterations=1"},
    {0},
};

const struct pw_workload pw_workload_kmeans = {
    .name = "kmeans",
    .suite = "Rodinia, Hetero-Mark",
    .papers = "compression gmmu-bypass",
    .summary = "k-means: points turned into columns of features, then read column by column for every cluster",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = kmeans_main,
};
