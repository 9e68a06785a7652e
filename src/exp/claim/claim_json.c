/* The score as JSON: every column of a claim, what was found and what decided it. */
#include "exp/claim/claim_format.h"
#include "exp/claim/claim_report.h"

#include <string.h>

static void add_member(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, ", \"%s\": ", name);
    pw_text_json_string(out, value);
}

static void add_evidence(struct pw_text *out, const struct pw_claim_evidence *e)
{
    pw_text_add(out, ", \"ours\": [");
    for (size_t i = 0; e && i < e->outcome.count && i < PW_CLAIM_MAX_PARTS; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_real(out, e->outcome.values[i]);
    }
    pw_text_add(out, "]");
    if (e) {
        add_member(out, "figure", e->figure);
        add_member(out, "scope", e->scope == PW_FULL ? "full" : "quick");
        if (e->version)
            add_member(out, "measured_with", e->version);
        pw_claim_outcome_json(&e->outcome, out);
    }
}

static void add_tests(struct pw_text *out, const char *id)
{
    const struct pw_claim_test *first = pw_claim_first_test(id);
    pw_text_add(out, ", \"tests\": [");
    for (const struct pw_claim_test *t = first; t->id && strcmp(t->id, id) == 0; t++) {
        pw_text_add(out, t == first ? "{\"test\": " : ", {\"test\": ");
        pw_text_json_string(out, t->test);
        add_member(out, "case", t->name);
        pw_text_add(out, "}");
    }
    pw_text_add(out, "]");
}

void pw_claim_show_json(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out)
{
    size_t shown = 0;
    pw_text_add(out, "[");
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim_score *s = &scores[i];
        const struct pw_claim *c = s->claim;
        if (!pw_claim_is_shown(s, filter))
            continue;
        pw_text_add(out, shown++ ? ",\n  {\"id\": " : "\n  {\"id\": ");
        pw_text_json_string(out, c->id);
        add_member(out, "paper", c->paper);
        add_member(out, "where", c->where);
        add_member(out, "kind", pw_claim_kind_names[c->kind]);
        add_member(out, "claim", c->text);
        add_member(out, "metric", c->metric);
        add_member(out, "design", c->design);
        add_member(out, "baseline", c->baseline);
        add_member(out, "workloads", c->workloads);
        add_member(out, "value", c->value);
        add_member(out, "unit", c->unit);
        add_member(out, "judge", pw_claim_judge_names[c->judge]);
        add_member(out, "verdict", pw_verdict_names[s->verdict]);
        if (c->reason[0])
            add_member(out, "reason", c->reason);
        add_evidence(out, s->evidence);
        add_tests(out, c->id);
        pw_text_add(out, "}");
    }
    pw_text_add(out, shown ? "\n]\n" : "]\n");
}
