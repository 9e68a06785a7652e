/* What the kernels of srad_v1 (srad_kernels.c) and its program (srad.c) share: the arrays, and what becomes of one
 * pixel, which the sequential implementation computes in the same order of operations. */
#ifndef PW_WORKLOAD_SRAD_H
#define PW_WORKLOAD_SRAD_H

#include "workload/runtime/host.h"

#include <math.h>

enum { PW_SRAD_THREADS = 512 };
enum { PW_SRAD_NORTH, PW_SRAD_SOUTH, PW_SRAD_WEST, PW_SRAD_EAST, PW_SRAD_SIDES };

struct pw_srad {
    struct pw_array image, near[PW_SRAD_SIDES], sum[2], difference[PW_SRAD_SIDES], c;
    uint64_t rows, columns, pixels;
    float lambda, q0sqr;
    uint64_t sums, apart; /* of reduce: how many, and how many elements from one to the next */
};

static inline float pw_srad_expanded(float pixel)
{
    return expf(pixel / 255);
}

static inline float pw_srad_compressed(float pixel)
{
    return logf(pixel) * 255;
}

/* Of a CTA with `count` elements, how many are added by pairs: the largest power of two, but not 1. */
static inline uint32_t pw_srad_paired(uint64_t count)
{
    uint32_t pairs = 0;
    for (uint32_t i = 2; i <= PW_SRAD_THREADS && i <= count; i *= 2)
        pairs = i;
    return pairs;
}

/* The original computes in float, but in double where it writes a constant as one. */
static inline float pw_srad_coefficient(float pixel, const float d[PW_SRAD_SIDES], float q0sqr)
{
    float gradient = (d[PW_SRAD_NORTH] * d[PW_SRAD_NORTH] + d[PW_SRAD_SOUTH] * d[PW_SRAD_SOUTH] +
                      d[PW_SRAD_WEST] * d[PW_SRAD_WEST] + d[PW_SRAD_EAST] * d[PW_SRAD_EAST]) /
                     (pixel * pixel);
    float laplacian = (d[PW_SRAD_NORTH] + d[PW_SRAD_SOUTH] + d[PW_SRAD_WEST] + d[PW_SRAD_EAST]) / pixel;
    float numerator = (float)(0.5 * (double)gradient - 1.0 / 16.0 * (double)(laplacian * laplacian));
    float denominator = (float)(1.0 + 0.25 * (double)laplacian);
    float qsqr = numerator / (denominator * denominator);
    denominator = (qsqr - q0sqr) / (q0sqr * (1.0F + q0sqr));
    float c = (float)(1.0 / (1.0 + (double)denominator));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static inline float pw_srad_diffused(float pixel, float lambda, float divergence)
{
    return (float)((double)pixel + 0.25 * (double)lambda * (double)divergence);
}

pw_kernel_fn pw_srad_extract, pw_srad_prepare, pw_srad_reduce, pw_srad_srad, pw_srad_srad2, pw_srad_compress;

#endif
