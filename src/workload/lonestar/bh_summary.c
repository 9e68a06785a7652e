/* Barnes-Hut, summary: mass, centre of mass and number of bodies of every cell.
 *
 * A thread takes every so-many-th cell, from the last one made to the root. In five passes it computes those whose
 * children are ready and leaves the others; then it waits for the ones that are left, asking again behind each barrier
 * for the masses that were missing.
 *
 * Played through in this order: all warps go in step, a cell of each lane in a turn, and what is stored in a turn is
 * seen in the next. (The file on the tree has another order; one in which each warp sees all that others have done
 * before would leave nothing to wait for, as children have lower numbers than their parents.)
 * Instruction counts, loads in flight, shared memory and registers are those of the kernel as nvcc 13 compiles it for
 * sm_90. */
#include "workload/lonestar/bh.h"

enum { CTA_THREADS = 128, CTAS_PER_SM = 6, PASSES = 5 };

struct thread {
    int32_t cell;    /* its present one; beyond the root: done */
    bool asked;      /* for all children of this cell */
    uint8_t missing; /* a bit for each that was not ready then */
};

struct summary {
    struct pw_bh *g;
    struct thread *threads;
    int32_t *ready; /* of a cell: the turn in which it was stored; 0: not yet */
    uint32_t warps;
    int32_t stride, bottom, turn;
};

static int32_t child_of(const struct summary *s, int32_t cell, int i)
{
    return pw_bh_ints(s->g, PW_BH_CHILD)[(int64_t)cell * PW_BH_CHILDREN + i];
}

static bool is_ready(const struct summary *s, int32_t node)
{
    if (node < s->g->bodies)
        return true;
    int32_t stored = s->ready[node - s->g->bodies];
    return stored && stored < s->turn;
}

static struct thread *thread_of(const struct summary *s, uint32_t warp, uint32_t lane)
{
    return &s->threads[warp * PW_WARP_LANES + lane];
}

/* Lanes that have a cell, with its number. */
static uint32_t cells_of(const struct summary *s, uint32_t warp, int32_t cells[PW_WARP_LANES])
{
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        cells[lane] = thread_of(s, warp, lane)->cell;
        mask |= (uint32_t)(cells[lane] <= s->g->nodes) << lane;
    }
    return mask;
}

static void restart(struct summary *s)
{
    for (uint32_t i = 0; i < s->warps * PW_WARP_LANES; i++)
        s->threads[i] = (struct thread){.cell = (int32_t)pw_bh_aligned_start(s->bottom, i, s->stride)};
}

/* Results of a cell whose children are all ready. */
static void store_cell(const struct summary *s, int32_t cell)
{
    const struct pw_bh *g = s->g;
    float mass = 0, place[PW_BH_AXES] = {0};
    int32_t count = 0;
    for (int i = 0; i < PW_BH_CHILDREN; i++) {
        int32_t child = child_of(s, cell, i);
        if (child < 0)
            continue;
        float m = pw_bh_floats(g, PW_BH_MASS)[child];
        mass += m;
        count += child < g->bodies ? 1 : pw_bh_ints(g, PW_BH_COUNT)[child];
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
            place[axis] += pw_bh_floats(g, PW_BH_POS + axis)[child] * m;
    }
    pw_bh_ints(g, PW_BH_COUNT)[cell] = count;
    pw_bh_floats(g, PW_BH_MASS)[cell] = mass;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_bh_floats(g, PW_BH_POS + axis)[cell] = place[axis] * (1.0F / mass);
    s->ready[cell - g->bodies] = s->turn;
}

/* Adds up the children of the lanes' cells and stores all but the mass. */
static void add_children(struct summary *s, uint32_t warp, uint32_t mask, const int32_t cells[PW_WARP_LANES])
{
    struct pw_bh_log *log = &s->g->log;
    int32_t children[PW_WARP_LANES] = {0};
    for (int i = 0; i < PW_BH_CHILDREN; i++) {
        uint32_t bodies = 0, below = 0;
        PW_FOR_LANES(lane, mask)
        {
            children[lane] = child_of(s, cells[lane], i);
            bodies |= (uint32_t)(children[lane] >= 0 && children[lane] < s->g->bodies) << lane;
            below |= (uint32_t)(children[lane] >= s->g->bodies) << lane;
        }
        pw_bh_log_compute(log, warp, 3);
        if (!(bodies | below))
            continue;
        pw_bh_log_compute(log, warp, 7);
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_COUNT, below, children);
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, bodies, children);
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
            pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_POS + axis, bodies | below, children);
        pw_bh_log_use(log, warp);
        pw_bh_log_compute(log, warp, 7);
    }
    PW_FOR_LANES(lane, mask)
    store_cell(s, cells[lane]);
    pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_COUNT, mask, cells);
    pw_bh_log_compute(log, warp, 14);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_POS + axis, mask, cells);
}

