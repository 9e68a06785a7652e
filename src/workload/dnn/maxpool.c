/* maxpool: max pooling of MGPUSim's DNN benchmarks, the largest element under a window that moves over images.
 *
 * Kept: one launch with a thread for each output, in CTAs of 64 threads; images one behind the other, `batch` times
 * `channels` of them; the two arrays and their order; the number of positions, rounded up, and windows cut off at the
 * sides; that a thread walks its window row by row and waits for each load before the next. The windows of 2x2 that do
 * not overlap are those of MGPUSim until June 2020, which is what the paper's authors can have used. Its CTAs have
 * `batch` times `channels` threads, 64 at the size here. Left out is what later versions (always 64 threads) do
 * besides: they also store where the maximum was found and go on with the backward pass.
 *
 * Instruction counts are those of the benchmark's GCN3 code, waits left out, with its scalar loads of arguments counted
 * as arithmetic; the loop around the kernel, for launches smaller than the result, is passed once. With code=sm_90
 * counts and waits are those of capture/programs/maxpool.cu as nvcc 13 compiles it for sm_90, which loads what of a row
 * is left over of groups of four first, and then each group at once; rows of eight and more, which it unrolls further,
 * are groups of four here, and the instructions of parting and joining are missing where the windows of a warp are of
 * different sizes. A wavefront of 64 threads is two warps here. Inputs are random.
 *
 * On several GPUs the original distributes both arrays (driver.Distribute), and each GPU computes a consecutive part of
 * the result. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"

#include <float.h>

enum { THREADS = 64, MAX_SIDE = 1 << 15, MAX_COUNT = 1 << 15, MAX_WINDOW = 1 << 10, GROUP = 4 };

struct parameters {
    uint32_t batch, channels, height, width, window, stride, pad, code;
};

struct arguments {
    struct pw_array bottom, top;
    int64_t height, width, pooled_height, pooled_width, window, stride, pad;
    const struct code *code;
};

/* Of each lane's window: its first element, and what of it lies inside the image. */
struct windows {
    uint64_t at[PW_WARP_LANES];
    int64_t rows[PW_WARP_LANES], columns[PW_WARP_LANES];
};

/* Of a window that begins at `start`, what lies inside a side: its beginning, and how much. */
static int64_t inside(int64_t start, int64_t window, int64_t side, int64_t *out_first)
{
    int64_t end = start + window < side ? start + window : side;
    *out_first = start > 0 ? start : 0;
    return end > *out_first ? end - *out_first : 0;
}

static void place_windows(const struct arguments *g, uint64_t first, uint32_t mask, struct windows *out)
{
    PW_FOR_LANES(lane, mask)
    {
        int64_t index = (int64_t)(first + lane), row, column;
        int64_t pw = index % g->pooled_width, ph = index / g->pooled_width % g->pooled_height;
        int64_t image = index / g->pooled_width / g->pooled_height;
        out->rows[lane] = inside(ph * g->stride - g->pad, g->window, g->height, &row);
        out->columns[lane] = inside(pw * g->stride - g->pad, g->window, g->width, &column);
        out->at[lane] = (uint64_t)((image * g->height + row) * g->width + column);
    }
}

/* Lanes of `mask` whose value is above `n`. */
static uint32_t lanes_above(uint32_t mask, const int64_t value[PW_WARP_LANES], int64_t n)
{
    uint32_t above = 0;
    PW_FOR_LANES(lane, mask)
    above |= (uint32_t)(value[lane] > n) << lane;
    return above;
}

/* Where each lane's window begins in a row. */
static void row_of(const struct arguments *g, const struct windows *win, uint32_t mask, int64_t row,
                   uint64_t out_from[PW_WARP_LANES])
{
    PW_FOR_LANES(lane, mask)
    out_from[lane] = win->at[lane] + (uint64_t)(row * g->width);
}

