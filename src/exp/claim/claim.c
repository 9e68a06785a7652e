/* The judge: compares values of ours with a paper's, by the rule that the row names.
 *
 * Gains and factors hold when they go the paper's way and are 0.5 to 1.5 times its size; rates within 10 percentage
 * points; amounts between 0.5 and 1.5 times. So a design that changes nothing (a gain of 0, a factor of 1) fails every
 * row that claims a change. Limits count as inside. docs/claims.md has the reasons.
 *
 * Values come out of sums and quotients of doubles: what differs by less than TOLERANCE is rounding. A strict bound has
 * to be passed by more than that, so that a ratio of two equal runs is never "greater than 1" by its last bit. */
#include "exp/claim/claim.h"

#include "sim/c_locale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9, LEAST = 0.5, MOST = 1.5, RATE_POINTS = 10, ABOUT = 0.1;

const char *const pw_claim_kind_names[PW_CLAIM_KIND_COUNT] = {"headline",  "number", "trend",
                                                              "mechanism", "config", "context"};
const char *const pw_claim_judge_names[PW_JUDGE_COUNT] = {"gain",  "ratio", "rate", "quantity",     "exact", "bound",
                                                          "order", "true",  "test", "not-modelled", "none"};
const char *const pw_verdict_names[PW_VERDICT_COUNT] = {"holds", "differs", "not run", "not modelled", "out of scope"};

const struct pw_claim *pw_claim_find(const char *id)
{
    for (size_t i = 0; i < pw_claim_count; i++)
        if (strcmp(pw_claims[i].id, id) == 0)
            return &pw_claims[i];
    return NULL;
}

/* One number of a value with the sign before it: "", "<", ">=", "~", …; in a chain the sign between it and the last. */
struct part {
    char sign[3];
    double number;
    bool first; /* of its piece between semicolons */
};

/* Takes the next part from the text; false at its end. Generated rows have been checked, so there is nothing to
 * refuse. */
static bool next_part(const char **text, struct part *out)
{
    const char *at = *text;
    *out = (struct part){.first = *at == ';'};
    at += *at == ';';
    for (size_t i = 0; i < 2 && *at && strchr("<>=!~", *at); i++)
        out->sign[i] = *at++;
    char *end;
    out->number = pw_c_strtod(at, &end);
    if (end == at)
        return false;
    *text = end;
    return true;
}

bool pw_claim_is_for_figures(const struct pw_claim *claim)
{
    return claim->judge < PW_JUDGE_TEST;
}

size_t pw_claim_parts(const struct pw_claim *claim)
{
    if (!pw_claim_is_for_figures(claim))
        return 0;
    if (claim->judge == PW_JUDGE_TRUE)
        return 1;
    const char *text = claim->value;
    struct part part;
    size_t count = 0;
    while (next_part(&text, &part))
        count++;
    return count;
}

static double slack(double limit)
{
    return TOLERANCE * fmax(1, fabs(limit));
}

static bool is_above(double value, double limit)
{
    return value > limit + slack(limit);
}

static bool is_within(double value, double low, double high)
{
    return value >= low - slack(low) && value <= high + slack(high);
}

/* The paper's sign and LEAST to MOST times its size. */
static bool is_like_gain(double gain, double paper)
{
    return is_within(gain / paper, LEAST, MOST);
}

static bool meets_bound(double value, const char *sign, double limit, const char *unit)
{
    bool above = is_above(value, limit), below = is_above(-value, -limit);
    if (strcmp(sign, "<") == 0)
        return below;
    if (strcmp(sign, "<=") == 0)
        return !above;
    if (strcmp(sign, ">") == 0)
        return above;
    if (strcmp(sign, ">=") == 0)
        return !below;
    if (strcmp(sign, "!=") == 0)
        return above || below;
    double range = unit[0] == '%' ? RATE_POINTS : ABOUT * fabs(limit);
    return is_within(value, limit - range, limit + range);
}

static bool meets_number(const struct pw_claim *claim, double value, double paper)
{
    double nothing = strcmp(claim->unit, "%") == 0 ? 100 : 1;
    switch (claim->judge) {
    case PW_JUDGE_GAIN:
        return is_like_gain(value, paper);
    case PW_JUDGE_RATIO:
        return is_like_gain(value - nothing, paper - nothing);
    case PW_JUDGE_RATE:
        return is_within(value, paper - RATE_POINTS, paper + RATE_POINTS);
    case PW_JUDGE_QUANTITY:
        return is_like_gain(value, paper);
    default:
        return is_within(value, paper, paper);
    }
}

enum pw_verdict pw_claim_judge_values(const struct pw_claim *claim, const double *values, size_t count)
{
    if (claim->judge == PW_JUDGE_NONE)
        return PW_OUT_OF_SCOPE;
    if (claim->judge == PW_JUDGE_NOT_MODELLED)
        return PW_NOT_MODELLED;
    if (!pw_claim_is_for_figures(claim) || count != pw_claim_parts(claim))
        return PW_NOT_RUN;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return PW_NOT_RUN;
    if (claim->judge == PW_JUDGE_TRUE)
        return is_within(values[0], 1, 1) ? PW_HOLDS : PW_DIFFERS;
    const char *text = claim->value;
    struct part part;
    bool holds = true;
    for (size_t i = 0; next_part(&text, &part); i++) {
        if (claim->judge == PW_JUDGE_BOUND)
            holds &= meets_bound(values[i], part.sign, part.number, claim->unit);
        else if (claim->judge != PW_JUDGE_ORDER)
            holds &= meets_number(claim, values[i], part.number);
        else if (i > 0 && !part.first)
            holds &= part.sign[0] == '<' ? is_above(values[i], values[i - 1]) : is_above(values[i - 1], values[i]);
    }
    return holds ? PW_HOLDS : PW_DIFFERS;
}
