/* The kernels of srad_v1. Instruction counts are estimates for compiled code: 8 for a thread's index, 30 with row and
 * column, 20 for exp and 30 for log, per stride of the reduction 4 for the test and 10 for two sums, 75 for the
 * coefficient (5 divisions). Reads of the neighbour tables are in flight together with the pixel's own, then the four
 * neighbours; srad2 reads both coefficients, the four differences and the pixel at once. */
#include "workload/rodinia/srad.h"

static uint64_t first_pixel(const struct pw_warp *w)
{
    return (uint64_t)w->cta_index * PW_SRAD_THREADS + pw_first_thread(w);
}

/* Loads element index[i] in lane i; as a run or a broadcast where it is one. */
static void load_at(struct pw_warp *w, uint32_t mask, const struct pw_array *a, const uint64_t index[])
{
    uint64_t step = mask > 1 ? index[1] - index[0] : 0;
    bool affine = true;
    for (uint32_t lane = 1; lane < pw_lane_count(mask); lane++)
        affine &= index[lane] == index[0] + lane * step;
    if (affine)
        pw_load_strided(w, mask, a, (int64_t)index[0], (int64_t)step);
    else
        pw_load_lanes(w, mask, a, index);
}

/* extract and compress: the logarithm's inverse before, the logarithm behind. */
static void map_image(struct pw_warp *w, const struct pw_srad *g, float function(float), uint32_t instructions)
{
    float *image = g->image.data;
    uint64_t i = first_pixel(w);
    uint32_t mask = pw_lanes_below(w, i, g->pixels);
    pw_compute(w, 8);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->image, (int64_t)i);
    pw_use(w);
    pw_compute(w, instructions);
    pw_store_run(w, mask, &g->image, (int64_t)i);
    for (uint32_t lane = 0; image && lane < pw_lane_count(mask); lane++)
        image[i + lane] = function(image[i + lane]);
}

void pw_srad_extract(struct pw_warp *w, const void *arguments)
{
    map_image(w, arguments, pw_srad_expanded, 20);
}

void pw_srad_compress(struct pw_warp *w, const void *arguments)
{
    map_image(w, arguments, pw_srad_compressed, 30);
}

void pw_srad_prepare(struct pw_warp *w, const void *arguments)
{
    const struct pw_srad *g = arguments;
    const float *image = g->image.data;
    uint64_t i = first_pixel(w);
    uint32_t mask = pw_lanes_below(w, i, g->pixels);
    pw_compute(w, 8);
    if (!mask)
        return;
    for (uint32_t square = 0; square < 2; square++) {
        pw_load_run(w, mask, &g->image, (int64_t)i);
        pw_use(w);
        pw_compute(w, 1 + square);
        pw_store_run(w, mask, &g->sum[square], (int64_t)i);
        float *sum = g->sum[square].data;
        for (uint32_t lane = 0; sum && lane < pw_lane_count(mask); lane++)
            sum[i + lane] = square ? image[i + lane] * image[i + lane] : image[i + lane];
    }
}

/* The last busy thread adds what the pairs left over, and writes the CTA's sums. */
static void finish_sums(struct pw_warp *w, const struct pw_srad *g, uint32_t last, uint64_t count)
{
    uint32_t mask = 1U << last % PW_WARP_LANES;
    float(*partial)[PW_SRAD_THREADS] = w->shared;
    uint64_t first = (uint64_t)w->cta_index * PW_SRAD_THREADS;
    for (uint64_t i = first + last + 1; i < first + count; i++) {
        pw_load_strided(w, mask, &g->sum[0], (int64_t)i, 0);
        pw_load_strided(w, mask, &g->sum[1], (int64_t)i, 0);
        pw_use(w);
        pw_compute(w, 8);
        for (uint32_t k = 0; k < 2 && g->sum[k].data; k++)
            partial[k][last] += ((const float *)g->sum[k].data)[i];
    }
    pw_compute(w, 6);
    for (uint32_t k = 0; k < 2; k++) {
        pw_store_strided(w, mask, &g->sum[k], (int64_t)(first * g->apart), 0);
        if (g->sum[k].data)
            ((float *)g->sum[k].data)[first * g->apart] = partial[k][last];
    }
}

void pw_srad_reduce(struct pw_warp *w, const void *arguments)
{
    const struct pw_srad *g = arguments;
    float(*partial)[PW_SRAD_THREADS] = w->shared;
    uint64_t i = first_pixel(w), left = g->sums - (uint64_t)w->cta_index * PW_SRAD_THREADS;
    uint64_t count = left < PW_SRAD_THREADS ? left : PW_SRAD_THREADS;
    uint32_t mask = pw_lanes_below(w, i, g->sums), thread = pw_first_thread(w), pairs = pw_srad_paired(count);
    pw_compute(w, 12);
    for (uint32_t k = 0; k < 2; k++) {
        pw_load_strided(w, mask, &g->sum[k], (int64_t)(i * g->apart), (int64_t)g->apart);
        for (uint32_t lane = 0; g->sum[k].data && lane < pw_lane_count(mask); lane++)
            partial[k][thread + lane] = ((const float *)g->sum[k].data)[(i + lane) * g->apart];
    }
    pw_use(w);
    pw_compute(w, count < PW_SRAD_THREADS ? 2 + 18 : 2);
    for (uint32_t stride = 2; stride <= pairs; stride *= 2) {
        uint32_t adding = 0;
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            if ((thread + lane + 1) % stride == 0 && thread + lane < pairs)
                adding |= 1U << lane;
        pw_compute(w, adding ? 4 + 10 : 4);
        PW_FOR_LANES(lane, adding)
        for (uint32_t k = 0; k < 2; k++)
            partial[k][thread + lane] += partial[k][thread + lane - stride / 2];
        pw_barrier(w);
    }
    pw_compute(w, 2);
    if (pairs && (pairs - 1) / PW_WARP_LANES == w->index)
        finish_sums(w, g, pairs - 1, count);
}