static void load_column(struct pw_warp *w, const struct arguments *g, uint32_t mask, const uint64_t from[PW_WARP_LANES],
                        uint64_t column, float largest[PW_WARP_LANES])
{
    const float *bottom = g->bottom.data;
    uint64_t index[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    index[lane] = from[lane] + column;
    pw_load_lanes(w, mask, &g->bottom, index);
    if (bottom)
        PW_FOR_LANES(lane, mask)
    largest[lane] = bottom[index[lane]] > largest[lane] ? bottom[index[lane]] : largest[lane];
}

static void pool_row(struct pw_warp *w, const struct arguments *g, const struct windows *win, uint32_t mask,
                     int64_t row, float largest[PW_WARP_LANES])
{
    uint64_t from[PW_WARP_LANES];
    row_of(g, win, mask, row, from);
    pw_compute(w, 6);
    for (int64_t column = 0; (mask = lanes_above(mask, win->columns, column)); column++) {
        load_column(w, g, mask, from, (uint64_t)column, largest);
        pw_compute(w, 5);
        pw_use(w);
        pw_compute(w, 4);
    }
    pw_compute(w, 1);
}

/* The columns left over of groups: one; two, each waited for; or three, the last two in flight together. */
static void pool_rest(struct pw_warp *w, const struct arguments *g, uint32_t mask, const int64_t rest[PW_WARP_LANES],
                      const uint64_t from[PW_WARP_LANES], float largest[PW_WARP_LANES])
{
    uint32_t two = lanes_above(mask, rest, 1), three = lanes_above(mask, rest, 2);
    load_column(w, g, mask, from, 0, largest);
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 4);
    if (!two)
        return;
    load_column(w, g, two, from, 1, largest);
    load_column(w, g, three, from, 2, largest);
    if (three)
        pw_use_all_but(w, 1);
    pw_compute(w, three ? 4 : 1);
    pw_use(w);
    pw_compute(w, three ? 3 : 7);
}

static void pool_unrolled_row(struct pw_warp *w, const struct arguments *g, const struct windows *win, uint32_t mask,
                              int64_t row, float largest[PW_WARP_LANES])
{
    int64_t rest[PW_WARP_LANES], grouped[PW_WARP_LANES];
    uint64_t from[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        rest[lane] = win->columns[lane] % GROUP;
        grouped[lane] = win->columns[lane] - rest[lane];
    }
    row_of(g, win, mask, row, from);
    uint32_t some = lanes_above(mask, rest, 0), before = some ? 17 : 11;
    if (some)
        pool_rest(w, g, some, rest, from, largest);
    PW_FOR_LANES(lane, mask)
    from[lane] += (uint64_t)rest[lane];
    for (int64_t done = 0; (mask = lanes_above(mask, grouped, done)); done += GROUP) {
        pw_compute(w, before);
        for (uint32_t i = 0; i < GROUP; i++)
            load_column(w, g, mask, from, (uint64_t)done + i, largest);
        for (uint8_t left = GROUP - 1; left; left--) {
            pw_use_all_but(w, left);
            pw_compute(w, 2);
        }
        pw_use(w);
        pw_compute(w, 1);
        before = 5;
    }
}

/* Instructions up to the comparison of the index, for the window's place, in front of rows, before a row, behind it,
 * before the store and behind it. */
struct code {
    uint32_t test, place, some, row, row_end, store, end, registers, pace;
    void (*pool_row)(struct pw_warp *w, const struct arguments *g, const struct windows *win, uint32_t mask,
                     int64_t row, float largest[PW_WARP_LANES]);
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.test = 10,
                         .place = 46 + 48,
                         .some = 18,
                         .row = 2,
                         .row_end = 7,
                         .store = 1 + 9,
                         .end = 2,
                         .registers = 16,
                         .pool_row = pool_row},
    [PW_CODE_SM_90] = {.test = 7,
                       .place = 88,
                       .some = 17,
                       .row = 9,
                       .row_end = 10,
                       .end = 2,
                       .registers = 31,
                       .pace = 3750,
                       .pool_row = pool_unrolled_row},
};

static void maxpool_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct code *code = g->code;
    float *top = g->top.data, largest[PW_WARP_LANES];
    struct windows win;
    uint64_t first = (uint64_t)w->cta_index * THREADS + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, g->top.count);
    pw_compute(w, code->test);
    if (!mask)
        return;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        largest[lane] = -FLT_MAX;
    place_windows(g, first, mask, &win);
    uint32_t some = lanes_above(mask, win.rows, 0), wide = lanes_above(some, win.columns, 0);
    pw_compute(w, code->place + (some ? code->some : 0));
    for (int64_t row = 0; (some = lanes_above(some, win.rows, row)); row++) {
        pw_compute(w, code->row);
        if (wide & some)
            code->pool_row(w, g, &win, wide & some, row, largest);
        pw_compute(w, code->row_end);
    }
    pw_compute(w, code->store);
    pw_store_run(w, mask, &g->top, (int64_t)first);
    pw_compute(w, code->end);
    if (top)
        PW_FOR_LANES(lane, mask)
    top[first + lane] = largest[lane];
}

/* The first position of the window, along a side, that reaches as far as `at`. */
static int64_t first_over(const struct arguments *g, int64_t at)
{
    return at + g->pad < g->window ? 0 : (at + g->pad - g->window) / g->stride + 1;
}

