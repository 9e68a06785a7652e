/* SAD: sad of Parboil, sums of absolute differences between a video frame and the frame before it, as motion estimation
 * of H.264 needs them: for every block of 4x4 to 16x16 pixels and each of 33x33 displacements.
 *
 * Kept: frames of 16-bit pixels; the array of sums, for each block shape, macroblock, block and displacement (1,089
 * padded to 1,096), 41 * 1,096 * 2 bytes per macroblock; mb_sad_calc, a CTA of 61 threads per 4x4 block, each thread 18
 * displacements in groups of three that share 24 pixels of the frame before, results through shared memory and copied
 * out by the first warp in words of 8 bytes; larger_sad_calc_8 (32x4 threads per macroblock) and larger_sad_calc_16
 * (32 threads), which add four smaller blocks to each larger shape, two displacements per word.
 * Simplified: frames are made, not read. The frame before is a texture in the original; here its pixels are ordinary
 * loads from rows, clamped to the frame at its rim as the texture's are. Parboil's frames are 176x144 (size=table) and
 * 1920x1072; the default lies between, so that a run stays below 40 million instructions. Instruction counts are
 * estimates for compiled code: per group and pixel row 6 loads in flight together and 30 others (12 differences of two
 * instructions each, reads of shared memory, conversions), 17 per group besides. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { RANGE = 16, SIDE = 2 * RANGE + 1, POSITIONS = SIDE * SIDE, PADDED = 1096 };
enum { PER_THREAD = 18, THREADS = (POSITIONS + PER_THREAD - 1) / PER_THREAD, BLOCKS = 41 };
enum { BLOCK = 4, MACROBLOCK = 16, WORDS = PADDED / 2, WIDE_WORDS = PADDED / 4 };

/* The shapes of the larger blocks: where their sums begin, in vectors of displacements per macroblock. */
enum { FIRST_16X16 = 0, FIRST_16X8 = 1, FIRST_8X16 = 3, FIRST_8X8 = 5, FIRST_8X4 = 9, FIRST_4X8 = 17, FIRST_4X4 = 25 };

struct parameters {
    uint32_t width, height;
};

struct arguments {
    struct pw_array current, before, sads;
    int32_t width, height;
    uint64_t macroblocks;
};

struct shared {
    uint16_t block[BLOCK * BLOCK], sads[PADDED];
};

static inline int32_t clamped(int32_t i, int32_t size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static inline uint64_t pixel_of(const struct arguments *g, int32_t x, int32_t y)
{
    return (uint64_t)clamped(y, g->height) * (uint64_t)g->width + (uint64_t)clamped(x, g->width);
}

static void load_block(struct pw_warp *w, const struct arguments *g, int32_t x, int32_t y)
{
    const uint16_t *current = g->current.data;
    struct shared *s = w->shared;
    uint64_t index[PW_WARP_LANES];
    uint32_t mask = 0xffff;
    for (uint32_t lane = 0; lane < BLOCK * BLOCK; lane++) {
        index[lane] = pixel_of(g, x + (int32_t)lane % BLOCK, y + (int32_t)lane / BLOCK);
        if (current)
            s->block[lane] = current[index[lane]];
    }
    pw_compute(w, 10);
    pw_load_lanes(w, mask, &g->current, index);
    pw_use(w);
    pw_compute(w, 1);
}

/* Three neighbouring displacements of each lane; (x, y) is where the first puts the block. */
static void match_group(struct pw_warp *w, const struct arguments *g, uint32_t mask, const int32_t x[],
                        const int32_t y[], uint32_t first)
{
    const uint16_t *before = g->before.data;
    struct shared *s = w->shared;
    uint32_t sums[PW_WARP_LANES][3] = {0};
    for (int32_t row = 0; row < BLOCK; row++) {
        uint64_t index[BLOCK + 2][PW_WARP_LANES];
        for (int32_t column = 0; column < BLOCK + 2; column++) {
            PW_FOR_LANES(lane, mask)
            index[column][lane] = pixel_of(g, x[lane] + column, y[lane] + row);
            pw_load_lanes(w, mask, &g->before, index[column]);
        }
        pw_use(w);
        pw_compute(w, 30);
        if (before)
            PW_FOR_LANES(lane, mask)
        for (int32_t i = 0; i < 3; i++)
            for (int32_t column = 0; column < BLOCK; column++)
                sums[lane][i] +=
                    (uint32_t)__builtin_abs(before[index[i + column][lane]] - s->block[row * BLOCK + column]);
    }
    pw_compute(w, 17);
    PW_FOR_LANES(lane, mask)
    for (uint32_t i = 0; before && i < 3; i++)
        s->sads[first + lane * PER_THREAD + i] = (uint16_t)sums[lane][i];
}

static void block_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct shared *s = w->shared;
    int32_t left = BLOCK * (int32_t)w->cta.x, top = BLOCK * (int32_t)w->cta.y;
    int32_t x[PW_WARP_LANES], y[PW_WARP_LANES];
    uint32_t thread = pw_first_thread(w);
    pw_compute(w, 14);
    if (!w->index)
        load_block(w, g, left, top);
    pw_barrier(w);

    pw_compute(w, 16);
    for (uint32_t done = 0; done < PER_THREAD; done += 3) {
        uint32_t mask = 0;
        PW_FOR_LANES(lane, w->lanes)
        {
            uint32_t position = (thread + lane) * PER_THREAD + done;
            mask |= (uint32_t)(position < POSITIONS) << lane;
            x[lane] = left - RANGE + (int32_t)(position % SIDE);
            y[lane] = top - RANGE + (int32_t)(position / SIDE);
        }
        match_group(w, g, mask, x, y, thread * PER_THREAD + done);
    }
    pw_barrier(w);
    if (w->index)
        return;

    uint64_t macroblock =
        (uint64_t)(top / MACROBLOCK) * (uint64_t)(g->width / MACROBLOCK) + (uint64_t)(left / MACROBLOCK);
    uint64_t block = w->cta.y % 4 * 4 + w->cta.x % 4;
    uint64_t vector = FIRST_4X4 * g->macroblocks + macroblock * 16 + block;
    struct pw_array wide = g->sads;
    wide.element_bytes = 8;
    pw_compute(w, 14);
    for (uint32_t i = 0; i < WIDE_WORDS; i += PW_WARP_LANES) {
        pw_compute(w, 2);
        pw_store_run(w, pw_lanes_below(w, i, WIDE_WORDS), &wide, (int64_t)(vector * WIDE_WORDS + i));
        pw_compute(w, 2);
    }
    if (g->sads.data)
        __builtin_memcpy((uint16_t *)g->sads.data + vector * PADDED, s->sads, sizeof s->sads);
}

