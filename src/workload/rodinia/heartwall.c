/* heartwall: Rodinia's tracking of the walls of a mouse's heart through the frames of an ultrasound film.
 *
 * Kept: 20 points of the inner and 31 of the outer wall, at the original's places, a CTA of 512 threads each; frames of
 * 656x744 pixels, stored by columns; one launch per frame. The first takes templates of 51x51 pixels, the others take a
 * window of 81x81 around each point, correlate it with the template (convolution, cumulated sums of window and squares,
 * deviations, some thirty steps over twelve arrays of the point's own in global memory) and move the point to the best
 * place near its last; every tenth frame templates and windows follow. The arrays, their order, and the room for all
 * frames of the film in the tracks.
 * Simplified: frames are made, a random texture that beats by a pixel a frame; 2 frames by default, of 104, as all from
 * the second on take the same steps.
 * Instruction counts and loads in flight are those of the kernel as nvcc 13 compiles it for sm_90 with 32 registers,
 * the most of which 512 threads fit into 16,384; of steps that are unrolled, averages per element. */
#include "workload/rodinia/heartwall.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { INNER = 20, FILM = 104, BEAT = 8, MAX_SIDE = 1 << 14 };

struct parameters {
    uint32_t rows, columns, points, frames, template, search;
};

static const int16_t row_of[PW_HEARTWALL_POINTS] = {369, 400, 429, 452, 476, 486, 479, 458, 433, 404, 374, 346, 318,
                                                    294, 277, 269, 275, 287, 311, 339, 390, 419, 448, 474, 501, 519,
                                                    535, 542, 543, 538, 528, 511, 491, 466, 438, 406, 376, 347, 318,
                                                    291, 275, 259, 256, 252, 252, 257, 266, 283, 305, 331, 360};
static const int16_t column_of[PW_HEARTWALL_POINTS] = {408, 406, 397, 383, 354, 322, 294, 270, 250, 237, 235, 241, 254,
                                                       273, 300, 328, 356, 383, 401, 411, 457, 454, 446, 431, 411, 388,
                                                       361, 331, 301, 273, 243, 218, 196, 178, 166, 157, 155, 165, 177,
                                                       197, 218, 248, 276, 304, 333, 361, 391, 415, 434, 448, 455};

/* Frame `number`: the texture, which moves down and to the right for eight frames and back in the next eight. */
static float pixel_at(uint64_t seed, uint32_t number, uint32_t row, uint32_t column)
{
    uint32_t phase = number % (2 * BEAT), back = 2 * BEAT - (phase < BEAT ? phase : 2 * BEAT - phase);
    return pw_hash_unit(pw_hash(seed, (uint64_t)(row + back) << 32 | (column + back)));
}

static void show_frame(const struct pw_heartwall *g, uint64_t seed)
{
    for (uint64_t i = 0; i < g->frame.count; i++)
        ((float *)g->frame.data)[i] =
            pixel_at(seed, g->frame_number, (uint32_t)(i % g->frame_rows), (uint32_t)(i / g->frame_rows));
}

static uint32_t array_rows(const struct pw_heartwall *g, enum pw_heartwall_array which, uint32_t *columns)
{
    uint32_t rows = which == PW_HEARTWALL_IN2 || which == PW_HEARTWALL_IN2_SQR ? g->in2
                    : which == PW_HEARTWALL_IN_SQR                             ? g->in
                    : which == PW_HEARTWALL_PADDED                             ? g->padded
                                                                               : g->conv;
    *columns = which == PW_HEARTWALL_PADDED_SEL || which == PW_HEARTWALL_SUB ? g->padded : rows;
    return rows;
}

static void allocate_wall(struct pw_host *h, struct pw_heartwall *g, uint32_t wall, uint32_t points)
{
    static const char *const names[][4] = {{"d_endoRow", "d_endoCol", "d_tEndoRowLoc", "d_tEndoColLoc"},
                                           {"d_epiRow", "d_epiCol", "d_tEpiRowLoc", "d_tEpiColLoc"}};
    struct pw_heartwall_wall *to = &g->walls[wall];
    to->row = pw_alloc(h, names[wall][0], points, sizeof(int32_t));
    to->column = pw_alloc(h, names[wall][1], points, sizeof(int32_t));
    to->row_track = pw_alloc(h, names[wall][2], (uint64_t)points * g->frames, sizeof(int32_t));
    to->column_track = pw_alloc(h, names[wall][3], (uint64_t)points * g->frames, sizeof(int32_t));
    for (uint32_t i = 0; i < points; i++) {
        ((int32_t *)to->row.data)[i] = row_of[wall * INNER + i];
        ((int32_t *)to->column.data)[i] = column_of[wall * INNER + i];
    }
}

