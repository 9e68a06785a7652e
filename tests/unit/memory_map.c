/* The placing of lines: one-to-one for every number of channels and slices, and even over strides and sets. */
#include "mem/memory_map.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_CHANNELS = 96, MAX_SLICES = 4, PAGE_LINES = PW_PAGE_BYTES / PW_LINE_BYTES, MOST = 2 * PAGE_LINES };

static const enum pw_interleave interleaves[] = {PW_INTERLEAVE_LINE, PW_INTERLEAVE_PAGE};
static const char *const names[] = {"lines", "pages"};

/* The lines of a channel that a group of units fills. */
static uint32_t unit_lines(enum pw_interleave interleave)
{
    return interleave == PW_INTERLEAVE_LINE ? 1 : PAGE_LINES;
}

/* Whole groups, so many that each slice gets MOST lines (or 24, of line-sized units), beginning with multiples of
 * these, fill the places of the same numbers in every channel and slice. */
static void check_one_to_one(enum pw_interleave interleave, uint32_t channels, uint32_t slices, uint32_t first)
{
    struct pw_memory_map m = pw_memory_map_of(channels, slices, interleave);
    static bool local[MAX_CHANNELS][MOST * MAX_SLICES], slice[MAX_CHANNELS * MAX_SLICES][MOST];
    uint32_t each = interleave == PW_INTERLEAVE_LINE ? 24 : MOST;
    uint32_t start = first * each * channels * slices, lines = each * channels * slices;
    memset(local, 0, sizeof(local));
    memset(slice, 0, sizeof(slice));
    for (uint32_t line = start; line < start + lines; line++) {
        struct pw_place place = pw_place_of(&m, line);
        uint32_t channel = place.channel, in_channel = place.local - first * each * slices;
        uint32_t unit = place.slice, in_slice = place.line_of_slice - first * each;
        if (channel >= channels || unit / slices != channel || in_channel >= each * slices || in_slice >= each ||
            local[channel][in_channel] || slice[unit][in_slice])
            fail_msg("%s over %u channels, %u slices: line %u is out of place or not alone in it", names[interleave],
                     channels, slices, line);
        local[channel][in_channel] = slice[unit][in_slice] = true;
    }
}

/* One of `count` places by the definition in memory_map.h: XOR or rotation. */
static uint32_t permuted(uint32_t place, uint32_t hash, uint32_t count)
{
    return (count & (count - 1)) == 0 ? (place ^ hash) % count : (place + hash % 65536) % count;
}

/* Each part of a place by its own definition, with divisions. */
static struct pw_place place_by_definition(enum pw_interleave interleave, uint32_t channels, uint32_t slices,
                                           uint32_t line)
{
    uint32_t lines = unit_lines(interleave), unit = line / lines, group = unit / channels;
    uint32_t hash = interleave == PW_INTERLEAVE_LINE ? pw_fold(group) : pw_scatter(pw_scatter(group));
    struct pw_place p = {.channel = permuted(unit % channels, hash, channels), .local = group * lines + line % lines};
    p.line_of_slice = p.local / slices;
    p.slice = p.channel * slices + permuted(p.local % slices, pw_scatter(p.line_of_slice), slices);
    return p;
}

static void places_agree_with_the_definition(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 2, "map");
    for (unsigned i = 0; i < 100000; i++) {
        enum pw_interleave interleave = interleaves[pw_random_below(&random, 2)];
        uint32_t channels = 1 + (uint32_t)pw_random_below(&random, i % 2 ? 8 : 1024);
        uint32_t slices = 1 + (uint32_t)pw_random_below(&random, i % 3 ? 4 : 64);
        struct pw_memory_map m = pw_memory_map_of(channels, slices, interleave);
        for (unsigned k = 0; k < 10; k++) {
            uint32_t line = k ? (uint32_t)(pw_random_next(&random) >> (32 + pw_random_below(&random, 32))) : UINT32_MAX;
            struct pw_place got = pw_place_of(&m, line);
            struct pw_place expected = place_by_definition(interleave, channels, slices, line);
            if (memcmp(&got, &expected, sizeof(got)) || pw_channel_line(&m, line) != expected.local)
                fail_msg("%s over %u channels of %u slices: line %u is at channel %u, line %u there; slice %u, line %u",
                         names[interleave], channels, slices, line, got.channel, got.local, got.slice,
                         got.line_of_slice);
        }
    }
}

