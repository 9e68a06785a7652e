/* A share of a figure's workloads, for when all of them take too long.
 *
 * The draw is by a fixed seed and knows nothing of what a workload costs or gives. Groups of the same size lose the
 * same places, so that two copies and five copies of a program stay or go together, and a smaller share is part of a
 * larger one: runs that are done for a third count for two thirds. The same programs with other SMs or sizes share a
 * place: a pair keeps all of its splits, and is drawn where a figure without splits draws it. No group is left
 * empty. */
#include "exp/figure/figure.h"
#include "sim/random.h"

#include <stdlib.h>
#include <string.h>

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

/* The place after that of `w`, which is one or more workloads further on. */
static size_t next_place(const struct pw_figure *f, size_t w)
{
    const struct pw_figure_workload *all = f->workloads;
    size_t next = w + 1;
    while (next < f->workload_count && all[next].group == all[w].group && !strcmp(all[next].programs, all[w].programs))
        next++;
    return next;
}

/* Marks what stays of the group that begins at `first`; returns its end. */
static size_t draw_group(const struct pw_figure *f, size_t first, unsigned percent, bool *stays, unsigned *order)
{
    size_t places = 0, end = first;
    for (; end < f->workload_count && f->workloads[end].group == f->workloads[first].group; places++)
        end = next_place(f, end);
    bool *drawn = stays + f->workload_count;
    draw(drawn, order, places, (places * percent + 99) / 100);
    for (size_t place = 0, w = first; place < places; place++)
        for (size_t next = next_place(f, w); w < next; w++)
            stays[w] = drawn[place];
    return end;
}

enum pw_status pw_figure_draw(struct pw_figure *f, unsigned percent, struct pw_error *err)
{
    bool *stays = calloc(2 * f->workload_count + 1, sizeof *stays); /* workloads, and the places of a group */
    unsigned *order = calloc(f->workload_count + 1, sizeof *order);
    if (!stays || !order) {
        free(stays);
        free(order);
        return pw_fail_memory(err, "a figure");
    }
    for (size_t first = 0; first < f->workload_count;)
        first = draw_group(f, first, percent, stays, order);
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