/* In the original's order: the walls' places and tracks, their templates, then each array for all points. */
static void allocate(struct pw_host *h, struct pw_heartwall *g, const uint32_t of_wall[PW_HEARTWALL_WALLS])
{
    static const char *const names[] = {
        "d_in2",      "d_conv",    "d_in2_pad_cumv", "d_in2_pad_cumv_sel", "d_in2_sub_cumh", "d_in2_sub_cumh_sel",
        "d_in2_sub2", "d_in2_sqr", "d_in2_sqr_sub2", "d_in_sqr",           "d_tMask",        "d_mask_conv"};
    for (uint32_t wall = 0; wall < PW_HEARTWALL_WALLS; wall++)
        if (of_wall[wall])
            allocate_wall(h, g, wall, of_wall[wall]);
    for (uint32_t wall = 0, point = 0; wall < PW_HEARTWALL_WALLS; wall++) {
        if (of_wall[wall])
            g->walls[wall].templates =
                pw_alloc(h, wall ? "d_epiT" : "d_endoT", (uint64_t)of_wall[wall] * g->in * g->in, sizeof(float));
        for (uint32_t i = 0; i < of_wall[wall]; i++, point++) {
            g->points[point].wall = &g->walls[wall];
            g->points[point].number = i;
        }
    }
    for (uint32_t a = 0; a < PW_HEARTWALL_ARRAY_COUNT; a++)
        for (uint32_t point = 0; point < of_wall[0] + of_wall[1]; point++) {
            uint32_t columns, rows = array_rows(g, (enum pw_heartwall_array)a, &columns);
            g->points[point].array[a] = pw_alloc(h, names[a], (uint64_t)rows * columns, sizeof(float));
        }
}

static void release(struct pw_host *h, struct pw_heartwall *g, uint32_t points)
{
    pw_free(h, &g->frame);
    for (uint32_t wall = 0; wall < PW_HEARTWALL_WALLS; wall++) {
        struct pw_heartwall_wall *from = &g->walls[wall];
        struct pw_array *const arrays[] = {&from->row, &from->column, &from->row_track, &from->column_track,
                                           &from->templates};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && from->row.count; i++)
            pw_free(h, arrays[i]);
    }
    for (uint32_t point = 0; point < points; point++)
        for (uint32_t a = 0; a < PW_HEARTWALL_ARRAY_COUNT; a++)
            pw_free(h, &g->points[point].array[a]);
}

/* Correlation of a template (from the first frame, around one place) with a frame around another, from the textbook. */
static double correlation(const struct pw_heartwall *g, uint64_t seed, int32_t row, int32_t column, int32_t at_row,
                          int32_t at_column)
{
    double sums[5] = {0}, n = (double)g->in * g->in; /* of t, w, tt, ww, tw */
    int32_t half = (int32_t)g->half;
    for (int32_t x = -half; x <= half; x++)
        for (int32_t y = -half; y <= half; y++) {
            double t = (double)pixel_at(seed, 0, (uint32_t)(row + y - 1), (uint32_t)(column + x - 1));
            double v =
                (double)pixel_at(seed, g->frame_number, (uint32_t)(at_row + y - 1), (uint32_t)(at_column + x - 1));
            const double terms[] = {t, v, t * t, v * v, t * v};
            for (uint32_t i = 0; i < 5; i++)
                sums[i] += terms[i];
        }
    return (sums[4] - sums[0] * sums[1] / n) /
           sqrt((sums[2] - sums[0] * sums[0] / n) * (sums[3] - sums[1] * sums[1] / n));
}

/* Every place of the square around a point's last one is tried. */
static void verify_step(struct pw_host *h, const struct pw_heartwall *g, uint64_t seed, uint32_t point)
{
    const struct pw_heartwall_point *p = &g->points[point];
    const int32_t *rows = (const int32_t *)p->wall->row_track.data + (uint64_t)p->number * g->frames;
    const int32_t *columns = (const int32_t *)p->wall->column_track.data + (uint64_t)p->number * g->frames;
    uint32_t now = g->frame_number, last = now - 1;
    int32_t best_row = 0, best_column = 0;
    double best = -1;
    for (int32_t x = -PW_HEARTWALL_MOVE / 2; x < PW_HEARTWALL_MOVE / 2; x++)
        for (int32_t y = -PW_HEARTWALL_MOVE / 2; y < PW_HEARTWALL_MOVE / 2; y++) {
            double value = fabs(correlation(g, seed, rows[0], columns[0], rows[last] + y, columns[last] + x));
            if (value > best) {
                best = value;
                best_row = rows[last] + y;
                best_column = columns[last] + x;
            }
        }
    pw_host_expect(h, rows[now] == best_row && columns[now] == best_column,
                   "frame %u has point %u at (%d, %d), not at (%d, %d) as by the textbook", now, point, rows[now],
                   columns[now], best_row, best_column);
}

