/* The clusters by the definition, from the points themselves: without matrices, caches or threads. */
#include "workload/shoc/qtc.h"

#include <math.h>
#include <string.h>

/* The members of the cluster around a seed, by the definition. */
static uint32_t sequential_cluster(const struct pw_qtc *g, const struct pw_point *p, const char *clustered,
                                   int32_t seed, float *width, int32_t *members)
{
    uint32_t count = 0;
    int32_t latest = seed;
    for (uint32_t i = 0; i < g->points; i++)
        width[i] = (int32_t)i != seed && !clustered[i] ? 0 : INFINITY;
    while (latest != PW_QTC_NONE) {
        members[count++] = latest;
        float least = g->threshold;
        int32_t closest = PW_QTC_NONE;
        width[latest] = INFINITY;
        for (uint32_t i = 0; i < g->points && count < g->left; i++) {
            float square = width[i] <= g->threshold ? pw_points_distance2(p[latest], p[i]) : INFINITY;
            float distance = square < g->threshold * g->threshold ? sqrtf(square) : INFINITY;
            width[i] = distance > width[i] ? distance : width[i];
            if (width[i] < least || (width[i] == least && closest == PW_QTC_NONE)) {
                least = width[i];
                closest = (int32_t)i;
            }
        }
        latest = closest;
    }
    return count;
}

static int32_t degree_of(const struct pw_qtc *g, const struct pw_point *p, int32_t point)
{
    int32_t degree = 0;
    for (uint32_t i = 0; i < g->points; i++)
        degree += (int32_t)i != point && pw_points_distance2(p[point], p[i]) < g->threshold * g->threshold;
    return degree;
}

void pw_qtc_verify_round(struct pw_host *h, const struct pw_qtc *g, const struct pw_point *p, uint32_t size)
{
    const char *clustered = g->clustered.data;
    float *width = pw_host_keep(h, g->points * sizeof *width);
    int32_t *members = pw_host_keep(h, g->points * sizeof *members), most = -1, winner = PW_QTC_NONE;
    for (uint32_t cta = 0; cta < g->ctas; cta++) {
        int32_t largest = -1;
        for (uint32_t i = cta, tried = 0; i < g->left && (!g->seeds || tried < g->seeds); i += g->ctas) {
            if (degree_of(g, p, g->before[i]) <= largest)
                continue;
            tried++;
            int32_t count = (int32_t)sequential_cluster(g, p, clustered, g->before[i], width, members);
            largest = count > largest ? count : largest;
            winner = count > most ? g->before[i] : winner;
            most = count > most ? count : most;
        }
    }
    bool same = winner == g->seed && most == (int32_t)size &&
                sequential_cluster(g, p, clustered, winner, width, members) == size &&
                !memcmp(members, g->result.data, size * sizeof *members);
    pw_host_expect(h, same, "the cluster around point %d is not the largest one, around %d", g->seed, winner);
}

void pw_qtc_verify_list(struct pw_host *h, const struct pw_qtc *g)
{
    const char *clustered = g->clustered.data;
    const int32_t *ungrouped = g->ungrouped.data;
    uint32_t at = 0;
    bool same = true;
    for (uint32_t i = 0; i < g->points; i++)
        if (!clustered[i])
            same = same && at < g->left && ungrouped[at++] == (int32_t)i;
    pw_host_expect(h, same && at == g->left, "the list of points not in a cluster is wrong");
}
