/* bicg: the two products of the biconjugate gradient method, of PolyBench/GPU.
 *
 * Kept: the kernel by columns (s) and then the one by rows (q), which both clear their sums (matvec.h); the arrays with
 * their order and initial values. */
#include "workload/polybench/matvec.h"

static void bicg_main(struct pw_host *h, const void *parameters)
{
    const struct pw_matvec_parameters *p = parameters;
    int64_t nx = pw_matvec_side(h, p->nx), ny = pw_matvec_side(h, p->ny);
    struct pw_matvec columns = {.matrix = pw_matvec_matrix(h, "A", nx, ny),
                                .rows = nx,
                                .columns = ny,
                                .terms = pw_matvec_terms(h, p->terms),
                                .clear = true};
    struct pw_matvec rows = columns;
    rows.by_rows = true;
    columns.vector = pw_alloc(h, "r", (uint64_t)nx, sizeof(float));
    columns.result = pw_alloc(h, "s", (uint64_t)ny, sizeof(float));
    rows.vector = pw_alloc(h, "p", (uint64_t)ny, sizeof(float));
    rows.result = pw_alloc(h, "q", (uint64_t)nx, sizeof(float));
    pw_matvec_fill(&columns.vector);
    pw_matvec_fill(&rows.vector);
    pw_matvec_fill(&columns.result); /* what nobody has cleared shows in the sums */
    pw_matvec_fill(&rows.result);

    pw_host_plan(h, 2);
    pw_matvec_launch(h, "bicg_kernel1", &columns);
    pw_matvec_launch(h, "bicg_kernel2", &rows);
    if (pw_host_verifying(h)) {
        pw_matvec_verify(h, &columns, NULL);
        pw_matvec_verify(h, &rows, NULL);
    }
    struct pw_array *const in_order[] = {&columns.matrix, &columns.vector, &columns.result, &rows.vector, &rows.result};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

const struct pw_workload pw_workload_bicg = {
    .name = "bicg",
    .suite = "PolyBench",
    .papers = "compression",
    .summary = "a vector times a matrix by columns, and the matrix times a vector by rows",
    .parameters = pw_matvec_parameters,
    .presets = pw_matvec_presets,
    .parameters_bytes = sizeof(struct pw_matvec_parameters),
    .main = bicg_main,
};
