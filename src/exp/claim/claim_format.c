/* How the values of a claim are shown. The rules are in claim_format.h. */
#include "exp/claim/claim_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DECIMALS = 9 };

/* What a reader sees of a value: it is rounded as it is printed. */
static double rounded(double value, int decimals)
{
    double scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    return isfinite(value) && fabs(value) < 1e9 ? round(value * scale) / scale : value;
}

static bool looks_right(const struct pw_claim_outcome *o, const double *values, int decimals)
{
    double shown[PW_CLAIM_MAX_PARTS];
    const double *scatter = pw_claim_scatter(o);
    for (size_t i = 0; i < o->count && i < PW_CLAIM_MAX_PARTS; i++)
        shown[i] = rounded(values[i], decimals);
    return pw_claim_judge_values(o->claim, shown, o->count, scatter) ==
           pw_claim_judge_values(o->claim, values, o->count, scatter);
}

static void format(const struct pw_claim_outcome *o, const double *values, struct pw_text *out)
{
    int decimals = pw_decimals(values, o->count);
    while (decimals < MAX_DECIMALS && !looks_right(o, values, decimals))
        decimals++;
    for (size_t i = 0; i < o->count; i++) {
        char number[PW_NUMBER_CAPACITY];
        pw_format_fixed(number, values[i], decimals);
        const char *shown = number;
        if (isnan(values[i]))
            shown = "-";
        else if (o->claim->judge == PW_JUDGE_TRUE)
            shown = values[i] == 1 ? "true" : "false";
        pw_text_print(out, "%s%s", i ? "; " : "", shown);
    }
}

void pw_claim_format_values(const struct pw_claim_outcome *o, struct pw_text *out)
{
    format(o, o->values, out);
}

void pw_claim_format_null(const struct pw_claim_outcome *o, struct pw_text *out)
{
    if (o->null_design[0])
        format(o, o->null_values, out);
}

void pw_claim_format_reason(const struct pw_claim_outcome *o, struct pw_text *out)
{
    bool null_holds = o->null_design[0] && o->null_verdict == PW_HOLDS;
    if (o->awaits_null) {
        pw_text_print(out, "runs with %s in its place are missing", o->null_design);
    } else if (o->verdict == PW_WEAK && null_holds) {
        pw_text_print(out, "holds with %s in its place too: ", o->null_design);
        format(o, o->null_values, out);
        pw_text_print(out, "%s%s", o->claim->weak[0] ? "; " : "", o->claim->weak);
    } else if (o->verdict == PW_WEAK) {
        pw_text_add(out, o->claim->weak);
    }
}

static void add_numbers(struct pw_text *out, const double *values, size_t count)
{
    pw_text_add(out, "[");
    for (size_t i = 0; i < count && i < PW_CLAIM_MAX_PARTS; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_text_real(out, values[i]);
    }
    pw_text_add(out, "]");
}

void pw_claim_outcome_json(const struct pw_claim_outcome *o, struct pw_text *out)
{
    struct pw_text reason = {0};
    for (unsigned s = 0; s < o->seeds && o->seeds > 1; s++) {
        pw_text_add(out, s ? ", " : ", \"by_seed\": [");
        add_numbers(out, o->by_seed[s], o->count);
    }
    if (o->seeds > 1)
        pw_text_add(out, "]");
    if (o->null_design[0]) {
        pw_text_add(out, ", \"null\": {\"design\": ");
        pw_text_json_string(out, o->null_design);
        pw_text_add(out, ", \"ours\": ");
        add_numbers(out, o->null_values, o->count);
        pw_text_print(out, ", \"verdict\": \"%s\"}", pw_verdict_names[o->null_verdict]);
    }
    pw_claim_format_reason(o, &reason);
    if (reason.bytes) {
        pw_text_add(out, ", \"why\": ");
        pw_text_json_string(out, reason.bytes);
    }
    pw_text_free(&reason);
}

const char *pw_verdict_shown(enum pw_verdict verdict, bool colour)
{
    if (colour && verdict == PW_HOLDS)
        return "\033[32mholds\033[0m";
    if (colour && verdict == PW_DIFFERS)
        return "\033[31mdiffers\033[0m";
    if (colour && verdict == PW_WEAK)
        return "\033[33mweak\033[0m";
    return pw_verdict_names[verdict];
}
