/* A share of a figure's workloads, for when all of them take too long.
 *
 * The draw is by a fixed seed and knows nothing of what a workload costs or gives. Groups of the same size lose the
 * same places, so that two copies and five copies of a program stay or go together, and a smaller share is part of a
 * larger one: runs that are done for a third count for two thirds. No group is left empty. */
#include "exp/figure/figure.h"
#include "sim/random.h"

#include <stdlib.h>

enum { DRAW_SEED = 2017 };

static void release(struct pw_figure_workload *w)
{
    free(w->programs);
    free(w->label);
    free(w->text);
}

/* Marks `wanted` of `count` places. */
static void draw(bool *stays, unsigned *order, size_t count, size_t wanted)
{
    struct pw_random random;
    pw_random_init(&random, DRAW_SEED, "share");
    for (size_t i = 0; i < count; i++)
        order[i] = (unsigned)i;
    for (size_t i = 0; i < count; i++) {
        size_t other = i + pw_random_below(&random, count - i);
        unsigned place = order[other];
        order[other] = order[i];
        order[i] = place;
        stays[place] = i < wanted;
    }
}

enum pw_status pw_figure_draw(struct pw_figure *f, unsigned percent, struct pw_error *err)
{
    bool *stays = calloc(f->workload_count + 1, sizeof *stays);
    unsigned *order = calloc(f->workload_count + 1, sizeof *order);
    if (!stays || !order) {
        free(stays);
        free(order);
        return pw_fail_memory(err, "a figure");
    }
    for (size_t first = 0, end; first < f->workload_count; first = end) {
        end = first;
        while (end < f->workload_count && f->workloads[end].group == f->workloads[first].group)
            end++;
        size_t count = end - first;
        draw(stays + first, order, count, (count * percent + 99) / 100);
    }
    size_t kept = 0;
    for (size_t w = 0; w < f->workload_count; w++) {
        if (stays[w])
            f->workloads[kept++] = f->workloads[w];
        else
            release(&f->workloads[w]);
    }
    f->workload_count = kept;
    f->percent = percent;
    free(stays);
    free(order);
    return PW_OK;
}
