/* Whether a step of Barnes-Hut has come out right, from the definitions rather than from how the kernels go about it.
 *
 * The tree: every body is in it once, in the octants that its place says, and no cell but the root has fewer than two
 * bodies; there is only one such tree. Cells have the number of their bodies and their centre of mass, and the sorted
 * list has the bodies in the tree's order. The forces: those of direct summation in double precision, for at most 512
 * bodies, within a relative error of 1% (root of the mean square); the opening rule keeps it below half of that. */
#include "workload/lonestar/bh.h"

#include <math.h>

enum { SAMPLES = 512 };

struct walker {
    const struct pw_bh *g;
    int32_t met;       /* bodies, so far in the tree's order */
    const char *wrong; /* or NULL */
};

/* Sums over the bodies below a node. */
struct sums {
    int32_t bodies;
    double mass, moment[PW_BH_AXES];
};

static void expect(struct walker *k, bool holds, const char *wrong)
{
    if (!holds && !k->wrong)
        k->wrong = wrong;
}

static struct sums check_body(struct walker *k, int32_t body, const float least[PW_BH_AXES],
                              const float greatest[PW_BH_AXES])
{
    const struct pw_bh *g = k->g;
    struct sums sums = {.bodies = 1, .mass = (double)pw_bh_floats(g, PW_BH_MASS)[body]};
    expect(k, k->met < g->bodies && pw_bh_ints(g, PW_BH_SORTED)[k->met] == body,
           "the sorted list is not in the tree's order");
    k->met++;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        float place = pw_bh_floats(g, PW_BH_POS + axis)[body];
        float slack = pw_bh_globals(g)->radius * 1e-5F; /* middles are rounded */
        expect(k, place >= least[axis] - slack && place <= greatest[axis] + slack, "a body is outside its octant");
        sums.moment[axis] = sums.mass * (double)place;
    }
    return sums;
}

static void check_cell(struct walker *k, int32_t cell, const struct sums *sums)
{
    const struct pw_bh *g = k->g;
    expect(k, cell == g->nodes || sums->bodies > 1, "a cell has fewer than two bodies");
    expect(k, pw_bh_ints(g, PW_BH_COUNT)[cell] == sums->bodies, "a cell has a wrong number of bodies");
    expect(k, fabs((double)pw_bh_floats(g, PW_BH_MASS)[cell] - sums->mass) <= 1e-4 * sums->mass,
           "a cell has a wrong mass");
    double width = 2 * (double)pw_bh_globals(g)->radius;
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        double place = (double)pw_bh_floats(g, PW_BH_POS + axis)[cell];
        expect(k, fabs(place - sums->moment[axis] / sums->mass) <= 1e-4 * width, "a cell has a wrong centre of mass");
    }
}

/* `middle` and `half` are those of the cell's cube. */
static struct sums check_below(struct walker *k, int32_t cell, const float middle[PW_BH_AXES], float half, int depth)
{
    const struct pw_bh *g = k->g;
    struct sums sums = {0};
    expect(k, cell > g->bodies && cell <= g->nodes && depth < PW_BH_MAX_DEPTH, "the tree leads nowhere");
    for (int i = 0; i < PW_BH_CHILDREN && !k->wrong; i++) {
        int32_t child = pw_bh_ints(g, PW_BH_CHILD)[(int64_t)cell * PW_BH_CHILDREN + i];
        if (child < 0)
            continue;
        /* children have been moved to the front, so that a node tells its octant by its centre of mass */
        float least[PW_BH_AXES], greatest[PW_BH_AXES], next[PW_BH_AXES];
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            bool upper = middle[axis] < pw_bh_floats(g, PW_BH_POS + axis)[child];
            least[axis] = upper ? middle[axis] : middle[axis] - half;
            greatest[axis] = upper ? middle[axis] + half : middle[axis];
            next[axis] = middle[axis] + (upper ? half : -half) * 0.5F;
        }
        struct sums below = child < g->bodies ? check_body(k, child, least, greatest)
                                              : check_below(k, child, next, half * 0.5F, depth + 1);
        sums.bodies += below.bodies;
        sums.mass += below.mass;
        for (int axis = 0; axis < PW_BH_AXES; axis++)
            sums.moment[axis] += below.moment[axis];
    }
    if (!k->wrong)
        check_cell(k, cell, &sums);
    return sums;
}

/* The middle of the box around all bodies, which the root no longer has. */
static void find_middle(const struct pw_bh *g, float middle[PW_BH_AXES])
{
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        const float *place = pw_bh_floats(g, PW_BH_POS + axis);
        float least = place[0], greatest = place[0];
        for (int32_t i = 1; i < g->bodies; i++) {
            least = place[i] < least ? place[i] : least;
            greatest = place[i] > greatest ? place[i] : greatest;
        }
        middle[axis] = (least + greatest) * 0.5F;
    }
}

/* Squares of a body's force by direct summation, and of what the kernel's differs from it. */
static void compare_force(const struct pw_bh *g, int32_t body, double *force2, double *difference2)
{
    double sum[PW_BH_AXES] = {0};
    for (int32_t other = 0; other < g->bodies; other++) {
        double d[PW_BH_AXES], square = (double)PW_BH_SOFTENING2;
        for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
            const float *place = pw_bh_floats(g, PW_BH_POS + axis);
            d[axis] = (double)place[other] - (double)place[body];
            square += d[axis] * d[axis];
        }
        double pull = (double)pw_bh_floats(g, PW_BH_MASS)[other] / (square * sqrt(square));
        for (int axis = 0; axis < PW_BH_AXES; axis++)
            sum[axis] += d[axis] * pull;
    }
    for (uint32_t axis = 0; axis < PW_BH_AXES; axis++) {
        double difference = (double)pw_bh_floats(g, PW_BH_ACC + axis)[body] - sum[axis];
        *force2 += sum[axis] * sum[axis];
        *difference2 += difference * difference;
    }
}

void pw_bh_check(struct pw_bh *g)
{
    struct walker k = {.g = g};
    float middle[PW_BH_AXES];
    find_middle(g, middle);
    struct sums all = check_below(&k, g->nodes, middle, pw_bh_globals(g)->radius, 0);
    expect(&k, all.bodies == g->bodies, "the tree has not every body once");
    pw_host_expect(g->host, !k.wrong, "%s", k.wrong ? k.wrong : "");
    double force2 = 0, difference2 = 0;
    int32_t step = g->forces / SAMPLES + 1;
    for (int32_t i = 0; i < g->forces && !k.wrong; i += step)
        compare_force(g, pw_bh_ints(g, PW_BH_SORTED)[i], &force2, &difference2);
    pw_host_expect(g->host, difference2 <= 1e-4 * force2, "forces differ from direct summation by %g%%",
                   100 * sqrt(difference2 / force2));
}
