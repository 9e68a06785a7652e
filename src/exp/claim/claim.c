/* The judge: compares values of ours with a paper's, by the rule that the row names.
 *
 * Gains and factors hold when they go the paper's way and are 0.5 to 1.5 times its size; rates within 10 percentage
 * points; amounts between 0.5 and 1.5 times. So a design that changes nothing (a gain of 0, a factor of 1) fails every
 * row that claims a change. Limits count as inside. A trend, which is a bound at "no change" or a step of a chain, has
 * to have a size: 1%, and more than the scatter over seeds. docs/claims.md has the reasons.
 *
 * Values come out of sums and quotients of doubles: what differs by less than TOLERANCE is rounding. A strict bound has
 * to be passed by more than that, so that a ratio of two equal runs is never "greater than 1" by its last bit. */
#include "exp/claim/claim.h"

#include "sim/c_locale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-9, LEAST = 0.5, MOST = 1.5, RATE_POINTS = 10, ABOUT = 0.05, ABOUT_POINTS = 5,
                    TREND = 0.01, TREND_POINTS = 1;

const char *const pw_claim_kind_names[PW_CLAIM_KIND_COUNT] = {"headline",  "number", "trend",
                                                              "mechanism", "config", "context"};
const char *const pw_claim_judge_names[PW_JUDGE_COUNT] = {"gain",  "ratio", "rate", "quantity",     "exact", "bound",
                                                          "order", "true",  "test", "not-modelled", "none"};
const char *const pw_verdict_names[PW_VERDICT_COUNT] = {"holds",   "weak",         "differs",
                                                        "not run", "not modelled", "out of scope"};

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

static bool is_percent(const char *unit)
{
    return strcmp(unit, "%") == 0;
}

/* A difference of ours that goes the paper's way: from the least size on, and beyond what chance gives. */
static bool is_change(double distance, double least, double scatter)
{
    return distance >= least - slack(least) && distance > scatter + slack(scatter);
}

/* Whether a bound says "no change", so that passing it is a trend and no number of the paper's. */
static bool is_trend(const struct part *bound, const char *unit)
{
    return bound->number == 0 || (bound->number == 1 && strcmp(unit, "x") == 0);
}

/* The size that a trend needs at least. Of an amount alone, such as cycles, nothing says what 1% would be. */
static double least_change(const char *unit)
{
    if (is_percent(unit))
        return TREND_POINTS;
    return strcmp(unit, "x") == 0 ? TREND : 0;
}

static bool meets_bound(double value, const struct part *bound, const char *unit, double scatter)
{
    double limit = bound->number, least = 0;
    bool above = is_above(value, limit), below = is_above(-value, -limit);
    if (strcmp(bound->sign, "<=") == 0)
        return !above;
    if (strcmp(bound->sign, ">=") == 0)
        return !below;
    if (bound->sign[0] == '~') {
        double range = is_percent(unit) ? ABOUT_POINTS : ABOUT * fabs(limit);
        return is_within(value, limit - range, limit + range);
    }
    if (is_trend(bound, unit))
        least = least_change(unit);
    else
        scatter = 0;
    bool passed = bound->sign[0] == '<' ? below : bound->sign[0] == '>' ? above : above || below;
    return passed && is_change(fabs(value - limit), least, scatter);
}

/* Whether `high` is above `low` by a step that counts; `paper` is the paper's own step. */
static bool is_step(double low, double high, double paper, const char *unit, double scatter)
{
    double least = is_percent(unit) ? fmin(TREND_POINTS, LEAST * fabs(paper)) : TREND * fmax(fabs(low), fabs(high));
    return is_change(high - low, least, scatter);
}

static bool meets_number(const struct pw_claim *claim, double value, double paper)
{
    double nothing = is_percent(claim->unit) ? 100 : 1;
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

/* Every value of a chain has the sign that the paper's has, and every link is a step. */
static bool meets_chain(const struct pw_claim *claim, const double *values, const double *scatter)
{
    const char *text = claim->value;
    struct part part, last = {0};
    for (size_t i = 0; next_part(&text, &part); i++, last = part) {
        if (part.number != 0 && values[i] * part.number <= 0)
            return false;
        if (i == 0 || part.first)
            continue;
        bool up = part.sign[0] == '<';
        double chance = scatter ? scatter[i - 1] + scatter[i] : 0;
        if (!is_step(values[up ? i - 1 : i], values[up ? i : i - 1], part.number - last.number, claim->unit, chance))
            return false;
    }
    return true;
}

static bool meets_parts(const struct pw_claim *claim, const double *values, const double *scatter)
{
    const char *text = claim->value;
    struct part part;
    bool holds = true;
    for (size_t i = 0; next_part(&text, &part); i++)
        holds &= claim->judge == PW_JUDGE_BOUND ? meets_bound(values[i], &part, claim->unit, scatter ? scatter[i] : 0)
                                                : meets_number(claim, values[i], part.number);
    return holds;
}

enum pw_verdict pw_claim_judge_values(const struct pw_claim *claim, const double *values, size_t count,
                                      const double *scatter)
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
    bool holds;
    if (claim->judge == PW_JUDGE_TRUE)
        holds = is_within(values[0], 1, 1);
    else if (claim->judge == PW_JUDGE_ORDER)
        holds = meets_chain(claim, values, scatter);
    else
        holds = meets_parts(claim, values, scatter);
    return holds ? PW_HOLDS : PW_DIFFERS;
}
