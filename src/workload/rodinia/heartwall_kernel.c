/* The steps of heartwall's kernel, in the order of the original, each but one followed by a barrier.
 *
 * The step that takes differences of squares has none: the threads that cumulate them then read what others may not
 * have written yet. Here the difference is taken by those threads, so that nothing depends on the order. */
#include "workload/rodinia/heartwall.h"

#include <math.h>

enum { WARP = PW_WARP_LANES, GROUP = 4, LONG_GROUP = 16 };

/* Lane i's element of a square of `rows` rows is first + i; its place in another of `source_rows`, some rows and
 * columns further. */
static void place_lanes(uint64_t index[WARP], uint32_t first, uint32_t rows, uint32_t source_rows, uint32_t row,
                        uint32_t column)
{
    uint32_t x = first / rows, y = first % rows;
    for (uint32_t lane = 0; lane < WARP; lane++) {
        index[lane] = (uint64_t)(x + column) * source_rows + y + row;
        if (++y == rows) {
            y = 0;
            x++;
        }
    }
}

/* Active lanes are the first ones, and their elements ascend. */
static void load_placed(struct pw_warp *w, uint32_t mask, const struct pw_array *a, const uint64_t index[WARP])
{
    uint32_t last = 31 - (uint32_t)__builtin_clz(mask);
    if (index[last] - index[0] == last)
        pw_load_run(w, mask, a, (int64_t)index[0]);
    else
        pw_load_lanes(w, mask, a, index);
}

static void copy_window(struct pw_warp *w, const struct pw_array *to, uint32_t rows, uint32_t count,
                        const struct pw_array *from, uint32_t from_rows, uint32_t row, uint32_t column)
{
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        uint64_t index[WARP];
        place_lanes(index, first, rows, from_rows, row, column);
        pw_compute(w, 27);
        load_placed(w, mask, from, index);
        pw_compute(w, 4);
        pw_use(w);
        pw_store_run(w, mask, to, first);
        PW_FOR_LANES(lane, mask) pw_heartwall_values(to)[first + lane] = pw_heartwall_values(from)[index[lane]];
    }
    pw_barrier(w);
}

/* Where a point is, which all threads load. */
static void load_place(struct pw_warp *w, const struct pw_heartwall_point *p)
{
    pw_load_strided(w, w->lanes, &p->wall->row, p->number, 0);
    pw_load_strided(w, w->lanes, &p->wall->column, p->number, 0);
}

static int32_t row_of(const struct pw_heartwall_point *p)
{
    return ((const int32_t *)p->wall->row.data)[p->number];
}

static int32_t column_of(const struct pw_heartwall_point *p)
{
    return ((const int32_t *)p->wall->column.data)[p->number];
}

/* The template at the point's place: as it is, or blended with the old one. */
static void take_template(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p,
                          bool blend)
{
    const struct pw_array *templates = &p->wall->templates;
    uint32_t count = g->in * g->in, base = p->number * count;
    uint32_t row = (uint32_t)row_of(p) - g->half - 1, column = (uint32_t)column_of(p) - g->half - 1;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        uint64_t index[WARP];
        place_lanes(index, first, g->in, g->frame_rows, row, column);
        load_place(w, p);
        pw_compute(w, 22);
        pw_use(w);
        if (blend)
            pw_load_run(w, mask, templates, base + first);
        load_placed(w, mask, &g->frame, index);
        pw_compute(w, 10);
        pw_use(w);
        pw_store_run(w, mask, templates, base + first);
        PW_FOR_LANES(lane, mask)
        {
            float *pixel = &pw_heartwall_values(templates)[base + first + lane],
                  seen = pw_heartwall_values(&g->frame)[index[lane]];
            *pixel = blend ? (float)((double)(0.87F * *pixel) + (1.0 - (double)0.87F) * (double)seen) : seen;
        }
    }
}

/* The template, turned, into shared memory. */
static void turn_template(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    struct pw_heartwall_shared *s = w->shared;
    uint32_t count = g->in * g->in, base = p->number * count;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        pw_compute(w, 32);
        pw_load_strided(w, mask, &p->wall->templates, (int64_t)base + count - 1 - first, -1);
        pw_use(w);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, mask)
        s->turned[first + lane] = pw_heartwall_values(&p->wall->templates)[base + count - 1 - first - lane];
    }
    pw_barrier(w);
}

