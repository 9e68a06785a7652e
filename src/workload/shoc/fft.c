/* FFT: the FFT of SHOC, batches of 512-point complex transforms.
 *
 * Kept: one CTA of 64 threads per transform, each thread eight points 64 apart; three radix-8 passes in registers with
 * twiddle factors between them; two transposes through 2,304 bytes of shared memory, real parts first and imaginary
 * parts after (7 barriers); in place; per pass of the program the forward transform, the inverse, and a kernel that
 * compares the two halves of the batch, which start equal. A transform is 4 KiB, so that a CTA touches one base page.
 * SHOC makes 10 such passes; the FFT in the suite of MASK's authors, another one, transforms once, and there is one
 * pass by default. Simplified: single precision only (the original repeats everything in double precision); the grid is
 * a line where the original folds more than 65,535 CTAs into two dimensions (same order); twiddle factors come from a
 * table of the host in place of the special function unit. Instruction counts are estimates for compiled code: 58 per
 * radix-8 pass, 65 per twiddling (angle, sine, cosine, complex product), 36 per transpose. The eight loads of a thread
 * are in flight together and each is used when its turn comes.
 *
 * variant=mgpusim is what MGPUSim has of it: the forward transform alone, once per pass, of the same batch in the same
 * geometry (one wavefront of 64 threads per CTA there, two warps here). Its one array is not divided among GPUs in its
 * version for several: the driver places the pages. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <complex.h>
#include <math.h>

enum { RADIX = 8, THREADS = 64, POINTS = RADIX * THREADS, SHARED_FLOATS = 8 * 8 * 9 };

enum variant { SHOC, MGPUSIM };

struct parameters {
    uint32_t ffts, passes, variant;
};

struct arguments {
    struct pw_array work, fail;
    const float _Complex *roots; /* exp(-2 pi i k / 512) */
    bool inverse;
};

/* The eight points of each of a warp's threads. */
struct points {
    float re[RADIX][PW_WARP_LANES], im[RADIX][PW_WARP_LANES];
};

/* Where a radix-8 pass leaves its i-th output. */
static const uint8_t reversed[RADIX] = {0, 4, 2, 6, 1, 5, 3, 7};

static void add_subtract(struct points *p, uint32_t a, uint32_t b)
{
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        float re = p->re[a][lane], im = p->im[a][lane];
        p->re[a][lane] = re + p->re[b][lane];
        p->im[a][lane] = im + p->im[b][lane];
        p->re[b][lane] = re - p->re[b][lane];
        p->im[b][lane] = im - p->im[b][lane];
    }
}

static void multiply(struct points *p, uint32_t at, float re, float im)
{
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        float x = p->re[at][lane], y = p->im[at][lane];
        p->re[at][lane] = x * re - y * im;
        p->im[at][lane] = x * im + y * re;
    }
}

/* Eight-point transforms, outputs in bit-reversed order. `sign` is -1 forward and 1 backward. */
static void radix8(struct points *p, float sign)
{
    const float half = 0.70710678F;
    for (uint32_t i = 0; i < 4; i++)
        add_subtract(p, i, i + 4);
    multiply(p, 5, half, sign * half);
    multiply(p, 6, 0, sign);
    multiply(p, 7, -half, sign * half);
    for (uint32_t i = 0; i < RADIX; i += 4) {
        add_subtract(p, i, i + 2);
        add_subtract(p, i + 1, i + 3);
        multiply(p, i + 3, 0, sign);
        add_subtract(p, i, i + 1);
        add_subtract(p, i + 2, i + 3);
    }
}

/* Multiplies output k of a thread by root^(k * factor), the factor being the thread's number or its upper half. */
static void twiddle(const struct arguments *g, struct points *p, uint32_t thread, bool upper)
{
    for (uint32_t i = 1; i < RADIX; i++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            uint32_t factor = upper ? (thread + lane) / 8 * 8 : thread + lane;
            float _Complex root = g->roots[reversed[i] * factor % POINTS];
            float x = p->re[i][lane], y = p->im[i][lane], re = crealf(root),
                  im = g->inverse ? -cimagf(root) : cimagf(root);
            p->re[i][lane] = x * re - y * im;
            p->im[i][lane] = x * im + y * re;
        }
}

