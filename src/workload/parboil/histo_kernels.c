/* The four kernels of Parboil's histo; histo.c says what is kept and what is simplified. Loads are used at once but for
 * the 15 of the final kernel's middle part, which are in flight together. */
#include "workload/parboil/histo.h"

#include <math.h>
#include <string.h>

static inline struct pw_array view(struct pw_array a, uint32_t element_bytes)
{
    a.element_bytes = element_bytes;
    return a;
}

static inline uint32_t bin_of(struct pw_histo_split s)
{
    return s.range * PW_HISTO_RANGE_BINS + s.shift / 8U + ((uint32_t)s.low << 2) + ((uint32_t)s.high << 10);
}

/* A thread's mean or, `second`, its deviation from that. */
static void sample(struct pw_warp *w, const struct pw_histo *g, uint64_t first, uint64_t end, bool second)
{
    struct pw_histo_samples *s = w->shared;
    const uint32_t *input = g->input.data;
    uint32_t thread = pw_first_thread(w);
    float sum[PW_WARP_LANES] = {0}, count[PW_WARP_LANES] = {0};
    for (uint64_t at = first + thread; at < end; at += PW_HISTO_THREADS) {
        uint32_t mask = pw_lanes_below(w, at, end);
        pw_compute(w, 2);
        pw_load_run(w, mask, &g->input, (int64_t)at);
        pw_use(w);
        pw_compute(w, 5 + second);
        PW_FOR_LANES(lane, mask)
        {
            float value = (float)input[at + lane], difference = value - s->sum[0][thread + lane];
            sum[lane] += second ? difference * difference : value;
            count[lane]++;
        }
    }
    pw_compute(w, second ? 20 : 10);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        float mean = count[lane] > 0 ? sum[lane] / count[lane] : 0;
        s->sum[second][thread + lane] = second ? sqrtf(mean) : mean;
    }
}

void pw_histo_prescan(struct pw_warp *w, const void *arguments)
{
    const struct pw_histo *g = arguments;
    struct pw_histo_samples *s = w->shared;
    uint64_t share = (uint64_t)g->width * g->height / PW_HISTO_PRESCAN_CTAS, first = w->cta_index * share;
    pw_compute(w, 12);
    sample(w, g, first, first + share / 8, false);
    sample(w, g, first, first + share / 8, true);
    for (uint32_t width = PW_HISTO_THREADS / 2; width; width /= 2) {
        if (width >= PW_WARP_LANES)
            pw_barrier(w);
        pw_compute(w, pw_first_thread(w) < width ? 9 : 2);
        for (uint32_t i = pw_first_thread(w); i < width && i < pw_first_thread(w) + PW_WARP_LANES; i++) {
            s->sum[0][i] += s->sum[0][i + width];
            s->sum[1][i] += s->sum[1][i + width];
        }
    }
    float threads = (float)(share / 8 < PW_HISTO_THREADS ? share / 8 : PW_HISTO_THREADS);
    if (w->index || threads < 1)
        return;
    float mean = s->sum[0][0] / threads, reach = 10 * s->sum[1][0] / threads;
    uint32_t *ranges = g->ranges.data, high = (uint32_t)(mean + reach) / PW_HISTO_RANGE_BINS;
    uint32_t low = (uint32_t)(mean > reach ? mean - reach : 0) / PW_HISTO_RANGE_BINS;
    ranges[0] = low < ranges[0] ? low : ranges[0];
    ranges[1] = high > ranges[1] ? high : ranges[1];
    pw_compute(w, 20);
    pw_atomic_run(w, 1, &g->ranges, 0);
    pw_compute(w, 8);
    pw_atomic_run(w, 1, &g->ranges, 1);
}

