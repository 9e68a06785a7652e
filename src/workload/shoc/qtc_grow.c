/* The growth of a candidate cluster, a CTA at a time: each thread keeps up to 12 of the seed's neighbours in registers
 * and goes through the rest in memory. In every step it works out how wide the cluster would be with each of its
 * candidates: the distance to the cluster as cached, or the distance to the latest point if that is larger, for which
 * it searches the latest point's row of neighbours from where its last unsuccessful search ended. Then thread 0 picks
 * the closest candidate of all. */
#include "workload/shoc/qtc.h"

#include <string.h>

enum { KEPT = 12 };

/* A warp's registers while its CTA grows a cluster. */
struct growth {
    uint64_t mask, cache; /* where the CTA's begin */
    int32_t seed, latest;
    int32_t kept[KEPT][PW_WARP_LANES];
    uint32_t checked[PW_WARP_LANES];
    float distance[PW_WARP_LANES];
    int32_t point[PW_WARP_LANES];
};

static uint32_t lanes_with_point(const int32_t candidate[])
{
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        mask |= (uint32_t)(candidate[lane] >= 0) << lane;
    return mask;
}

/* Candidate k of the threads in `mask`, from the seed's row; returns those that have one. */
static uint32_t fetch(struct pw_warp *w, const struct pw_qtc *g, const struct growth *s, uint32_t k, uint32_t mask,
                      int32_t candidate[])
{
    const int32_t *neighbours = g->neighbours.data;
    uint32_t first = k * PW_QTC_BLOCK + pw_first_thread(w);
    uint64_t at = (uint64_t)s->seed * g->row + first;
    mask &= pw_lanes_below(w, first, g->row);
    pw_compute(w, 3);
    pw_load_run(w, mask, &g->neighbours, (int64_t)at);
    pw_use(w);
    pw_compute(w, 1);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        candidate[lane] = mask >> lane & 1 ? neighbours[at + lane] : PW_QTC_NONE;
    return lanes_with_point(candidate);
}

/* Looks for every lane's candidate in the latest point's row; `out` is its distance to that point. */
static void search(struct pw_warp *w, const struct pw_qtc *g, struct growth *s, uint32_t mask,
                   const int32_t candidate[], float out[])
{
    const int32_t *neighbours = g->neighbours.data;
    const float *distances = g->distances.data;
    uint64_t row = (uint64_t)s->latest * g->row, at[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        at[lane] = row + s->checked[lane];
        out[lane] = g->threshold + 1;
    }
    while (mask) {
        uint32_t active = 0, found = 0, different = 0;
        uint64_t any = at[__builtin_ctz(mask)];
        PW_FOR_LANES(lane, mask)
        if (at[lane] < row + g->row) {
            int32_t point = neighbours[at[lane]];
            active |= 1U << lane;
            different |= at[lane] ^ any ? 1 : 0;
            if (point > candidate[lane] || point < 0) {
                s->checked[lane] = (uint32_t)(at[lane] - row);
                mask &= ~(1U << lane);
            } else if (point == candidate[lane]) {
                out[lane] = distances[at[lane]];
                found |= 1U << lane;
            }
        } else {
            mask &= ~(1U << lane);
        }
        if (different)
            pw_load_lanes(w, active, &g->neighbours, at);
        else
            pw_load_strided(w, active, &g->neighbours, (int64_t)any, 0);
        pw_use(w);
        pw_compute(w, 6);
        if (found) {
            pw_load_lanes(w, found, &g->distances, at);
            pw_use(w);
            pw_compute(w, 1);
        }
        mask &= ~found;
        PW_FOR_LANES(lane, mask)
        at[lane]++;
    }
}

/* How wide the cluster would be with each lane's candidate k. */
static void consider(struct pw_warp *w, const struct pw_qtc *g, struct growth *s, uint32_t k, int32_t candidate[])
{
    float *cache = (float *)g->cache.data + s->cache + (uint64_t)k * PW_QTC_BLOCK + pw_first_thread(w);
    const char *taken = (char *)g->candidate.data + s->mask, *clustered = g->clustered.data;
    uint64_t at[PW_WARP_LANES], in_mask[PW_WARP_LANES];
    uint32_t mask = lanes_with_point(candidate), within = 0, untaken = 0, open = 0, wider = 0;
    PW_FOR_LANES(lane, mask)
    {
        at[lane] = (uint64_t)candidate[lane];
        in_mask[lane] = s->mask + at[lane];
        mask &= ~((uint32_t)(candidate[lane] == s->seed) << lane);
    }
    pw_compute(w, 4);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        within |= (uint32_t)(cache[lane] <= g->threshold) << lane;
        untaken |= (within >> lane & !taken[at[lane]]) << lane;
        open |= (untaken >> lane & !clustered[at[lane]]) << lane;
        if (!(open >> lane & 1))
            candidate[lane] = s->seed;
    }
    pw_load_run(w, mask, &g->cache, cache - (float *)g->cache.data);
    pw_use(w);
    pw_compute(w, 2);
    pw_load_lanes(w, within, &g->candidate, in_mask);
    pw_use(w);
    pw_compute(w, 2);
    pw_load_lanes(w, untaken, &g->clustered, at);
    pw_use(w);
    pw_compute(w, 4);

    float to_latest[PW_WARP_LANES];
    search(w, g, s, open, candidate, to_latest);
    PW_FOR_LANES(lane, open)
    {
        if (to_latest[lane] > cache[lane]) {
            cache[lane] = to_latest[lane];
            wider |= 1U << lane;
        }
        if (cache[lane] < s->distance[lane]) {
            s->distance[lane] = cache[lane];
            s->point[lane] = candidate[lane];
        }
    }
    pw_compute(w, 3);
    pw_store_run(w, wider, &g->cache, cache - (float *)g->cache.data);
    pw_compute(w, 2);
}