static void store_part(float *shared, float part[RADIX][PW_WARP_LANES], uint32_t thread, uint32_t pitch)
{
    for (uint32_t i = 0; i < RADIX; i++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            shared[i * pitch + thread + lane] = part[reversed[i]][lane];
}

static void load_part(const float *shared, float part[RADIX][PW_WARP_LANES], uint32_t thread, uint32_t low_pitch,
                      uint32_t high_pitch)
{
    for (uint32_t i = 0; i < RADIX; i++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            uint32_t low = (thread + lane) % 8, high = (thread + lane) / 8;
            part[i][lane] = shared[low * low_pitch + high * high_pitch + 8 * i];
        }
}

/* Outputs go to rows of `pitch` floats; a thread then takes eight values from the row of its lower or upper half. */
static void transpose(struct pw_warp *w, struct points *p, bool values, bool upper)
{
    uint32_t thread = pw_first_thread(w), pitch = upper ? 72 : 66;
    for (uint32_t part = 0; part < 2; part++) {
        float(*values_of)[PW_WARP_LANES] = part ? p->im : p->re;
        pw_compute(w, 2 + RADIX);
        if (values)
            store_part(w->shared, values_of, thread, pitch);
        pw_barrier(w);
        pw_compute(w, RADIX);
        if (values)
            load_part(w->shared, values_of, thread, upper ? 1 : pitch, upper ? pitch : 1);
        if (!(part && upper))
            pw_barrier(w);
    }
}

static void fft_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    float _Complex *work = g->work.data;
    struct points p;
    uint32_t thread = pw_first_thread(w);
    uint64_t first = (uint64_t)w->cta_index * POINTS + thread;
    float sign = g->inverse ? 1 : -1;

    pw_compute(w, 12);
    for (uint32_t i = 0; i < RADIX; i++)
        pw_load_run(w, w->lanes, &g->work, (int64_t)(first + i * THREADS));
    for (uint32_t i = 0; i < RADIX / 2; i++) {
        pw_use_all_but(w, (uint8_t)(RADIX / 2 - 1 - i));
        pw_compute(w, 4);
    }
    for (uint32_t i = 0; work && i < RADIX; i++)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            p.re[i][lane] = crealf(work[first + i * THREADS + lane]);
            p.im[i][lane] = cimagf(work[first + i * THREADS + lane]);
        }
    pw_compute(w, 58 - 16);
    for (uint32_t upper = 0; upper < 2; upper++) {
        if (work) {
            radix8(&p, sign);
            twiddle(g, &p, thread, upper);
        }
        pw_compute(w, 65);
        transpose(w, &p, work, upper);
        pw_compute(w, 58);
    }
    pw_compute(w, g->inverse ? 2 * RADIX : 0);
    if (work)
        radix8(&p, sign);
    float scale = g->inverse ? 1.0F / POINTS : 1;
    for (uint32_t i = 0; i < RADIX; i++) {
        uint64_t at = first + i * THREADS;
        pw_store_run(w, w->lanes, &g->work, (int64_t)at);
        for (uint32_t lane = 0; work && lane < PW_WARP_LANES; lane++)
            work[at + lane] = (p.re[reversed[i]][lane] + p.im[reversed[i]][lane] * 1.0iF) * scale;
    }
}

static void check_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float _Complex *work = g->work.data;
    uint64_t half = g->work.count / 2, first = (uint64_t)w->cta_index * POINTS + pw_first_thread(w);
    pw_compute(w, 12);
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t i = 0; i < RADIX; i++)
            pw_load_run(w, w->lanes, &g->work, (int64_t)(first + i * THREADS + part * half));
    pw_use(w);
    for (uint32_t i = 0; i < RADIX; i++) {
        uint32_t differ = 0;
        for (uint32_t lane = 0; work && lane < PW_WARP_LANES; lane++) {
            uint64_t at = first + i * THREADS + lane;
            differ |= (uint32_t)(work[at] != work[half + at]) << lane;
        }
        pw_compute(w, 3);
        pw_access_strided(w, PW_OP_STORE, differ, &g->fail, 0, 0);
        if (differ)
            *(char *)g->fail.data = 1;
    }
}

static void launch(struct pw_host *h, const struct arguments *g, const char *name, pw_kernel_fn *kernel, uint64_t ctas)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = {(uint32_t)ctas, 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .shared_bytes = kernel == fft_kernel ? SHARED_FLOATS * sizeof(float) : 0,
                                     .registers = 40,
                                     .kernel = kernel,
                                     .arguments = g});
}

/* The textbook recursion: even points, odd points, one butterfly each. */
static void sequential_fft(const float _Complex *in, double _Complex *out, const double _Complex *roots, uint32_t step)
{
    uint32_t half = POINTS / step / 2;
    if (!half) {
        *out = *in;
        return;
    }
    sequential_fft(in, out, roots, 2 * step);
    sequential_fft(in + step, out + half, roots, 2 * step);
    for (uint32_t k = 0; k < half; k++) {
        double _Complex even = out[k], odd = roots[k * step] * out[k + half];
        out[k] = even + odd;
        out[k + half] = even - odd;
    }
}

/* After the forward transform: the spectrum. After the inverse: the source again. `size` is that of the source's
 * points. */
