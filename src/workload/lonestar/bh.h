/* What the parts of Barnes-Hut share: the arrays of the tree and the numbers that its kernels go by.
 *
 * Bodies are nodes 0 to bodies - 1. Cells are taken from the top: the root is node `nodes`, the last one made has the
 * number `bottom`; child holds eight nodes for each cell, or NO_CHILD, or LOCKED while somebody splits what is there.
 *
 * Warps of one launch wait for each other in three kernels (tree, summary, sort). What they see of one another would
 * depend on time, so that each of the three is played through once, before its launch, in an order that the machine
 * could have: the file of each says which. Results are then there, and what each warp has done is in a log, from which
 * it repeats its operations (bh_log.h). */
#ifndef PW_WORKLOAD_BH_H
#define PW_WORKLOAD_BH_H

#include "workload/lonestar/bh_log.h"
#include "workload/runtime/host.h"

enum { PW_BH_NO_CHILD = -1, PW_BH_LOCKED = -2, PW_BH_CHILDREN = 8, PW_BH_MAX_DEPTH = 32, PW_BH_AXES = 3 };

/* In the order in which the original allocates them. */
enum pw_bh_array {
    PW_BH_ERROR,
    PW_BH_CHILD,
    PW_BH_MASS,
    PW_BH_POS, /* three each: x, y, z */
    PW_BH_VEL = PW_BH_POS + PW_BH_AXES,
    PW_BH_ACC = PW_BH_VEL + PW_BH_AXES,
    PW_BH_COUNT = PW_BH_ACC + PW_BH_AXES, /* bodies below a cell */
    PW_BH_START,                          /* place of a cell's first body in PW_BH_SORTED */
    PW_BH_SORTED,
    PW_BH_MAX, /* of each CTA, three each */
    PW_BH_MIN = PW_BH_MAX + PW_BH_AXES,
    PW_BH_GLOBALS = PW_BH_MIN + PW_BH_AXES,
    PW_BH_ARRAY_COUNT
};

/* The kernels' global variables. */
struct pw_bh_globals {
    int32_t step, bottom, max_depth, ctas_done;
    float radius;
};
enum pw_bh_global { PW_BH_STEP, PW_BH_BOTTOM, PW_BH_DEEPEST, PW_BH_CTAS_DONE, PW_BH_RADIUS, PW_BH_GLOBAL_COUNT };
_Static_assert(sizeof(struct pw_bh_globals) == 4 * PW_BH_GLOBAL_COUNT, "a word for each global variable");

struct pw_bh {
    struct pw_host *host;
    struct pw_array arrays[PW_BH_ARRAY_COUNT];
    int32_t bodies, nodes;
    int32_t forces; /* of the first so many bodies in the tree's order */
    uint32_t sms;   /* grids are multiples of it */
    struct pw_bh_log log;
    void *scratch;
    size_t scratch_bytes;
};

/* Memory for the play of one kernel; what it holds is undefined. */
static inline void *pw_bh_scratch(struct pw_bh *g, size_t bytes)
{
    if (bytes > g->scratch_bytes) {
        g->scratch = pw_host_keep(g->host, bytes);
        g->scratch_bytes = bytes;
    }
    return g->scratch;
}

static inline int32_t *pw_bh_ints(const struct pw_bh *g, uint32_t array)
{
    return g->arrays[array].data;
}

static inline float *pw_bh_floats(const struct pw_bh *g, uint32_t array)
{
    return g->arrays[array].data;
}

static inline struct pw_bh_globals *pw_bh_globals(const struct pw_bh *g)
{
    return g->arrays[PW_BH_GLOBALS].data;
}

/* A lane's first element in a grid-stride loop over [bottom, …) that begins at a multiple of 32. */
static inline int64_t pw_bh_aligned_start(int64_t bottom, int64_t thread, int64_t threads)
{
    int64_t k = (bottom & -(int64_t)PW_WARP_LANES) + thread;
    return k < bottom ? k + threads : k;
}

/* The number of a warp's lane 0 in its grid, and how many threads there are. */
static inline int64_t pw_bh_first_thread(const struct pw_warp *w)
{
    return (int64_t)w->cta_index * w->launch->block.x + pw_first_thread(w);
}

static inline int64_t pw_bh_threads(const struct pw_launch *launch)
{
    return (int64_t)launch->grid.x * launch->block.x;
}

/* Gives the bodies of a Plummer model their masses, places and velocities. */
void pw_bh_make_bodies(struct pw_bh *g);

/* The kernels of a time step. */
void pw_bh_initialize(struct pw_bh *g);
void pw_bh_bound(struct pw_bh *g);
void pw_bh_clear_children(struct pw_bh *g);
void pw_bh_build_tree(struct pw_bh *g);
void pw_bh_clear_cells(struct pw_bh *g);
void pw_bh_summarize(struct pw_bh *g);
void pw_bh_sort(struct pw_bh *g);
void pw_bh_compute_forces(struct pw_bh *g);
void pw_bh_integrate(struct pw_bh *g);

/* Constants of the original. */
#define PW_BH_TIME_STEP 0.025F
#define PW_BH_SOFTENING2 (0.05F * 0.05F)
#define PW_BH_INVERSE_TOLERANCE2 4.0F /* 1 / 0.5^2 */

/* Checks the tree and the forces, between the force kernel and the integration. */
void pw_bh_check(struct pw_bh *g);

#endif
