/* The placing of lines: one-to-one for every number of channels and slices, and even over strides. */
#include "mem/memory_map.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_CHANNELS = 64, MAX_SLICES = 4, GROUPS = 24 };

/* GROUPS whole groups of channels * slices lines, from the group `first` on, fill the places of the same groups. */
static void check_one_to_one(uint32_t channels, uint32_t slices, uint32_t first)
{
    struct pw_memory_map m = pw_memory_map_of(channels, slices);
    static bool local[MAX_CHANNELS][GROUPS * MAX_SLICES], slice[MAX_CHANNELS * MAX_SLICES][GROUPS];
    memset(local, 0, sizeof(local));
    memset(slice, 0, sizeof(slice));
    uint32_t start = first * channels * slices, lines = GROUPS * channels * slices;
    for (uint32_t line = start; line < start + lines; line++) {
        uint32_t channel = pw_channel_of(&m, line), in_channel = pw_channel_line(&m, line) - first * slices;
        uint32_t unit = pw_slice_of(&m, line), in_slice = pw_slice_line(&m, line) - first;
        if (channel >= channels || unit / slices != channel || in_channel >= GROUPS * slices || in_slice >= GROUPS ||
            local[channel][in_channel] || slice[unit][in_slice])
            fail_msg("%u channels, %u slices: line %u is out of place or not alone in it", channels, slices, line);
        local[channel][in_channel] = slice[unit][in_slice] = true;
    }
}

static void every_line_has_a_place_of_its_own(void **state)
{
    (void)state;
    struct pw_random random;
    pw_random_init(&random, 1, "map");
    for (uint32_t channels = 1; channels <= MAX_CHANNELS; channels++)
        for (uint32_t slices = 1; slices <= MAX_SLICES; slices++) {
            uint32_t outer = UINT32_MAX / (channels * slices) - GROUPS;
            check_one_to_one(channels, slices, 0);
            check_one_to_one(channels, slices, outer);
            check_one_to_one(channels, slices, (uint32_t)pw_random_below(&random, outer));
        }
}

/* No channel and no slice gets more than twice its share. */
static void check_balance(uint32_t channels, uint32_t slices, uint32_t stride)
{
    struct pw_memory_map m = pw_memory_map_of(channels, slices);
    uint32_t units = channels * slices, each = 64;
    uint32_t *in_slice = calloc(units, sizeof(*in_slice)), *in_channel = calloc(channels, sizeof(*in_channel));
    for (uint32_t i = 0; i < each * units; i++) {
        uint32_t channel = pw_channel_of(&m, i * stride), unit = pw_slice_of(&m, i * stride);
        if (++in_channel[channel] > 2 * each * slices)
            fail_msg("%u channels: a stride of %u lines piles up on channel %u", channels, stride, channel);
        if (++in_slice[unit] > 2 * each)
            fail_msg("%u channels of %u slices: a stride of %u lines piles up on slice %u", channels, slices, stride,
                     unit);
    }
    free(in_slice);
    free(in_channel);
}

static void strides_spread_over_all_channels(void **state)
{
    (void)state;
    const uint32_t channels[] = {6, 12, 32, 96};
    for (unsigned i = 0; i < sizeof(channels) / sizeof(*channels); i++)
        for (uint32_t stride = 1; stride <= 65536 / PW_LINE_BYTES; stride *= 2)
            for (uint32_t slices = 1; slices <= 2; slices++)
                check_balance(channels[i], slices, stride);
}

static void consecutive_lines_visit_every_channel_once(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= MAX_CHANNELS; channels++) {
        struct pw_memory_map m = pw_memory_map_of(channels, 1);
        for (uint32_t group = 0; group < 1000; group++) {
            uint64_t seen = 0;
            for (uint32_t i = 0; i < channels; i++)
                seen |= 1ULL << pw_channel_of(&m, group * channels + i);
            assert_true(seen == ~0ULL >> (64 - channels));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_has_a_place_of_its_own),
        cmocka_unit_test(strides_spread_over_all_channels),
        cmocka_unit_test(consecutive_lines_visit_every_channel_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
