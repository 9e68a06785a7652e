/* Barnes-Hut, tree building: every thread walks from the root to where its body belongs and puts it there.
 *
 * An empty place is taken by a compare-and-swap with the body's number. Where a body is already, the place is locked by
 * the same means, cells are made until the two are apart, and the new subtree is linked behind the CTA's next barrier.
 * Who finds a place locked, or loses the compare-and-swap, tries again after the barrier.
 *
 * Played through in this order: CTAs take turns, one round of the loop each; in a round its warps go one after another,
 * the lanes of each in step, and see all that was done before. So a lock is met by later warps of the same round, and a
 * lost compare-and-swap by lanes of one warp. The octree that results does not depend on the order, but for the numbers
 * of its cells.
 * Instruction counts and loads in flight are those of the kernel as nvcc 13 compiles it for sm_90 with 32 registers, of
 * which 512 threads have no more on machine kepler; the compiler lets one lane take the cells of all. */
#include "workload/lonestar/bh.h"

enum { CTA_THREADS = 512, CTAS_PER_SM = 3, CTA_WARPS = CTA_THREADS / PW_WARP_LANES };

struct thread {
    int32_t body, node, octant, child; /* where it is: child is what it found in that octant of the node */
    int32_t depth, deepest;
    int32_t locked, subtree; /* place to link, and what, behind the barrier */
    bool fresh, links;
    float at[PW_BH_AXES], middle[PW_BH_AXES], half; /* of the body; of the octant, and half its width */
};

struct builder {
    struct pw_bh *g;
    struct thread *threads;
    int32_t stride;
};

static int32_t slot_of(const struct thread *t)
{
    return t->node * PW_BH_CHILDREN + t->octant;
}

static int32_t octant_of(const float middle[PW_BH_AXES], const float at[PW_BH_AXES])
{
    return (middle[0] < at[0]) | (middle[1] < at[1]) << 1 | (middle[2] < at[2]) << 2;
}

/* Goes to the middle of the octant in which the body lies. */
static void enter_octant(struct thread *t)
{
    t->octant = octant_of(t->middle, t->at);
    t->half *= 0.5F;
    for (int axis = 0; axis < PW_BH_AXES; axis++)
        t->middle[axis] += t->octant >> axis & 1 ? t->half : -t->half;
}

static void log_child(struct builder *b, uint32_t warp, enum pw_op_kind kind, uint32_t mask)
{
    int32_t index[PW_WARP_LANES] = {0};
    PW_FOR_LANES(lane, mask)
    index[lane] = slot_of(&b->threads[warp * PW_WARP_LANES + lane]);
    pw_bh_log_access(&b->g->log, warp, kind, PW_BH_CHILD, mask, index);
}

static void load_places(struct builder *b, uint32_t warp, uint32_t mask, const int32_t index[PW_WARP_LANES])
{
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        pw_bh_log_compute(&b->g->log, warp, 1);
        pw_bh_log_access(&b->g->log, warp, PW_OP_LOAD, PW_BH_POS + axis, mask, index);
    }
    pw_bh_log_use(&b->g->log, warp);
}

/* New bodies start at the root. */
static void start_bodies(struct builder *b, uint32_t warp, uint32_t fresh)
{
    const struct pw_bh *g = b->g;
    int32_t index[PW_WARP_LANES] = {0};
    PW_FOR_LANES(lane, fresh)
    {
        struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
        index[lane] = t->body;
        t->fresh = false;
        t->node = g->nodes;
        t->depth = 1;
        t->half = pw_bh_globals(g)->radius;
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            t->at[axis] = pw_bh_floats(g, PW_BH_POS + axis)[t->body];
            t->middle[axis] = pw_bh_floats(g, PW_BH_POS + axis)[g->nodes];
        }
        enter_octant(t);
    }
    if (!fresh)
        return;
    pw_bh_log_compute(&b->g->log, warp, 3);
    load_places(b, warp, fresh, index);
    pw_bh_log_compute(&b->g->log, warp, 17);
}

