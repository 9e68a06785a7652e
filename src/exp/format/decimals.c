/* Numbers that stand together, in a column or a list: all have as many decimals, so that zeros at the end stay and
 * points are below one another. */
#include "exp/format/text.h"
#include "sim/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Decimals with which a value has three digits that count; two from 10 on. */
static int decimals_of(double size)
{
    int decimals = size < 10 ? 3 : 2;
    for (double limit = 0.1; size < limit && decimals < 6; limit /= 10)
        decimals++;
    return decimals;
}

int pw_decimals(const double *values, size_t count)
{
    /* Beside a value of about 1 a tiny one does not matter much, and four decimals do. */
    enum { BESIDE_LARGER = 4 };
    double largest = 0;
    int most = 2;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        double size = fabs(values[i]);
        if (!isfinite(size) || size == 0)
            continue;
        largest = size > largest ? size : largest;
        int decimals = decimals_of(size);
        most = decimals > most ? decimals : most;
        whole &= size == floor(size);
    }
    if (largest == 0)
        return 3;
    if (whole && largest >= 1000)
        return 0;
    return largest >= 0.1 && most > BESIDE_LARGER ? BESIDE_LARGER : most;
}

void pw_format_fixed(char out[PW_NUMBER_CAPACITY], double value, int decimals)
{
    double size = fabs(value);
    if (!isfinite(value) || size >= 1e15) {
        pw_format_real(out, value);
        return;
    }
    /* The digits before the point come from the rounded number, so that a carry reaches them. */
    char digits[PW_NUMBER_CAPACITY], whole[PW_NUMBER_CAPACITY];
    pw_c_snprintf(digits, sizeof digits, "%.*f", decimals, size);
    size_t length = strspn(digits, "0123456789");
    uint64_t before = 0;
    for (size_t i = 0; i < length; i++)
        before = 10 * before + (uint64_t)(digits[i] - '0');
    pw_format_integer(whole, before);
    bool zero = strspn(digits, "0.,") == strlen(digits);
    snprintf(out, PW_NUMBER_CAPACITY, "%s%.24s%s%.16s", value < 0 && !zero ? "-" : "", whole, decimals ? "." : "",
             decimals ? digits + length + 1 : "");
}
