/* Barnes-Hut, forces and motion.
 *
 * The bodies of a warp are neighbours in the tree, and the warp walks it as one: all lanes look at the same node, and a
 * cell is opened unless it is far enough away for every one of them (farther than twice the width of the cell it is in,
 * over a tolerance of 0.5). The stack, one for each warp, is in shared memory. Then every thread moves its bodies. The
 * forces of the first `forces` bodies in the tree's order are computed, which is how the whole launch begins. The
 * original's loads are volatile; here they are cached as others are. Instruction counts, loads in flight, shared memory
 * and registers are those of the kernels as nvcc 13 compiles them for sm_90; the motion, in CTAs of 1,024 threads,
 * takes 24 registers there, of which machine kepler has 16 for each. */
#include "workload/lonestar/bh.h"

#include <math.h>

enum { FORCE_THREADS = 256, FORCE_CTAS_PER_SM = 5, FORCE_WARPS = FORCE_THREADS / PW_WARP_LANES, MOVE_THREADS = 1024 };

/* The bodies of a warp. */
struct walk {
    const struct pw_bh *g;
    uint32_t mask;
    float at[PW_BH_AXES][PW_WARP_LANES], acceleration[PW_BH_AXES][PW_WARP_LANES];
    float distance[PW_BH_AXES][PW_WARP_LANES], square[PW_WARP_LANES]; /* to the present node, softened */
    float far[PW_BH_MAX_DEPTH]; /* squares of distances from which on cells are not opened, by depth */
};

/* Thread 0 of the CTA computes the distances by depth, and every warp gets a copy. */
static void begin(struct pw_warp *w, struct walk *s)
{
    const struct pw_array *globals = &s->g->arrays[PW_BH_GLOBALS];
    int32_t depth = pw_bh_globals(s->g)->max_depth;
    float width = pw_bh_globals(s->g)->radius * 2, square = width * width * PW_BH_INVERSE_TOLERANCE2;
    for (int32_t i = 0; i < PW_BH_MAX_DEPTH; i++, square *= 0.25F)
        s->far[i] = square + PW_BH_SOFTENING2;
    pw_compute(w, 6);
    if (!w->index) {
        pw_compute(w, 5);
        pw_load_strided(w, 1, globals, PW_BH_RADIUS, 0);
        pw_load_strided(w, 1, globals, PW_BH_DEEPEST, 0);
        pw_use(w);
        pw_compute(w, 9);
        for (int32_t i = 1; i < depth; i++) {
            pw_load_strided(w, 1, globals, PW_BH_DEEPEST, 0);
            pw_compute(w, 9);
            pw_use(w);
            pw_compute(w, 2);
        }
        pw_load_strided(w, 1, globals, PW_BH_DEEPEST, 0);
        pw_use(w);
        pw_compute(w, 6);
    }
    pw_barrier(w);
    pw_load_strided(w, w->lanes, globals, PW_BH_DEEPEST, 0);
    pw_use(w);
    pw_compute(w, 14);
    pw_barrier(w);
    pw_compute(w, 15);
}

/* Looks at a node: how far is it from each lane? */
static void look(struct pw_warp *w, struct walk *s, int32_t node)
{
    pw_compute(w, 8);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_load_strided(w, s->mask, &s->g->arrays[PW_BH_POS + axis], node, 0);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 7);
    for (int lane = 0; lane < PW_WARP_LANES; lane++)
        s->square[lane] = PW_BH_SOFTENING2;
    for (uint32_t axis = PW_BH_AXES; axis-- > 0;) {
        float place = pw_bh_floats(s->g, PW_BH_POS + axis)[node];
        for (int lane = 0; lane < PW_WARP_LANES; lane++) {
            float d = place - s->at[axis][lane];
            s->distance[axis][lane] = d;
            s->square[lane] = d * d + s->square[lane];
        }
    }
}