static void every_line_has_a_place_of_its_own(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 1, "map");
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t channels = 1; channels <= MAX_CHANNELS; channels++)
            for (uint32_t slices = 1; slices <= MAX_SLICES; slices++) {
                uint32_t outer = UINT32_MAX / (MOST * channels * slices) - 1;
                check_one_to_one(interleaves[i], channels, slices, 0);
                check_one_to_one(interleaves[i], channels, slices, outer);
                check_one_to_one(interleaves[i], channels, slices, (uint32_t)pw_random_below(&random, outer));
            }
}

/* Page p is number p / channels of its channel, and its lines follow each other there as they do in the page: a row of
 * DRAM that holds a page holds all of it. */
static void lines_of_a_page_lie_side_by_side_in_one_channel(void **state)
{
    (void)state;
    const uint32_t channels[] = {1, 2, 6, 8, 11, 96};
    for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
        struct pw_memory_map m = pw_memory_map_of(channels[i], 2, PW_INTERLEAVE_PAGE);
        for (uint32_t page = 0; page < 2000; page++)
            for (uint32_t k = 0; k < PAGE_LINES; k++) {
                uint32_t line = page * PAGE_LINES + k;
                assert_int_equal(pw_place_of(&m, line).channel, pw_place_of(&m, page * PAGE_LINES).channel);
                assert_int_equal(pw_channel_line(&m, line), page / channels[i] * PAGE_LINES + k);
            }
    }
}

/* No channel and no slice gets more than twice its share. */
static void check_balance(enum pw_interleave interleave, uint32_t channels, uint32_t slices, uint32_t stride)
{
    struct pw_memory_map m = pw_memory_map_of(channels, slices, interleave);
    uint32_t units = channels * slices, each = 64;
    uint32_t *in_slice = calloc(units, sizeof(*in_slice)), *in_channel = calloc(channels, sizeof(*in_channel));
    for (uint32_t i = 0; i < each * units; i++) {
        struct pw_place place = pw_place_of(&m, i * stride);
        if (++in_channel[place.channel] > 2 * each * slices)
            fail_msg("%s over %u channels: a stride of %u lines piles up on channel %u", names[interleave], channels,
                     stride, place.channel);
        if (++in_slice[place.slice] > 2 * each)
            fail_msg("%s over %u channels of %u slices: a stride of %u lines piles up on slice %u", names[interleave],
                     channels, slices, stride, place.slice);
    }
    free(in_slice);
    free(in_channel);
}

static void strides_spread_over_all_channels(void **state)
{
    (void)state;
    const uint32_t channels[] = {6, 12, 32, 96};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++)
            for (uint32_t stride = 1; stride <= 65536 / PW_LINE_BYTES; stride *= 2)
                for (uint32_t slices = 1; slices <= 2; slices++)
                    check_balance(interleaves[k], channels[i], slices, stride);
}

static void consecutive_units_visit_every_channel_once(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t channels = 1; channels <= 64; channels++) {
            struct pw_memory_map m = pw_memory_map_of(channels, 1, interleaves[k]);
            for (uint32_t group = 0; group < 1000; group++) {
                uint64_t seen = 0;
                for (uint32_t i = 0; i < channels; i++)
                    seen |= 1ULL << pw_place_of(&m, (group * channels + i) * unit_lines(interleaves[k])).channel;
                assert_true(seen == ~0ULL >> (64 - channels));
            }
        }
}

