/* Heartwall's arrays and sizes, which host program and kernel share. */
#ifndef PW_WORKLOAD_HEARTWALL_H
#define PW_WORKLOAD_HEARTWALL_H

#include "workload/runtime/host.h"

enum {
    PW_HEARTWALL_THREADS = 512,
    PW_HEARTWALL_WALLS = 2, /* inner and outer */
    PW_HEARTWALL_POINTS = 51,
    PW_HEARTWALL_TEMPLATE = 25, /* largest half side of a template; the original's shared arrays end here */
    PW_HEARTWALL_SEARCH = 40,   /* and of the window that is searched */
    PW_HEARTWALL_MOVE = 10,     /* side of the square in which a point may move between frames */
    PW_HEARTWALL_REFRESH = 10,  /* every so many frames templates follow the points */
    PW_HEARTWALL_SIDE = 2 * PW_HEARTWALL_TEMPLATE + 1,
    PW_HEARTWALL_LARGEST = 2 * (PW_HEARTWALL_TEMPLATE + PW_HEARTWALL_SEARCH) + 1,
};

/* What the points of one wall have in common. */
struct pw_heartwall_wall {
    struct pw_array row, column, row_track, column_track, templates;
};

/* A point's own arrays; squares are columns of `rows` elements, as all images are. */
enum pw_heartwall_array {
    PW_HEARTWALL_IN2, /* the window */
    PW_HEARTWALL_CONV,
    PW_HEARTWALL_PADDED, /* cumulated down the columns */
    PW_HEARTWALL_PADDED_SEL,
    PW_HEARTWALL_SUB, /* differences of these, cumulated along the rows */
    PW_HEARTWALL_SUB_SEL,
    PW_HEARTWALL_SUB2, /* sums of the window under the template */
    PW_HEARTWALL_IN2_SQR,
    PW_HEARTWALL_SQR_SUB2, /* the same of squares; in the end the correlation */
    PW_HEARTWALL_IN_SQR,
    PW_HEARTWALL_MASK,
    PW_HEARTWALL_MASK_CONV,
    PW_HEARTWALL_ARRAY_COUNT
};

struct pw_heartwall_point {
    const struct pw_heartwall_wall *wall;
    uint32_t number; /* within the wall */
    struct pw_array array[PW_HEARTWALL_ARRAY_COUNT];
};

struct pw_heartwall {
    struct pw_array frame;
    struct pw_heartwall_wall walls[PW_HEARTWALL_WALLS];
    struct pw_heartwall_point points[PW_HEARTWALL_POINTS];
    uint32_t frame_rows, frame_columns, frame_number, frames; /* frames: of the film, which tracks have room for */
    uint32_t search, half;                                    /* half sides of window and template */
    uint32_t in, in2, conv, padded; /* rows of template, window, full convolution, padded window */
};

struct pw_heartwall_shared {
    float partial[PW_HEARTWALL_SIDE], square_partial[PW_HEARTWALL_SIDE], sum, square_sum, denominator;
    float largest[PW_HEARTWALL_LARGEST];
    int32_t largest_at[PW_HEARTWALL_LARGEST];
    float turned[PW_HEARTWALL_SIDE * PW_HEARTWALL_SIDE]; /* the template, turned by 180 degrees */
};

/* A thread's elements are a CTA apart; `first` is lane 0's. */
#define PW_HEARTWALL_CHUNKS(w, first, count)                                                                           \
    for (uint32_t first = pw_first_thread(w); first < (count); first += PW_HEARTWALL_THREADS)

static inline float *pw_heartwall_values(const struct pw_array *a)
{
    return a->data;
}

pw_kernel_fn pw_heartwall_kernel;

void pw_heartwall_convolve(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p);

/* The kernel's last steps: the largest correlation among places near the last is the point's next. */
void pw_heartwall_track(struct pw_warp *w, const struct pw_heartwall *g, const struct pw_heartwall_point *p);

#endif
