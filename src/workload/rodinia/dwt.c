/* dwt: Rodinia's dwt2d, the forward 5/3 wavelet transform of an RGB image (-f -5).
 *
 * Kept: a kernel that splits the image's bytes into three arrays of ints; then for each of them, level by level, a
 * kernel whose CTAs slide a window of 8 rows down their part of the image, a thread a column (192 threads where rows
 * have at least 960 pixels, 128 from 480 on, else 64), columns transformed vertically and then rows horizontally in
 * shared memory between four barriers; three threads of each CTA with a second column, beyond the window's sides; the
 * rows and columns read beyond the image, mirrored; even and odd columns dealt to the two halves of a CTA, so that each
 * warp writes into two of the four bands in turn; the copy of the low band into the input for the next level (by the
 * copy engine: it takes no time here); the arrays and their order.
 * Simplified: random pixels instead of a picture's. The staging in shared memory takes its time and space, the values
 * come straight from the input. Every level has at least 66 columns and 10 rows: below that the original mirrors to
 * before the array.
 * Instruction counts, loads in flight and registers are those of the kernels as nvcc 13 compiles them for sm_90, for
 * CTAs at the bottom, at the right and elsewhere; the launch bounds are left away, which ask for as many CTAs as an
 * SM's shared memory holds. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { COPY_BLOCK = 256, WINDOW = 8, LEAD = 3, COLOURS = 3, MIN_WIDTH = 66, MIN_HEIGHT = 10, MAX_SIDE = 1 << 15 };

struct parameters {
    uint32_t width, height, levels;
};

struct copy_arguments {
    struct pw_array source, colours[COLOURS];
    uint64_t pixels;
};

struct arguments {
    struct pw_array in, out;
    int64_t width, height;
    uint32_t steps; /* of the window */
};

/* Instructions before and between the accesses of a window, by where its CTA is. */
struct version {
    uint8_t setup, lead, window, loads[WINDOW], boundary, boundary_loads[WINDOW], odd, even, stores[WINDOW], end;
};

static const struct version elsewhere = {
    59, 42, 13, {1, 6, 5, 3, 3, 2, 1, 35}, 3, {0, 10, 3, 2, 2, 1, 1, 38}, 43, 41, {10, 1, 0, 2, 3, 0, 2, 1}, 2};
static const struct version at_right = {
    59, 47, 13, {1, 3, 2, 3, 14, 6, 0, 25}, 2, {1, 8, 0, 4, 4, 2, 1, 38}, 45, 45, {14, 1, 5, 4, 10, 6, 4, 3}, 0};
static const struct version at_bottom = {
    79, 55, 21, {4, 9, 1, 26, 19, 15, 1, 25}, 12, {1, 41, 3, 3, 1, 3, 4, 41}, 48, 56, {10, 2, 10, 1, 13, 0, 9, 1}, 0};

static int64_t mirrored(int64_t at, int64_t size)
{
    return at < 0 ? -at : at >= size ? 2 * size - 2 - at : at;
}

static int32_t predicted(int32_t before, int32_t pixel, int32_t behind)
{
    return pixel - (before + behind) / 2;
}

static int32_t updated(int32_t before, int32_t pixel, int32_t behind)
{
    return pixel + (before + behind + 2) / 4;
}

static void split_kernel(struct pw_warp *w, const void *arguments)
{
    const struct copy_arguments *g = arguments;
    uint64_t first = (uint64_t)w->cta.x * COPY_BLOCK, at = first + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, at, g->pixels);
    pw_compute(w, 10);
    if (pw_first_thread(w) < COPY_BLOCK * COLOURS / sizeof(uint32_t)) {
        pw_compute(w, 4);
        pw_load_run(w, w->lanes, &g->source, (int64_t)(first * COLOURS / sizeof(uint32_t)) + pw_first_thread(w));
        pw_compute(w, 4);
        pw_use(w);
        pw_compute(w, 1);
    }
    pw_compute(w, 1);
    pw_barrier(w);
    pw_compute(w, 2);
    if (!mask)
        return;
    pw_compute(w, 1 + 15);
    for (uint32_t colour = 0; colour < COLOURS; colour++) {
        const uint8_t *bytes = g->source.data;
        int32_t *out = g->colours[colour].data;
        if (colour == 1)
            pw_compute(w, 1);
        pw_store_run(w, mask, &g->colours[colour], (int64_t)at);
        if (out)
            PW_FOR_LANES(lane, mask)
        out[at + lane] = (int32_t)bytes[(at + lane) * COLOURS + colour] - 128;
    }
}

