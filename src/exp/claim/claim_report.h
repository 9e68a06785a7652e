/* The score: what figures and tests have said about each claim, and how it is shown.
 *
 * This does not know where the outcomes of figures come from: it takes them as an array. A claim that several figures
 * decide goes by the full ones where there are any; if those do not agree, it differs. Rows of mechanisms and
 * configurations go by the outcomes of the tests that name them, from a file that scripts/test writes. */
#ifndef PW_EXP_CLAIM_REPORT_H
#define PW_EXP_CLAIM_REPORT_H

#include "exp/figure/evaluate.h"

/* What one figure says about one claim. */
struct pw_claim_evidence {
    const char *figure; /* "mosaic/fig03" */
    enum pw_scope scope;
    struct pw_claim_outcome outcome;
    const char *version; /* of the project's own results (claim_kept.h), what measured them; NULL: the user's runs */
    unsigned percent;    /* of the workloads, where it is not NULL */
};

enum pw_test_result { PW_TEST_PASSED, PW_TEST_FAILED, PW_TEST_SKIPPED };

struct pw_test_outcome {
    const char *test, *name; /* as in struct pw_claim_test; the name "*" stands for cases that did not get to report */
    enum pw_test_result result;
};

struct pw_test_log {
    struct pw_test_outcome *outcomes; /* sorted by test and name */
    size_t count;
    char *text; /* what their names point into */
};

/* Reads test,case,outcome lines (CSV with that heading; outcome is pass, fail or skip). */
enum pw_status pw_test_log_read(const char *path, struct pw_test_log *out, struct pw_error *err);
void pw_test_log_release(struct pw_test_log *log);

struct pw_claim_score {
    const struct pw_claim *claim;
    enum pw_verdict verdict;
    const struct pw_claim_evidence *evidence; /* the one shown; NULL when no figure says anything */
    size_t figures;                           /* that decide it at that scope */
    size_t tests, passed, failed;             /* that name it */
};

/* Fills in one score per row of pw_claims. `log` may be NULL. */
void pw_claim_decide(const struct pw_claim_evidence *evidence, size_t count, const struct pw_test_log *log,
                     struct pw_claim_score *out_scores);

/* Which rows are shown; NULL and _COUNT: all. */
struct pw_claim_filter {
    const char *const *papers; /* ends with NULL */
    enum pw_claim_kind kind;
    enum pw_verdict verdict;
};

bool pw_claim_is_shown(const struct pw_claim_score *s, const struct pw_claim_filter *filter);

extern const char *const pw_claim_papers[]; /* in the order of the rows; ends with NULL */

/* Verdicts by paper and kind. */
void pw_claim_show_totals(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                          struct pw_text *out);
/* A line per row. */
void pw_claim_show_list(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out);
/* Which tests name which mechanism and config rows, which rows have none, and which are not modelled. */
void pw_claim_show_tests(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                         struct pw_text *out);
/* An array of objects, one per row. */
void pw_claim_show_json(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out);

/* The first of a claim's tests; those that follow have the same id. */
const struct pw_claim_test *pw_claim_first_test(const char *id);

#endif