/* Down to a place that is no cell. */
static void descend(struct builder *b, uint32_t warp, uint32_t mask)
{
    struct pw_bh *g = b->g;
    pw_bh_log_compute(&g->log, warp, 7);
    log_child(b, warp, PW_OP_LOAD, mask);
    pw_bh_log_compute(&g->log, warp, 2);
    for (;;) {
        pw_bh_log_use(&g->log, warp);
        pw_bh_log_compute(&g->log, warp, 2);
        uint32_t deeper = 0;
        PW_FOR_LANES(lane, mask)
        {
            struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
            t->child = pw_bh_ints(g, PW_BH_CHILD)[slot_of(t)];
            if (t->child < g->bodies)
                continue;
            deeper |= 1U << lane;
            t->node = t->child;
            t->depth++;
            enter_octant(t);
        }
        mask = deeper;
        if (!mask)
            break;
        pw_bh_log_compute(&g->log, warp, 9);
        log_child(b, warp, PW_OP_LOAD, mask);
        pw_bh_log_compute(&g->log, warp, 9);
    }
    pw_bh_log_compute(&g->log, warp, 5);
}

/* Compare-and-swap on the lanes' places; returns those that have won. */
static uint32_t swap_children(struct builder *b, uint32_t warp, uint32_t mask, bool lock)
{
    struct pw_bh *g = b->g;
    uint32_t won = 0;
    pw_bh_log_compute(&g->log, warp, 1);
    log_child(b, warp, PW_OP_ATOMIC_RETURN, mask);
    pw_bh_log_use(&g->log, warp);
    PW_FOR_LANES(lane, mask)
    {
        struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
        int32_t *child = &pw_bh_ints(g, PW_BH_CHILD)[slot_of(t)];
        if (*child != t->child)
            continue;
        *child = lock ? PW_BH_LOCKED : t->body;
        won |= 1U << lane;
    }
    return won;
}

/* The next cell for each lane, which one of them takes for all. */
static void take_cells(struct builder *b, uint32_t warp, uint32_t mask, int32_t cells[PW_WARP_LANES])
{
    struct pw_bh *g = b->g;
    pw_bh_log_compute(&g->log, warp, 8);
    pw_bh_log_one(&g->log, warp, PW_OP_ATOMIC_RETURN, PW_BH_GLOBALS, mask & -mask, PW_BH_BOTTOM);
    pw_bh_log_compute(&g->log, warp, 6);
    pw_bh_log_use(&g->log, warp);
    pw_bh_log_compute(&g->log, warp, 9);
    PW_FOR_LANES(lane, mask)
    {
        cells[lane] = --pw_bh_globals(g)->bottom;
        if (cells[lane] <= g->bodies)
            pw_host_fail(g->host, "two bodies are so near to each other that the tree has no cells left");
    }
}

/* One more cell for each lane, with the old body in it; returns lanes whose own body belongs to the same octant. */
static uint32_t split_once(struct builder *b, uint32_t warp, uint32_t mask, bool first)
{
    struct pw_bh *g = b->g;
    int32_t *children = pw_bh_ints(g, PW_BH_CHILD), cells[PW_WARP_LANES], old[PW_WARP_LANES], slots[PW_WARP_LANES];
    take_cells(b, warp, mask, cells);
    if (!first)
        log_child(b, warp, PW_OP_STORE, mask);
    PW_FOR_LANES(lane, mask)
    {
        struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
        float other[PW_BH_AXES];
        if (first)
            t->subtree = cells[lane]; /* the highest: later ones are lower */
        else
            children[slot_of(t)] = cells[lane];
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
            other[axis] = pw_bh_floats(g, PW_BH_POS + axis)[t->child];
        old[lane] = t->child;
        slots[lane] = cells[lane] * PW_BH_CHILDREN + octant_of(t->middle, other);
        children[slots[lane]] = t->child;
        t->node = cells[lane];
        t->depth++;
        enter_octant(t);
        t->child = children[slot_of(t)];
    }
    load_places(b, warp, mask, old);
    pw_bh_log_compute(&g->log, warp, 14);
    pw_bh_log_access(&g->log, warp, PW_OP_STORE, PW_BH_CHILD, mask, slots);
    log_child(b, warp, PW_OP_LOAD, mask);
    pw_bh_log_compute(&g->log, warp, 12);
    pw_bh_log_use(&g->log, warp);
    pw_bh_log_compute(&g->log, warp, 2);
    uint32_t again = 0;
    PW_FOR_LANES(lane, mask)
    again |= (uint32_t)(b->threads[warp * PW_WARP_LANES + lane].child >= 0) << lane;
    return again;
}

