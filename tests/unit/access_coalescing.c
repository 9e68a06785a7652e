/* The coalescer's tables: which lines, sectors and fully written sectors an instruction of a warp comes to. */
#include "gpu/access_coalescing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Lines are given relative to the one that BASE starts. Pages have 32 lines (4 KiB). */
enum { BASE_LINE = 0x12340, PAGE_SHIFT = 5 };
#define BASE ((uint64_t)BASE_LINE << PW_LINE_SHIFT)

struct expected {
    int64_t line;
    uint8_t sectors, full;
};

static void assert_lines(const struct pw_line_access *out, unsigned count, const struct expected *e, unsigned expected)
{
    assert_int_equal(count, expected);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(out[i].line, BASE_LINE + e[i].line);
        assert_int_equal(out[i].sectors, e[i].sectors);
        assert_int_equal(out[i].full, e[i].full);
    }
}

struct affine_row {
    uint32_t mask;
    int64_t offset, stride;
    uint8_t bytes;
    unsigned count;
    struct expected lines[8];
};

static void check_stores(const struct affine_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct affine_row *r = &rows[i];
        struct pw_op op = {.kind = PW_OP_STORE, .form = PW_FORM_AFFINE, .bytes = r->bytes, .count_or_mask = r->mask};
        const uint64_t words[] = {BASE + (uint64_t)r->offset, (uint64_t)r->stride};
        struct pw_line_access out[PW_MAX_LINES];
        assert_lines(out, pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), r->lines, r->count);
    }
}

#define ALL PW_ALL_LANES
#define CHECK(rows) check_stores(rows, sizeof(rows) / sizeof(*rows))

static void neighbouring_lanes_share_lines(void **state)
{
    (void)state;
    static const struct affine_row rows[] = {
        {ALL, 0, 1, 1, 1, {{0, 0x1, 0x1}}},
        {ALL, 0, 2, 2, 1, {{0, 0x3, 0x3}}},
        {ALL, 0, 4, 4, 1, {{0, 0xf, 0xf}}},
        {ALL, 0, 8, 8, 2, {{0, 0xf, 0xf}, {1, 0xf, 0xf}}},
        {ALL, 0, 16, 16, 4, {{0, 0xf, 0xf}, {1, 0xf, 0xf}, {2, 0xf, 0xf}, {3, 0xf, 0xf}}},
        /* Not aligned to a line, but to a sector; then to neither. */
        {ALL, 32, 4, 4, 2, {{0, 0xe, 0xe}, {1, 0x1, 0x1}}},
        {ALL, 4, 4, 4, 2, {{0, 0xf, 0xe}, {1, 0x1, 0x0}}},
        {ALL, 124, 4, 4, 2, {{0, 0x8, 0x0}, {1, 0xf, 0x7}}},
        {ALL, 31, 1, 1, 1, {{0, 0x3, 0x0}}},
        {ALL, 16, 16, 16, 5, {{0, 0xf, 0xe}, {1, 0xf, 0xf}, {2, 0xf, 0xf}, {3, 0xf, 0xf}, {4, 0x1, 0x0}}},
        /* Lanes that straddle two lines. */
        {ALL, 126, 4, 4, 2, {{0, 0x8, 0x0}, {1, 0xf, 0x7}}},
        /* Across a page: lines stay in order of their addresses. */
        {ALL, 32 * PW_LINE_BYTES - 64, 4, 4, 2, {{31, 0xc, 0xc}, {32, 0x3, 0x3}}},
    };
    CHECK(rows);
}

