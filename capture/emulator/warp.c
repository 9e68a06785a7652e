#include "warp.h"

uint32_t warp_live_lanes(const struct warp *w)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->group_count; i++)
        lanes |= w->groups[i].lanes;
    return lanes;
}

/* The lanes that `g` waits for. */
static uint32_t awaited(const struct warp *w, const struct group *g)
{
    return w->barriers[g->barrier][__builtin_ctz(g->lanes)];
}

static int wait_together(const struct warp *w, const struct group *a, const struct group *b)
{
    return a->state == GROUP_AT_CONVERGENCE && b->state == GROUP_AT_CONVERGENCE && a->barrier == b->barrier &&
           awaited(w, a) == awaited(w, b);
}

static uint32_t lanes_waiting_with(const struct warp *w, const struct group *g)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->group_count; i++)
        lanes |= wait_together(w, g, &w->groups[i]) ? w->groups[i].lanes : 0;
    return lanes;
}

static void join(struct warp *w, struct group leader, uint32_t lanes)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->group_count; i++)
        if (!wait_together(w, &leader, &w->groups[i]))
            w->groups[kept++] = w->groups[i];
    w->groups[kept++] = (struct group){lanes, leader.pc + 1, GROUP_RUNS, 0};
    w->group_count = kept;
}

void warp_converge(struct warp *w)
{
    uint32_t live = warp_live_lanes(w);
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group g = w->groups[i];
        if (g.state != GROUP_AT_CONVERGENCE)
            continue;
        uint32_t lanes = lanes_waiting_with(w, &g);
        if ((awaited(w, &g) & live & ~lanes) == 0) {
            join(w, g, lanes);
            i = UINT32_MAX; /* from the start: the groups have moved */
        }
    }
}