/* The other way round: each element of an image goes into all windows that contain it. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *bottom = g->bottom.data, *top = g->top.data;
    uint64_t wrong = g->top.count;
    float *expected = pw_host_keep(h, g->top.count * sizeof *expected);
    for (uint64_t i = 0; i < g->top.count; i++)
        expected[i] = -FLT_MAX;
    for (uint64_t i = 0; i < g->bottom.count; i++) {
        int64_t x = (int64_t)i % g->width, y = (int64_t)i / g->width % g->height;
        int64_t image = (int64_t)i / g->width / g->height;
        for (int64_t ph = first_over(g, y); ph < g->pooled_height && ph * g->stride <= y + g->pad; ph++)
            for (int64_t pw = first_over(g, x); pw < g->pooled_width && pw * g->stride <= x + g->pad; pw++) {
                float *most = &expected[(image * g->pooled_height + ph) * g->pooled_width + pw];
                *most = bottom[i] > *most ? bottom[i] : *most;
            }
    }
    for (uint64_t i = g->top.count; i-- > 0;)
        if (top[i] != expected[i])
            wrong = i;
    pw_host_expect(h, wrong == g->top.count, "output %llu is not the largest element under its window",
                   (unsigned long long)wrong);
}

/* Positions of a window along a side, the last perhaps cut off. */
static int64_t pooled(int64_t side, const struct parameters *p)
{
    int64_t way = side + 2 * (int64_t)p->pad - p->window;
    return (way + p->stride - 1) / p->stride + 1;
}

static struct arguments shape(struct pw_host *h, const struct parameters *p)
{
    uint64_t height = pw_host_scaled_side(h, p->height, 1), width = pw_host_scaled_side(h, p->width, 1);
    if (height > MAX_SIDE || width > MAX_SIDE)
        pw_host_fail(h, "height and width are at most %d", MAX_SIDE);
    struct arguments g = {.height = (int64_t)height,
                          .width = (int64_t)width,
                          .window = p->window,
                          .stride = p->stride,
                          .pad = p->pad,
                          .code = &codes[p->code]};
    if (g.height + 2 * g.pad < g.window || g.width + 2 * g.pad < g.window)
        pw_host_fail(h, "a window of %u does not fit into an image of %llux%llu", p->window, (unsigned long long)height,
                     (unsigned long long)width);
    g.pooled_height = pooled(g.height, p);
    g.pooled_width = pooled(g.width, p);
    return g;
}

static void maxpool_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = shape(h, p);
    uint64_t images = (uint64_t)p->batch * p->channels, inputs = images * (uint64_t)(g.height * g.width);
    uint64_t outputs = images * (uint64_t)(g.pooled_height * g.pooled_width);
    if (inputs > INT32_MAX || outputs > INT32_MAX)
        pw_host_fail(h, "at most 2G inputs and outputs (the kernel's index has 32 bits)");
    g.bottom = pw_alloc(h, "bottom", inputs, sizeof(float));
    g.top = pw_alloc(h, "top", outputs, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.bottom.data && i < inputs; i++)
        ((float *)g.bottom.data)[i] = pw_hash_unit(pw_hash(seed, i)) - 0.5F;

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "MaxPoolForward",
                                     .grid = {(uint32_t)((outputs + THREADS - 1) / THREADS), 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .registers = g.code->registers,
                                     .pace = g.code->pace,
                                     .kernel = maxpool_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h) && g.top.data)
        verify(h, &g);
    pw_free(h, &g.bottom);
    pw_free(h, &g.top);
}

static const struct pw_option rows[] = {
    {"batch", PW_OPTION_COUNT, offsetof(struct parameters, batch), 1, MAX_COUNT, "1", "images", NULL,
     "images of each channel", false},
    {"channels", PW_OPTION_COUNT, offsetof(struct parameters, channels), 1, MAX_COUNT, "64", "channels", NULL,
     "channels", false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), 1, MAX_SIDE, "458", "elements", NULL,
     "height of an image", false},
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), 1, MAX_SIDE, "458", "elements", NULL,
     "width of an image", false},
    {"window", PW_OPTION_COUNT, offsetof(struct parameters, window), 1, MAX_WINDOW, "2", "elements", NULL,
     "side of the window", false},
    {"stride", PW_OPTION_COUNT, offsetof(struct parameters, stride), 1, MAX_WINDOW, "2", "elements", NULL,
     "from one position of the window to the next", false},
    {"pad", PW_OPTION_COUNT, offsetof(struct parameters, pad), 0, MAX_WINDOW, "0", "elements", NULL,
     "by which the window reaches beyond the sides", false},
    PW_CODE_ROW(struct parameters, "gcn3", "those of MGPUSim's binary"),
    {0},
};

static const struct pw_preset presets[] = {{"gmmu-bypass", "channels=64:height=458:width=458"}, {0}};

const struct pw_workload pw_workload_maxpool = {
    .name = "maxpool",
    .suite = "DNN",
    .papers = "gmmu-bypass",
    .summary = "the largest of each 2x2 elements of many images",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = maxpool_main,
};