static bool far_for_all(const struct walk *s, int32_t depth)
{
    bool all = true;
    PW_FOR_LANES(lane, s->mask)
    all &= s->square[lane] >= s->far[depth];
    return all;
}

static void attract(struct pw_warp *w, struct walk *s, int32_t node)
{
    float mass = pw_bh_floats(s->g, PW_BH_MASS)[node];
    pw_compute(w, 2);
    pw_load_strided(w, s->mask, &s->g->arrays[PW_BH_MASS], node, 0);
    pw_compute(w, 4);
    pw_use(w);
    pw_compute(w, 7);
    for (int lane = 0; lane < PW_WARP_LANES; lane++) {
        float inverse = 1.0F / sqrtf(s->square[lane]), pull = mass * inverse * inverse * inverse;
        for (int axis = 0; axis < PW_BH_AXES; axis++)
            s->acceleration[axis][lane] += s->distance[axis][lane] * pull;
    }
}

/* Down the tree from the root. */
static void walk_tree(struct pw_warp *w, struct walk *s)
{
    const int32_t *children = pw_bh_ints(s->g, PW_BH_CHILD);
    struct {
        int64_t first;
        int32_t next;
    } stack[PW_BH_MAX_DEPTH] = {{.first = (int64_t)s->g->nodes * PW_BH_CHILDREN}};
    for (int32_t depth = 0; depth >= 0; depth--) {
        pw_compute(w, 12);
        while (stack[depth].next < PW_BH_CHILDREN) {
            int64_t place = stack[depth].first + stack[depth].next++;
            int32_t node = children[place];
            pw_compute(w, 2);
            pw_load_strided(w, s->mask, &s->g->arrays[PW_BH_CHILD], place, 0);
            pw_compute(w, 4);
            pw_use(w);
            pw_compute(w, 6);
            if (node < 0)
                break; /* the others are empty too */
            look(w, s, node);
            if (node >= s->g->bodies) {
                pw_compute(w, 10);
                if (!far_for_all(s, depth)) {
                    pw_compute(w, 14);
                    stack[++depth].first = (int64_t)node * PW_BH_CHILDREN;
                    stack[depth].next = 0;
                    continue;
                }
            }
            attract(w, s, node);
        }
        pw_compute(w, 5);
    }
}

/* From the second step on velocities are corrected by the change of acceleration. */
static void correct(struct pw_warp *w, const struct walk *s, const uint64_t bodies[PW_WARP_LANES])
{
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        float *velocity = pw_bh_floats(s->g, PW_BH_VEL + axis), *old = pw_bh_floats(s->g, PW_BH_ACC + axis);
        pw_load_lanes(w, s->mask, &s->g->arrays[PW_BH_ACC + axis], bodies);
        pw_load_lanes(w, s->mask, &s->g->arrays[PW_BH_VEL + axis], bodies);
        pw_compute(w, 3);
        pw_use(w);
        pw_compute(w, 2);
        pw_store_lanes(w, s->mask, &s->g->arrays[PW_BH_VEL + axis], bodies);
        PW_FOR_LANES(lane, s->mask)
        velocity[bodies[lane]] += (s->acceleration[axis][lane] - old[bodies[lane]]) * (PW_BH_TIME_STEP * 0.5F);
    }
}