/* The window in the middle of zeros. */
static void pad(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_array *from, const struct pw_array *to)
{
    uint32_t n = g->padded, count = n * n;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count), inside = 0;
        uint64_t index[WARP] = {0};
        PW_FOR_LANES(lane, mask)
        {
            uint32_t x = (first + lane) / n - g->in, y = (first + lane) % n - g->in; /* wraps before the window */
            if (x < g->in2 && y < g->in2) {
                inside |= 1U << lane;
                index[lane] = (uint64_t)x * g->in2 + y;
            }
        }
        pw_compute(w, 36);
        pw_store_run(w, mask & ~inside, to, first);
        pw_load_lanes(w, inside, from, index);
        pw_compute(w, 2);
        pw_use(w);
        pw_store_run(w, inside, to, first);
        PW_FOR_LANES(lane, mask)
        pw_heartwall_values(to)[first + lane] = inside >> lane & 1 ? pw_heartwall_values(from)[index[lane]] : 0;
    }
    pw_barrier(w);
}

/* Running sums down the columns, a thread a column, four elements in flight. */
static void cumulate_columns(struct pw_warp *w, const struct pw_array *a, uint32_t rows, uint32_t columns)
{
    uint32_t first = pw_first_thread(w), mask = pw_lanes_below(w, first, columns);
    pw_compute(w, 18);
    for (uint32_t i = 0; mask && i < rows; i += GROUP) {
        uint32_t end = i + GROUP < rows ? i + GROUP : rows;
        pw_compute(w, 2);
        for (uint32_t k = i; k < end; k++)
            pw_load_strided(w, mask, a, (int64_t)first * rows + k, rows);
        pw_use(w);
        pw_compute(w, 4);
        for (uint32_t k = i; k < end; k++) {
            pw_store_strided(w, mask, a, (int64_t)first * rows + k, rows);
            pw_compute(w, 1);
            PW_FOR_LANES(lane, mask)
            {
                float *at = &pw_heartwall_values(a)[(uint64_t)(first + lane) * rows + k];
                *at += k ? at[-1] : 0;
            }
        }
    }
    pw_barrier(w);
}

/* Running sums along the rows, a thread a row; of the differences from another array where one is given. */
static void cumulate_rows(struct pw_warp *w, const struct pw_array *a, const struct pw_array *minuend, uint32_t rows,
                          uint32_t columns)
{
    uint32_t first = pw_first_thread(w), mask = pw_lanes_below(w, first, rows);
    pw_compute(w, 13);
    for (uint32_t i = 0; mask && i < columns; i++) {
        uint64_t at = (uint64_t)i * rows + first;
        pw_load_run(w, mask, a, (int64_t)at);
        pw_use(w);
        pw_compute(w, 3);
        pw_store_run(w, mask, a, (int64_t)at);
        pw_compute(w, 1);
        PW_FOR_LANES(lane, mask)
        {
            float *sum = &pw_heartwall_values(a)[at + lane];
            *sum = (minuend ? pw_heartwall_values(minuend)[at + lane] - *sum : *sum) + (i ? sum[-(int64_t)rows] : 0);
        }
    }
    pw_barrier(w);
}

/* a = minuend - a; only the accesses where somebody else takes the difference. */
static void subtract(struct pw_warp *w, const struct pw_array *a, const struct pw_array *minuend, uint32_t count,
                     bool accesses_only)
{
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        pw_load_run(w, mask, minuend, first);
        pw_load_run(w, mask, a, first);
        pw_compute(w, 1);
        pw_use(w);
        pw_store_run(w, mask, a, first);
        pw_compute(w, 1);
        for (uint32_t i = first; !accesses_only && i < first + pw_lane_count(mask); i++)
            pw_heartwall_values(a)[i] = pw_heartwall_values(minuend)[i] - pw_heartwall_values(a)[i];
    }
    if (!accesses_only)
        pw_barrier(w);
}

/* to = from squared */
static void square(struct pw_warp *w, const struct pw_array *from, uint32_t base, const struct pw_array *to,
                   uint32_t count)
{
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        pw_load_run(w, mask, from, base + first);
        pw_compute(w, 1);
        pw_use(w);
        pw_store_run(w, mask, to, first);
        pw_compute(w, 1);
        PW_FOR_LANES(lane, mask)
        pw_heartwall_values(to)[first + lane] =
            pw_heartwall_values(from)[base + first + lane] * pw_heartwall_values(from)[base + first + lane];
    }
    pw_barrier(w);
}

