/* The numbers of a figure's table: single values and means over workloads, of one seed or over all. */
#ifndef PW_EXP_FIGURE_SCATTER_H
#define PW_EXP_FIGURE_SCATTER_H

#include "exp/figure/evaluate.h"
#include "exp/format/confidence.h"

enum { PW_FIGURE_WHOLE_RUN = -1, PW_FIGURE_ANY = -2 };

/* Which values of a column a number is the mean of: those of a group, a workload and an application. A value of the
 * whole run is every application's. */
struct pw_figure_cell {
    int group, workload, app; /* PW_FIGURE_ANY: all */
};

/* With the first seed. NAN where there is nothing or something is missing. */
double pw_figure_mean(const struct pw_figure_outcome *o, size_t column, const struct pw_figure_cell *cell);
/* Over the seeds of which every run is there. */
struct pw_confidence pw_figure_scatter(const struct pw_figure_outcome *o, size_t column,
                                       const struct pw_figure_cell *cell);
/* The same of one value of a column, and of a part of a claim. */
struct pw_confidence pw_figure_item_scatter(const struct pw_figure_outcome *o, size_t column, size_t item);
struct pw_confidence pw_figure_claim_scatter(const struct pw_claim_outcome *c, size_t part);

#endif
