/* From the runs of a figure to its numbers: the table's columns and the claims' values and verdicts. */
#ifndef PW_EXP_EVALUATE_H
#define PW_EXP_EVALUATE_H

#include "exp/figure/plan.h"
#include "exp/store/store.h"

struct pw_claim_outcome {
    const struct pw_claim *claim;
    size_t count;
    double values[PW_CLAIM_MAX_PARTS]; /* ours, in the paper's unit; NAN where a run is missing */
    enum pw_verdict verdict;
};

struct pw_figure_outcome {
    const struct pw_figure *figure;
    size_t runs_needed, runs_there;
    uint64_t runs_digest;      /* as the plan's */
    struct pw_vector *columns; /* as figure->columns; a column of applications has one item per application */
    struct pw_claim_outcome *claims;
};

/* runs[job] is the stored run of each of the plan's jobs, NULL where it is missing. */
enum pw_status pw_figure_evaluate(const struct pw_plan_figure *plan, struct pw_stored_run *const *runs,
                                  struct pw_figure_outcome *out, struct pw_error *err);
void pw_figure_outcome_release(struct pw_figure_outcome *o);

#endif