/* Loads child i of the lanes' cells. */
static void load_children(struct summary *s, uint32_t warp, uint32_t mask, const int32_t cells[PW_WARP_LANES], int i,
                          int32_t out_children[PW_WARP_LANES])
{
    int32_t index[PW_WARP_LANES] = {0};
    PW_FOR_LANES(lane, mask)
    {
        index[lane] = cells[lane] * PW_BH_CHILDREN + i;
        out_children[lane] = child_of(s, cells[lane], i);
    }
    pw_bh_log_access(&s->g->log, warp, PW_OP_LOAD, PW_BH_CHILD, mask, index);
}

/* Of the lanes' children, those that are cells. */
static uint32_t lanes_of_cells(const struct summary *s, uint32_t mask, const int32_t children[PW_WARP_LANES])
{
    uint32_t cells = 0;
    PW_FOR_LANES(lane, mask)
    cells |= (uint32_t)(children[lane] >= s->g->bodies) << lane;
    return cells;
}

static uint32_t lanes_ready(const struct summary *s, uint32_t mask, const int32_t nodes[PW_WARP_LANES])
{
    uint32_t ready = 0;
    PW_FOR_LANES(lane, mask)
    ready |= (uint32_t)is_ready(s, nodes[lane]) << lane;
    return ready;
}

/* A cell of each lane in one of the passes; false: the warp has none. */
static bool pass_turn(struct summary *s, uint32_t warp)
{
    struct pw_bh_log *log = &s->g->log;
    int32_t cells[PW_WARP_LANES], children[PW_WARP_LANES] = {0};
    uint32_t mask = cells_of(s, warp, cells);
    if (!mask)
        return false;
    pw_bh_log_compute(log, warp, 1);
    pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, mask, cells);
    pw_bh_log_compute(log, warp, 2);
    pw_bh_log_use(log, warp);
    pw_bh_log_compute(log, warp, 2);
    uint32_t todo = mask & ~lanes_ready(s, mask, cells);
    if (todo)
        pw_bh_log_compute(log, warp, 2);
    for (int i = 0; i < PW_BH_CHILDREN && todo; i++) {
        load_children(s, warp, todo, cells, i, children);
        pw_bh_log_compute(log, warp, 1);
        pw_bh_log_use(log, warp);
        pw_bh_log_compute(log, warp, 4);
        uint32_t below = lanes_of_cells(s, todo, children);
        if (!below)
            continue;
        pw_bh_log_compute(log, warp, 1);
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, below, children);
        pw_bh_log_use(log, warp);
        pw_bh_log_compute(log, warp, 4);
        todo &= ~(below & ~lanes_ready(s, below, children));
    }
    if (todo) {
        add_children(s, warp, todo, cells);
        pw_bh_log_compute(log, warp, 4); /* the memory fence */
        pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_MASS, todo, cells);
    }
    pw_bh_log_compute(log, warp, 5);
    PW_FOR_LANES(lane, mask)
    thread_of(s, warp, lane)->cell += s->stride;
    return true;
}

/* The first look at cells that no pass has finished: all children together. */
static void ask_all(struct summary *s, uint32_t warp, uint32_t mask, const int32_t cells[PW_WARP_LANES])
{
    struct pw_bh_log *log = &s->g->log;
    int32_t children[PW_BH_CHILDREN][PW_WARP_LANES] = {{0}};
    pw_bh_log_compute(log, warp, 3);
    for (int i = 0; i < PW_BH_CHILDREN; i++)
        load_children(s, warp, mask, cells, i, children[i]);
    pw_bh_log_use(log, warp);
    PW_FOR_LANES(lane, mask)
    *thread_of(s, warp, lane) = (struct thread){.cell = cells[lane], .asked = true};
    for (int i = 0; i < PW_BH_CHILDREN; i++) {
        uint32_t below = lanes_of_cells(s, mask, children[i]), ready = lanes_ready(s, below, children[i]);
        pw_bh_log_compute(log, warp, 2);
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, below, children[i]);
        PW_FOR_LANES(lane, below & ~ready)
        thread_of(s, warp, lane)->missing |= (uint8_t)(1 << i);
    }
    pw_bh_log_use(log, warp);
    pw_bh_log_compute(log, warp, 34);
}

