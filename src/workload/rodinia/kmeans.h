/* k-means: what Rodinia's and Hetero-Mark's programs share. Both turn an array of points into one of features and then
 * sort the points to the nearest of some centres, which the host moves between launches. */
#ifndef PW_WORKLOAD_KMEANS_H
#define PW_WORKLOAD_KMEANS_H

#include "workload/runtime/host.h"

struct pw_kmeans {
    struct pw_array flipped, features, membership, clusters;
    int64_t points;
    uint32_t feature_count, cluster_count;
    bool heteromark;
    const float *centres; /* NULL without values */
};

/* The number of the nearest centre to a point whose features are at `at`, `stride` apart. */
int32_t pw_kmeans_nearest(const float *at, uint64_t stride, const float *centres, uint32_t clusters, uint32_t features);

struct pw_launch pw_kmeans_heteromark_swap(const struct pw_kmeans *g);
struct pw_launch pw_kmeans_heteromark_compute(const struct pw_kmeans *g);

#endif
