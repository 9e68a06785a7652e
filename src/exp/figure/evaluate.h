/* From the runs of a figure to its numbers: the table's columns and the claims' values and verdicts. */
#ifndef PW_EXP_EVALUATE_H
#define PW_EXP_EVALUATE_H

#include "exp/figure/plan.h"
#include "exp/store/store.h"

enum { PW_NULL_DESIGN_CAPACITY = 64 };

struct pw_claim_outcome {
    const struct pw_claim *claim;
    size_t count;
    double values[PW_CLAIM_MAX_PARTS]; /* ours, in the paper's unit, of the first seed; NAN where a run is missing */
    unsigned seeds;                    /* whose runs are all there; the first always counts */
    double by_seed[PW_MAX_SEEDS][PW_CLAIM_MAX_PARTS];
    double scatter[PW_CLAIM_MAX_PARTS]; /* the largest minus the smallest of them */
    enum pw_verdict verdict;
    /* With the null design in the place of the claim's: */
    char null_design[PW_NULL_DESIGN_CAPACITY]; /* "" where there is none */
    double null_values[PW_CLAIM_MAX_PARTS];
    enum pw_verdict null_verdict; /* by these values: PW_NOT_RUN where they are no numbers */
    bool awaits_null;             /* the claim's own values hold, and runs of its null design are missing */
};

/* The scatter of the values for pw_claim_judge_values: NULL where one seed was run. */
const double *pw_claim_scatter(const struct pw_claim_outcome *o);

struct pw_figure_outcome {
    const struct pw_figure *figure;
    size_t runs_needed, runs_there;
    const char *refused;             /* as the plan's */
    uint64_t runs_digest;            /* as the plan's */
    unsigned seeds, seeds_asked_for; /* of which every run is there; the first always counts */
    struct pw_vector *columns; /* [seed * column_count + column]; one of applications has one item per application */
    struct pw_claim_outcome *claims;
};

/* runs[job] is the stored run of each of the plan's jobs, NULL where it is missing. A claim whose values hold is weak
 * where those of its null design do as well, and not run where that is not known. Seeds count up to the first of which
 * a run is missing. */
enum pw_status pw_figure_evaluate(const struct pw_plan_figure *plan, struct pw_stored_run *const *runs,
                                  struct pw_figure_outcome *out, struct pw_error *err);
void pw_figure_outcome_release(struct pw_figure_outcome *o);

#endif