void pw_histo_intermediates(struct pw_warp *w, const void *arguments)
{
    const struct pw_histo *g = arguments;
    const uint32_t *input = g->input.data;
    struct pw_histo_split *mappings = g->mappings.data;
    struct pw_array pairs = view(g->input, 2 * sizeof(uint32_t));
    uint64_t line = (uint64_t)PW_HISTO_UNROLL * w->cta_index, thread = pw_first_thread(w);
    uint32_t masks[2] = {w->lanes, pw_lanes_below(w, thread, g->width / 2)};
    pw_compute(w, 14);
    for (uint32_t i = 0; i < PW_HISTO_UNROLL; i++, line++) {
        uint64_t from = line * g->pitch + thread, to = line * g->width + thread;
        pw_load_run(w, w->lanes, &pairs, (int64_t)from);
        pw_use(w);
        for (uint32_t half = 0; half < 2; half++) {
            pw_compute(w, 14);
            pw_store_run(w, masks[half], &g->mappings, (int64_t)(to + half * g->pitch));
            PW_FOR_LANES(lane, masks[half])
            {
                uint32_t bin = input[2 * (from + lane) + half];
                mappings[to + half * g->pitch + lane] =
                    (struct pw_histo_split){(uint8_t)(bin / PW_HISTO_RANGE_BINS), (uint8_t)((bin >> 10) % 24),
                                            (uint8_t)(bin >> 2), (uint8_t)(bin % 4 * 8)};
            }
        }
        pw_compute(w, 2);
    }
}

void pw_histo_resolve(void *state)
{
    struct pw_histo *g = state;
    const struct pw_histo_split *mappings = g->mappings.data;
    uint32_t *overflow = g->overflow.data;
    uint64_t elements = (uint64_t)g->width * g->height, ranges = g->last - g->first + 1;
    memset(g->words, 0, PW_HISTO_COPIES * ranges * PW_HISTO_RANGE_WORDS * sizeof *g->words);
    for (uint64_t i = 0; i < elements; i++) {
        struct pw_histo_split s = mappings[i];
        g->atomics[i] = 0;
        if (s.range < g->first || s.range > g->last)
            continue;
        uint64_t copy = i / PW_HISTO_THREADS % PW_HISTO_COPIES * ranges + s.range - g->first;
        uint32_t *word = &g->words[copy * PW_HISTO_RANGE_WORDS + s.high * 256U + s.low], previous = *word,
                 shift = s.shift;
        *word += 1U << shift;
        if ((previous >> shift & 255) != 255)
            continue;
        uint32_t *corrected = &overflow[bin_of(s)];
        *corrected += 256;
        g->atomics[i] = 1;
        for (bool carry = true; carry && (shift += 8) < 32; g->atomics[i]++) {
            carry = (previous >> shift & 255) == 255;
            *++corrected += carry ? 255 : UINT32_MAX;
        }
    }
}

/* Values outside the central ranges. */
static void count_outside(struct pw_warp *w, const struct pw_histo *g, uint32_t mask, const uint64_t bin[])
{
    struct pw_array words = view(g->counts, sizeof(uint32_t));
    uint16_t *counts = g->counts.data;
    uint64_t word[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        word[lane] = bin[lane] / 2;
        counts[bin[lane]] = (uint16_t)(counts[bin[lane]] + (counts[bin[lane]] < PW_HISTO_SATURATED));
    }
    pw_compute(w, 8);
    pw_load_lanes(w, mask, &words, word);
    pw_use(w);
    pw_compute(w, 4);
    pw_atomic_lanes(w, mask, &words, word);
}

static void scan(struct pw_warp *w, const struct pw_histo *g, uint64_t at, uint32_t mask)
{
    const struct pw_histo_split *mappings = g->mappings.data;
    uint32_t *shared = w->shared, inside = 0, outside = 0, overflowing[4] = {0};
    uint64_t bin[PW_WARP_LANES], next[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        struct pw_histo_split s = mappings[at + lane];
        bin[lane] = bin_of(s);
        if (s.range == g->first + w->cta.y) {
            inside |= 1U << lane;
            shared[s.high * 256U + s.low] += 1U << s.shift;
            for (uint32_t k = 0; k < g->atomics[at + lane]; k++)
                overflowing[k] |= 1U << lane;
        }
        outside |= (uint32_t)(s.range < g->first || s.range > g->last) << lane;
    }
    pw_compute(w, 2);
    pw_load_run(w, mask, &g->mappings, (int64_t)at);
    pw_use(w);
    pw_compute(w, inside ? 6 + 8 : 6);
    for (uint32_t k = 0; k < 4 && overflowing[k]; k++) {
        PW_FOR_LANES(lane, overflowing[k])
        next[lane] = bin[lane] + k;
        pw_compute(w, k ? 5 : 12);
        pw_atomic_lanes(w, overflowing[k], &g->overflow, next);
    }
    if (!w->cta.y) {
        pw_compute(w, 3);
        if (outside)
            count_outside(w, g, outside, bin);
    }
    pw_compute(w, 3);
}