static void masked_lanes_touch_nothing(void **state)
{
    (void)state;
    static const struct affine_row rows[] = {
        {0x1, 0, 4, 4, 1, {{0, 0x1, 0x0}}},        {0x80000000, 0, 4, 4, 1, {{0, 0x8, 0x0}}},
        {0xff, 0, 4, 4, 1, {{0, 0x1, 0x1}}},       {0xff00, 0, 4, 4, 1, {{0, 0x2, 0x2}}},
        {0x1fe, 0, 4, 4, 1, {{0, 0x3, 0x0}}},      {0xff0000ff, 0, 4, 4, 1, {{0, 0x9, 0x9}}},
        {0xfffffffe, 0, 4, 4, 1, {{0, 0xf, 0xe}}}, {0x7fffffff, 0, 4, 4, 1, {{0, 0xf, 0x7}}},
        {0xfffffeff, 0, 4, 4, 1, {{0, 0xf, 0xd}}}, {0x55555555, 0, 4, 4, 1, {{0, 0xf, 0x0}}},
        {0xffff0000, 0, 8, 8, 1, {{1, 0xf, 0xf}}}, {0xf000000f, 0, 16, 16, 2, {{0, 0x3, 0x3}, {3, 0xc, 0xc}}},
    };
    CHECK(rows);
}

static void one_address_for_all_lanes_is_one_access(void **state)
{
    (void)state;
    static const struct affine_row rows[] = {
        {ALL, 0, 0, 4, 1, {{0, 0x1, 0x0}}},
        {ALL, 100, 0, 8, 1, {{0, 0x8, 0x0}}},
        {0x80, 64, 0, 16, 1, {{0, 0x4, 0x0}}},
        {ALL, 28, 0, 8, 1, {{0, 0x3, 0x0}}},
        {0x3, 124, 0, 8, 2, {{0, 0x8, 0x0}, {1, 0x1, 0x0}}},
    };
    CHECK(rows);
}

static void strides_below_a_line_touch_what_they_step_on(void **state)
{
    (void)state;
    static const struct affine_row rows[] = {
        {ALL, 0, 8, 4, 2, {{0, 0xf, 0x0}, {1, 0xf, 0x0}}},
        {0xf, 0, 32, 4, 1, {{0, 0xf, 0x0}}},
        {0xf, 0, 64, 16, 2, {{0, 0x5, 0x0}, {1, 0x5, 0x0}}},
        /* Lanes that overlap write every byte of a run. */
        {ALL, 0, 4, 8, 2, {{0, 0xf, 0xf}, {1, 0x1, 0x0}}},
        {ALL, 0, 2, 4, 1, {{0, 0x7, 0x3}}},
        /* Every second lane straddles a sector, none a line; then one straddles a line. */
        {0x3, 24, 8, 16, 1, {{0, 0x3, 0x0}}},
        {0x3, 104, 16, 16, 2, {{0, 0x8, 0x0}, {1, 0x1, 0x0}}},
    };
    CHECK(rows);
}

static void negative_strides_visit_lines_downwards(void **state)
{
    (void)state;
    static const struct affine_row rows[] = {
        {ALL, 124, -4, 4, 1, {{0, 0xf, 0xf}}},
        {ALL, 60, -4, 4, 2, {{0, 0x3, 0x3}, {-1, 0xc, 0xc}}},
        {0x7, 256, -128, 4, 3, {{2, 0x1, 0x0}, {1, 0x1, 0x0}, {0, 0x1, 0x0}}},
        {ALL, 0, -1, 1, 2, {{0, 0x1, 0x0}, {-1, 0x8, 0x0}}},
    };
    CHECK(rows);
}

static void wide_strides_make_one_access_per_lane(void **state)
{
    (void)state;
    const int64_t strides[] = {PW_LINE_BYTES, PW_PAGE_BYTES, -PW_LINE_BYTES, -PW_PAGE_BYTES, 2 << 20};
    for (unsigned i = 0; i < sizeof(strides) / sizeof(*strides); i++)
        for (unsigned form = PW_FORM_AFFINE; form <= PW_FORM_LANES; form++) {
            struct pw_op op = {.kind = PW_OP_LOAD, .form = (uint8_t)form, .bytes = 4, .count_or_mask = ALL};
            struct pw_line_access out[PW_MAX_LINES];
            uint64_t words[PW_WARP_LANES] = {BASE + 32, (uint64_t)strides[i]};
            for (unsigned lane = 0; form == PW_FORM_LANES && lane < PW_WARP_LANES; lane++)
                words[lane] = BASE + 32 + lane * (uint64_t)strides[i];
            assert_int_equal(pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), PW_WARP_LANES);
            for (unsigned lane = 0; lane < PW_WARP_LANES; lane++) {
                assert_int_equal(out[lane].line, BASE_LINE + lane * strides[i] / PW_LINE_BYTES);
                assert_int_equal(out[lane].sectors, 0x2);
            }
        }
}