/* A pixel after its column has been transformed. */
static int32_t vertical(const struct arguments *g, int64_t y, int64_t x)
{
    const int32_t *in = g->in.data;
    int32_t pixel[5];
    for (int64_t i = 0; i < 5; i++)
        pixel[i] = in[mirrored(y + i - 2, g->height) * g->width + mirrored(x, g->width)];
    if (y & 1)
        return predicted(pixel[1], pixel[2], pixel[3]);
    return updated(predicted(pixel[0], pixel[1], pixel[2]), pixel[2], predicted(pixel[2], pixel[3], pixel[4]));
}

static int32_t coefficient(const struct arguments *g, int64_t y, int64_t x)
{
    int32_t v[5];
    for (int64_t i = 0; i < 5; i++)
        v[i] = vertical(g, y, x + i - 2);
    return x & 1 ? predicted(v[1], v[2], v[3])
                 : updated(predicted(v[0], v[1], v[2]), v[2], predicted(v[2], v[3], v[4]));
}

/* Where a coefficient is stored: bands low, high-x, high-y and high of both, one behind the other. */
static int64_t place_in_bands(const struct arguments *g, int64_t y, int64_t x)
{
    int64_t low_width = (g->width + 1) / 2, low_height = (g->height + 1) / 2;
    int64_t pitch = x & 1 ? g->width / 2 : low_width, first = x & 1 ? low_width * low_height : 0;
    int64_t to_high = x & 1 ? g->width * g->height / 2 : low_height * g->width;
    return first + x / 2 + y / 2 * pitch + (y & 1) * to_high;
}

/* The columns of a warp's lanes, mirrored into the image. */
struct columns {
    uint32_t mask;
    bool consecutive;
    int64_t x[PW_WARP_LANES];
};

static void load_row(struct pw_warp *w, const struct arguments *g, const struct columns *c, int64_t y)
{
    int64_t row = mirrored(y, g->height) * g->width;
    uint64_t index[PW_WARP_LANES];
    if (c->consecutive) {
        pw_load_run(w, c->mask, &g->in, row + c->x[0]);
        return;
    }
    PW_FOR_LANES(lane, c->mask) index[lane] = (uint64_t)(row + c->x[lane]);
    pw_load_lanes(w, c->mask, &g->in, index);
}

/* The three rows before the first window; those of the topmost CTA from the first row down. */
static void load_lead(struct pw_warp *w, const struct arguments *g, const struct columns *c, int64_t y)
{
    for (int64_t i = 0; i < LEAD; i++) {
        load_row(w, g, c, w->cta.y ? y - 2 + i : i);
        pw_compute(w, i == 0 ? 7 : i == 1 ? 2 : 6);
    }
}

static void load_window(struct pw_warp *w, const struct arguments *g, const struct columns *c, int64_t y,
                        const uint8_t gaps[WINDOW])
{
    for (int64_t i = 0; i < WINDOW; i++) {
        load_row(w, g, c, y + 1 + i);
        if (i == WINDOW - 1)
            pw_use(w);
        pw_compute(w, gaps[i]);
    }
}

/* Columns of the first half of a CTA's threads are even, those of the second half odd. */
static void store_window(struct pw_warp *w, const struct arguments *g, int64_t y, const struct version *v)
{
    uint32_t threads = w->launch->block.x, thread = pw_first_thread(w);
    int64_t x = (int64_t)w->cta.x * threads + (thread < threads / 2 ? 2 * thread : 2 * thread - threads + 1);
    int64_t lanes = x < g->width ? (g->width - x + 1) / 2 : 0;
    uint32_t mask = pw_lanes_below(w, 0, (uint64_t)lanes);
    int32_t *out = g->out.data;
    for (int64_t i = 0; i < WINDOW; i++) {
        pw_compute(w, v->stores[i]);
        if (y + i >= g->height)
            continue;
        int64_t at = place_in_bands(g, y + i, x);
        pw_store_run(w, mask, &g->out, at);
        if (out)
            PW_FOR_LANES(lane, mask)
        out[at + lane] = coefficient(g, y + i, x + 2 * lane);
    }
    pw_compute(w, v->end);
}

