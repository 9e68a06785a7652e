/* Points on a plane in groups of random radius and number, and who is near whom, as SHOC's clustering makes them.
 *
 * Groups lie in a square of 20 by 20, with radii of up to 10 and up to count / 30 points that are denser towards the
 * middle. */
#ifndef PW_WORKLOAD_POINTS_H
#define PW_WORKLOAD_POINTS_H

#include "workload/runtime/host.h"

struct pw_point {
    float x, y;
};

/* Lives as long as the program. */
struct pw_point *pw_points_make(struct pw_host *h, uint32_t count, uint64_t seed);

static inline float pw_points_distance2(struct pw_point a, struct pw_point b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

/* The most neighbours nearer than `threshold` that a point has, itself not counted. */
uint32_t pw_points_max_degree(const struct pw_point *p, uint32_t count, float threshold);

/* Per point a row of `row` entries: its neighbours in ascending order, then -1; and how far away they are. */
void pw_points_neighbours(const struct pw_point *p, uint32_t count, float threshold, uint32_t row, int32_t *neighbours,
                          float *distances);

#endif
