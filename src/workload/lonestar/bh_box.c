/* Barnes-Hut, before the tree: initialization, the box around all bodies, and clearing what cells will be.
 *
 * The box is a reduction in each CTA; the CTA that counts itself as the last combines all results and makes the root.
 * Here that is the CTA with the highest number. The box is computed before the launch; warps only access.
 * Instruction counts and loads in flight are those of the kernels as nvcc 13 compiles them for sm_90, the box with 32
 * registers, of which 512 threads have no more on machine kepler. A CTA of 1,024 threads gets 16 there; the second
 * clearing kernel takes 18 on sm_90, with its pointers of 64 bits. */
#include "workload/lonestar/bh.h"

#include <math.h>

enum { BOX_THREADS = 512, BOX_CTAS_PER_SM = 3, CLEAR_THREADS = 1024 };

static void initialize_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    pw_compute(w, 8);
    pw_store_strided(w, 1, &g->arrays[PW_BH_ERROR], 0, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_STEP, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_DEEPEST, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_CTAS_DONE, 0);
    *pw_bh_globals(g) = (struct pw_bh_globals){.step = -1, .max_depth = 1};
}

void pw_bh_initialize(struct pw_bh *g)
{
    pw_launch(g->host, &(struct pw_launch){.name = "InitializationKernel",
                                           .grid = {1, 1, 1},
                                           .block = {1, 1, 1},
                                           .registers = 16,
                                           .kernel = initialize_kernel,
                                           .arguments = g});
}

/* The last CTA's first lane: results of all, then the root. */
static void make_root(struct pw_warp *w, const struct pw_bh *g)
{
    for (uint32_t cta = 0; cta < w->launch->grid.x; cta++) {
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            pw_load_strided(w, 1, &g->arrays[PW_BH_MIN + axis], cta, 0);
            pw_load_strided(w, 1, &g->arrays[PW_BH_MAX + axis], cta, 0);
        }
        pw_compute(w, 14);
        if (cta % 4 == 3)
            pw_use(w);
        pw_compute(w, 6);
    }
    pw_use(w);
    pw_compute(w, 30);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_RADIUS, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_BOTTOM, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_MASS], g->nodes, 0);
    pw_store_strided(w, 1, &g->arrays[PW_BH_START], g->nodes, 0);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_store_strided(w, 1, &g->arrays[PW_BH_POS + axis], g->nodes, 0);
    for (int64_t i = 0; i < PW_BH_CHILDREN; i++)
        pw_store_strided(w, 1, &g->arrays[PW_BH_CHILD], (int64_t)g->nodes * PW_BH_CHILDREN + i, 0);
    pw_load_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_STEP, 0);
    pw_use(w);
    pw_compute(w, 1);
    pw_store_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_STEP, 0);
}

static void bound_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    pw_compute(w, 6);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        pw_load_strided(w, w->lanes, &g->arrays[PW_BH_POS + axis], 0, 0);
    pw_compute(w, 10);
    for (int64_t j = pw_bh_first_thread(w); j < g->bodies; j += pw_bh_threads(w->launch)) {
        uint32_t mask = pw_lanes_below(w, (uint64_t)j, (uint64_t)g->bodies);
        pw_compute(w, 3);
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
            pw_load_run(w, mask, &g->arrays[PW_BH_POS + axis], j);
        pw_compute(w, 2);
        pw_use(w);
        pw_compute(w, 7);
    }
    pw_use(w);
    pw_compute(w, 36);
    for (uint32_t half = BOX_THREADS / 2; half; half /= 2) {
        pw_barrier(w);
        pw_compute(w, pw_first_thread(w) < half ? 21 : 3);
    }
    if (w->index)
        return;
    pw_compute(w, 26);
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        pw_store_strided(w, 1, &g->arrays[PW_BH_MIN + axis], w->cta_index, 0);
        pw_store_strided(w, 1, &g->arrays[PW_BH_MAX + axis], w->cta_index, 0);
    }
    pw_compute(w, 4);
    pw_atomic_return_strided(w, 1, &g->arrays[PW_BH_GLOBALS], PW_BH_CTAS_DONE, 0);
    pw_use(w);
    pw_compute(w, 2);
    if (w->cta_index == w->launch->grid.x - 1)
        make_root(w, g);
}

/* The least and the greatest place along an axis, in all and of each CTA. */
static void bound_axis(const struct pw_bh *g, uint32_t axis, float *least, float *greatest)
{
    const float *place = pw_bh_floats(g, PW_BH_POS + axis);
    float *min = pw_bh_floats(g, PW_BH_MIN + axis), *max = pw_bh_floats(g, PW_BH_MAX + axis);
    uint32_t ctas = g->sms * BOX_CTAS_PER_SM;
    for (uint32_t cta = 0; cta < ctas; cta++)
        min[cta] = max[cta] = place[0];
    *least = *greatest = place[0];
    for (int32_t i = 0; i < g->bodies; i++) {
        uint32_t cta = (uint32_t)i / BOX_THREADS % ctas;
        min[cta] = fminf(min[cta], place[i]);
        max[cta] = fmaxf(max[cta], place[i]);
        *least = fminf(*least, place[i]);
        *greatest = fmaxf(*greatest, place[i]);
    }
}

