/* The last steps of heartwall's kernel: where a point has moved.
 *
 * A mask that is one at the point's last place, its convolution with a square of ones, times the correlation, and the
 * largest of these: row by row, a thread a row, and then one thread for all. At the rim of the mask, lanes that have
 * fewer elements to add idle first; in the compiled loop they idle last. */
#include "workload/rodinia/heartwall.h"

#include <math.h>

enum { WARP = PW_WARP_LANES, IN_FLIGHT = 16 };

static const int32_t *whole(const struct pw_array *a)
{
    return a->data;
}

/* The mask's only one, as an element of its square; outside it where the point has left the window. */
static int64_t mask_place(const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_wall *wall = p->wall;
    int64_t last = (int64_t)p->number * g->frames + g->frame_number - 1, centre = g->search + g->half + 1;
    int64_t row = centre + whole(&wall->row_track)[last] - whole(&wall->row)[p->number] - 1;
    int64_t column = centre + whole(&wall->column_track)[last] - whole(&wall->column)[p->number] - 1;
    return column * g->conv + row;
}

static void set_mask(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_wall *wall = p->wall;
    const struct pw_array *mask_array = &p->array[PW_HEARTWALL_MASK];
    int64_t last = (int64_t)p->number * g->frames + g->frame_number - 1, place = mask_place(g, p);
    uint32_t count = g->conv * g->conv;
    pw_load_strided(w, w->lanes, &wall->row_track, last, 0);
    pw_load_strided(w, w->lanes, &wall->row, p->number, 0);
    pw_compute(w, 2);
    pw_load_strided(w, w->lanes, &wall->column_track, last, 0);
    pw_compute(w, 3);
    pw_load_strided(w, w->lanes, &wall->column, p->number, 0);
    pw_use(w);
    pw_compute(w, 12);
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        pw_compute(w, 7);
        pw_store_run(w, mask, mask_array, first);
        PW_FOR_LANES(lane, mask)
        pw_heartwall_values(mask_array)[first + lane] = (float)(place == (int64_t)(first + lane));
    }
    pw_barrier(w);
}

/* Rows of one column of the square of ones, four loads in flight. */
static void add_column(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_array *mask_array,
                       uint32_t first, uint32_t mask, int32_t column, float sum[WARP])
{
    int32_t n = (int32_t)g->conv;
    for (int32_t u = 0; u < PW_HEARTWALL_MOVE; u++) {
        int32_t row = u - PW_HEARTWALL_MOVE / 2 + 1;
        uint32_t active = 0;
        PW_FOR_LANES(lane, mask)
        {
            int32_t i = (int32_t)(first + lane) % n + row, j = (int32_t)(first + lane) / n + column;
            if (i >= 0 && i < n && j >= 0 && j < n)
                active |= 1U << lane;
        }
        int64_t at = (int64_t)first + row + (int64_t)column * n;
        pw_load_run(w, active, mask_array, at);
        if (u % 4 == 3 || u == PW_HEARTWALL_MOVE - 1) {
            pw_use(w);
            pw_compute(w, 11);
        }
        PW_FOR_LANES(lane, active) sum[lane] += pw_heartwall_values(mask_array)[at + lane];
    }
}

static void convolve_mask(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_array *mask_array = &p->array[PW_HEARTWALL_MASK], *to = &p->array[PW_HEARTWALL_MASK_CONV];
    const struct pw_array *correlation = &p->array[PW_HEARTWALL_SQR_SUB2];
    uint32_t count = g->conv * g->conv;
    PW_HEARTWALL_CHUNKS(w, first, count)
    {
        uint32_t mask = pw_lanes_below(w, first, count);
        float sum[WARP] = {0};
        pw_compute(w, 51);
        for (int32_t t = 0; t < PW_HEARTWALL_MOVE; t++) {
            pw_compute(w, 17);
            add_column(w, g, mask_array, first, mask, t - PW_HEARTWALL_MOVE / 2 + 1, sum);
            pw_compute(w, 5);
        }
        pw_compute(w, 3);
        pw_load_run(w, mask, correlation, first);
        pw_use(w);
        pw_compute(w, 4);
        pw_store_run(w, mask, to, first);
        PW_FOR_LANES(lane, mask)
        pw_heartwall_values(to)[first + lane] = pw_heartwall_values(correlation)[first + lane] * sum[lane];
    }
    pw_barrier(w);
}

static void largest_of_rows(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    struct pw_heartwall_shared *s = w->shared;
    const struct pw_array *from = &p->array[PW_HEARTWALL_MASK_CONV];
    uint32_t n = g->conv, first = pw_first_thread(w), mask = pw_lanes_below(w, first, n);
    pw_compute(w, 16);
    for (uint32_t i = 0; mask && i < n; i++) {
        pw_load_strided(w, mask, from, (int64_t)first * n + i, n);
        pw_compute(w, 1);
        if (i % IN_FLIGHT == IN_FLIGHT - 1 || i == n - 1) {
            pw_use(w);
            pw_compute(w, 3 * (i % IN_FLIGHT + 1));
        }
    }
    PW_FOR_LANES(lane, mask)
    {
        const float *row = pw_heartwall_values(from) + (uint64_t)(first + lane) * n;
        uint32_t at = 0;
        float largest = 0;
        for (uint32_t i = 0; i < n; i++)
            if (fabsf(row[i]) > largest) {
                largest = fabsf(row[i]);
                at = (first + lane) * n + i;
            }
        s->largest[first + lane] = largest;
        s->largest_at[first + lane] = (int32_t)at;
    }
    pw_barrier(w);
}

/* A point that is lost stays where its window is within the frame; the original's would leave it. */
static int32_t within(const struct pw_heartwall *g, int32_t place, uint32_t side)
{
    int32_t least = (int32_t)g->search + 1, most = (int32_t)(side - g->search);
    return place < least ? least : place > most ? most : place;
}

static void move_point(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    const struct pw_heartwall_shared *s = w->shared;
    const struct pw_heartwall_wall *wall = p->wall;
    int64_t at = (int64_t)p->number * g->frames + g->frame_number;
    int32_t n = (int32_t)g->conv, place = 0, shift = (int32_t)(g->in + g->search - g->half);
    float largest = 0;
    pw_compute(w, 3);
    if (!w->index) {
        for (int32_t i = 0; i < n; i++)
            if (s->largest[i] > largest) {
                largest = s->largest[i];
                place = s->largest_at[i];
            }
        pw_compute(w, 6 * g->conv + 7);
        pw_load_run(w, 1, &wall->row, p->number);
        pw_compute(w, 34);
        pw_use(w);
        pw_store_run(w, 1, &wall->row_track, at);
        pw_load_run(w, 1, &wall->column, p->number);
        pw_compute(w, 4);
        pw_use(w);
        pw_store_run(w, 1, &wall->column_track, at);
        ((int32_t *)wall->row_track.data)[at] =
            within(g, whole(&wall->row)[p->number] + place % n + 1 - shift, g->frame_rows);
        ((int32_t *)wall->column_track.data)[at] =
            within(g, whole(&wall->column)[p->number] + place / n + 1 - shift, g->frame_columns);
    }
    pw_barrier(w);
}

void pw_heartwall_track(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p)
{
    set_mask(w, g, p);
    convolve_mask(w, g, p);
    largest_of_rows(w, g, p);
    move_point(w, g, p);
}
