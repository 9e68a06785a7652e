/* Groups of points. The model is described in points.h. */
#include "workload/shoc/points.h"

#include "workload/runtime/inputs.h"

#include <float.h>
#include <math.h>

struct pw_point *pw_points_make(struct pw_host *h, uint32_t count, uint64_t seed)
{
    const float side = 20.0F;
    struct pw_point *p = pw_host_keep(h, count * sizeof *p);
    uint64_t draws = 0;
    uint32_t largest = count / 30 ? count / 30 : 1;
    for (uint32_t made = 0; made < count;) {
        float x = side * pw_hash_unit(pw_hash(seed, draws++)), y = side * pw_hash_unit(pw_hash(seed, draws++));
        float radius = side / 2 * pw_hash_unit(pw_hash(seed, draws++));
        uint32_t group = 1 + (uint32_t)pw_hash_below(pw_hash(seed, draws++), largest);
        while (group && made < count) {
            float r = radius * pw_hash_unit(pw_hash(seed, draws++));
            float dx = r * (2.0F * pw_hash_unit(pw_hash(seed, draws++)) - 1.0F), dy = sqrtf(r * r - dx * dx);
            struct pw_point point = {x + dx, pw_hash(seed, draws++) >> 63 ? y + dy : y - dy};
            if (point.x < 0 || point.x > side || point.y < 0 || point.y > side)
                continue;
            p[made++] = point;
            group--;
        }
    }
    return p;
}

uint32_t pw_points_max_degree(const struct pw_point *p, uint32_t count, float threshold)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t degree = 0;
        for (uint32_t j = 0; j < count; j++)
            degree += j != i && pw_points_distance2(p[i], p[j]) < threshold * threshold;
        most = degree > most ? degree : most;
    }
    return most;
}

void pw_points_neighbours(const struct pw_point *p, uint32_t count, float threshold, uint32_t row, int32_t *neighbours,
                          float *distances)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = (uint64_t)i * row, end = at + row;
        for (uint32_t j = 0; j < count; j++) {
            float square = pw_points_distance2(p[i], p[j]);
            if (j != i && square < threshold * threshold) {
                neighbours[at] = (int32_t)j;
                distances[at++] = sqrtf(square);
            }
        }
        for (; at < end; at++) {
            neighbours[at] = -1;
            distances[at] = FLT_MAX;
        }
    }
}