static void set_columns(const struct pw_warp *w, const struct arguments *g, struct columns *main,
                        struct columns *boundary)
{
    int64_t window = (int64_t)w->cta.x * w->launch->block.x, first = window + pw_first_thread(w);
    *main = (struct columns){.mask = w->lanes, .consecutive = first + PW_WARP_LANES <= g->width};
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        main->x[lane] = mirrored(first + lane, g->width);
    *boundary = (struct columns){.mask = w->index ? 0 : (1U << LEAD) - 1};
    for (uint32_t lane = 0; lane < LEAD; lane++)
        boundary->x[lane] = mirrored(window + (lane ? (int64_t)lane - LEAD : (int64_t)w->launch->block.x), g->width);
}

static void transform_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    int64_t y = (int64_t)w->cta.y * WINDOW * g->steps, end = y + WINDOW * g->steps;
    int64_t right = (int64_t)(w->cta.x + 1) * w->launch->block.x;
    const struct version *v = end + 1 >= g->height ? &at_bottom : right + 1 >= g->width ? &at_right : &elsewhere;
    struct columns columns, boundary;
    set_columns(w, g, &columns, &boundary);

    pw_compute(w, v->setup);
    load_lead(w, g, &columns, y);
    if (boundary.mask) {
        pw_compute(w, 13);
        load_lead(w, g, &boundary, y);
    }
    pw_compute(w, v->lead);
    for (; y < end; y += WINDOW) {
        pw_compute(w, v->window);
        load_window(w, g, &columns, y, v->loads);
        pw_compute(w, 1);
        if (boundary.mask) {
            pw_compute(w, v->boundary);
            load_window(w, g, &boundary, y, v->boundary_loads);
        }
        pw_barrier(w);
        pw_compute(w, v->odd);
        pw_barrier(w);
        pw_compute(w, v->even);
        pw_barrier(w);
        store_window(w, g, y, v);
        pw_barrier(w);
        pw_compute(w, 1);
    }
}

static void launch_level(struct pw_host *h, struct arguments *g)
{
    uint32_t width = (uint32_t)g->width, height = (uint32_t)g->height;
    uint32_t block = width >= 960 ? 192 : width >= 480 ? 128 : 64;
    const uint32_t shared[] = {3096, 5912, 8728}; /* of 64, 128 and 192 columns, with padding against conflicts */
    g->steps = (height + 15 * WINDOW - 1) / (15 * WINDOW);
    pw_launch(h, &(struct pw_launch){
                     .name = "fdwt53Kernel",
                     .grid = {(width + block - 1) / block, (height + WINDOW * g->steps - 1) / (WINDOW * g->steps), 1},
                     .block = {block, 1, 1},
                     .shared_bytes = shared[block / 64 - 1],
                     .registers = 32,
                     .kernel = transform_kernel,
                     .arguments = g});
}

/* `out` holds a level's bands; its low one becomes the input of the next. */
static void transform(struct pw_host *h, struct arguments g, uint32_t levels)
{
    for (; levels; levels--) {
        launch_level(h, &g);
        g.width = (g.width + 1) / 2;
        g.height = (g.height + 1) / 2;
        if (g.in.data && levels > 1)
            __builtin_memcpy(g.in.data, g.out.data, (size_t)(g.width * g.height) * sizeof(int32_t));
    }
}

/* One row or column, in place: odd elements predicted from their neighbours, then even ones updated. */
static void lift(int32_t *line, int64_t count, int64_t stride)
{
    for (int64_t i = 1; i < count; i += 2)
        line[i * stride] = predicted(line[(i - 1) * stride], line[i * stride], line[mirrored(i + 1, count) * stride]);
    for (int64_t i = 0; i < count; i += 2)
        line[i * stride] =
            updated(line[mirrored(i - 1, count) * stride], line[i * stride], line[mirrored(i + 1, count) * stride]);
}

