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

static bool looks_right(const struct pw_claim_outcome *o, int decimals)
{
    double shown[PW_CLAIM_MAX_PARTS];
    for (size_t i = 0; i < o->count && i < PW_CLAIM_MAX_PARTS; i++)
        shown[i] = rounded(o->values[i], decimals);
    return pw_claim_judge_values(o->claim, shown, o->count, NULL) == o->verdict;
}

void pw_claim_format_values(const struct pw_claim_outcome *o, struct pw_text *out)
{
    int decimals = pw_decimals(o->values, o->count);
    while (decimals < MAX_DECIMALS && !looks_right(o, decimals))
        decimals++;
    for (size_t i = 0; i < o->count; i++) {
        char number[PW_NUMBER_CAPACITY];
        pw_format_fixed(number, o->values[i], decimals);
        const char *shown = number;
        if (isnan(o->values[i]))
            shown = "-";
        else if (o->claim->judge == PW_JUDGE_TRUE)
            shown = o->values[i] == 1 ? "true" : "false";
        pw_text_print(out, "%s%s", i ? "; " : "", shown);
    }
}

const char *pw_verdict_shown(enum pw_verdict verdict, bool colour)
{
    if (colour && verdict == PW_HOLDS)
        return "\033[32mholds\033[0m";
    if (colour && verdict == PW_DIFFERS)
        return "\033[31mdiffers\033[0m";
    return pw_verdict_names[verdict];
}