/* Adds the vectors of a square of four blocks: by columns, by rows, and all. */
static void combine(struct pw_warp *w, const struct arguments *g, const uint64_t in[4], const uint64_t out[5])
{
    struct pw_array pairs = g->sads;
    uint32_t *sads = g->sads.data;
    pairs.element_bytes = sizeof *sads;
    for (uint32_t i = 0; i < (POSITIONS + 1) / 2; i += PW_WARP_LANES) {
        uint32_t mask = pw_lanes_below(w, i, (POSITIONS + 1) / 2);
        pw_compute(w, 2);
        for (uint32_t k = 0; k < 4; k++)
            pw_load_run(w, mask, &pairs, (int64_t)(in[k] * WORDS + i));
        pw_use(w);
        pw_compute(w, 5);
        for (uint32_t k = 0; k < 5; k++)
            pw_store_run(w, mask, &pairs, (int64_t)(out[k] * WORDS + i));
        pw_compute(w, 3);
        if (sads)
            PW_FOR_LANES(lane, mask)
            {
                uint32_t v[4];
                for (uint32_t k = 0; k < 4; k++)
                    v[k] = sads[in[k] * WORDS + i + lane];
                uint32_t sums[5] = {v[0] + v[2], v[1] + v[3], v[0] + v[1], v[2] + v[3], v[0] + v[1] + v[2] + v[3]};
                for (uint32_t k = 0; k < 5; k++)
                    sads[out[k] * WORDS + i + lane] = sums[k];
            }
    }
}

static void larger_8_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t m = g->macroblocks, at = w->cta_index, tx = w->index & 1, ty = w->index >> 1;
    uint64_t in = FIRST_4X4 * m + 16 * at + 8 * ty + 2 * tx, tall = FIRST_4X8 * m + 8 * at + 4 * ty + 2 * tx;
    uint64_t flat = FIRST_8X4 * m + 8 * at + 4 * ty + tx, square = FIRST_8X8 * m + 4 * at + 2 * ty + tx;
    pw_compute(w, 34);
    combine(w, g, (uint64_t[]){in, in + 1, in + 4, in + 5}, (uint64_t[]){tall, tall + 1, flat, flat + 2, square});
}

static void larger_16_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t m = g->macroblocks, at = w->cta_index, in = FIRST_8X8 * m + 4 * at;
    uint64_t tall = FIRST_8X16 * m + 2 * at, flat = FIRST_16X8 * m + 2 * at;
    pw_compute(w, 22);
    combine(w, g, (uint64_t[]){in, in + 1, in + 2, in + 3},
            (uint64_t[]){tall, tall + 1, flat, flat + 1, FIRST_16X16 * m + at});
}

