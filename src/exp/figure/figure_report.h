/* A figure's numbers for people and for programs: its table, and each claim with the paper's value, ours and the
 * verdict. */
#ifndef PW_EXP_FIGURE_REPORT_H
#define PW_EXP_FIGURE_REPORT_H

#include "exp/figure/evaluate.h"
#include "exp/format/text.h"

/* Means by group of workloads, or with `each` a line per workload (per application, where the figure looks at
 * those). Where several seeds were run, means over them with their 95% intervals. */
void pw_figure_report_table(const struct pw_figure_outcome *o, bool each, struct pw_text *out);

/* One JSON object: figure, scope, columns with every item, claims. */
void pw_figure_report_json(const struct pw_figure_outcome *o, struct pw_text *out);

/* The same without what came out: what the figure is made from, how many runs are missing, and the versions of all that
 * they depend on. */
void pw_figure_report_plan_json(const struct pw_figure_outcome *o, struct pw_text *out);

/* Rows of CSV, one number each; with `header`, the names of the fields first. docs/experiments.md says what they
 * are. */
void pw_figure_report_csv(const struct pw_figure_outcome *o, bool header, struct pw_text *out);

/* How many of the claims have this verdict. */
size_t pw_figure_report_count(const struct pw_figure_outcome *o, enum pw_verdict verdict);

extern const char *const pw_scope_names[]; /* "quick", "full" */

#endif