/* The bodies at these places of the sorted list. */
static void attract_bodies(struct pw_warp *w, struct walk *s, int64_t first)
{
    const struct pw_bh *g = s->g;
    uint64_t bodies[PW_WARP_LANES] = {0};
    PW_FOR_LANES(lane, s->mask)
    bodies[lane] = (uint64_t)pw_bh_ints(g, PW_BH_SORTED)[first + lane];
    pw_compute(w, 5);
    pw_load_run(w, s->mask, &g->arrays[PW_BH_SORTED], first);
    pw_compute(w, 1);
    pw_use(w);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        pw_compute(w, 1);
        pw_load_lanes(w, s->mask, &g->arrays[PW_BH_POS + axis], bodies);
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            s->at[axis][lane] = pw_bh_floats(g, PW_BH_POS + axis)[bodies[lane]];
            s->acceleration[axis][lane] = 0;
        }
    }
    pw_compute(w, 18);
    walk_tree(w, s);
    pw_compute(w, 5);
    pw_load_strided(w, s->mask, &g->arrays[PW_BH_GLOBALS], PW_BH_STEP, 0);
    pw_compute(w, 7);
    pw_use(w);
    pw_compute(w, 2);
    if (pw_bh_globals(g)->step > 0)
        correct(w, s, bodies);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        pw_store_lanes(w, s->mask, &g->arrays[PW_BH_ACC + axis], bodies);
        PW_FOR_LANES(lane, s->mask)
        pw_bh_floats(g, PW_BH_ACC + axis)[bodies[lane]] = s->acceleration[axis][lane];
    }
    pw_compute(w, 5);
}

static void force_kernel(struct pw_warp *w, const void *arguments)
{
    struct walk s = {.g = arguments};
    begin(w, &s);
    for (int64_t k = pw_bh_first_thread(w); k < s.g->forces; k += pw_bh_threads(w->launch)) {
        s.mask = pw_lanes_below(w, (uint64_t)k, (uint64_t)s.g->forces);
        attract_bodies(w, &s, k);
    }
}

void pw_bh_compute_forces(struct pw_bh *g)
{
    pw_launch(g->host, &(struct pw_launch){.name = "ForceCalculationKernel",
                                           .grid = {g->sms * FORCE_CTAS_PER_SM, 1, 1},
                                           .block = {FORCE_THREADS, 1, 1},
                                           .shared_bytes = 3 * PW_BH_MAX_DEPTH * FORCE_WARPS * sizeof(int32_t),
                                           .registers = 32,
                                           .kernel = force_kernel,
                                           .arguments = g});
}

/* Half a step with the old velocity and half with the new one, along one axis. */
static void move(const struct pw_bh *g, uint32_t axis, int64_t i)
{
    float *place = pw_bh_floats(g, PW_BH_POS + axis), *velocity = pw_bh_floats(g, PW_BH_VEL + axis);
    float change = pw_bh_floats(g, PW_BH_ACC + axis)[i] * (PW_BH_TIME_STEP * 0.5F);
    float half = velocity[i] + change;
    place[i] += half * PW_BH_TIME_STEP;
    velocity[i] = half + change;
}

static void move_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    pw_compute(w, 8);
    for (int64_t i = pw_bh_first_thread(w); i < g->bodies; i += pw_bh_threads(w->launch)) {
        uint32_t mask = pw_lanes_below(w, (uint64_t)i, (uint64_t)g->bodies);
        pw_compute(w, 2);
        for (uint32_t array = PW_BH_ACC; array < PW_BH_ACC + PW_BH_AXES; array++)
            pw_load_run(w, mask, &g->arrays[array], i);
        for (uint32_t array = PW_BH_VEL; array < PW_BH_VEL + PW_BH_AXES; array++)
            pw_load_run(w, mask, &g->arrays[array], i);
        pw_compute(w, 5);
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            pw_load_run(w, mask, &g->arrays[PW_BH_POS + axis], i);
            pw_use(w);
            pw_compute(w, 4);
            pw_store_run(w, mask, &g->arrays[PW_BH_POS + axis], i);
            PW_FOR_LANES(lane, mask)
            move(g, axis, i + lane);
        }
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
            pw_store_run(w, mask, &g->arrays[PW_BH_VEL + axis], i);
        pw_compute(w, 3);
    }
}

void pw_bh_integrate(struct pw_bh *g)
{
    pw_launch(g->host, &(struct pw_launch){.name = "IntegrationKernel",
                                           .grid = {g->sms, 1, 1},
                                           .block = {MOVE_THREADS, 1, 1},
                                           .registers = 16,
                                           .kernel = move_kernel,
                                           .arguments = g});
}