/* A further look: the masses that were missing. */
static void ask_again(struct summary *s, uint32_t warp, uint32_t mask, const int32_t cells[PW_WARP_LANES])
{
    struct pw_bh_log *log = &s->g->log;
    int32_t children[PW_WARP_LANES] = {0};
    for (int i = 0; i < PW_BH_CHILDREN; i++) {
        uint32_t missing = 0;
        PW_FOR_LANES(lane, mask)
        {
            children[lane] = child_of(s, cells[lane], i);
            missing |= (uint32_t)(thread_of(s, warp, lane)->missing >> i & 1) << lane;
        }
        pw_bh_log_compute(log, warp, 7);
        if (!missing)
            continue;
        pw_bh_log_compute(log, warp, 4);
        pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, missing, children);
        pw_bh_log_use(log, warp);
        pw_bh_log_compute(log, warp, 2);
        PW_FOR_LANES(lane, lanes_ready(s, missing, children))
        thread_of(s, warp, lane)->missing &= (uint8_t) ~(1 << i);
    }
}

/* A round of the last loop; false: the warp has left it. */
static bool wait_turn(struct summary *s, uint32_t warp)
{
    struct pw_bh_log *log = &s->g->log;
    int32_t cells[PW_WARP_LANES];
    uint32_t mask = cells_of(s, warp, cells), asked = 0, complete = 0;
    if (!mask)
        return false;
    pw_bh_log_compute(log, warp, 1);
    pw_bh_log_access(log, warp, PW_OP_LOAD, PW_BH_MASS, mask, cells);
    pw_bh_log_compute(log, warp, 3);
    pw_bh_log_use(log, warp);
    pw_bh_log_compute(log, warp, 4);
    uint32_t done = lanes_ready(s, mask, cells), todo = mask & ~done;
    PW_FOR_LANES(lane, todo)
    asked |= (uint32_t)thread_of(s, warp, lane)->asked << lane;
    if (asked)
        ask_again(s, warp, asked, cells);
    if (todo & ~asked)
        ask_all(s, warp, todo & ~asked, cells);
    PW_FOR_LANES(lane, todo)
    complete |= (uint32_t)!thread_of(s, warp, lane)->missing << lane;
    if (complete)
        add_children(s, warp, complete, cells);
    pw_bh_log_compute(log, warp, 2);
    pw_bh_log_barrier(log, warp);
    pw_bh_log_compute(log, warp, 2);
    pw_bh_log_access(log, warp, PW_OP_STORE, PW_BH_MASS, complete, cells);
    pw_bh_log_compute(log, warp, 3);
    PW_FOR_LANES(lane, done | complete)
    *thread_of(s, warp, lane) = (struct thread){.cell = cells[lane] + s->stride};
    return true;
}

/* Turns of all warps until none has anything left. */
static void take_turns(struct summary *s, bool (*turn)(struct summary *, uint32_t))
{
    restart(s);
    for (bool any = true; any; s->turn++) {
        any = false;
        for (uint32_t warp = 0; warp < s->warps; warp++)
            any |= turn(s, warp);
    }
}

static void play(void *state)
{
    struct summary *s = state;
    pw_bh_log_begin(&s->g->log, s->warps);
    s->bottom = pw_bh_globals(s->g)->bottom;
    s->turn = 1;
    for (int32_t i = 0; i <= s->g->nodes - s->g->bodies; i++)
        s->ready[i] = 0;
    for (uint32_t warp = 0; warp < s->warps; warp++) {
        pw_bh_log_compute(&s->g->log, warp, 11);
        pw_bh_log_one(&s->g->log, warp, PW_OP_LOAD, PW_BH_GLOBALS, PW_ALL_LANES, PW_BH_BOTTOM);
        pw_bh_log_compute(&s->g->log, warp, 10);
        pw_bh_log_use(&s->g->log, warp);
        pw_bh_log_compute(&s->g->log, warp, 7);
    }
    for (int pass = 0; pass < PASSES; pass++)
        take_turns(s, pass_turn);
    take_turns(s, wait_turn);
}

void pw_bh_summarize(struct pw_bh *g)
{
    uint32_t threads = g->sms * CTAS_PER_SM * CTA_THREADS;
    struct summary s = {.g = g, .warps = threads / PW_WARP_LANES, .stride = (int32_t)threads};
    size_t cells = (size_t)(g->nodes - g->bodies) + 1;
    s.threads = pw_bh_scratch(g, threads * sizeof *s.threads + cells * sizeof *s.ready);
    s.ready = (int32_t *)(s.threads + threads);
    pw_launch(g->host, &(struct pw_launch){.name = "SummarizationKernel",
                                           .grid = {g->sms * CTAS_PER_SM, 1, 1},
                                           .block = {CTA_THREADS, 1, 1},
                                           .shared_bytes = 2 * PW_BH_CHILDREN * CTA_THREADS * sizeof(float),
                                           .registers = 48,
                                           .kernel = pw_bh_replay,
                                           .arguments = g,
                                           .resolve = play,
                                           .resolve_state = &s});
}