/* Sums of `from` (the window or its squares) under the template, wherever that may lie. */
static void sum_windows(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p,
                        enum pw_heartwall_array from, enum pw_heartwall_array to)
{
    const struct pw_array *padded = &p->array[PW_HEARTWALL_PADDED], *sel = &p->array[PW_HEARTWALL_PADDED_SEL];
    const struct pw_array *sub = &p->array[PW_HEARTWALL_SUB], *sub_sel = &p->array[PW_HEARTWALL_SUB_SEL];
    bool squares = from == PW_HEARTWALL_IN2_SQR;
    uint32_t n = g->conv;
    pad(w, g, &p->array[from], padded);
    cumulate_columns(w, padded, g->padded, g->padded);
    copy_window(w, sel, n, n * g->padded, padded, g->padded, g->in, 0);
    copy_window(w, sub, n, n * g->padded, padded, g->padded, 0, 0);
    subtract(w, sub, sel, n * g->padded, squares);
    cumulate_rows(w, sub, squares ? sel : NULL, n, g->padded);
    copy_window(w, sub_sel, n, n * n, sub, n, 0, g->in);
    copy_window(w, &p->array[to], n, n * n, sub, n, 0, 0);
    subtract(w, &p->array[to], sub_sel, n * n, false);
}

/* Partial sums of the template and of its squares, a thread a column or a row, sixteen loads in flight. */
static void sum_lines(struct pw_warp *w, const struct pw_array *a, int64_t base, uint32_t n, int64_t lane_stride,
                      int64_t stride, float *sums)
{
    uint32_t first = pw_first_thread(w), mask = pw_lanes_below(w, first, n);
    pw_compute(w, 12);
    for (uint32_t i = 0; mask && i < n; i++) {
        pw_load_strided(w, mask, a, base + first * lane_stride + i * stride, lane_stride);
        pw_compute(w, 1);
        if (i % LONG_GROUP == LONG_GROUP - 1 || i == n - 1) {
            pw_use(w);
            pw_compute(w, i % LONG_GROUP + 1);
        }
        PW_FOR_LANES(lane, mask)
        sums[first + lane] =
            (i ? sums[first + lane] : 0) + pw_heartwall_values(a)[base + (first + lane) * lane_stride + i * stride];
    }
    pw_barrier(w);
}

/* One thread each, of the first warp, and then one for the denominator. */
static void sum_template(struct pw_warp *w, const struct pw_heartwall *g)
{
    struct pw_heartwall_shared *s = w->shared;
    float elements = (float)(g->in * g->in);
    pw_compute(w, w->index ? 4 : 2 * (4 + 3 * g->in));
    if (!w->index) {
        s->sum = s->square_sum = 0;
        for (uint32_t i = 0; i < g->in; i++) {
            s->sum += s->partial[i];
            s->square_sum += s->square_partial[i];
        }
    }
    pw_barrier(w);
    pw_compute(w, w->index ? 2 : 60);
    if (!w->index) {
        float mean = s->sum / elements;
        s->denominator = sqrtf(elements - 1) * sqrtf(s->square_sum / elements - mean * mean);
    }
    pw_barrier(w);
}

/* Deviation of the window under the template: the root of squares less the square of the sum. */
static void deviate(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_array *sums = &p->array[PW_HEARTWALL_SUB2], *squares = &p->array[PW_HEARTWALL_SQR_SUB2];
    uint32_t count = g->conv * g->conv;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        pw_load_run(w, mask, sums, first);
        pw_compute(w, 11);
        pw_use(w);
        pw_compute(w, 5);
        pw_load_run(w, mask, squares, first);
        pw_use(w);
        pw_compute(w, 8 + 5);
        pw_store_run(w, mask, squares, first);
        PW_FOR_LANES(lane, mask)
        {
            float sum = pw_heartwall_values(sums)[first + lane], *square = &pw_heartwall_values(squares)[first + lane];
            float rest = *square - sum * sum / (float)(g->in * g->in);
            *square = sqrtf(rest < 0 ? 0 : rest);
        }
    }
    pw_barrier(w);
}

