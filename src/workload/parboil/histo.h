/* What the program and the kernels of Parboil's histo (histo.c, histo_kernels.c) share. */
#ifndef PW_WORKLOAD_HISTO_H
#define PW_WORKLOAD_HISTO_H

#include "workload/runtime/host.h"

enum {
    PW_HISTO_COLUMNS = 256,
    PW_HISTO_SATURATED = 255,
    PW_HISTO_RANGE_WORDS = 24 * 256, /* of four bins each: what a CTA keeps in shared memory */
    PW_HISTO_RANGE_BINS = 4 * PW_HISTO_RANGE_WORDS,
    PW_HISTO_UNROLL = 16, /* image rows per CTA of the intermediates kernel */
    PW_HISTO_PRESCAN_CTAS = 64,
    PW_HISTO_COPIES = 14, /* CTAs of the main kernel that share a range */
    PW_HISTO_THREADS = 512,
};

/* A value of the image as the intermediates kernel leaves it: bin = 24576 range + 1024 high + 4 low + shift / 8. */
struct pw_histo_split {
    uint8_t range, high, low, shift;
};

struct pw_histo_samples {
    float sum[2][PW_HISTO_THREADS]; /* of means, of deviations */
};

struct pw_histo {
    struct pw_array input, ranges, mappings, partial, counts, overflow, final;
    uint32_t width, height, pitch; /* pitch: pairs of an image row */
    uint32_t bins, first, last;    /* bins in all; first and last central range */
    uint8_t *atomics;              /* by element: how many overflow atomics its increment needs */
    uint32_t *words;               /* of all CTAs' shared memory, for deciding that */
};

pw_kernel_fn pw_histo_prescan, pw_histo_intermediates, pw_histo_main, pw_histo_final;

/* Runs the main kernel's increments of shared memory in the order of the elements: whose byte overflows, and how far it
 * carries. */
void pw_histo_resolve(void *state);

#endif
