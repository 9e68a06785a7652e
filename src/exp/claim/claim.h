/* What the papers say, and whether what came out of runs agrees with it.
 *
 * The rows are data/claims/PAPER.csv, compiled in. A row's `judge` says by which rule a value of ours is compared with
 * the paper's; no verdict is ever written by hand. The rules are those of docs/claims.md. */
#ifndef PW_EXP_CLAIM_H
#define PW_EXP_CLAIM_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

enum pw_claim_kind {
    PW_CLAIM_HEADLINE,
    PW_CLAIM_NUMBER,
    PW_CLAIM_TREND,
    PW_CLAIM_MECHANISM,
    PW_CLAIM_CONFIG,
    PW_CLAIM_CONTEXT,
    PW_CLAIM_KIND_COUNT
};

enum pw_claim_judge {
    PW_JUDGE_GAIN,         /* in % of the baseline (0: no change): the paper's sign, 0.5 to 1.5 times its size */
    PW_JUDGE_RATIO,        /* a factor of the baseline (1: no change, or 100 in %); judged as the gain (value - 1) */
    PW_JUDGE_RATE,         /* a hit rate or share in %: within 10 percentage points */
    PW_JUDGE_QUANTITY,     /* a plain amount: 0.5 to 1.5 times the paper's */
    PW_JUDGE_EXACT,        /* a count that has to be met */
    PW_JUDGE_BOUND,        /* "<1", ">=20", "!=1", "~1" (see docs/claims.md), a list of them one per value */
    PW_JUDGE_ORDER,        /* a chain "a>b>c": as many values, in that order by steps that count */
    PW_JUDGE_TRUE,         /* no number in the paper: the figure's comparison has to come out true (1) */
    PW_JUDGE_TEST,         /* mechanism and config: a test that names the row */
    PW_JUDGE_NOT_MODELLED, /* what nothing here could break, or measures: data/claims/not-modelled.csv */
    PW_JUDGE_NONE,         /* context */
    PW_JUDGE_COUNT
};

enum pw_verdict {
    PW_HOLDS,
    PW_WEAK, /* holds, and would without the design too: its null design passes as well, or it cannot fail */
    PW_DIFFERS,
    PW_NOT_RUN,
    PW_NOT_MODELLED,
    PW_OUT_OF_SCOPE,
    PW_VERDICT_COUNT
};

struct pw_claim {
    const char *id, *paper, *where, *text, *metric, *design, *baseline, *workloads, *value, *unit;
    const char *reason; /* why it is not modelled; "" */
    const char *weak;   /* why it could not but hold: data/claims/weak.csv; "" */
    enum pw_claim_kind kind;
    enum pw_claim_judge judge;
};

/* All rows, in the order of the files. */
extern const struct pw_claim pw_claims[];
extern const size_t pw_claim_count;
const struct pw_claim *pw_claim_find(const char *id);

extern const char *const pw_claim_kind_names[PW_CLAIM_KIND_COUNT];
extern const char *const pw_claim_judge_names[PW_JUDGE_COUNT];
extern const char *const pw_verdict_names[PW_VERDICT_COUNT]; /* "holds", "not run", … */

/* Judges values of ours, in the paper's unit: one, or as many as the row's value has parts. `scatter` has the largest
 * minus the smallest of each value over seeds, which a trend has to exceed; NULL where there was one seed. A value that
 * is no number makes it "not run". Rows of tests, rows that are not modelled and context cannot be judged so:
 * PW_NOT_RUN, PW_NOT_MODELLED and PW_OUT_OF_SCOPE. Never PW_WEAK, which is not for the values alone to say. */
enum pw_verdict pw_claim_judge_values(const struct pw_claim *claim, const double *values, size_t count,
                                      const double *scatter);

/* Whether values of ours decide it, which come from figures. */
bool pw_claim_is_for_figures(const struct pw_claim *claim);

/* How many values the row needs. */
size_t pw_claim_parts(const struct pw_claim *claim);

/* Which tests name a row: found in tests/ when the program is built. */
struct pw_claim_test {
    const char *id;   /* of the claim */
    const char *test; /* "golden/machines" */
    const char *name; /* of the case: "machines_are_those_of_the_papers" */
};
extern const struct pw_claim_test pw_claim_tests[]; /* sorted by id; the last one has a NULL id */

#endif
