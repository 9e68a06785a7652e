/* Student's t in closed form: for a whole number of degrees of freedom, the probability of lying within ± t is a finite
 * sum (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4), and t is found by bisection. */
#include "exp/format/confidence.h"

#include <math.h>

/* The probability that a value of Student's distribution lies within ± t. */
static double within(double t, size_t freedom)
{
    double degrees = (double)freedom, square = degrees / (degrees + t * t); /* of the cosine of atan(t / √degrees) */
    bool odd = freedom % 2;
    double term = odd ? sqrt(square) : 1, sum = freedom > 1 ? term : 0;
    for (size_t k = odd ? 3 : 2; k < freedom; k += 2) {
        term *= square * ((double)k - 1) / (double)k;
        sum += term;
    }
    double sine = sqrt(1 - square);
    return odd ? (atan(t / sqrt(degrees)) + sine * sum) * M_2_PI : sine * sum;
}

double pw_student_t(size_t freedom)
{
    enum { STEPS = 60, AS_NORMAL = 100000 };
    double low = 0, high = 16; /* 12.7 with one degree */
    freedom = freedom > AS_NORMAL ? AS_NORMAL : freedom;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (within(middle, freedom) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return high;
}

struct pw_confidence pw_confidence_of(const double *values, size_t count)
{
    struct pw_confidence none = {count, NAN, NAN, NAN};
    if (!count)
        return none;
    double sum = 0, squares = 0;
    bool equal = true;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            return none;
        sum += values[i];
        equal &= values[i] == values[0];
    }
    double mean = equal ? values[0] : sum / (double)count;
    if (count == 1)
        return (struct pw_confidence){1, mean, NAN, NAN};
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double deviation = sqrt(squares / (double)(count - 1));
    double half = equal ? 0 : pw_student_t(count - 1) * deviation / sqrt((double)count);
    return (struct pw_confidence){count, mean, mean - half, mean + half};
}

double pw_confidence_half(const struct pw_confidence *i)
{
    return (i->high - i->low) / 2;
}

bool pw_confidence_has(const struct pw_confidence *i, double value)
{
    return i->low <= value && value <= i->high;
}