/* Thread 0 finds the closest of all threads' candidates, the one with the lowest number among equals. */
static int32_t reduce_closest(struct pw_warp *w, const struct pw_qtc *g, const struct growth *s)
{
    struct pw_qtc_shared *shared = w->shared;
    memcpy(&shared->distance[pw_first_thread(w)], s->distance, sizeof s->distance);
    memcpy(&shared->point[pw_first_thread(w)], s->point, sizeof s->point);
    pw_compute(w, 3);
    pw_barrier(w);
    if (!w->index) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < PW_QTC_BLOCK; i++)
            if (shared->distance[i] < shared->distance[best] ||
                (shared->distance[i] == shared->distance[best] && shared->point[i] < shared->point[best]))
                best = i;
        shared->closest = shared->distance[best] > g->threshold ? PW_QTC_NONE : shared->point[best];
        pw_compute(w, 6 * PW_QTC_BLOCK);
    }
    pw_barrier(w);
    return shared->closest;
}

static void clear(struct pw_warp *w, const struct pw_array *a, uint64_t first, uint32_t count)
{
    for (uint32_t i = pw_first_thread(w); i < count; i += PW_QTC_BLOCK) {
        pw_store_run(w, pw_lanes_below(w, i, count), a, (int64_t)(first + i));
        pw_compute(w, 3);
    }
    if (!w->index)
        memset((char *)a->data + first * a->element_bytes, 0, (size_t)count * a->element_bytes);
}

static void take(struct pw_warp *w, const struct pw_qtc *g, const struct growth *s, bool keep, uint32_t count)
{
    if (w->index)
        return;
    pw_compute(w, 2);
    ((char *)g->candidate.data)[s->mask + (uint32_t)s->latest] = 1;
    pw_store_run(w, 1, &g->candidate, (int64_t)s->mask + s->latest);
    if (keep) {
        ((int32_t *)g->result.data)[count] = s->latest;
        pw_store_run(w, 1, &g->result, count);
    }
}

uint32_t pw_qtc_grow(struct pw_warp *w, const struct pw_qtc *g, int32_t seed, bool keep)
{
    struct growth s = {.mask = (uint64_t)w->cta_index * g->points,
                       .cache = (uint64_t)w->cta_index * g->row,
                       .seed = seed,
                       .latest = seed};
    clear(w, &g->candidate, s.mask, g->points);
    clear(w, &g->cache, s.cache, g->row);
    take(w, g, &s, keep, 0);
    pw_barrier(w);
    memset(s.kept, 0xff, sizeof s.kept);
    uint32_t alive = w->lanes;
    for (uint32_t k = 0; k < KEPT && alive; k++)
        alive = fetch(w, g, &s, k, alive, s.kept[k]);
    pw_barrier(w);
    uint32_t count = 1;
    while (count < g->left) {
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            s.checked[lane] = 0;
            s.distance[lane] = 3 * g->threshold;
            s.point[lane] = PW_QTC_NONE;
        }
        pw_compute(w, 6);
        for (uint32_t k = 0; k < KEPT && lanes_with_point(s.kept[k]); k++)
            consider(w, g, &s, k, s.kept[k]);
        pw_barrier(w);
        alive = w->lanes;
        for (uint32_t k = KEPT; alive && k * PW_QTC_BLOCK + pw_first_thread(w) < g->row; k++) {
            int32_t candidate[PW_WARP_LANES];
            alive = fetch(w, g, &s, k, alive, candidate);
            consider(w, g, &s, k, candidate);
        }
        pw_barrier(w);
        int32_t closest = reduce_closest(w, g, &s);
        if (closest >= 0) {
            s.latest = closest;
            take(w, g, &s, keep, count++);
        }
        pw_compute(w, 4);
        pw_barrier(w);
        if (closest < 0)
            break;
    }
    pw_barrier(w);
    return count;
}