/* All levels in place: what level l leaves low is every 2^l-th pixel of every 2^l-th row. */
static void verify(struct pw_host *h, const struct arguments *g, int32_t *image, uint32_t levels, char colour)
{
    const int32_t *out = g->out.data;
    uint64_t wrong = 0;
    int64_t step = 1, width = g->width, height = g->height;
    for (uint32_t level = 0; level < levels; level++, step *= 2) {
        for (int64_t x = 0; x < width; x++)
            lift(image + x * step, height, g->width * step);
        for (int64_t y = 0; y < height; y++)
            lift(image + y * step * g->width, width, step);
        struct arguments bands = {.width = width, .height = height};
        for (int64_t y = 0; out && y < height; y++)
            for (int64_t x = 0; x < width; x++)
                if (x & 1 || y & 1 || level == levels - 1)
                    wrong += out[place_in_bands(&bands, y, x)] != image[y * step * g->width + x * step];
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    pw_host_expect(h, !wrong, "%llu coefficients of %c differ from the sequential transform", (unsigned long long)wrong,
                   colour);
}

static void split(struct pw_host *h, struct copy_arguments *g)
{
    uint64_t ctas = (g->pixels + COPY_BLOCK - 1) / COPY_BLOCK;
    g->source = pw_alloc(h, "d_src", ctas * COPY_BLOCK * COLOURS / sizeof(uint32_t), sizeof(uint32_t));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g->source.data && i < g->pixels * COLOURS; i++)
        ((uint8_t *)g->source.data)[i] = (uint8_t)(pw_hash(seed, i) >> 56);
    pw_launch(h, &(struct pw_launch){.name = "c_CopySrcToComponents",
                                     .grid = {(uint32_t)ctas, 1, 1},
                                     .block = {COPY_BLOCK, 1, 1},
                                     .shared_bytes = COPY_BLOCK * COLOURS,
                                     .registers = 16,
                                     .kernel = split_kernel,
                                     .arguments = g});
}

/* The bytes of one colour, as ints around zero. */
static int32_t *expected_colour(struct pw_host *h, const struct copy_arguments *g, uint32_t colour)
{
    const uint8_t *bytes = g->source.data;
    int32_t *image = pw_host_keep(h, g->pixels * sizeof *image);
    for (uint64_t i = 0; bytes && i < g->pixels; i++)
        image[i] = (int32_t)bytes[i * COLOURS + colour] - 128;
    return image;
}

static void dwt_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t width = pw_host_scaled_side(h, p->width, 1), height = pw_host_scaled_side(h, p->height, 1);
    uint64_t least_width = (uint64_t)MIN_WIDTH << (p->levels - 1),
             least_height = (uint64_t)MIN_HEIGHT << (p->levels - 1);
    if (pw_host_scale(h) < 1) {
        width = width < least_width ? least_width : width;
        height = height < least_height ? least_height : height;
    }
    if (width > MAX_SIDE || height > MAX_SIDE || width < least_width || height < least_height)
        pw_host_fail(h, "%u levels take an image of %llu x %llu to %d x %d", p->levels, (unsigned long long)least_width,
                     (unsigned long long)least_height, MAX_SIDE, MAX_SIDE);
    struct copy_arguments copy = {.pixels = width * height};
    struct arguments g = {.width = (int64_t)width, .height = (int64_t)height};
    struct pw_array out[COLOURS], backup, *const in = copy.colours;
    out[0] = pw_alloc(h, "c_r_out", copy.pixels, sizeof(int32_t));
    backup = pw_alloc(h, "backup", copy.pixels, sizeof(int32_t));
    static const char *const names[] = {"c_r_out", "c_g_out", "c_b_out", "c_r", "c_g", "c_b"};
    for (uint32_t i = 1; i < 2 * COLOURS; i++)
        *(i < COLOURS ? &out[i] : &in[i - COLOURS]) = pw_alloc(h, names[i], copy.pixels, sizeof(int32_t));

    pw_host_plan(h, 1 + COLOURS * p->levels);
    split(h, &copy);
    int32_t *expected[COLOURS] = {NULL};
    for (uint32_t i = 0; i < COLOURS && pw_host_verifying(h); i++)
        expected[i] = expected_colour(h, &copy, i);
    pw_free(h, &copy.source);
    for (uint32_t i = 0; i < COLOURS; i++) {
        g.in = in[i];
        g.out = out[i];
        transform(h, g, p->levels);
        if (expected[i])
            verify(h, &g, expected[i], p->levels, "rgb"[i]);
    }
    struct pw_array *const freed[] = {&in[0], &in[1], &in[2], &out[1], &out[2], &out[0], &backup};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), MIN_WIDTH, MAX_SIDE, "1024", "pixels", NULL,
     "columns of the image", false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), MIN_HEIGHT, MAX_SIDE, "1024", "pixels", NULL,
     "rows of the image", false},
    {"levels", PW_OPTION_COUNT, offsetof(struct parameters, levels), 1, 9, "3", "levels", NULL,
     "levels of the transform, of one launch per colour each", false},
    {0},
};

static const struct pw_preset presets[] = {{"compression", "width=1024:height=1024:levels=3"}, {0}};

const struct pw_workload pw_workload_dwt = {
    .name = "dwt",
    .suite = "Rodinia",
    .papers = "compression",
    .summary = "dwt2d: 5/3 wavelet transform of three colours, windows that slide down the columns",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = dwt_main,
};
