/* BLK: BlackScholes of the CUDA SDK, prices of European call and put options.
 *
 * Kept: the version with one option per thread and turn, 480 CTAs of 128 threads in a grid-stride loop over five arrays
 * of floats, three read and two written; the three loads in flight together; 4 million options, the ranges of the
 * inputs, the rates, and the polynomial for the normal distribution; the same launch again and again, once by default
 * (the SDK's 512 iterations are 1 in the suite of MASK's authors). Simplified: logarithm and exponential are those of
 * the C library, not the fast ones of a GPU. Instruction counts are estimates for compiled code: 6 before the loop; 5
 * addresses and 3 for the loop; 88 of arithmetic, of which 8 are the square root, 19 the quotient of the prices, its
 * logarithm and d1's numerator, 10 the division for d1 and d2, 40 the two normal distributions, 4 the discount, 3 the
 * call and 4 the put.
 * With code=sm_90 they are those of capture/programs/blackscholes.cu as nvcc 13 compiles it for sm_90: two turns of the
 * loop at a time, before them the odd one; an option's years are loaded, and their square root begun, before the rest
 * is loaded. All of a warp's lanes take the way of its first one. */
#include "workload/runtime/code.h"
#include "workload/runtime/grid_stride.h"
#include "workload/runtime/inputs.h"

#include <assert.h>
#include <math.h>

enum { CTAS = 480, THREADS = 128 };

static const float riskfree = 0.02F, volatility = 0.30F;

struct parameters {
    uint32_t options, iterations, code;
};

struct arguments {
    struct pw_array call, put, price, strike, years;
    uint64_t n;
};

/* The cumulative normal distribution by a polynomial of Abramowitz and Stegun (26.2.17). */
static inline float normal(float d)
{
    float k = 1.0F / (1.0F + 0.2316419F * fabsf(d));
    float tail =
        0.39894228F * expf(-0.5F * d * d) *
        (k * (0.31938153F + k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F)))));
    return d > 0 ? 1.0F - tail : tail;
}

static void price_options(const struct arguments *g, uint32_t mask, uint64_t first)
{
    const float *price = g->price.data, *strike = g->strike.data, *years = g->years.data;
    PW_FOR_LANES(lane, mask)
    {
        uint64_t i = first + lane;
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (logf(s / x) + (riskfree + 0.5F * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal(d1), n2 = normal(d2), discounted = x * expf(-riskfree * t);
        ((float *)g->call.data)[i] = s * n1 - discounted * n2;
        ((float *)g->put.data)[i] = discounted * (1.0F - n2) - s * (1.0F - n1);
    }
}

static void black_scholes_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t step = pw_grid_stride_step(w);
    pw_compute(w, 6);
    for (uint64_t i = pw_grid_stride_first(w); i < g->n; i += step) {
        uint32_t mask = pw_lanes_below(w, i, g->n);
        pw_compute(w, 3);
        pw_load_run(w, mask, &g->price, (int64_t)i);
        pw_load_run(w, mask, &g->strike, (int64_t)i);
        pw_load_run(w, mask, &g->years, (int64_t)i);
        pw_use(w);
        pw_compute(w, 84 + 1);
        pw_store_run(w, mask, &g->call, (int64_t)i);
        pw_compute(w, 4 + 1);
        pw_store_run(w, mask, &g->put, (int64_t)i);
        pw_compute(w, PW_GRID_STRIDE_STEP);
        if (g->call.data)
            price_options(g, mask, i);
    }
}

/* A turn as nvcc compiles it, with `use` instructions between the last load and the stores. */
static void compiled_turn(struct pw_warp *w, const struct arguments *g, uint64_t i, uint32_t use)
{
    uint32_t mask = pw_lanes_below(w, i, g->n);
    pw_load_run(w, mask, &g->years, (int64_t)i);
    pw_compute(w, 3);
    pw_use(w);
    pw_compute(w, 9);
    pw_load_run(w, mask, &g->strike, (int64_t)i);
    pw_load_run(w, mask, &g->price, (int64_t)i);
    pw_compute(w, 1);
    pw_use_all_but(w, 1);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, use);
    pw_store_run(w, mask, &g->call, (int64_t)i);
    pw_store_run(w, mask, &g->put, (int64_t)i);
    if (g->call.data)
        price_options(g, mask, i);
}

