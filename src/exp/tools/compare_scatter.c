/* The scatter of a comparison's numbers over the seeds (exp/format/confidence.h).
 *
 * What is a ratio of two rows is taken for each seed first, since both run with the same inputs then, and the interval
 * is that of the ratios. A seed counts where the number is known with it. */
#include "exp/tools/compare.h"

#include <math.h>

bool pw_compare_scatters(const struct pw_compare *c)
{
    return c->spec.seed_count > 1 && !c->spec.each_seed;
}

struct numbers {
    size_t count;
    double values[PW_COMPARE_MAX_SEEDS];
};

static void add(struct numbers *n, double value)
{
    if (isfinite(value))
        n->values[n->count++] = value;
}

static struct pw_confidence interval_of(const struct numbers *n)
{
    return pw_confidence_of(n->values, n->count);
}

typedef double number_of(const struct pw_compare *c, size_t row, struct pw_compare_column column);

static struct pw_confidence over_seeds(const struct pw_compare *c, size_t row, struct pw_compare_column column,
                                       number_of *number)
{
    struct numbers n = {0};
    struct pw_compare_place p = pw_compare_place(c, row);
    for (p.seed = 0; p.seed < c->spec.seed_count; p.seed++)
        add(&n, number(c, pw_compare_row(c, &p), column));
    return interval_of(&n);
}

struct pw_confidence pw_compare_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column)
{
    return over_seeds(c, row, column, pw_compare_number);
}

struct pw_confidence pw_compare_mean_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column)
{
    return over_seeds(c, row, column, pw_compare_mean);
}

struct pw_confidence pw_compare_step(const struct pw_compare *c, size_t row)
{
    struct numbers n = {0};
    const struct pw_compare_column cycles = {PW_COMPARE_CYCLES, 0};
    struct pw_compare_place p = pw_compare_place(c, row), before = p;
    for (p.seed = 0; p.design > 0 && p.seed < c->spec.seed_count; p.seed++) {
        before.design = p.design - 1;
        before.seed = p.seed;
        add(&n, pw_compare_number(c, pw_compare_row(c, &p), cycles) /
                    pw_compare_number(c, pw_compare_row(c, &before), cycles));
    }
    return interval_of(&n);
}

bool pw_compare_is_reference(const struct pw_compare *c, size_t row, size_t reference)
{
    return pw_compare_place(c, row).design == c->references[reference];
}

bool pw_compare_same_for_all_seeds(const struct pw_compare *c, size_t workload)
{
    size_t each = c->row_count / c->spec.workload_count;
    bool any = false;
    for (size_t row = workload * each; row < (workload + 1) * each; row += c->spec.seed_count)
        for (size_t i = 0; i < c->column_count; i++) {
            struct pw_confidence interval = pw_compare_interval(c, row, c->columns[i]);
            if (interval.low < interval.high || interval.count == 1)
                return false;
            any |= interval.count > 1;
        }
    return any;
}
