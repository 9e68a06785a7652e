/* What the figures have to say about claims, from the runs that a store has. */
#ifndef PW_EXP_CLAIM_EVIDENCE_H
#define PW_EXP_CLAIM_EVIDENCE_H

#include "exp/claim/claim_report.h"
#include "exp/store/store.h"

/* Evaluates every embedded figure in both scopes; runs nothing. *out is the caller's to free. */
enum pw_status pw_claim_evidence_collect(struct pw_store *store, struct pw_claim_evidence **out, size_t *out_count,
                                         struct pw_error *err);

#endif
