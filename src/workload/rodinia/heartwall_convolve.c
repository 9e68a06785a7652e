/* The convolution of heartwall's kernel, in which it spends most of its time: for each place of the template over the
 * window a sum of up to 51x51 products, of the template in shared memory and the window in global memory.
 *
 * Lanes are neighbouring places of one column, mostly, so that their loads are neighbours too; at the rims they have
 * fewer products and idle at the end. Of a column's products the compiled code takes what exceeds a multiple of four
 * first; here it is taken last. */
#include "workload/rodinia/heartwall.h"

enum { WARP = PW_WARP_LANES, GROUP = 4 };

/* What the lanes of a warp visit in a double loop: counts, and where they begin. */
struct loops {
    uint32_t mask, columns, rows; /* most columns and rows of any lane */
    bool affine;
    int64_t stride, first[WARP];
    uint32_t other[WARP];                                                   /* in the turned template */
    uint32_t in_column[PW_HEARTWALL_LARGEST], in_row[PW_HEARTWALL_LARGEST]; /* lanes that have a t-th */
};

static void loop_lanes(struct loops *l, uint32_t lane, uint32_t columns, uint32_t rows)
{
    l->columns = columns > l->columns ? columns : l->columns;
    l->rows = rows > l->rows ? rows : l->rows;
    for (uint32_t i = 0; i < columns; i++)
        l->in_column[i] |= 1U << lane;
    for (uint32_t i = 0; i < rows; i++)
        l->in_row[i] |= 1U << lane;
}

static void find_stride(struct loops *l)
{
    uint32_t last = 31 - (uint32_t)__builtin_clz(l->mask);
    l->affine = true;
    l->stride = last ? l->first[1] - l->first[0] : 0;
    for (uint32_t lane = 1; lane <= last; lane++)
        l->affine &= l->first[lane] - l->first[lane - 1] == l->stride;
}

static void load_shifted(struct pw_warp *w, const struct loops *l, uint32_t mask, const struct pw_array *a,
                         int64_t shift)
{
    if (l->affine) {
        pw_load_strided(w, mask, a, l->first[0] + shift, l->stride);
        return;
    }
    uint64_t index[WARP];
    PW_FOR_LANES(lane, mask) index[lane] = (uint64_t)(l->first[lane] + shift);
    pw_load_lanes(w, mask, a, index);
}

/* The loads of the convolution's inner loop, four in an iteration; the compiled code waits for each but the third. */
static void convolve_column(struct pw_warp *w, const struct loops *l, const struct pw_array *window, int64_t shift,
                            uint32_t active)
{
    for (uint32_t u = 0; u < l->rows && l->in_row[u] & active; u++) {
        bool last = u % GROUP == GROUP - 1 || u == l->rows - 1 || !(l->in_row[u + 1] & active);
        if (u % GROUP == 0)
            pw_compute(w, 3);
        load_shifted(w, l, l->in_row[u] & active, window, shift - u);
        if (u % GROUP == 0)
            pw_compute(w, 5);
        if (u % GROUP == 1)
            pw_compute(w, 1);
        if (u % GROUP == 3) {
            pw_use_all_but(w, 1);
            pw_compute(w, 3);
        }
        if (u % GROUP != 2 || last)
            pw_use(w);
        pw_compute(w, last ? 3 : u % GROUP < 2 ? 1 : 0);
    }
}

void pw_heartwall_convolve(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_shared *s = w->shared;
    const struct pw_array *window = &p->array[PW_HEARTWALL_IN2], *to = &p->array[PW_HEARTWALL_CONV];
    uint32_t n = g->conv, count = n * n;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        struct loops l = {.mask = pw_lanes_below(w, first, count)};
        PW_FOR_LANES(lane, l.mask)
        {
            uint32_t i = (first + lane) % n + 1, j = (first + lane) / n + 1;
            uint32_t i1 = i + 1 > g->in2 ? i + 1 - g->in2 : 1, j1 = j + 1 > g->in2 ? j + 1 - g->in2 : 1;
            loop_lanes(&l, lane, (j < g->in ? j : g->in) - j1 + 1, (i < g->in ? i : g->in) - i1 + 1);
            l.first[lane] = (int64_t)g->in2 * (j - j1) + (i - i1);
            l.other[lane] = g->in * (j1 - 1) + i1 - 1;
        }
        find_stride(&l);
        float sum[WARP] = {0};
        pw_compute(w, 47);
        for (uint32_t t = 0; t < l.columns; t++) {
            int64_t shift = -(int64_t)g->in2 * t;
            pw_compute(w, 20 + 7);
            convolve_column(w, &l, window, shift, l.in_column[t]);
            pw_compute(w, 5);
            for (uint32_t u = 0; u < l.rows; u++)
                PW_FOR_LANES(lane, l.in_column[t] & l.in_row[u])
            sum[lane] +=
                s->turned[l.other[lane] + g->in * t + u] * pw_heartwall_values(window)[l.first[lane] + shift - u];
        }
        pw_compute(w, 4);
        pw_store_run(w, l.mask, to, first);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, l.mask) pw_heartwall_values(to)[first + lane] = sum[lane];
    }
    pw_barrier(w);
}