static void finish_bodies(struct builder *b, uint32_t warp, uint32_t mask, bool link)
{
    PW_FOR_LANES(lane, mask)
    {
        struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
        if (link)
            pw_bh_ints(b->g, PW_BH_CHILD)[slot_of(t)] = t->body;
        t->deepest = t->depth > t->deepest ? t->depth : t->deepest;
        t->body += b->stride;
        t->fresh = true;
        t->links = link;
    }
}

/* Lanes that have found a body. */
static void split(struct builder *b, uint32_t warp, uint32_t mask)
{
    struct pw_bh *g = b->g;
    PW_FOR_LANES(lane, mask)
    b->threads[warp * PW_WARP_LANES + lane].locked = slot_of(&b->threads[warp * PW_WARP_LANES + lane]);
    uint32_t won = swap_children(b, warp, mask, true);
    pw_bh_log_compute(&g->log, warp, 3);
    if (!won)
        return;
    pw_bh_log_compute(&g->log, warp, 4);
    bool first = true;
    for (uint32_t left = won; left; first = false)
        left = split_once(b, warp, left, first);
    pw_bh_log_compute(&g->log, warp, 3);
    log_child(b, warp, PW_OP_STORE, won);
    pw_bh_log_compute(&g->log, warp, 6);
    finish_bodies(b, warp, won, true);
}

/* A round of the loop up to the barrier, for the lanes that have a body. */
static void round_of(struct builder *b, uint32_t warp, uint32_t mask)
{
    struct pw_bh *g = b->g;
    uint32_t fresh = 0, taken = 0, empty = 0;
    PW_FOR_LANES(lane, mask)
    fresh |= (uint32_t)b->threads[warp * PW_WARP_LANES + lane].fresh << lane;
    pw_bh_log_compute(&g->log, warp, 4);
    start_bodies(b, warp, fresh);
    descend(b, warp, mask);
    PW_FOR_LANES(lane, mask)
    {
        int32_t child = b->threads[warp * PW_WARP_LANES + lane].child;
        taken |= (uint32_t)(child >= 0) << lane;
        empty |= (uint32_t)(child == PW_BH_NO_CHILD) << lane;
    }
    if (taken | empty)
        pw_bh_log_compute(&g->log, warp, 4);
    if (taken)
        split(b, warp, taken);
    if (empty) {
        finish_bodies(b, warp, swap_children(b, warp, empty, false), false);
        pw_bh_log_compute(&g->log, warp, 6);
    }
    pw_bh_log_compute(&g->log, warp, 1);
    pw_bh_log_barrier(&g->log, warp);
}

/* Behind the barrier: new subtrees are linked. */
static void link_subtrees(struct builder *b, uint32_t warp)
{
    int32_t index[PW_WARP_LANES] = {0};
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        struct thread *t = &b->threads[warp * PW_WARP_LANES + lane];
        if (!t->links)
            continue;
        t->links = false;
        index[lane] = t->locked;
        pw_bh_ints(b->g, PW_BH_CHILD)[t->locked] = t->subtree;
        mask |= 1U << lane;
    }
    pw_bh_log_compute(&b->g->log, warp, 2);
    pw_bh_log_access(&b->g->log, warp, PW_OP_STORE, PW_BH_CHILD, mask, index);
    pw_bh_log_compute(&b->g->log, warp, 2);
}