/* Contiguous memory that gives every slice 2^12 lines: its sets, however many, differ by one line at most. */
static void check_sets(enum pw_interleave interleave, uint32_t channels, uint32_t slices, uint32_t sets)
{
    struct pw_memory_map m = pw_memory_map_of(channels, slices, interleave);
    enum { EACH = 4096 };
    uint32_t units = channels * slices;
    uint32_t *used = calloc((size_t)units * sets, sizeof(*used));
    assert_non_null(used);
    for (uint32_t line = 0; line < EACH * units; line++) {
        struct pw_place place = pw_place_of(&m, line);
        used[place.slice * sets + pw_set_index(place) % sets]++;
    }
    for (uint32_t i = 0; i < units * sets; i++)
        if (used[i] != EACH / sets && used[i] != (EACH + sets - 1) / sets)
            fail_msg("%s over %u channels of %u slices: set %u of %u in slice %u has %u lines", names[interleave],
                     channels, slices, i % sets, sets, i / sets, used[i]);
    free(used);
}

static void contiguous_memory_uses_all_sets_evenly(void **state)
{
    (void)state;
    const uint32_t channels[] = {1, 6, 8, 11}, sets[] = {16, 64, 85, 96, 512};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++)
            for (uint32_t slices = 1; slices <= 3; slices++)
                for (unsigned j = 0; j < sizeof(sets) / sizeof(*sets); j++)
                    check_sets(interleaves[k], channels[i], slices, sets[j]);
}

/* Every n-th page, twice as many as the L2 holds with 16 ways: no channel has half as much again as its share, no set
 * twice its share, and none is left out. */
static void check_every_nth(enum pw_interleave interleave, uint32_t channels, uint32_t sets, uint32_t n)
{
    struct pw_memory_map m = pw_memory_map_of(channels, 2, interleave);
    uint32_t places = channels * 2 * sets, share = 32, pages = places * share / PAGE_LINES;
    uint32_t *used = calloc(places, sizeof(*used)), *in_channel = calloc(channels, sizeof(*in_channel));
    assert_true(used && in_channel);
    for (uint32_t page = 0; page < pages; page++)
        for (uint32_t k = 0; k < PAGE_LINES; k++) {
            struct pw_place place = pw_place_of(&m, page * n * PAGE_LINES + k);
            used[place.slice * sets + pw_set_index(place) % sets]++;
            in_channel[place.channel]++;
        }
    for (uint32_t i = 0; i < places; i++)
        if (!used[i] || used[i] >= 2 * share)
            fail_msg("%s over %u channels: set %u of %u has %u lines of every %u-th page", names[interleave], channels,
                     i % sets, sets, used[i], n);
    for (uint32_t i = 0; i < channels; i++)
        if (2 * in_channel[i] > 3 * places / channels * share)
            fail_msg("%s over %u channels: channel %u has %u lines of every %u-th page", names[interleave], channels, i,
                     in_channel[i], n);
    free(used);
    free(in_channel);
}

static void one_of_several_applications_uses_all_sets(void **state)
{
    (void)state;
    const uint32_t channels[] = {6, 8, 32}, sets[] = {64, 85, 96};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < 3; i++)
            for (unsigned j = 0; j < 3; j++)
                for (uint32_t n = 2; n <= 5; n++)
                    check_every_nth(interleaves[k], channels[i], sets[j], n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_agree_with_the_definition),
        cmocka_unit_test(every_line_has_a_place_of_its_own),
        cmocka_unit_test(lines_of_a_page_lie_side_by_side_in_one_channel),
        cmocka_unit_test(strides_spread_over_all_channels),
        cmocka_unit_test(consecutive_units_visit_every_channel_once),
        cmocka_unit_test(contiguous_memory_uses_all_sets_evenly),
        cmocka_unit_test(one_of_several_applications_uses_all_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