/* The sum over `columns` by `rows` blocks of 4x4, by definition. */
static uint32_t sequential_sad(const struct arguments *g, int32_t x, int32_t y, int32_t columns, int32_t rows,
                               int32_t position)
{
    const uint16_t *current = g->current.data, *before = g->before.data;
    int32_t dx = position % SIDE - RANGE, dy = position / SIDE - RANGE;
    uint32_t sum = 0;
    for (int32_t v = y; v < y + rows * BLOCK; v++)
        for (int32_t u = x; u < x + columns * BLOCK; u++)
            sum += (uint32_t)__builtin_abs(current[pixel_of(g, u, v)] - before[pixel_of(g, u + dx, v + dy)]);
    return sum;
}

/* All displacements at small sizes, one in a hundred (with an offset that moves) at larger ones. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    static const struct {
        int32_t first, columns, rows;
    } shapes[] = {{FIRST_16X16, 4, 4}, {FIRST_16X8, 4, 2}, {FIRST_8X16, 2, 4}, {FIRST_8X8, 2, 2},
                  {FIRST_8X4, 2, 1},   {FIRST_4X8, 1, 2},  {FIRST_4X4, 1, 1}};
    const uint16_t *sads = g->sads.data;
    uint64_t vectors = BLOCKS * g->macroblocks, wrong = vectors;
    int32_t step = g->macroblocks > 4 ? 97 : 1;
    for (uint64_t v = 0; v < vectors; v++) {
        uint32_t shape = 6;
        while (v < (uint64_t)shapes[shape].first * g->macroblocks)
            shape--;
        int32_t columns = shapes[shape].columns, rows = shapes[shape].rows, count = 16 / (columns * rows);
        uint64_t rest = v - (uint64_t)shapes[shape].first * g->macroblocks;
        int32_t macroblock = (int32_t)(rest / (uint64_t)count), block = (int32_t)(rest % (uint64_t)count);
        int32_t across = 4 / columns, mbs = g->width / MACROBLOCK;
        int32_t x = macroblock % mbs * MACROBLOCK + block % across * columns * BLOCK;
        int32_t y = macroblock / mbs * MACROBLOCK + block / across * rows * BLOCK;
        for (int32_t p = (int32_t)(v % (uint64_t)step); p < POSITIONS; p += step)
            if (sads[v * PADDED + (uint64_t)p] != sequential_sad(g, x, y, columns, rows, p))
                wrong = v;
    }
    pw_host_expect(h, wrong == vectors, "the sums of block %llu differ from their definition",
                   (unsigned long long)wrong);
}

static void sad_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t width = pw_host_scaled_side(h, p->width, MACROBLOCK),
             height = pw_host_scaled_side(h, p->height, MACROBLOCK);
    if (width % MACROBLOCK || height % MACROBLOCK || width > 1 << 15 || height > 1 << 15)
        pw_host_fail(h, "width and height must be multiples of 16, at most 32768");
    uint32_t columns = (uint32_t)width / MACROBLOCK, rows = (uint32_t)height / MACROBLOCK;
    struct arguments g = {.width = (int32_t)width, .height = (int32_t)height, .macroblocks = (uint64_t)columns * rows};
    g.current = pw_alloc(h, "cur_image", width * height, sizeof(uint16_t));
    g.before = pw_alloc(h, "ref_image", width * height, sizeof(uint16_t));
    g.sads = pw_alloc(h, "sads", BLOCKS * PADDED * g.macroblocks, sizeof(uint16_t));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.current.data && i < width * height; i++) {
        ((uint16_t *)g.current.data)[i] = (uint8_t)pw_hash(seed, i);
        ((uint16_t *)g.before.data)[i] = (uint8_t)pw_hash(~seed, i);
    }

    pw_host_plan(h, 3);
    pw_launch(h, &(struct pw_launch){.name = "mb_sad_calc",
                                     .grid = {4 * columns, 4 * rows, 1},
                                     .block = {THREADS, 1, 1},
                                     .shared_bytes = sizeof(struct shared),
                                     .registers = 24,
                                     .kernel = block_kernel,
                                     .arguments = &g});
    struct pw_launch larger = {.name = "larger_sad_calc_8",
                               .grid = {columns, rows, 1},
                               .block = {PW_WARP_LANES, 4, 1},
                               .registers = 18,
                               .kernel = larger_8_kernel,
                               .arguments = &g};
    pw_launch(h, &larger);
    larger.name = "larger_sad_calc_16";
    larger.block.y = 1;
    larger.kernel = larger_16_kernel;
    pw_launch(h, &larger);
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.sads);
    pw_free(h, &g.before);
    pw_free(h, &g.current);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), MACROBLOCK, 1 << 15, "512", "pixels", NULL,
     "width of a frame, a multiple of 16", false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), MACROBLOCK, 1 << 15, "384", "pixels", NULL,
     "height of a frame, a multiple of 16", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "width=176:height=144"}, {"large", "width=1920:height=1072"}, {0}};

const struct pw_workload pw_workload_sad = {
    .name = "SAD",
    .suite = "Parboil",
    .papers = "mosaic mask",
    .summary = "sums of absolute differences of video blocks over a search window",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = sad_main,
};