static void verify(struct pw_host *h, const struct arguments *g, const float _Complex *source, double size)
{
    const float _Complex *result = g->work.data;
    double _Complex roots[POINTS], out[POINTS];
    uint64_t wrong = g->work.count;
    for (uint32_t k = 0; k < POINTS; k++)
        roots[k] = cexp(-2 * acos(-1) * k / POINTS * 1.0i);
    for (uint64_t first = 0; first < g->work.count; first += POINTS) {
        if (!g->inverse)
            sequential_fft(&source[first], out, roots, 1);
        for (uint32_t i = 0; i < POINTS; i++)
            if (!(cabs(result[first + i] - (g->inverse ? source[first + i] : out[i])) < 1e-4 * size))
                wrong = first + i;
    }
    pw_host_expect(h, wrong == g->work.count, "point %llu differs from %s", (unsigned long long)wrong,
                   g->inverse ? "the source" : "the sequential transform");
}

static void transform_and_back(struct pw_host *h, struct arguments *g, uint32_t passes, const float _Complex *source)
{
    uint64_t ffts = g->work.count / POINTS;
    pw_host_plan_passes(h, 3, 0);
    for (uint32_t pass = 0; pw_host_pass(h, pass, passes); pass++) {
        g->inverse = false;
        launch(h, g, "FFT512_device", fft_kernel, ffts);
        if (source && !pass)
            verify(h, g, source, 1);
        g->inverse = true;
        launch(h, g, "IFFT512_device", fft_kernel, ffts);
        launch(h, g, "chk512_device", check_kernel, ffts / 2);
    }
    if (source) {
        verify(h, g, source, 1);
        pw_host_expect(h, !*(char *)g->fail.data, "the two halves of the batch differ");
    }
}

/* Each pass transforms what the last has left, which is larger by the square root of the points. */
static void transform_only(struct pw_host *h, struct arguments *g, uint32_t passes, float _Complex *source)
{
    double size = 1;
    pw_host_plan_passes(h, 1, 0);
    for (uint32_t pass = 0; pw_host_pass(h, pass, passes); pass++) {
        launch(h, g, "fft1D_512", fft_kernel, g->work.count / POINTS);
        if (source) {
            verify(h, g, source, size);
            __builtin_memcpy(source, g->work.data, g->work.count * sizeof *source);
            size *= sqrt(POINTS);
        }
    }
}

static void fft_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t half = pw_host_scaled(h, p->ffts, 2) / 2;
    half = half ? half : 1;
    if (half > INT32_MAX)
        pw_host_fail(h, "at most 4G transforms");
    uint64_t points = half * POINTS;
    struct arguments g = {.work = pw_alloc(h, "work", 2 * points, sizeof(float _Complex))};
    if (p->variant == SHOC)
        g.fail = pw_alloc(h, "chk", 1, 1);
    float _Complex *work = g.work.data, *source = NULL, *roots = pw_host_keep(h, POINTS * sizeof *roots);
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint32_t k = 0; k < POINTS; k++)
        roots[k] = (float _Complex)cexp(-2 * acos(-1) * k / POINTS * 1.0i);
    g.roots = roots;
    for (uint64_t i = 0; work && i < points; i++) {
        uint64_t hash = pw_hash(seed, i);
        work[i] = (2 * pw_hash_unit(hash) - 1) + (2 * pw_hash_unit(hash << 24) - 1) * 1.0iF;
        work[points + i] = work[i];
    }
    if (pw_host_verifying(h)) {
        source = pw_host_keep(h, 2 * points * sizeof *source);
        __builtin_memcpy(source, work, 2 * points * sizeof *source);
    }

    if (p->variant == MGPUSIM)
        transform_only(h, &g, p->passes, source);
    else
        transform_and_back(h, &g, p->passes, source);
    pw_free(h, &g.work);
    if (p->variant == SHOC)
        pw_free(h, &g.fail);
}

static const char *const variants[] = {"shoc", "mgpusim", NULL};

static const struct pw_option rows[] = {
    {"ffts", PW_OPTION_COUNT, offsetof(struct parameters, ffts), 2, 0, "16384", "transforms", NULL,
     "transforms of 512 points (an even number), 4 KiB each", false},
    {"passes", PW_OPTION_COUNT, offsetof(struct parameters, passes), 1, 100, "1", "passes", NULL,
     "times forward, inverse and check (10 in SHOC)", false},
    {"variant", PW_OPTION_CHOICE, offsetof(struct parameters, variant), 0, 0, "shoc", "", variants,
     "whose program: SHOC's, or MGPUSim's, which transforms forward only", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "ffts=512:passes=10"}, {"gmmu-bypass", "ffts=16384"}, {0}};

const struct pw_workload pw_workload_fft = {
    .name = "FFT",
    .suite = "SHOC",
    .papers = "mosaic mask gmmu-bypass",
    .summary = "batched 512-point transforms, a base page per CTA",
    .parameters = rows,
    .presets = presets,
    .passes = "passes",
    .parameters_bytes = sizeof(struct parameters),
    .main = fft_main,
};
