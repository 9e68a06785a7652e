/* mvt: a matrix times a vector, and its transpose times another, of PolyBench/GPU.
 *
 * Kept: the kernel by rows and then the one by columns (matvec.h), each of which adds to what its sums are; the arrays
 * with their order and initial values. */
#include "workload/polybench/matvec.h"

#include <string.h>

struct parameters {
    uint32_t n, terms;
};

/* Element i is (i + offset) / n. */
static struct pw_array make(struct pw_host *h, const char *name, int64_t n, int64_t offset)
{
    struct pw_array a = pw_alloc(h, name, (uint64_t)n, sizeof(float));
    for (int64_t i = 0; a.data && i < n; i++)
        ((float *)a.data)[i] = (float)(i + offset) / (float)n;
    return a;
}

/* What results are before they are added to; NULL where nobody will ask. */
static const float *copy_of(struct pw_host *h, const struct pw_array *a)
{
    if (!pw_host_verifying(h) || !a->data)
        return NULL;
    float *copy = pw_host_keep(h, a->count * sizeof(float));
    return memcpy(copy, a->data, a->count * sizeof(float));
}

static void mvt_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    int64_t n = pw_matvec_side(h, p->n);
    struct pw_matvec rows = {.matrix = pw_matvec_matrix(h, "a", n, n),
                             .rows = n,
                             .columns = n,
                             .terms = pw_matvec_terms(h, p->terms),
                             .by_rows = true};
    struct pw_matvec columns = rows;
    columns.by_rows = false;
    rows.result = make(h, "x1", n, 0);
    columns.result = make(h, "x2", n, 1);
    rows.vector = make(h, "y_1", n, 3);
    columns.vector = make(h, "y_2", n, 4);
    const float *rows_before = copy_of(h, &rows.result), *columns_before = copy_of(h, &columns.result);

    pw_host_plan(h, 2);
    pw_matvec_launch(h, "mvt_kernel1", &rows);
    pw_matvec_launch(h, "mvt_kernel2", &columns);
    if (pw_host_verifying(h)) {
        pw_matvec_verify(h, &rows, rows_before);
        pw_matvec_verify(h, &columns, columns_before);
    }
    struct pw_array *const in_order[] = {&rows.matrix, &rows.result, &columns.result, &rows.vector, &columns.vector};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

static const struct pw_option options[] = {
    {"n", PW_OPTION_COUNT, offsetof(struct parameters, n), 1, PW_MATVEC_MAX_SIDE, "4096", "elements", NULL,
     "rows and columns of the matrix", false},
    PW_MATVEC_ROW_TERMS(offsetof(struct parameters, terms)),
    {0},
};

static const struct pw_preset presets[] = {{"original", "n=4096:terms=0"}, {0}};

const struct pw_workload pw_workload_mvt = {
    .name = "mvt",
    .suite = "PolyBench",
    .papers = "compression",
    .summary = "a matrix times a vector by rows, and its transpose times another by columns",
    .parameters = options,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = mvt_main,
};