static void compiled_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t i = pw_grid_stride_first(w), step = pw_grid_stride_step(w);
    uint64_t turns = i < g->n ? (g->n - i + step - 1) / step : 0;
    pw_compute(w, !turns ? 9 : turns % 2 ? 43 : 51);
    if (turns % 2) {
        compiled_turn(w, g, i, 105);
        pw_compute(w, turns == 1 ? 10 : 12);
        i += step;
    }
    for (; i < g->n; i += 2 * step) {
        compiled_turn(w, g, i, 101);
        compiled_turn(w, g, i + step, 102);
        pw_compute(w, i + 2 * step < g->n ? 2 : 1);
    }
}

/* The same formula with the exact normal distribution in double precision. The polynomial is off by 7.5e-8 at most, a
 * float's rounding by 6e-8 of the prices, of which some dozen add up. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *price = g->price.data, *strike = g->strike.data, *years = g->years.data;
    const float *call = g->call.data, *put = g->put.data;
    assert(price && strike && years && call && put); /* values are on when results are checked */
    uint64_t wrong = g->n;
    for (uint64_t i = g->n; i-- > 0;) {
        double s = price[i], x = strike[i], t = years[i], v = (double)volatility * sqrt(t);
        double d1 = (log(s / x) + (double)riskfree * t) / v + 0.5 * v, d2 = d1 - v;
        double discounted = x * exp(-(double)riskfree * t), tolerance = 1e-6 * (s + x);
        double expected = s * erfc(-d1 * M_SQRT1_2) / 2 - discounted * erfc(-d2 * M_SQRT1_2) / 2;
        if (fabs(call[i] - expected) > tolerance || fabs(put[i] - (expected - s + discounted)) > tolerance)
            wrong = i;
    }
    pw_host_expect(h, wrong == g->n, "the prices of option %llu are wrong", (unsigned long long)wrong);
}

static float between(float low, float high, uint64_t hash)
{
    return low + (high - low) * pw_hash_unit(hash);
}

static void black_scholes_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = {.n = pw_host_scaled(h, p->options, 1)};
    if (g.n > INT32_MAX)
        pw_host_fail(h, "options is below 2G after scaling: the original's indices are ints");
    g.call = pw_alloc(h, "CallResult", g.n, sizeof(float));
    g.put = pw_alloc(h, "PutResult", g.n, sizeof(float));
    g.price = pw_alloc(h, "StockPrice", g.n, sizeof(float));
    g.strike = pw_alloc(h, "OptionStrike", g.n, sizeof(float));
    g.years = pw_alloc(h, "OptionYears", g.n, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.price.data && i < g.n; i++) {
        ((float *)g.price.data)[i] = between(5.0F, 30.0F, pw_hash(seed, 3 * i));
        ((float *)g.strike.data)[i] = between(1.0F, 100.0F, pw_hash(seed, 3 * i + 1));
        ((float *)g.years.data)[i] = between(0.25F, 10.0F, pw_hash(seed, 3 * i + 2));
    }

    pw_host_plan_passes(h, 1, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++)
        pw_launch(h, &(struct pw_launch){.name = "BlackScholesGPU",
                                         .grid = {CTAS, 1, 1},
                                         .block = {THREADS, 1, 1},
                                         .registers = p->code == PW_CODE_SM_90 ? 39 : 20,
                                         .pace = p->code == PW_CODE_SM_90 ? 3491 : 0,
                                         .kernel = p->code == PW_CODE_SM_90 ? compiled_kernel : black_scholes_kernel,
                                         .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.years);
    pw_free(h, &g.strike);
    pw_free(h, &g.price);
    pw_free(h, &g.put);
    pw_free(h, &g.call);
}

static const struct pw_option rows[] = {
    {"options", PW_OPTION_COUNT, offsetof(struct parameters, options), 1, INT32_MAX, "4M", "options", NULL,
     "options to price", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "1", "launches", NULL,
     "times they are priced", false},
    PW_CODE_ROW(struct parameters, "estimate", "an estimate"),
    {0},
};

static const struct pw_preset presets[] = {{"table", "options=2M"}, {0}};

const struct pw_workload pw_workload_blk = {
    .name = "BLK",
    .suite = "CUDA SDK",
    .papers = "mosaic mask",
    .summary = "BlackScholes: option prices in a grid-stride loop over five arrays",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = black_scholes_main,
};
