/* Means over workloads are made with each seed by itself, as with the first alone, and their interval is that over the
 * seeds. */
#include "exp/figure/figure_scatter.h"

#include <math.h>

static double mean_of_seed(const struct pw_figure_outcome *o, unsigned seed, size_t column,
                           const struct pw_figure_cell *cell)
{
    const struct pw_figure *f = o->figure;
    const struct pw_vector *v = &o->columns[seed * f->column_count + column];
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++) {
        int w = v->items[i].workload, a = v->items[i].app;
        bool in_group = cell->group == PW_FIGURE_ANY || (w >= 0 && (int)f->workloads[w].group == cell->group);
        if (!in_group || (cell->workload != PW_FIGURE_ANY && w != cell->workload) ||
            (cell->app != PW_FIGURE_ANY && a != cell->app && a != PW_FIGURE_WHOLE_RUN))
            continue;
        sum += f->geometric ? log(v->items[i].value) : v->items[i].value;
        count++;
    }
    if (!count)
        return NAN;
    return f->geometric ? exp(sum / (double)count) : sum / (double)count;
}

double pw_figure_mean(const struct pw_figure_outcome *o, size_t column, const struct pw_figure_cell *cell)
{
    return mean_of_seed(o, 0, column, cell);
}

struct pw_confidence pw_figure_scatter(const struct pw_figure_outcome *o, size_t column,
                                       const struct pw_figure_cell *cell)
{
    double values[PW_MAX_SEEDS];
    for (unsigned s = 0; s < o->seeds; s++)
        values[s] = mean_of_seed(o, s, column, cell);
    return pw_confidence_of(values, o->seeds);
}

struct pw_confidence pw_figure_item_scatter(const struct pw_figure_outcome *o, size_t column, size_t item)
{
    double values[PW_MAX_SEEDS];
    for (unsigned s = 0; s < o->seeds; s++) {
        const struct pw_vector *v = &o->columns[s * o->figure->column_count + column];
        values[s] = item < v->count ? v->items[item].value : NAN;
    }
    return pw_confidence_of(values, o->seeds);
}

struct pw_confidence pw_figure_claim_scatter(const struct pw_claim_outcome *c, size_t part)
{
    double values[PW_MAX_SEEDS];
    for (unsigned s = 0; s < c->seeds; s++)
        values[s] = c->by_seed[s][part];
    return pw_confidence_of(values, c->seeds);
}
