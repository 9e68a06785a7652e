/* The project's own verdicts as evidence, and the lines that say whose they are and why results differ from the
 * papers'. */
#include "exp/claim/claim_kept.h"

#include "system/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row that data/claims/weak.csv lists since it was measured is weak where it held. */
static enum pw_verdict verdict_of(const struct pw_claim_kept *k, const struct pw_claim *claim)
{
    return k->verdict == PW_HOLDS && claim->weak[0] ? PW_WEAK : k->verdict;
}

static struct pw_claim_evidence evidence_of(const struct pw_claim_kept *k, const struct pw_claim *claim)
{
    struct pw_claim_evidence e = {.figure = k->figure, .scope = k->scope, .version = k->version, .percent = k->percent};
    e.outcome = (struct pw_claim_outcome){.claim = claim,
                                          .count = k->count,
                                          .seeds = 1,
                                          .verdict = verdict_of(k, claim),
                                          .null_verdict = k->null_verdict};
    memcpy(e.outcome.values, k->values, sizeof k->values);
    memcpy(e.outcome.null_values, k->null_values, sizeof k->null_values);
    snprintf(e.outcome.null_design, sizeof e.outcome.null_design, "%s", k->null_design);
    return e;
}

enum pw_status pw_claim_kept_evidence(struct pw_claim_evidence **out, size_t *out_count, struct pw_error *err)
{
    struct pw_claim_evidence *all = calloc(pw_claims_kept_count + 1, sizeof *all);
    *out = all;
    *out_count = 0;
    if (!all)
        return pw_fail_memory(err, "the claims");
    for (size_t i = 0; i < pw_claims_kept_count; i++) {
        const struct pw_claim *claim = pw_claim_find(pw_claims_kept[i].id);
        if (claim)
            all[(*out_count)++] = evidence_of(&pw_claims_kept[i], claim);
    }
    return PW_OK;
}

/* The version that a shown score was measured with; NULL where it is not the project's. */
static const char *version_of(const struct pw_claim_score *s, const struct pw_claim_filter *filter)
{
    return pw_claim_is_shown(s, filter) && s->evidence ? s->evidence->version : NULL;
}

static bool met_before(const struct pw_claim_score *scores, size_t i, const struct pw_claim_filter *filter)
{
    const char *version = version_of(&scores[i], filter);
    for (size_t k = 0; k < i; k++) {
        const char *other = version_of(&scores[k], filter);
        if (other && strcmp(other, version) == 0)
            return true;
    }
    return false;
}

void pw_claim_show_versions(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                            struct pw_text *out)
{
    struct pw_text earlier = {0}, line = {0};
    size_t all = 0, old = 0;
    for (size_t i = 0; i < pw_claim_count; i++) {
        const char *version = version_of(&scores[i], filter);
        if (!version)
            continue;
        bool is_old = strcmp(version, pw_mechanisms_version()) != 0;
        all++;
        old += is_old;
        if (is_old && !met_before(scores, i, filter))
            pw_text_print(&earlier, "%s%s", earlier.bytes ? ", " : "", version);
    }
    if (!all)
        return;
    pw_text_print(&line, "Measured by the project, not by you, ");
    if (old == 0)
        pw_text_print(&line, "with this version of the simulator");
    else
        pw_text_print(&line, "%s with an earlier version of the simulator (%s)",
                      old == all ? "all of it" : "part of it", earlier.bytes);
    pw_text_add(&line, ". `pagewalk reproduce PAPER` measures again; your runs are then shown instead.");
    pw_text_prose(out, 0, 0, line.bytes ? line.bytes : "");
    pw_text_free(&earlier);
    pw_text_free(&line);
}

struct tally {
    size_t decided, by[PW_VERDICT_COUNT];
    size_t about_designs, of_them_hold; /* rows with a null design; the others are about baselines and programs */
};

/* Of the paper's shown scores that figures have decided. */
static struct tally tally_of(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                             const char *paper)
{
    struct tally t = {0};
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim_score *s = &scores[i];
        if (!pw_claim_is_for_figures(s->claim) || s->verdict > PW_DIFFERS || strcmp(s->claim->paper, paper) != 0 ||
            !pw_claim_is_shown(s, filter))
            continue;
        bool about_a_design = s->evidence->outcome.null_design[0];
        t.decided++;
        t.by[s->verdict]++;
        t.about_designs += about_a_design;
        t.of_them_hold += about_a_design && s->verdict == PW_HOLDS;
    }
    return t;
}

void pw_claim_show_why(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out)
{
    for (const struct pw_claim_why *w = pw_claim_whys; w->paper; w++) {
        struct tally t = tally_of(scores, filter, w->paper);
        struct pw_text line = {0};
        if (!t.decided)
            continue;
        pw_text_print(&line, "%s: %zu of %zu hold%s (%zu of the %zu about a new design), ", w->paper, t.by[PW_HOLDS],
                      t.decided, pw_counted(t.decided, "s", ""), t.of_them_hold, t.about_designs);
        if (t.by[PW_WEAK])
            pw_text_print(&line, "%zu %s weak, ", t.by[PW_WEAK], pw_counted(t.by[PW_WEAK], "is", "are"));
        pw_text_print(&line, "%zu differ%s.", t.by[PW_DIFFERS], pw_counted(t.by[PW_DIFFERS], "s", ""));
        pw_text_prose(out, 0, 2, line.bytes ? line.bytes : "");
        line.length = 0;
        pw_text_print(&line, "%s%sSee %s.", t.by[PW_DIFFERS] ? w->why : "", t.by[PW_DIFFERS] ? " " : "", w->page);
        pw_text_prose(out, 2, 2, line.bytes ? line.bytes : "");
        pw_text_free(&line);
    }
}
