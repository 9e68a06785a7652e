/* bh: Barnes-Hut of LonestarGPU 2.0 (Burtscher and Pingali, 2011), gravity among the bodies of a star cluster through
 * an octree.
 *
 * Kept: nine kernels with their grids, which are multiples of the number of SMs (`sms`), in CTAs of the sizes for
 * Fermi, as those for Kepler would not fit into the 16,384 registers of an SM of machine kepler; the arrays and their
 * order, twice as many nodes as bodies, the opening rule, softening and time step. Bodies of a Plummer model come from
 * the seed. The original's inputs are 30,000 bodies and 50 steps, and larger ones. Here one step is taken, as every
 * step makes the tree anew, and the forces of the first 8,192 bodies in the tree's order are computed (`forces`): those
 * of all 65,536 would take a billion events. With two CTAs on each of 16 SMs that is how the launch begins. */
#include "workload/lonestar/bh.h"

enum { NODES_PER_SM = 1024, MAX_BODIES = 1 << 24, MAX_SMS = 1 << 12, BOX_CTAS_PER_SM = 3, LAUNCHES_PER_STEP = 8 };

struct parameters {
    uint32_t bodies, forces, steps, sms;
};

static void allocate(struct pw_bh *g)
{
    static const char *const names[PW_BH_ARRAY_COUNT] = {
        "errl",  "childl", "massl",  "posxl", "posyl", "poszl", "velxl", "velyl", "velzl", "accxl", "accyl",
        "acczl", "countl", "startl", "sortl", "maxxl", "maxyl", "maxzl", "minxl", "minyl", "minzl", "globals"};
    for (uint32_t i = 0; i < PW_BH_ARRAY_COUNT; i++) {
        uint64_t count = (uint64_t)g->nodes + 1;
        if (i == PW_BH_ERROR)
            count = 1;
        else if (i == PW_BH_CHILD)
            count *= PW_BH_CHILDREN;
        else if (i >= PW_BH_MAX && i < PW_BH_GLOBALS)
            count = (uint64_t)g->sms * BOX_CTAS_PER_SM;
        else if (i == PW_BH_GLOBALS)
            count = PW_BH_GLOBAL_COUNT;
        g->arrays[i] = pw_alloc(g->host, names[i], count, 4);
    }
}

/* Places and velocities as they must be after the integration, computed from copies before it. */
struct motion {
    float *place[PW_BH_AXES], *velocity[PW_BH_AXES];
};

static struct motion predict(const struct pw_bh *g)
{
    struct motion m;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        m.place[axis] = pw_host_keep(g->host, (size_t)g->bodies * sizeof(float));
        m.velocity[axis] = pw_host_keep(g->host, (size_t)g->bodies * sizeof(float));
        for (int32_t i = 0; i < g->bodies; i++) {
            float kick = PW_BH_TIME_STEP * 0.5F * pw_bh_floats(g, PW_BH_ACC + axis)[i];
            float drift = pw_bh_floats(g, PW_BH_VEL + axis)[i] + kick;
            m.place[axis][i] = pw_bh_floats(g, PW_BH_POS + axis)[i] + PW_BH_TIME_STEP * drift;
            m.velocity[axis][i] = drift + kick;
        }
    }
    return m;
}

static void compare(const struct pw_bh *g, const struct motion *m)
{
    int32_t wrong = g->bodies;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++)
        for (int32_t i = 0; i < g->bodies; i++)
            if (pw_bh_floats(g, PW_BH_POS + axis)[i] != m->place[axis][i] ||
                pw_bh_floats(g, PW_BH_VEL + axis)[i] != m->velocity[axis][i])
                wrong = i;
    pw_host_expect(g->host, wrong == g->bodies, "body %d is not where its velocity takes it", wrong);
}

static void step(struct pw_bh *g, bool verify)
{
    pw_bh_bound(g);
    pw_bh_clear_children(g);
    pw_bh_build_tree(g);
    pw_bh_clear_cells(g);
    pw_bh_summarize(g);
    pw_bh_sort(g);
    pw_bh_compute_forces(g);
    if (!verify) {
        pw_bh_integrate(g);
        return;
    }
    pw_bh_check(g);
    struct motion m = predict(g);
    pw_bh_integrate(g);
    compare(g, &m);
}

static void bh_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t bodies = pw_host_scaled(h, p->bodies, 1);
    if (bodies > MAX_BODIES)
        pw_host_fail(h, "there are at most %d bodies", MAX_BODIES);
    int32_t nodes = 2 * (int32_t)bodies, least = (int32_t)(NODES_PER_SM * p->sms);
    nodes = nodes < least ? least : nodes;
    uint64_t forces = p->forces ? pw_host_scaled(h, p->forces, 1) : bodies;
    struct pw_bh g = {.host = h,
                      .bodies = (int32_t)bodies,
                      .nodes = (nodes + PW_WARP_LANES - 1) / PW_WARP_LANES * PW_WARP_LANES - 1,
                      .forces = (int32_t)(forces < bodies ? forces : bodies),
                      .sms = p->sms,
                      .log = {.host = h}};
    allocate(&g);
    pw_bh_make_bodies(&g);
    pw_host_plan(h, 1 + LAUNCHES_PER_STEP * p->steps);
    pw_bh_initialize(&g);
    for (uint32_t i = 0; i < p->steps; i++)
        step(&g, pw_host_verifying(h) && i == p->steps - 1);
    for (uint32_t i = 0; i < PW_BH_ARRAY_COUNT; i++)
        pw_free(h, &g.arrays[i]);
}

static const struct pw_option rows[] = {
    {"bodies", PW_OPTION_COUNT, offsetof(struct parameters, bodies), 1, MAX_BODIES, "65536", "bodies", NULL,
     "bodies of the cluster", false},
    {"forces", PW_OPTION_COUNT, offsetof(struct parameters, forces), 0, MAX_BODIES, "8192", "bodies", NULL,
     "at most so many bodies have their forces computed; 0: all, as the original", false},
    {"steps", PW_OPTION_COUNT, offsetof(struct parameters, steps), 1, 1 << 20, "1", "steps", NULL,
     "time steps, of eight launches each", false},
    {"sms", PW_OPTION_COUNT, offsetof(struct parameters, sms), 1, MAX_SMS, "16", "SMs", NULL,
     "SMs that the program finds; its grids are multiples of it", false},
    {0},
};

static const struct pw_preset presets[] = {{"small", "bodies=30000:forces=0:steps=50"}, {0}};

const struct pw_workload pw_workload_bh = {
    .name = "bh",
    .suite = "Lonestar",
    .papers = "compression",
    .summary = "Barnes-Hut: builds an octree of bodies and walks it for the force on each",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = bh_main,
};