/* The correlation: convolution less the product of means, over the product of deviations, in three steps. */
static void correlate(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_shared *s = w->shared;
    const struct pw_array *conv = &p->array[PW_HEARTWALL_CONV], *sums = &p->array[PW_HEARTWALL_SUB2];
    const struct pw_array *result = &p->array[PW_HEARTWALL_SQR_SUB2];
    uint32_t count = g->conv * g->conv;
    for (uint32_t step = 0; step < 3; step++) {
        PW_HEARTWALL_CHUNKS(w, first, count)
        {
            uint32_t mask = pw_lanes_below(w, first, count);
            if (step)
                pw_load_run(w, mask, step == 1 ? sums : conv, first);
            pw_compute(w, step == 1 ? 11 : 1);
            pw_use(w);
            pw_load_run(w, mask, step == 1 ? conv : result, first);
            pw_use(w);
            pw_compute(w, step ? 7 : 2);
            pw_store_run(w, mask, step == 1 ? conv : result, first);
            for (uint32_t i = first; i < first + pw_lane_count(mask); i++)
                if (step == 1)
                    pw_heartwall_values(conv)[i] -= pw_heartwall_values(sums)[i] * s->sum / (float)(g->in * g->in);
                else
                    pw_heartwall_values(result)[i] = step
                                                         ? pw_heartwall_values(conv)[i] / pw_heartwall_values(result)[i]
                                                         : pw_heartwall_values(result)[i] * s->denominator;
        }
        pw_barrier(w);
    }
}

static void first_frame(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_wall *wall = p->wall;
    int64_t at = (int64_t)p->number * g->frames;
    uint32_t one = w->index ? 0 : 1;
    pw_compute(w, 9);
    pw_load_run(w, one, &wall->row, p->number);
    pw_compute(w, one ? 6 : 0);
    pw_use(w);
    pw_store_run(w, one, &wall->row_track, at);
    pw_load_run(w, one, &wall->column, p->number);
    pw_compute(w, one ? 5 : 0);
    pw_use(w);
    pw_store_run(w, one, &wall->column_track, at);
    if (one) {
        ((int32_t *)wall->row_track.data)[at] = row_of(p);
        ((int32_t *)wall->column_track.data)[at] = column_of(p);
    }
    take_template(w, g, p, false);
}

/* The window around the point's place. */
static void take_window(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    uint32_t row = (uint32_t)row_of(p) - g->search - 1, column = (uint32_t)column_of(p) - g->search - 1;
    pw_compute(w, 11);
    load_place(w, p);
    pw_use(w);
    pw_compute(w, 16);
    copy_window(w, &p->array[PW_HEARTWALL_IN2], g->in2, g->in2 * g->in2, &g->frame, g->frame_rows, row, column);
}

static void refresh(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_wall *wall = p->wall;
    int64_t at = (int64_t)p->number * g->frames + g->frame_number;
    int32_t row = ((const int32_t *)wall->row_track.data)[at], column = ((const int32_t *)wall->column_track.data)[at];
    const struct pw_array *const pairs[][2] = {{&wall->row_track, &wall->row}, {&wall->column_track, &wall->column}};
    pw_compute(w, 8);
    for (uint32_t i = 0; i < 2; i++) {
        pw_load_strided(w, w->lanes, pairs[i][0], at, 0);
        pw_use(w);
        pw_compute(w, 3);
        pw_store_strided(w, w->lanes, pairs[i][1], p->number, 0);
    }
    ((int32_t *)wall->row.data)[p->number] = row;
    ((int32_t *)wall->column.data)[p->number] = column;
    take_template(w, g, p, true);
}

void pw_heartwall_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_heartwall *g = arguments;
    const struct pw_heartwall_point *p = &g->points[w->cta.x];
    struct pw_heartwall_shared *s = w->shared;
    pw_compute(w, 8);
    if (!g->frame_number) {
        first_frame(w, g, p);
        return;
    }
    take_window(w, g, p);
    turn_template(w, g, p);
    pw_heartwall_convolve(w, g, p);
    sum_windows(w, g, p, PW_HEARTWALL_IN2, PW_HEARTWALL_SUB2);
    square(w, &p->array[PW_HEARTWALL_IN2], 0, &p->array[PW_HEARTWALL_IN2_SQR], g->in2 * g->in2);
    sum_windows(w, g, p, PW_HEARTWALL_IN2_SQR, PW_HEARTWALL_SQR_SUB2);
    deviate(w, g, p);
    uint32_t template = p->number * g->in * g->in;
    square(w, &p->wall->templates, template, &p->array[PW_HEARTWALL_IN_SQR], g->in * g->in);
    sum_lines(w, &p->wall->templates, template, g->in, g->in, 1, s->partial);
    sum_lines(w, &p->array[PW_HEARTWALL_IN_SQR], 0, g->in, 1, g->in, s->square_partial);
    sum_template(w, g);
    correlate(w, g, p);
    pw_heartwall_track(w, g, p);
    if (g->frame_number % PW_HEARTWALL_REFRESH == 0)
        refresh(w, g, p);
}