static uint32_t lanes_with_bodies(const struct builder *b, uint32_t warp)
{
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        mask |= (uint32_t)(b->threads[warp * PW_WARP_LANES + lane].body < b->g->bodies) << lane;
    return mask;
}

/* A round of a CTA; false: it has no bodies left. */
static bool turn_of(struct builder *b, uint32_t cta)
{
    uint32_t masks[CTA_WARPS], any = 0;
    for (uint32_t i = 0; i < CTA_WARPS; i++) {
        masks[i] = lanes_with_bodies(b, cta * CTA_WARPS + i);
        any |= masks[i];
        if (masks[i])
            round_of(b, cta * CTA_WARPS + i, masks[i]);
    }
    for (uint32_t i = 0; i < CTA_WARPS; i++)
        if (masks[i])
            link_subtrees(b, cta * CTA_WARPS + i);
    return any != 0;
}

/* Before the loop the root's data are loaded; after it, one lane brings its warp's depth to the maximum. */
static void begin(struct builder *b, uint32_t warp)
{
    struct pw_bh *g = b->g;
    pw_bh_log_compute(&g->log, warp, 10);
    pw_bh_log_one(&g->log, warp, PW_OP_LOAD, PW_BH_GLOBALS, PW_ALL_LANES, PW_BH_RADIUS);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_bh_log_one(&g->log, warp, PW_OP_LOAD, PW_BH_POS + axis, PW_ALL_LANES, g->nodes);
    pw_bh_log_compute(&g->log, warp, 10);
}

static void end(struct builder *b, uint32_t warp)
{
    struct pw_bh *g = b->g;
    struct pw_bh_globals *globals = pw_bh_globals(g);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        int32_t deepest = b->threads[warp * PW_WARP_LANES + lane].deepest;
        globals->max_depth = deepest > globals->max_depth ? deepest : globals->max_depth;
    }
    pw_bh_log_compute(&g->log, warp, 7);
    pw_bh_log_one(&g->log, warp, PW_OP_ATOMIC, PW_BH_GLOBALS, 1, PW_BH_DEEPEST);
}

static void play(void *state)
{
    struct builder *b = state;
    uint32_t ctas = b->g->sms * CTAS_PER_SM, warps = ctas * CTA_WARPS;
    pw_bh_log_begin(&b->g->log, warps);
    for (uint32_t i = 0; i < warps * PW_WARP_LANES; i++)
        b->threads[i] = (struct thread){.body = (int32_t)i, .deepest = 1, .fresh = true};
    for (uint32_t warp = 0; warp < warps; warp++)
        begin(b, warp);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t cta = 0; cta < ctas; cta++)
            any |= turn_of(b, cta);
    }
    for (uint32_t warp = 0; warp < warps; warp++)
        end(b, warp);
    if (pw_bh_globals(b->g)->max_depth > PW_BH_MAX_DEPTH)
        pw_host_fail(b->g->host, "the tree is deeper than %d cells", PW_BH_MAX_DEPTH);
}

void pw_bh_build_tree(struct pw_bh *g)
{
    uint32_t threads = g->sms * CTAS_PER_SM * CTA_THREADS;
    struct builder b = {.g = g, .stride = (int32_t)threads};
    b.threads = pw_bh_scratch(g, threads * sizeof *b.threads);
    pw_launch(g->host, &(struct pw_launch){.name = "TreeBuildingKernel",
                                           .grid = {g->sms * CTAS_PER_SM, 1, 1},
                                           .block = {CTA_THREADS, 1, 1},
                                           .registers = 32,
                                           .kernel = pw_bh_replay,
                                           .arguments = g,
                                           .resolve = play,
                                           .resolve_state = &b});
}
