/* atax: a matrix times a vector, and its transpose times the result, of PolyBench/GPU.
 *
 * Kept: the kernel by rows and then the one by columns (matvec.h), the arrays with their order and initial values; sums
 * begin as what the host has put there, zeros. */
#include "workload/polybench/matvec.h"

static void atax_main(struct pw_host *h, const void *parameters)
{
    const struct pw_matvec_parameters *p = parameters;
    int64_t nx = pw_matvec_side(h, p->nx), ny = pw_matvec_side(h, p->ny);
    struct pw_matvec rows = {.matrix = pw_matvec_matrix(h, "A", nx, ny),
                             .rows = nx,
                             .columns = ny,
                             .terms = pw_matvec_terms(h, p->terms),
                             .by_rows = true};
    struct pw_matvec columns = rows;
    rows.vector = pw_alloc(h, "x", (uint64_t)ny, sizeof(float));
    columns.result = pw_alloc(h, "y", (uint64_t)ny, sizeof(float));
    rows.result = columns.vector = pw_alloc(h, "tmp", (uint64_t)nx, sizeof(float));
    columns.by_rows = false;
    pw_matvec_fill(&rows.vector);

    pw_host_plan(h, 2);
    pw_matvec_launch(h, "atax_kernel1", &rows);
    pw_matvec_launch(h, "atax_kernel2", &columns);
    if (pw_host_verifying(h)) {
        pw_matvec_verify(h, &rows, NULL);
        pw_matvec_verify(h, &columns, NULL);
    }
    struct pw_array *const in_order[] = {&rows.matrix, &rows.vector, &columns.result, &rows.result};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

const struct pw_workload pw_workload_atax = {
    .name = "atax",
    .suite = "PolyBench",
    .papers = "compression",
    .summary = "a matrix times a vector by rows, then its transpose times the result by columns",
    .parameters = pw_matvec_parameters,
    .presets = pw_matvec_presets,
    .parameters_bytes = sizeof(struct pw_matvec_parameters),
    .main = atax_main,
};
