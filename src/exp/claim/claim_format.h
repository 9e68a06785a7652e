/* How a claim's numbers and its verdict are shown. */
#ifndef PW_EXP_CLAIM_FORMAT_H
#define PW_EXP_CLAIM_FORMAT_H

#include "exp/figure/evaluate.h"
#include "exp/format/text.h"

/* Our values, separated by "; ", with so many decimals that what is shown would get the same verdict: beside a paper's
 * "<1" that holds 0.9998 is not shown as 1.00. "true" or "false" where the paper has no number. */
void pw_claim_format_values(const struct pw_claim_outcome *o, struct pw_text *out);

/* The same for those of the null design; nothing where there is none. */
void pw_claim_format_null(const struct pw_claim_outcome *o, struct pw_text *out);

/* Why a claim is weak, or not run although its own runs are there; nothing where it is neither. */
void pw_claim_format_reason(const struct pw_claim_outcome *o, struct pw_text *out);

/* Members of a JSON object, each after a comma: the values by seed where there are several, what the null design gave,
 * and the reason of a verdict that has one. */
void pw_claim_outcome_json(const struct pw_claim_outcome *o, struct pw_text *out);

/* The verdict's name, with colours where they are wanted. */
const char *pw_verdict_shown(enum pw_verdict verdict, bool colour);

#endif
