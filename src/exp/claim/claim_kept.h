/* Verdicts that the project itself has measured: those of data/results, compiled in by scripts/embed-results.
 *
 * They are of the version that each figure was measured with, which may be an earlier one; nothing here takes them for
 * runs of this program. */
#ifndef PW_EXP_CLAIM_KEPT_H
#define PW_EXP_CLAIM_KEPT_H

#include "exp/claim/claim_report.h"

struct pw_claim_kept {
    const char *id, *figure;
    const char *version;     /* digest of the mechanisms (system/version.h) */
    const char *null_design; /* "" where there is none */
    unsigned count, percent; /* of values; of each group's workloads */
    enum pw_scope scope;
    enum pw_verdict verdict, null_verdict;
    double values[PW_CLAIM_MAX_PARTS], null_values[PW_CLAIM_MAX_PARTS];
};
extern const struct pw_claim_kept pw_claims_kept[];
extern const size_t pw_claims_kept_count;

/* Why what differs from a paper differs, in a sentence or two; the last one has a NULL paper. */
struct pw_claim_why {
    const char *paper, *page, *why;
};
extern const struct pw_claim_why pw_claim_whys[];

/* As evidence. *out is the caller's to free. */
enum pw_status pw_claim_kept_evidence(struct pw_claim_evidence **out, size_t *out_count, struct pw_error *err);

/* Which version the scores that are shown and come from the project were measured with: one line. */
void pw_claim_show_versions(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                            struct pw_text *out);

/* A line per paper: its score, why results differ, and the page that has more. Papers of which no figure has
 * decided anything are left out. */
void pw_claim_show_why(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out);

#endif
