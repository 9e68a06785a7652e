/* The row and the column kernel, and their sums once more in plain loops.
 *
 * Instruction counts, loads in flight and registers are those of the kernels as nvcc 13 compiles them for sm_90: both
 * loads of a step are in flight together, no load passes the store before it; loops are unrolled 16 times (rows) and 40
 * times (columns). */
#include "workload/polybench/matvec.h"

enum { CTA_THREADS = 256, ROW_UNROLLED = 16, COLUMN_UNROLLED = 40 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t terms_of(const struct pw_matvec *p)
{
    return least(p->terms, p->by_rows ? p->columns : p->rows);
}

static int64_t sums_of(const struct pw_matvec *p)
{
    return p->by_rows ? p->rows : p->columns;
}

/* Threads of a warp that have a sum, and the first one's; the results as they are before the first product. */
static uint32_t begin(struct pw_warp *w, const struct pw_matvec *p, int64_t *out_first)
{
    uint64_t first = (uint64_t)w->cta.x * CTA_THREADS + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, (uint64_t)sums_of(p));
    float *result = p->result.data;
    *out_first = (int64_t)first;
    pw_compute(w, 7);
    if (!mask)
        return 0;
    pw_compute(w, 7);
    if (!p->clear) {
        pw_load_run(w, mask, &p->result, *out_first);
        return mask;
    }
    pw_store_run(w, mask, &p->result, *out_first);
    if (result)
        PW_FOR_LANES(lane, mask)
    result[*out_first + lane] = 0;
    return mask;
}

/* One product: vector[k] times the lanes' elements, which begin at `at` and are `step` apart. */
static void multiply(struct pw_warp *w, const struct pw_matvec *p, uint32_t mask, int64_t first, int64_t k, int64_t at,
                     int64_t step)
{
    const float *matrix = p->matrix.data, *vector = p->vector.data;
    float *result = p->result.data;
    pw_load_strided(w, mask, &p->vector, k, 0);
    pw_load_strided(w, mask, &p->matrix, at, step);
    pw_use(w);
    pw_compute(w, 1);
    pw_store_run(w, mask, &p->result, first);
    if (result)
        PW_FOR_LANES(lane, mask)
    result[first + lane] += matrix[at + (int64_t)lane * step] * vector[k];
}

static void row_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_matvec *p = arguments;
    int64_t first, terms = terms_of(p);
    uint32_t mask = begin(w, p, &first);
    if (!mask)
        return;
    pw_compute(w, 8);
    for (int64_t k = 0; k < terms; k++) {
        if (k % ROW_UNROLLED == 0)
            pw_compute(w, 9);
        multiply(w, p, mask, first, k, first * p->columns + k, p->columns);
    }
}

static void column_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_matvec *p = arguments;
    int64_t first, terms = terms_of(p);
    uint32_t mask = begin(w, p, &first);
    if (!mask)
        return;
    pw_compute(w, 1);
    for (int64_t k = 0; k < terms; k++) {
        if (k % COLUMN_UNROLLED == 0)
            pw_compute(w, 10);
        multiply(w, p, mask, first, k, k * p->columns + first, 1);
    }
}

void pw_matvec_launch(struct pw_host *h, const char *kernel, const struct pw_matvec *product)
{
    pw_launch(h, &(struct pw_launch){.name = kernel,
                                     .grid = {(uint32_t)((sums_of(product) + CTA_THREADS - 1) / CTA_THREADS), 1, 1},
                                     .block = {CTA_THREADS, 1, 1},
                                     .registers = product->by_rows ? 16 : 18,
                                     .pace = product->by_rows ? 4042 : 4518,
                                     .kernel = product->by_rows ? row_kernel : column_kernel,
                                     .arguments = product});
}

int64_t pw_matvec_side(struct pw_host *h, uint32_t side)
{
    uint64_t scaled = pw_host_scaled_side(h, side, 1);
    if (scaled > PW_MATVEC_MAX_SIDE)
        pw_host_fail(h, "a matrix has at most %d rows and columns", PW_MATVEC_MAX_SIDE);
    return (int64_t)scaled;
}

int64_t pw_matvec_terms(const struct pw_host *h, uint32_t terms)
{
    return terms ? (int64_t)pw_host_scaled_side(h, terms, 1) : PW_MATVEC_MAX_SIDE;
}

struct pw_array pw_matvec_matrix(struct pw_host *h, const char *name, int64_t rows, int64_t columns)
{
    struct pw_array a = pw_alloc(h, name, (uint64_t)rows * (uint64_t)columns, sizeof(float));
    float *element = a.data;
    for (int64_t i = 0; element && i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            *element++ = (float)i * (float)j / (float)rows;
    return a;
}

void pw_matvec_verify(struct pw_host *h, const struct pw_matvec *product, const float *before)
{
    const float *matrix = product->matrix.data, *vector = product->vector.data, *result = product->result.data;
    int64_t count = sums_of(product), wrong = count;
    if (!result)
        return;
    for (int64_t i = count; i-- > 0;) {
        float sum = before ? before[i] : 0;
        const float *element = product->by_rows ? matrix + i * product->columns : matrix + i;
        for (int64_t k = 0; k < terms_of(product); k++, element += product->by_rows ? 1 : product->columns)
            sum += *element * vector[k];
        if (sum != result[i])
            wrong = i;
    }
    pw_host_expect(h, wrong == count, "sum %lld over %s differs from the sequential one", (long long)wrong,
                   product->by_rows ? "a row" : "a column");
}

void pw_matvec_fill(const struct pw_array *vector)
{
    for (uint64_t i = 0; vector->data && i < vector->count; i++)
        ((float *)vector->data)[i] = (float)((double)i * 3.14159265358979323846);
}

#define FIELD(name) offsetof(struct pw_matvec_parameters, name)
const struct pw_option pw_matvec_parameters[] = {
    {"nx", PW_OPTION_COUNT, FIELD(nx), 1, PW_MATVEC_MAX_SIDE, "4096", "elements", NULL, "rows of the matrix", false},
    {"ny", PW_OPTION_COUNT, FIELD(ny), 1, PW_MATVEC_MAX_SIDE, "4096", "elements", NULL, "columns of the matrix", false},
    PW_MATVEC_ROW_TERMS(FIELD(terms)),
    {0},
};
#undef FIELD

const struct pw_preset pw_matvec_presets[] = {{"original", "nx=4096:ny=4096:terms=0"}, {0}};
