/* Computes expressions: vectors of one number per workload or application, joined item by item.
 *
 * What is not known is NAN and stays so: a comparison, a minimum or a count that looks past a missing run would decide
 * a claim without it. A quotient 0 / 0 (the hit rate of a TLB that was never asked) is not known either. */
#include "exp/figure/expression_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pw_vector_free(struct pw_vector *v)
{
    free(v->items);
    *v = (struct pw_vector){0};
}

static enum pw_status make(struct pw_vector *v, size_t count, struct pw_error *err)
{
    v->count = count;
    v->items = calloc(count ? count : 1, sizeof *v->items);
    return v->items ? PW_OK : pw_fail_memory(err, "an expression's values");
}

static enum pw_status make_number(struct pw_vector *v, double value, struct pw_error *err)
{
    enum pw_status status = make(v, 1, err);
    if (status == PW_OK) {
        v->items[0].workload = v->items[0].app = -1;
        v->items[0].value = value;
    }
    return status;
}

static double apply(unsigned op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (op) {
    case OP_LESS:
        return a < b;
    case OP_LESS_EQUAL:
        return a <= b;
    case OP_GREATER:
        return a > b;
    case OP_GREATER_EQUAL:
        return a >= b;
    case OP_ADD:
        return a + b;
    case OP_SUBTRACT:
        return a - b;
    case OP_MULTIPLY:
        return a * b;
    default:
        return a / b;
    }
}

static bool is_plain(const struct pw_vector *v)
{
    return v->count == 1 && v->items[0].workload < 0;
}

static bool is_per_app(const struct pw_vector *v)
{
    return v->count > 0 && v->items[0].app >= 0;
}

/* For each item of `items`, the one of `of` that belongs to it: the same, or the run an application is part of. Both
 * are in the order of the workloads. False when one of either is left over. */
static bool match(const struct pw_vector *items, const struct pw_vector *of, size_t *out)
{
    bool spread = is_per_app(items) && !is_per_app(of);
    size_t j = 0;
    for (size_t i = 0; i < items->count; i++) {
        if (spread && i > 0 && items->items[i].workload != items->items[i - 1].workload)
            j++;
        if (j >= of->count || items->items[i].workload != of->items[j].workload ||
            (!spread && items->items[i].app != of->items[j].app))
            return false;
        out[i] = j;
        j += !spread;
    }
    return spread ? items->count == 0 || j + 1 == of->count : j == of->count;
}

static enum pw_status append(const struct pw_vector *left, const struct pw_vector *right, struct pw_vector *out,
                             struct pw_error *err)
{
    enum pw_status status = make(out, left->count + right->count, err);
    for (size_t i = 0; status == PW_OK && i < out->count; i++)
        out->items[i] = i < left->count ? left->items[i] : right->items[i - left->count];
    return status;
}

static enum pw_status combine(const struct pw_expression *e, unsigned op, struct pw_vector *left,
                              struct pw_vector *right, struct pw_vector *out, struct pw_error *err)
{
    bool of_left = is_plain(right) || (!is_plain(left) && (is_per_app(left) || !is_per_app(right)));
    const struct pw_vector *shape = of_left ? left : right, *other = of_left ? right : left;
    size_t *index = calloc(shape->count ? shape->count : 1, sizeof *index);
    if (!index)
        return pw_fail_memory(err, "an expression's values");
    enum pw_status status = PW_OK;
    if (!is_plain(other) && !match(shape, other, index))
        status =
            pw_fail(err, PW_USER_ERROR, "in \"%.200s\": values of different workloads cannot be combined", e->text);
    if (status == PW_OK)
        status = make(out, shape->count, err);
    for (size_t i = 0; status == PW_OK && i < shape->count; i++) {
        double a = shape->items[i].value, b = other->items[index[i]].value;
        out->items[i] = shape->items[i];
        out->items[i].value = of_left ? apply(op, a, b) : apply(op, b, a);
    }
    free(index);
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* `values` may be reordered. */
static double reduce(unsigned what, double *values, size_t count)
{
    if (what == REDUCE_COUNT)
        return (double)count;
    if (count == 0)
        return NAN;
    if (what == REDUCE_MEDIAN)
        return median(values, count);
    double sum = 0, logs = 0, inverses = 0, low = values[0], high = values[0], farthest = values[0];
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        logs += log(values[i]);
        inverses += 1 / values[i];
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
        farthest = fabs(values[i] - 1) > fabs(farthest - 1) ? values[i] : farthest;
    }
    double n = (double)count;
    switch (what) {
    case REDUCE_MEAN:
        return sum / n;
    case REDUCE_GEOMEAN:
        return exp(logs / n);
    case REDUCE_HARMEAN:
        return n / inverses;
    case REDUCE_MIN:
        return low;
    case REDUCE_MAX:
        return high;
    case REDUCE_FARTHEST:
        return farthest;
    default:
        return sum;
    }
}

static enum pw_status reduce_vector(unsigned what, const struct pw_vector *v, struct pw_vector *out,
                                    struct pw_error *err)
{
    double *values = malloc((v->count ? v->count : 1) * sizeof *values);
    if (!values)
        return pw_fail_memory(err, "an expression's values");
    bool known = true;
    for (size_t i = 0; i < v->count; i++) {
        values[i] = v->items[i].value;
        known &= !isnan(values[i]);
    }
    enum pw_status status = make_number(out, known ? reduce(what, values, v->count) : NAN, err);
    free(values);
    return status;
}

static enum pw_status evaluate(const struct pw_expression *e, unsigned at, const struct pw_expression_source *source,
                               struct pw_vector *out, struct pw_error *err)
{
    const struct node *n = &e->nodes[at];
    struct pw_vector left = {0}, right = {0};
    enum pw_status status = PW_OK;
    switch (n->kind) {
    case NODE_NUMBER:
        return make_number(out, n->number, err);
    case NODE_METRIC:
        return make_number(out, source->metric(source->context, n->metric), err);
    case NODE_REFERENCE:
        return source->reference(source->context, n->reference.measure, n->reference.variant, n->reference.alone,
                                 n->reference.group, out, err);
    case NODE_NEGATE:
        status = evaluate(e, n->inner.left, source, out, err);
        for (size_t i = 0; status == PW_OK && i < out->count; i++)
            out->items[i].value = -out->items[i].value;
        return status;
    case NODE_REDUCE:
        status = evaluate(e, n->inner.left, source, &left, err);
        if (status == PW_OK)
            status = reduce_vector(n->inner.what, &left, out, err);
        break;
    case NODE_BINARY:
        status = evaluate(e, n->inner.left, source, &left, err);
        if (status == PW_OK)
            status = evaluate(e, n->inner.right, source, &right, err);
        if (status == PW_OK)
            status = n->inner.what == OP_JOIN ? append(&left, &right, out, err)
                                              : combine(e, n->inner.what, &left, &right, out, err);
        break;
    }
    pw_vector_free(&left);
    pw_vector_free(&right);
    return status;
}

enum pw_status pw_expression_evaluate(const struct pw_expression *e, const struct pw_expression_source *source,
                                      struct pw_vector *out, struct pw_error *err)
{
    *out = (struct pw_vector){0};
    enum pw_status status = evaluate(e, e->root, source, out, err);
    if (status != PW_OK)
        pw_vector_free(out);
    return status;
}