/* Up to the frame with which templates change. */
static void verify(struct pw_host *h, struct pw_heartwall *g, uint64_t seed, uint32_t points, uint32_t frames)
{
    for (g->frame_number = 1; g->frame_number < frames && g->frame_number <= PW_HEARTWALL_REFRESH; g->frame_number++)
        for (uint32_t point = 0; point < points; point++)
            verify_step(h, g, seed, point);
}

static void check(struct pw_host *h, const struct parameters *p)
{
    if (p->template >= p->search)
        pw_host_fail(h, "template must be below search");
    if (p->rows < 600 || p->columns < 520)
        pw_host_fail(h, "the points' windows take frames of 600 x 520 pixels");
}

static void heartwall_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t points = pw_host_scaled(h, p->points, 1);
    points = points > PW_HEARTWALL_POINTS ? PW_HEARTWALL_POINTS : points;
    check(h, p);
    struct pw_heartwall *g = pw_host_keep(h, sizeof *g);
    *g = (struct pw_heartwall){.frame_rows = p->rows,
                               .frame_columns = p->columns,
                               .frames = FILM,
                               .search = p->search,
                               .half = p->template,
                               .in = 2 * p->template + 1,
                               .in2 = 2 * p->search + 1};
    g->conv = g->in + g->in2 - 1;
    g->padded = g->in2 + 2 * g->in;
    g->frame = pw_alloc(h, "d_frame", (uint64_t)p->rows * p->columns, sizeof(float));
    const uint32_t inner = points < INNER ? (uint32_t)points : INNER, of_wall[] = {inner, (uint32_t)points - inner};
    allocate(h, g, of_wall);
    uint64_t seed = pw_random_next(pw_host_random(h));

    pw_host_plan(h, p->frames);
    for (g->frame_number = 0; g->frame_number < p->frames; g->frame_number++) {
        show_frame(g, seed);
        pw_launch(h, &(struct pw_launch){.name = "kernel",
                                         .grid = {(uint32_t)points, 1, 1},
                                         .block = {PW_HEARTWALL_THREADS, 1, 1},
                                         .shared_bytes = sizeof(struct pw_heartwall_shared),
                                         .registers = 32,
                                         .kernel = pw_heartwall_kernel,
                                         .arguments = g});
    }
    if (pw_host_verifying(h))
        verify(h, g, seed, (uint32_t)points, p->frames);
    release(h, g, (uint32_t)points);
}

static const struct pw_option rows[] = {
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), 1, MAX_SIDE, "656", "pixels", NULL,
     "height of a frame, at least 600", false},
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), 1, MAX_SIDE, "744", "pixels", NULL,
     "width of a frame, at least 520", false},
    {"points", PW_OPTION_COUNT, offsetof(struct parameters, points), 1, PW_HEARTWALL_POINTS, "51", "points", NULL,
     "points that are tracked, a CTA each", false},
    {"frames", PW_OPTION_COUNT, offsetof(struct parameters, frames), 1, FILM, "2", "frames", NULL,
     "frames, a launch each; the first only takes templates", false},
    {"template", PW_OPTION_COUNT, offsetof(struct parameters, template), 1, PW_HEARTWALL_TEMPLATE, "25", "pixels", NULL,
     "from the middle of a template to its side", false},
    {"search", PW_OPTION_COUNT, offsetof(struct parameters, search), 2, PW_HEARTWALL_SEARCH, "40", "pixels", NULL,
     "from the middle of the window that is searched to its side", false},
    {0},
};

static const struct pw_preset presets[] = {{"compression", "rows=656:columns=744:points=51:frames=2"}, {0}};

const struct pw_workload pw_workload_heartwall = {
    .name = "heartwall",
    .suite = "Rodinia",
    .papers = "compression",
    .summary = "points tracked through a film: each correlates its template with a window, in arrays of its own",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = heartwall_main,
};
