/* Barnes-Hut, sort: bodies in the order of the tree, and the children of each cell moved to the front.
 *
 * A thread takes every so-many-th cell, from the root down, asks for the cell's place until its parent has stored it,
 * and stores the places of its children: of bodies in the sorted list, of cells for whoever has them.
 *
 * Played through as the summary is: all warps in step, a look of each lane in a turn, and what is stored in a turn is
 * seen in the next; so a lane asks in vain once for each level that it is ahead.
 * Instruction counts, loads in flight and registers are those of the kernel as nvcc 13 compiles it for sm_90. */
#include "workload/lonestar/bh.h"

enum { CTA_THREADS = 64, CTAS_PER_SM = 6 };

struct sorter {
    struct pw_bh *g;
    int32_t *cells;  /* of each thread: its present one */
    int32_t *placed; /* of each cell: the turn in which its place was stored */
    uint32_t warps;
    int32_t stride, bottom, turn;
};

/* What the lanes of a warp have in hand. */
struct hand {
    int32_t cells[PW_WARP_LANES], children[PW_WARP_LANES], places[PW_WARP_LANES];
    int32_t kept[PW_WARP_LANES]; /* children so far */
};

static void slots_of(const struct hand *h, uint32_t mask, const int32_t *at, int32_t same, int32_t out[PW_WARP_LANES])
{
    PW_FOR_LANES(lane, mask)
    out[lane] = h->cells[lane] * PW_BH_CHILDREN + (at ? at[lane] : same);
}

/* Moves child i of the lanes' cells to the front where there is a gap before it. */
static void close_gap(struct sorter *s, uint32_t warp, struct hand *h, uint32_t mask, int i)
{
    struct pw_bh_log *log = &s->g->log;
    int32_t from[PW_WARP_LANES] = {0}, to[PW_WARP_LANES] = {0};
    uint32_t moved = 0;
    PW_FOR_LANES(lane, mask)
    moved |= (uint32_t)(h->kept[lane] != i) << lane;
    slots_of(h, mask, NULL, i, from);
    slots_of(h, mask, h->kept, 0, to);
    pw_bh_log_compute(log, warp, 4);
    pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_CHILD, moved, from);
    pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_CHILD, moved, to);
    pw_bh_log_compute(log, warp, 2);
    PW_FOR_LANES(lane, mask)
    {
        pw_bh_ints(s->g, PW_BH_CHILD)[from[lane]] = PW_BH_NO_CHILD;
        pw_bh_ints(s->g, PW_BH_CHILD)[to[lane]] = h->children[lane];
        h->kept[lane]++;
    }
}

/* Children that are cells get the lanes' places, and as many are left out as they have bodies. */
static void place_cells(struct sorter *s, uint32_t warp, struct hand *h, uint32_t mask, bool last)
{
    struct pw_bh_log *log = &s->g->log;
    if (!mask)
        return;
    pw_bh_log_compute(log, warp, 1);
    if (!last) /* nobody needs the count then */
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_COUNT, mask, h->children);
    pw_bh_log_compute(log, warp, 1);
    pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_START, mask, h->children);
    pw_bh_log_use(log, warp);
    pw_bh_log_compute(log, warp, 2);
    PW_FOR_LANES(lane, mask)
    {
        pw_bh_ints(s->g, PW_BH_START)[h->children[lane]] = h->places[lane];
        s->placed[h->children[lane] - s->g->bodies] = s->turn;
        h->places[lane] += pw_bh_ints(s->g, PW_BH_COUNT)[h->children[lane]];
    }
}

static void place_bodies(struct sorter *s, uint32_t warp, struct hand *h, uint32_t mask)
{
    if (!mask)
        return;
    pw_bh_log_compute(&s->g->log, warp, 2);
    pw_bh_log_access(&s->g->log, warp, PW_OP_STORE, PW_BH_SORTED, mask, h->places);
    PW_FOR_LANES(lane, mask)
    pw_bh_ints(s->g, PW_BH_SORTED)[h->places[lane]++] = h->children[lane];
}