void pw_histo_main(struct pw_warp *w, const void *arguments)
{
    const struct pw_histo *g = arguments;
    const uint32_t *shared = w->shared;
    uint32_t *partial = g->partial.data;
    uint64_t elements = (uint64_t)g->width * g->height, thread = pw_first_thread(w);
    pw_compute(w, 10 + PW_HISTO_RANGE_WORDS / PW_HISTO_THREADS * 4);
    pw_barrier(w);
    for (uint64_t at = w->cta.x * PW_HISTO_THREADS + thread; at < elements; at += PW_HISTO_COPIES * PW_HISTO_THREADS)
        scan(w, g, at, pw_lanes_below(w, at, elements));
    pw_barrier(w);
    uint64_t first = (uint64_t)w->cta.x * (g->bins / 4) + (uint64_t)(g->first + w->cta.y) * PW_HISTO_RANGE_WORDS;
    for (uint64_t i = thread; i < PW_HISTO_RANGE_WORDS; i += PW_HISTO_THREADS) {
        pw_compute(w, 2);
        pw_store_run(w, w->lanes, &g->partial, (int64_t)(first + i));
        pw_compute(w, 3);
        memcpy(&partial[first + i], &shared[i], PW_WARP_LANES * sizeof *partial);
    }
}

/* Four bins per thread in [first, end): from the counts or, `central`, from the overflows and the copies. */
static void finish(struct pw_warp *w, const struct pw_histo *g, uint64_t first, uint64_t end, bool central)
{
    struct pw_array from = view(central ? g->overflow : g->counts, central ? 16 : 8), to = view(g->final, 4);
    uint16_t *counts = g->counts.data;
    uint32_t *overflow = g->overflow.data;
    const uint8_t *partial = g->partial.data;
    uint64_t step = (uint64_t)w->launch->grid.x * PW_HISTO_THREADS;
    for (uint64_t i = first + w->cta_index * PW_HISTO_THREADS + pw_first_thread(w); i < end; i += step) {
        uint32_t mask = pw_lanes_below(w, i, end);
        pw_compute(w, 2);
        pw_load_run(w, mask, &from, (int64_t)i);
        pw_store_run(w, mask, &from, (int64_t)i);
        for (uint32_t j = 0; central && j < PW_HISTO_COPIES; j++)
            pw_load_run(w, mask, &g->partial, (int64_t)(i + j * (uint64_t)(g->bins / 4)));
        pw_use(w);
        pw_compute(w, central ? PW_HISTO_COPIES * 8 + 10 : 10);
        pw_store_run(w, mask, &to, (int64_t)i);
        pw_compute(w, 3);
        for (uint64_t bin = 4 * i; bin < 4 * (i + pw_lane_count(mask)); bin++) {
            uint32_t sum = central ? overflow[bin] : counts[bin];
            for (uint32_t j = 0; central && j < PW_HISTO_COPIES; j++)
                sum += partial[bin + j * (uint64_t)g->bins];
            if (central)
                overflow[bin] = 0;
            else
                counts[bin] = 0;
            ((uint8_t *)g->final.data)[bin] = (uint8_t)(sum < PW_HISTO_SATURATED ? sum : PW_HISTO_SATURATED);
        }
    }
}

void pw_histo_final(struct pw_warp *w, const void *arguments)
{
    const struct pw_histo *g = arguments;
    uint64_t low = (uint64_t)g->first * PW_HISTO_RANGE_WORDS, high = (g->last + UINT64_C(1)) * PW_HISTO_RANGE_WORDS;
    pw_compute(w, 14);
    finish(w, g, 0, low, false);
    finish(w, g, low, high, true);
    finish(w, g, high, g->bins / 4, false);
}