static void every_lane_may_straddle_two_lines(void **state)
{
    (void)state;
    struct pw_op op = {.kind = PW_OP_STORE, .form = PW_FORM_AFFINE, .bytes = 16, .count_or_mask = ALL};
    const uint64_t words[] = {BASE + PW_LINE_BYTES - 8, 2 * PW_LINE_BYTES};
    struct pw_line_access out[PW_MAX_LINES];
    assert_int_equal(pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), PW_MAX_LINES);
    for (unsigned i = 0; i < PW_MAX_LINES; i++) {
        assert_int_equal(out[i].line, BASE_LINE + i);
        assert_int_equal(out[i].sectors, i % 2 ? 0x1 : 0x8);
        assert_int_equal(out[i].full, 0);
    }
}

static void scattered_lanes_are_grouped_by_page_in_order_of_the_lowest_lane(void **state)
{
    (void)state;
    /* Lanes 1, 4, 5, 9, 20, 30, 31 on the pages 2, 0, 2, 1, 0, 2, 2; lane 31 repeats the line of lane 5. */
    const uint32_t mask = 0xc0100232;
    const int64_t lines[] = {64, 3, 70, 32, 1, 65, 70};
    const uint32_t offsets[] = {0, 8, 0, 96, 126, 32, 120};
    uint64_t words[7];
    for (unsigned i = 0; i < 7; i++)
        words[i] = BASE + (uint64_t)lines[i] * PW_LINE_BYTES + offsets[i];
    struct pw_op op = {.kind = PW_OP_STORE, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = mask};
    struct pw_line_access out[PW_MAX_LINES];
    static const struct expected by_page[] = {{64, 0x1, 0}, {70, 0x9, 0}, {65, 0x2, 0}, {3, 0x1, 0},
                                              {1, 0x8, 0},  {2, 0x1, 0},  {32, 0x8, 0}};
    assert_lines(out, pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), by_page, 7);
    /* All of it lies in one page of 2 MiB: the order of the lanes. */
    static const struct expected by_lane[] = {{64, 0x1, 0}, {3, 0x1, 0}, {70, 0x9, 0}, {32, 0x8, 0},
                                              {1, 0x8, 0},  {2, 0x1, 0}, {65, 0x2, 0}};
    assert_lines(out, pw_coalesce_accesses(&op, words, 14, out), by_lane, 7);
}

static void scattered_lanes_can_fill_a_sector_together(void **state)
{
    (void)state;
    uint64_t words[PW_WARP_LANES];
    for (unsigned lane = 0; lane < PW_WARP_LANES; lane++)
        words[lane] = BASE + (lane * 13 % PW_WARP_LANES) * 4;
    struct pw_op op = {.kind = PW_OP_STORE, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = ALL};
    struct pw_line_access out[PW_MAX_LINES];
    assert_lines(out, pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), (struct expected[]){{0, 0xf, 0xf}}, 1);
    words[31] = words[30];
    assert_lines(out, pw_coalesce_accesses(&op, words, PAGE_SHIFT, out), (struct expected[]){{0, 0xf, 0xb}}, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_lanes_share_lines),
        cmocka_unit_test(masked_lanes_touch_nothing),
        cmocka_unit_test(one_address_for_all_lanes_is_one_access),
        cmocka_unit_test(strides_below_a_line_touch_what_they_step_on),
        cmocka_unit_test(negative_strides_visit_lines_downwards),
        cmocka_unit_test(wide_strides_make_one_access_per_lane),
        cmocka_unit_test(every_lane_may_straddle_two_lines),
        cmocka_unit_test(scattered_lanes_are_grouped_by_page_in_order_of_the_lowest_lane),
        cmocka_unit_test(scattered_lanes_can_fill_a_sector_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
