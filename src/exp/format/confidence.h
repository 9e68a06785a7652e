/* The mean of a few numbers and its 95% confidence interval: where the mean of very many such numbers lies, in 95 of
 * 100 cases.
 *
 * For n numbers with standard deviation s it is mean ± t·s/√n, with Student's t for n - 1 degrees of freedom ("The
 * probable error of a mean", Biometrika, 1908). It takes the numbers to be independent and normally distributed; three
 * seeds cannot show whether they are, and their interval is wide: t is 4.3. A ratio of two runs has to be made for each
 * pair of runs that belong together, and the interval of those taken: what both have in common cancels out. */
#ifndef PW_EXP_CONFIDENCE_H
#define PW_EXP_CONFIDENCE_H

#include <stdbool.h>
#include <stddef.h>

struct pw_confidence {
    size_t count;
    double mean;      /* NAN where there is no number, or one is NAN */
    double low, high; /* NAN as well where there is only one number */
};

struct pw_confidence pw_confidence_of(const double *values, size_t count);

/* Half its width; NAN where it is not known. */
double pw_confidence_half(const struct pw_confidence *i);

/* Whether the mean of very many numbers may be this value. */
bool pw_confidence_has(const struct pw_confidence *i, double value);

/* Within ± this, 95% of Student's distribution with so many degrees of freedom, at least 1. */
double pw_student_t(size_t freedom);

#endif