static void bound(void *state)
{
    struct pw_bh *g = state;
    struct pw_bh_globals *globals = pw_bh_globals(g);
    float width = 0;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        float least, greatest;
        bound_axis(g, axis, &least, &greatest);
        width = fmaxf(width, greatest - least);
        pw_bh_floats(g, PW_BH_POS + axis)[g->nodes] = (least + greatest) * 0.5F;
    }
    globals->radius = width * 0.5F;
    globals->bottom = g->nodes;
    globals->step++;
    pw_bh_floats(g, PW_BH_MASS)[g->nodes] = -1;
    pw_bh_ints(g, PW_BH_START)[g->nodes] = 0;
    for (int i = 0; i < PW_BH_CHILDREN; i++)
        pw_bh_ints(g, PW_BH_CHILD)[(int64_t)g->nodes * PW_BH_CHILDREN + i] = PW_BH_NO_CHILD;
}

void pw_bh_bound(struct pw_bh *g)
{
    pw_launch(g->host, &(struct pw_launch){.name = "BoundingBoxKernel",
                                           .grid = {g->sms * BOX_CTAS_PER_SM, 1, 1},
                                           .block = {BOX_THREADS, 1, 1},
                                           .shared_bytes = 6 * BOX_THREADS * sizeof(float),
                                           .registers = 32,
                                           .kernel = bound_kernel,
                                           .arguments = g,
                                           .resolve = bound,
                                           .resolve_state = g});
}

/* The elements of a warp's lanes in one step of a loop from `bottom` to `top`; returns lanes that have one. */
static uint32_t elements_of(const struct pw_warp *w, int64_t bottom, int64_t top, int64_t step,
                            uint64_t index[PW_WARP_LANES])
{
    int64_t threads = pw_bh_threads(w->launch);
    uint32_t mask = 0;
    PW_FOR_LANES(lane, w->lanes)
    {
        int64_t k = pw_bh_aligned_start(bottom, pw_bh_first_thread(w) + lane, threads) + step * threads;
        index[lane] = (uint64_t)k;
        mask |= (uint32_t)(k < top) << lane;
    }
    return mask;
}

static void clear_children_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    int64_t bottom = (int64_t)g->bodies * PW_BH_CHILDREN, top = (int64_t)g->nodes * PW_BH_CHILDREN;
    uint64_t index[PW_WARP_LANES];
    pw_compute(w, 19);
    for (int64_t step = 0;; step++) {
        uint32_t mask = elements_of(w, bottom, top, step, index);
        if (!mask)
            return;
        pw_compute(w, 2);
        pw_store_lanes(w, mask, &g->arrays[PW_BH_CHILD], index);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, mask)
        pw_bh_ints(g, PW_BH_CHILD)[index[lane]] = PW_BH_NO_CHILD;
    }
}

static void clear_cells_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    uint64_t index[PW_WARP_LANES];
    pw_compute(w, 3);
    pw_load_strided(w, w->lanes, &g->arrays[PW_BH_GLOBALS], PW_BH_BOTTOM, 0);
    pw_compute(w, 7);
    pw_use(w);
    pw_compute(w, 10);
    for (int64_t step = 0;; step++) {
        uint32_t mask = elements_of(w, pw_bh_globals(g)->bottom, g->nodes, step, index);
        if (!mask)
            return;
        pw_compute(w, 2);
        pw_store_lanes(w, mask, &g->arrays[PW_BH_MASS], index);
        pw_compute(w, 1);
        pw_store_lanes(w, mask, &g->arrays[PW_BH_START], index);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, mask)
        {
            pw_bh_floats(g, PW_BH_MASS)[index[lane]] = -1;
            pw_bh_ints(g, PW_BH_START)[index[lane]] = -1;
        }
    }
}

static void clear(struct pw_bh *g, const char *name, pw_kernel_fn *kernel, uint32_t registers)
{
    pw_launch(g->host, &(struct pw_launch){.name = name,
                                           .grid = {g->sms, 1, 1},
                                           .block = {CLEAR_THREADS, 1, 1},
                                           .registers = registers,
                                           .kernel = kernel,
                                           .arguments = g});
}

void pw_bh_clear_children(struct pw_bh *g)
{
    clear(g, "ClearKernel1", clear_children_kernel, 10);
}

void pw_bh_clear_cells(struct pw_bh *g)
{
    clear(g, "ClearKernel2", clear_cells_kernel, 16);
}
