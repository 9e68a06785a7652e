/* Quality threshold clustering of SHOC: what its kernels share, and the growth of one candidate cluster, which two of
 * them do. */
#ifndef PW_WORKLOAD_QTC_H
#define PW_WORKLOAD_QTC_H

#include "workload/runtime/host.h"
#include "workload/shoc/points.h"

enum { PW_QTC_BLOCK = 64, PW_QTC_NONE = -1 };

struct pw_qtc {
    struct pw_array distances, neighbours, degrees, ungrouped, candidate, cache, clustered, cardinalities, result;
    uint32_t points, left, row, ctas, seeds; /* left: not in a cluster; row: entries of the matrices' rows */
    float threshold;
    int32_t seed;    /* of the cluster that trim takes out */
    int32_t *before; /* trim: the ungrouped points as it finds them */
};

/* A CTA's shared memory. */
struct pw_qtc_shared {
    float distance[PW_QTC_BLOCK];
    int32_t point[PW_QTC_BLOCK];
    int32_t closest;
};

/* Grows a cluster from the seed; returns how many points it has. `keep`: lists them in `result`. */
uint32_t pw_qtc_grow(struct pw_warp *w, const struct pw_qtc *g, int32_t seed, bool keep);

/* Checks, between trim and update, that the round's cluster of `size` points is the largest candidate: the first such
 * one that a CTA finds, of the first such CTA. */
void pw_qtc_verify_round(struct pw_host *h, const struct pw_qtc *g, const struct pw_point *p, uint32_t size);

/* Checks, after the update, that exactly the points not in a cluster are listed, in order. */
void pw_qtc_verify_list(struct pw_host *h, const struct pw_qtc *g);

#endif