/* By lane: row and column, and the places of the neighbouring pixels. */
struct place {
    uint64_t row[PW_WARP_LANES], column[PW_WARP_LANES], near[PW_SRAD_SIDES][PW_WARP_LANES];
};

static inline uint64_t neighbour(const struct pw_array *table, uint64_t i, uint64_t otherwise)
{
    return table->data ? (uint64_t)((const int32_t *)table->data)[i] : otherwise;
}

static uint32_t locate(const struct pw_warp *w, const struct pw_srad *g, struct place *p)
{
    uint64_t i = first_pixel(w), row = i % g->rows, column = i / g->rows;
    uint32_t mask = pw_lanes_below(w, i, g->pixels);
    for (uint32_t lane = 0; lane < pw_lane_count(mask); lane++) {
        p->row[lane] = row;
        p->column[lane] = column;
        uint64_t north = neighbour(&g->near[PW_SRAD_NORTH], row, row ? row - 1 : 0);
        uint64_t south = neighbour(&g->near[PW_SRAD_SOUTH], row, row + 1 < g->rows ? row + 1 : row);
        uint64_t west = neighbour(&g->near[PW_SRAD_WEST], column, column ? column - 1 : 0);
        uint64_t east = neighbour(&g->near[PW_SRAD_EAST], column, column + 1 < g->columns ? column + 1 : column);
        p->near[PW_SRAD_NORTH][lane] = north + g->rows * column;
        p->near[PW_SRAD_SOUTH][lane] = south + g->rows * column;
        p->near[PW_SRAD_WEST][lane] = row + g->rows * west;
        p->near[PW_SRAD_EAST][lane] = row + g->rows * east;
        if (++row == g->rows) {
            row = 0;
            column++;
        }
    }
    return mask;
}

/* How both kernels begin: the first pixel of the warp, and the places of its lanes. */
static uint32_t begin(struct pw_warp *w, const struct pw_srad *g, struct place *p, int64_t *out_first)
{
    *out_first = (int64_t)first_pixel(w);
    pw_compute(w, 30);
    return locate(w, g, p);
}

void pw_srad_srad(struct pw_warp *w, const void *arguments)
{
    const struct pw_srad *g = arguments;
    const float *image = g->image.data;
    struct place p = {0};
    int64_t i;
    uint32_t mask = begin(w, g, &p, &i);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->image, i);
    for (uint32_t side = 0; side < PW_SRAD_SIDES; side++)
        load_at(w, mask, &g->near[side], side < PW_SRAD_WEST ? p.row : p.column);
    pw_use(w);
    pw_compute(w, 8);
    for (uint32_t side = 0; side < PW_SRAD_SIDES; side++)
        load_at(w, mask, &g->image, p.near[side]);
    pw_use(w);
    pw_compute(w, 75);
    for (uint32_t side = 0; side < PW_SRAD_SIDES; side++)
        pw_store_run(w, mask, &g->difference[side], i);
    pw_store_run(w, mask, &g->c, i);
    for (uint32_t lane = 0; image && lane < pw_lane_count(mask); lane++) {
        float pixel = image[i + lane], d[PW_SRAD_SIDES];
        for (uint32_t side = 0; side < PW_SRAD_SIDES; side++) {
            d[side] = image[p.near[side][lane]] - pixel;
            ((float *)g->difference[side].data)[i + lane] = d[side];
        }
        ((float *)g->c.data)[i + lane] = pw_srad_coefficient(pixel, d, g->q0sqr);
    }
}

void pw_srad_srad2(struct pw_warp *w, const void *arguments)
{
    const struct pw_srad *g = arguments;
    const float *c = g->c.data, *d[PW_SRAD_SIDES];
    float *image = g->image.data;
    struct place p = {0};
    int64_t i;
    uint32_t mask = begin(w, g, &p, &i);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->c, i);
    load_at(w, mask, &g->near[PW_SRAD_SOUTH], p.row);
    load_at(w, mask, &g->near[PW_SRAD_EAST], p.column);
    pw_use(w);
    pw_compute(w, 4);
    load_at(w, mask, &g->c, p.near[PW_SRAD_SOUTH]);
    load_at(w, mask, &g->c, p.near[PW_SRAD_EAST]);
    for (uint32_t side = 0; side < PW_SRAD_SIDES; side++) {
        pw_load_run(w, mask, &g->difference[side], i);
        d[side] = g->difference[side].data;
    }
    pw_load_run(w, mask, &g->image, i);
    pw_use(w);
    pw_compute(w, 12);
    pw_store_run(w, mask, &g->image, i);
    for (uint32_t lane = 0; c && lane < pw_lane_count(mask); lane++) {
        int64_t at = i + lane;
        float divergence = c[at] * d[PW_SRAD_NORTH][at] + c[p.near[PW_SRAD_SOUTH][lane]] * d[PW_SRAD_SOUTH][at] +
                           c[at] * d[PW_SRAD_WEST][at] + c[p.near[PW_SRAD_EAST][lane]] * d[PW_SRAD_EAST][at];
        image[at] = pw_srad_diffused(image[at], g->lambda, divergence);
    }
}