static void place_children(struct sorter *s, uint32_t warp, struct hand *h, uint32_t mask)
{
    struct pw_bh_log *log = &s->g->log;
    pw_bh_log_compute(log, warp, 2);
    for (int i = 0; i < PW_BH_CHILDREN; i++) {
        int32_t index[PW_WARP_LANES] = {0};
        uint32_t bodies = 0, below = 0;
        slots_of(h, mask, NULL, i, index);
        PW_FOR_LANES(lane, mask)
        {
            h->children[lane] = pw_bh_ints(s->g, PW_BH_CHILD)[index[lane]];
            below |= (uint32_t)(h->children[lane] >= s->g->bodies) << lane;
            bodies |= (uint32_t)(h->children[lane] >= 0 && h->children[lane] < s->g->bodies) << lane;
        }
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_CHILD, mask, index);
        pw_bh_log_compute(log, warp, 1);
        pw_bh_log_use(log, warp);
        pw_bh_log_compute(log, warp, 2);
        if (bodies | below)
            close_gap(s, warp, h, bodies | below, i);
        place_cells(s, warp, h, below, i == PW_BH_CHILDREN - 1);
        place_bodies(s, warp, h, bodies);
        pw_bh_log_compute(log, warp, 1);
    }
    pw_bh_log_compute(log, warp, 1);
}

/* A look of each lane at its cell; false: the warp has none left. */
static bool turn_of(struct sorter *s, uint32_t warp)
{
    struct pw_bh_log *log = &s->g->log;
    int32_t *cells = &s->cells[warp * PW_WARP_LANES];
    struct hand h = {0};
    uint32_t mask = 0, known = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        if (cells[lane] < s->bottom)
            continue;
        mask |= 1U << lane;
        h.cells[lane] = cells[lane];
        h.places[lane] = pw_bh_ints(s->g, PW_BH_START)[cells[lane]];
        int32_t placed = s->placed[cells[lane] - s->g->bodies];
        known |= (uint32_t)(cells[lane] == s->g->nodes || (placed && placed < s->turn)) << lane;
    }
    if (!mask)
        return false;
    pw_bh_log_compute(log, warp, 1);
    pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_START, mask, h.cells);
    pw_bh_log_compute(log, warp, 2);
    pw_bh_log_use(log, warp);
    pw_bh_log_compute(log, warp, 2);
    if (known)
        place_children(s, warp, &h, known);
    pw_bh_log_compute(log, warp, 3);
    PW_FOR_LANES(lane, known)
    cells[lane] -= s->stride;
    return true;
}

static void play(void *state)
{
    struct sorter *s = state;
    pw_bh_log_begin(&s->g->log, s->warps);
    s->bottom = pw_bh_globals(s->g)->bottom;
    for (int32_t i = 0; i <= s->g->nodes - s->g->bodies; i++)
        s->placed[i] = 0;
    for (uint32_t warp = 0; warp < s->warps; warp++) {
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            s->cells[warp * PW_WARP_LANES + lane] =
                s->g->nodes + 1 - s->stride + (int32_t)(warp * PW_WARP_LANES + lane);
        pw_bh_log_compute(&s->g->log, warp, 3);
        pw_bh_log_one(&s->g->log, warp, PW_OP_LOAD, PW_BH_GLOBALS, PW_ALL_LANES, PW_BH_BOTTOM);
        pw_bh_log_compute(&s->g->log, warp, 9);
        pw_bh_log_use(&s->g->log, warp);
        pw_bh_log_compute(&s->g->log, warp, 7);
    }
    s->turn = 1;
    for (bool any = true; any; s->turn++) {
        any = false;
        for (uint32_t warp = 0; warp < s->warps; warp++)
            any |= turn_of(s, warp);
    }
}

void pw_bh_sort(struct pw_bh *g)
{
    uint32_t threads = g->sms * CTAS_PER_SM * CTA_THREADS;
    struct sorter s = {.g = g, .warps = threads / PW_WARP_LANES, .stride = (int32_t)threads};
    size_t cells = (size_t)(g->nodes - g->bodies) + 1;
    s.cells = pw_bh_scratch(g, (threads + cells) * sizeof *s.cells);
    s.placed = s.cells + threads;
    pw_launch(g->host, &(struct pw_launch){.name = "SortKernel",
                                           .grid = {g->sms * CTAS_PER_SM, 1, 1},
                                           .block = {CTA_THREADS, 1, 1},
                                           .registers = 28,
                                           .kernel = pw_bh_replay,
                                           .arguments = g,
                                           .resolve = play,
                                           .resolve_state = &s});
}
