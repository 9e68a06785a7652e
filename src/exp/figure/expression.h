/* Expressions over the runs of a figure: how a number of a paper is computed from results, written in the figure's
 * file.
 *
 *     100 * (1 - mean(speed@4k / speed@ideal))            one number: a loss in %
 *     100 * mean(l2_hit@4k[5-app])                        only the workloads of one group
 *     mean(miss@shared / miss@shared:alone > 1) > 0.5     a comparison is 1 or 0
 *
 * A measure, defined in the same file, is an expression over one run's values: metrics as in `pagewalk list metrics`
 * (`l1_tlb.hits / l1_tlb.lookups`), `cycles`, `nanoseconds`, `ipc` (the sum over the applications), `weighted_speedup`,
 * `unfairness`, `apps`, an option that is a number as `option.dram.channels`; or over one application's:
 * `app.l2_tlb.hits`, `app.ipc`, `app.cycles`, `app.sms`, `app.speedup` (IPC over IPC alone with the baseline design),
 * and as `app1.ipc` those of the application with that number, counted from 0, as a value of the run. At a variant it
 * is a vector, one number per workload or, where it says app., one per application of each workload; `:alone` takes
 * each application's run of that variant without neighbours. Vectors combine element by element; mean, geomean,
 * harmean, median, min, max, sum, count and farthest (from 1) make one number of one, or of several: max(a@x / a@y, a@x
 * / a@z). A run's value beside an application's stands for each of its applications. Nothing else is known: no constant
 * can stand in for a run, since an expression that names no measure is refused.
 *
 * Names consist of letters, digits, '_', '-' and '.'; a '-' between two of those belongs to the name, so a minus after
 * a name has a blank before it. Comparisons bind least and do not chain. What is not known (NAN) stays so, through
 * comparisons, min and count too. */
#ifndef PW_EXP_EXPRESSION_H
#define PW_EXP_EXPRESSION_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

struct pw_expression;

/* Names that an expression may use; NULL-terminated lists. With variants == NULL it is a measure: names are metrics. */
struct pw_expression_names {
    const char *const *measures, *const *variants, *const *groups;
    const char *const *metrics; /* with "app." names; NULL: any */
};

/* Whether a text can be the name of a measure, variant or group. */
bool pw_expression_is_name(const char *text);

enum pw_status pw_expression_parse(const char *text, const struct pw_expression_names *names,
                                   struct pw_expression **out, struct pw_error *err);
void pw_expression_free(struct pw_expression *e);

/* Whether one number comes out, whatever the runs: all vectors are inside mean(), max(), … */
bool pw_expression_is_number(const struct pw_expression *e);

/* Calls visit for each measure@variant that is used, as often as it is written. `group` is -1 for all workloads. */
typedef void pw_expression_visit(void *context, size_t measure, size_t variant, bool alone, int group);
void pw_expression_references(const struct pw_expression *e, pw_expression_visit *visit, void *context);

/* Length of the "app1." that a metric's name begins with; 0 where it does not. */
size_t pw_expression_numbered_app(const char *name);

/* Whether a measure uses a metric; one whose name ends in '.' stands for all that begin so, "app.x" for "app1.x"
 * too. */
bool pw_expression_uses(const struct pw_expression *e, const char *metric);

/* A column of numbers. `app` is the application within the workload, or -1 for a value of the whole run. */
struct pw_vector {
    size_t count; /* a plain number is count = 1, workload = -1 */
    struct {
        int workload, app;
        double value; /* NAN: not known, the run is missing */
    } * items;
};
void pw_vector_free(struct pw_vector *v);

/* Where values come from. Reference: fills in the vector of a measure at a variant, for the workloads of `group`, or
 * all with -1. Metric (in measures): one value. */
struct pw_expression_source {
    enum pw_status (*reference)(void *context, size_t measure, size_t variant, bool alone, int group,
                                struct pw_vector *out, struct pw_error *err);
    double (*metric)(void *context, const char *name); /* NAN when there is none */
    void *context;
};
enum pw_status pw_expression_evaluate(const struct pw_expression *e, const struct pw_expression_source *source,
                                      struct pw_vector *out, struct pw_error *err);

#endif
