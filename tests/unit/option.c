/* A set of options: defaults, origins, times that wait for the clock, pairs, views, and what a bad value is told. */
#include "sim/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const schedules[] = {"fr-fcfs", "fcfs", NULL};

struct unit_config {
    bool enabled;
    uint32_t entries;
    uint32_t latency;
    uint64_t size;
};

struct config {
    uint32_t clock_mhz;
    double threshold;
    uint32_t schedule;
    char label[PW_OPTION_TEXT_CAPACITY];
    struct unit_config l1, l2;
};

static const struct pw_option unit_rows[] = {
    {.name = "enabled", .type = PW_OPTION_BOOL, .offset = offsetof(struct unit_config, enabled), .fallback = "on"},
    {.name = "entries",
     .type = PW_OPTION_COUNT,
     .offset = offsetof(struct unit_config, entries),
     .min = 1,
     .max = 65536,
     .fallback = "128",
     .power_of_two = true},
    {.name = "latency",
     .type = PW_OPTION_CYCLES,
     .offset = offsetof(struct unit_config, latency),
     .min = 1,
     .max = 100000,
     .fallback = "10"},
    {.name = "size",
     .type = PW_OPTION_BYTES,
     .offset = offsetof(struct unit_config, size),
     .min = 128,
     .max = 1ULL << 40,
     .fallback = "2MB"},
    {0}};

static const struct pw_option top_rows[] = {
    {.name = "clock_mhz",
     .type = PW_OPTION_COUNT,
     .offset = offsetof(struct config, clock_mhz),
     .min = 0,
     .max = 10000,
     .fallback = "1000"},
    {.name = "threshold",
     .type = PW_OPTION_NUMBER,
     .offset = offsetof(struct config, threshold),
     .min = 0,
     .max = 1,
     .fallback = "0.5"},
    {.name = "schedule",
     .type = PW_OPTION_CHOICE,
     .offset = offsetof(struct config, schedule),
     .choices = schedules,
     .fallback = "fr-fcfs"},
    {.name = "label", .type = PW_OPTION_TEXT, .offset = offsetof(struct config, label)},
    {0}};

static const struct pw_option_group groups[] = {{"", top_rows, 0},
                                                {"l1_tlb", unit_rows, offsetof(struct config, l1)},
                                                {"l2_tlb", unit_rows, offsetof(struct config, l2)},
                                                {0}};

struct fixture {
    struct config config;
    struct pw_options *options;
};

static int setup(void **state)
{
    static struct fixture f;
    memset(&f.config, 0xa5, sizeof(f.config));
    *state = &f;
    return pw_options_create(groups, &f.config, &f.config.clock_mhz, &f.options, NULL) == PW_OK ? 0 : -1;
}

static int teardown(void **state)
{
    pw_options_destroy(((struct fixture *)*state)->options);
    return 0;
}

static void defaults_fill_every_field(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(f->config.clock_mhz, 1000);
    assert_true(f->config.threshold == 0.5);
    assert_int_equal(f->config.schedule, 0);
    assert_string_equal(f->config.label, "");
    assert_true(f->config.l1.enabled);
    assert_int_equal(f->config.l1.entries, 128);
    assert_int_equal(f->config.l2.latency, 10);
    assert_int_equal(f->config.l2.size, 2 << 20);
    assert_int_equal(pw_options_count(f->options), 12);
    assert_string_equal(pw_options_origin(f->options, "l2_tlb.size"), "default");
    assert_null(pw_options_origin(f->options, "l3_tlb.size"));
}

static const char not_whole[] = " is not a whole number (for example 1000 or 1k)";
static const char not_cycles[] = " is not a number of cycles or a time (for example 45us)";

struct bad_value {
    const char *name, *text, *message; /* a message that starts with a space follows "NAME = TEXT" */
};

static const struct bad_value bad_values[] = {
    {"l1_tlb.enabled", "maybe", " is neither on nor off"},
    {"l1_tlb.enabled", "ON", " is neither on nor off"},
    {"l1_tlb.enabled", "2", " is neither on nor off"},
    {"l1_tlb.enabled", "", "l1_tlb.enabled has no value; give on or off"},
    {"l1_tlb.entries", "0", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "131072", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "4294967297", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "18446744073709551617", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "99999999999999999999999999999999999999999", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "1.00000000000000000000000000000000000001", " is out of range (1 to 65536)"},
    {"l1_tlb.entries", "3", " is not a power of two"},
    {"l1_tlb.entries", "1.5", " is not a whole number"},
    {"l1_tlb.entries", "", "l1_tlb.entries has no value"},
    {"l1_tlb.entries", "-1", not_whole},
    {"l1_tlb.entries", "+1", not_whole},
    {"l1_tlb.entries", " 1", not_whole},
    {"l1_tlb.entries", "1 ", not_whole},
    {"l1_tlb.entries", "1x", not_whole},
    {"l1_tlb.entries", "1kk", not_whole},
    {"l1_tlb.entries", "0x10", not_whole},
    {"l1_tlb.entries", "1e3", not_whole},
    {"l1_tlb.entries", "1.", not_whole},
    {"l1_tlb.entries", ".", not_whole},
    {"l1_tlb.entries", "1.2.3", not_whole},
    {"l1_tlb.entries", "nan", not_whole},
    {"l1_tlb.entries", "inf", not_whole},
    {"l1_tlb.entries", "1KB", not_whole},
    {"l1_tlb.entries", "45us", not_whole},
    {"l2_tlb.latency", "0", " is out of range (1 to 100000)"},
    {"l2_tlb.latency", "1s", not_cycles},
    {"l2_tlb.latency", "us", not_cycles},
    {"l2_tlb.latency", "45 us", not_cycles},
    {"l2_tlb.latency", "-45us", not_cycles},
    {"l2_tlb.latency", "1k", not_cycles},
    {"l2_tlb.latency", "0.5", " is not a whole number"},
    {"l2_tlb.latency", "", "l2_tlb.latency has no value"},
    {"l2_tlb.size", "127", " is out of range (128B to 1TB)"},
    {"l2_tlb.size", "2TB", " is out of range (128B to 1TB)"},
    {"l2_tlb.size", "16777216TB", " is out of range (128B to 1TB)"},
    {"l2_tlb.size", "18446744073709551616", " is out of range (128B to 1TB)"},
    {"l2_tlb.size", "200.3B", " is not a whole number of bytes"},
    {"l2_tlb.size", "2M", " is not a size (for example 512KB)"},
    {"l2_tlb.size", "2 MB", " is not a size (for example 512KB)"},
    {"l2_tlb.size", "-2MB", " is not a size (for example 512KB)"},
    {"l2_tlb.size", "MB", " is not a size (for example 512KB)"},
    {"l2_tlb.size", "2MBx", " is not a size (for example 512KB)"},
    {"threshold", "1.5", " is out of range (0 to 1)"},
    {"threshold", "-0.1", " is out of range (0 to 1)"},
    {"threshold", "1e999", " is out of range (0 to 1)"},
    {"threshold", "nan", " is not a number"},
    {"threshold", "inf", " is not a number"},
    {"threshold", "0x1p-1", " is not a number"},
    {"threshold", "0.5x", " is not a number"},
    {"threshold", "0.5 ", " is not a number"},
    {"threshold", "+0.5", " is not a number"},
    {"threshold", "0.5.5", " is not a number"},
    {"threshold", "1e", " is not a number"},
    {"threshold", "", "threshold has no value"},
    {"schedule", "frfcfs", " is not one of fr-fcfs, fcfs; did you mean 'fr-fcfs'?"},
    {"schedule", "random", " is not one of fr-fcfs, fcfs"},
    {"schedule", "", "schedule has no value; give one of fr-fcfs, fcfs"},
    {"label", "a\nb", "label holds a control character or is not UTF-8"},
    {"label", "a\x7f", "label holds a control character or is not UTF-8"},
    {"label", "a\xff", "label holds a control character or is not UTF-8"},
    {"label", "\xc3", "label holds a control character or is not UTF-8"},
    {"label", "\xc0\xaf", "label holds a control character or is not UTF-8"},
    {"label", "\xe0\x80\xaf", "label holds a control character or is not UTF-8"},
    {"label", "\xed\xa0\x80", "label holds a control character or is not UTF-8"},
    {"label", "\xf4\x90\x80\x80", "label holds a control character or is not UTF-8"},
    {"label", "\xf0\x80\x80\x80", "label holds a control character or is not UTF-8"},
    {"label", "\x80", "label holds a control character or is not UTF-8"},
    {"l1_tlb.entires", "1", "unknown option 'l1_tlb.entires'; did you mean 'l1_tlb.entries'?"},
    {"l1_tlb", "1", "unknown option 'l1_tlb'; see pagewalk list options"},
    {"", "1", "unknown option ''; see pagewalk list options"},
};

static void bad_values_are_refused_with_one_clear_line_and_change_nothing(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(bad_values) / sizeof(*bad_values); i++) {
        const struct bad_value *v = &bad_values[i];
        struct config before = f->config;
        struct pw_error err = {0};
        char expected[512] = "";
        if (*v->message == ' ')
            snprintf(expected, sizeof(expected), "%s = %s", v->name, v->text);
        strcat(expected, v->message);
        if (pw_options_set(f->options, v->name, v->text, "--set", &err) != PW_USER_ERROR)
            fail_msg("%s = '%s' is accepted", v->name, v->text);
        assert_int_equal(err.status, PW_USER_ERROR);
        assert_string_equal(err.message, expected);
        assert_memory_equal(&before, &f->config, sizeof(before));
    }
    for (size_t i = 0; i < pw_options_count(f->options); i++) {
        struct pw_option_view view;
        pw_options_view(f->options, i, &view);
        assert_string_equal(view.origin, "default");
    }
}

static void time_without_a_clock_is_refused(void **state)
{
    (void)state;
    struct pw_option row = {.name = "x", .type = PW_OPTION_CYCLES};
    struct pw_error err;
    uint32_t cycles;
    assert_int_equal(pw_option_parse(&row, "45us", 0, &cycles, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "x = 45us is a time, but there is no clock; give a number of cycles");
    struct config config;
    struct pw_options *o;
    assert_int_equal(pw_options_create(groups, &config, NULL, &o, &err), PW_OK);
    assert_int_equal(pw_options_set(o, "l1_tlb.latency", "1us", "--set", &err), PW_USER_ERROR);
    assert_string_equal(err.message, "l1_tlb.latency = 1us is a time, but there is no clock; give a number of cycles");
    pw_options_destroy(o);
}

static void times_use_the_clock_that_is_set_last(void **state)
{
    struct fixture *f = *state;
    struct pw_option_view view;
    size_t latency = (size_t)pw_options_find(f->options, "l2_tlb.latency");
    assert_int_equal(pw_options_set(f->options, "l2_tlb.latency", "2us", "a:1", NULL), PW_OK);
    pw_options_view(f->options, latency, &view);
    assert_string_equal(view.value, "2us");
    assert_int_equal(pw_options_set(f->options, "clock_mhz", "1385", "b:1", NULL), PW_OK);
    assert_int_equal(pw_options_finish(f->options, NULL), PW_OK);
    assert_int_equal(f->config.l2.latency, 2770);
    pw_options_view(f->options, latency, &view);
    assert_string_equal(view.value, "2770");
    assert_string_equal(view.origin, "a:1");
    assert_int_equal(pw_options_set(f->options, "l1_tlb.latency", "1us", "a:2", NULL), PW_OK);
    pw_options_view(f->options, latency, &view);
    assert_string_equal(view.value, "2us");
    assert_int_equal(pw_options_set(f->options, "clock_mhz", "500", "b:1", NULL), PW_OK);
    assert_int_equal(pw_options_finish(f->options, NULL), PW_OK);
    assert_int_equal(f->config.l2.latency, 1000);
    assert_int_equal(f->config.l1.latency, 500);
}

static void plain_number_replaces_a_time(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pw_options_set(f->options, "l2_tlb.latency", "2us", "a:1", NULL), PW_OK);
    assert_int_equal(pw_options_set(f->options, "l2_tlb.latency", "3us", "a:1", NULL), PW_OK);
    assert_int_equal(pw_options_set(f->options, "l2_tlb.latency", "7", "--set", NULL), PW_OK);
    assert_int_equal(pw_options_finish(f->options, NULL), PW_OK);
    assert_int_equal(f->config.l2.latency, 7);
}

static void times_out_of_range_are_reported_with_who_set_them(void **state)
{
    struct fixture *f = *state;
    struct pw_error err;
    assert_int_equal(pw_options_set(f->options, "l2_tlb.latency", "2ms", "x.yaml:12", NULL), PW_OK);
    assert_int_equal(pw_options_finish(f->options, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "x.yaml:12: l2_tlb.latency = 2ms is out of range (1 to 100000)");
    assert_int_equal(pw_options_set(f->options, "clock_mhz", "0", "--set", NULL), PW_OK);
    assert_int_equal(pw_options_finish(f->options, &err), PW_USER_ERROR);
    assert_string_equal(err.message,
                        "x.yaml:12: l2_tlb.latency = 2ms is a time, but there is no clock; give a number of cycles");
}

static void pairs_are_split_at_the_first_equals_sign(void **state)
{
    struct fixture *f = *state;
    struct pw_error err;
    assert_int_equal(pw_options_set_pair(f->options, "label=a=b", "--set", &err), PW_OK);
    assert_string_equal(f->config.label, "a=b");
    assert_string_equal(pw_options_origin(f->options, "label"), "--set");
    assert_int_equal(pw_options_set_pair(f->options, "label=", "--set", &err), PW_OK);
    assert_string_equal(f->config.label, "");
    static const char *const bad[] = {"label", "", "=", "=5"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "'%s' is not of the form KEY=VALUE", bad[i]);
        assert_int_equal(pw_options_set_pair(f->options, bad[i], "--set", &err), PW_USER_ERROR);
        assert_string_equal(err.message, expected);
    }
    assert_int_equal(pw_options_set_pair(f->options, "lable=x", "--set", &err), PW_USER_ERROR);
    assert_string_equal(err.message, "unknown option 'lable'; did you mean 'label'?");
}

static void texts_fit_up_to_the_last_byte(void **state)
{
    struct fixture *f = *state;
    struct pw_error err;
    char text[PW_OPTION_TEXT_CAPACITY + 1];
    memset(text, 'x', sizeof(text));
    text[PW_OPTION_TEXT_CAPACITY] = '\0';
    assert_int_equal(pw_options_set(f->options, "label", text, "--set", &err), PW_USER_ERROR);
    assert_string_equal(err.message, "label is longer than 255 bytes");
    text[PW_OPTION_TEXT_CAPACITY - 1] = '\0';
    assert_int_equal(pw_options_set(f->options, "label", text, "--set", &err), PW_OK);
    assert_string_equal(f->config.label, text);
    assert_int_equal(
        pw_options_set(f->options, "label", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "--set", &err), PW_OK);
}

static void views_run_in_table_order_with_full_names(void **state)
{
    struct fixture *f = *state;
    static const char *const expected[][2] = {
        {"clock_mhz", "1000"},    {"threshold", "0.5"},      {"schedule", "fcfs"},     {"label", ""},
        {"l1_tlb.enabled", "on"}, {"l1_tlb.entries", "128"}, {"l1_tlb.latency", "10"}, {"l1_tlb.size", "2MB"},
        {"l2_tlb.enabled", "on"}, {"l2_tlb.entries", "512"}, {"l2_tlb.latency", "10"}, {"l2_tlb.size", "2MB"},
    };
    assert_int_equal(pw_options_set(f->options, "l2_tlb.entries", "512", "m.yaml:3", NULL), PW_OK);
    assert_int_equal(pw_options_set(f->options, "schedule", "fcfs", "d.yaml:4", NULL), PW_OK);
    for (size_t i = 0; i < pw_options_count(f->options); i++) {
        struct pw_option_view view;
        pw_options_view(f->options, i, &view);
        assert_string_equal(view.name, expected[i][0]);
        assert_string_equal(view.value, expected[i][1]);
        assert_string_equal(view.origin, i == 2 ? "d.yaml:4" : i == 9 ? "m.yaml:3" : "default");
        assert_ptr_equal(view.row, i < 4 ? &top_rows[i] : &unit_rows[i % 4]);
        assert_int_equal(pw_options_find(f->options, expected[i][0]), i);
    }
    assert_int_equal(pw_options_find(f->options, "nothing"), -1);
}

static void bad_tables_fail_and_name_the_row(void **state)
{
    (void)state;
    static const struct pw_option bad_default[] = {
        {.name = "entries", .type = PW_OPTION_COUNT, .min = 1, .max = 4, .fallback = "8"}, {0}};
    static const struct pw_option no_default[] = {{.name = "entries", .type = PW_OPTION_COUNT}, {0}};
    static const struct pw_option long_name[] = {
        {.name = "a_name_of_fifty_characters_to_make_the_whole_too_long", .type = PW_OPTION_TEXT}, {0}};
    static const struct pw_option fine[] = {{.name = "entries", .type = PW_OPTION_COUNT, .fallback = "8"}, {0}};
    const struct {
        struct pw_option_group groups[3];
        const char *message;
    } table[] = {
        {{{"l1", bad_default, 0}, {0}}, "default of option l1.entries: l1.entries = 8 is out of range (1 to 4)"},
        {{{"", no_default, 0}, {0}}, "default of option entries: entries has no value"},
        {{{"l1", fine, 0}, {"l1", fine, 0}, {0}}, "there are two options l1.entries"},
        {{{"a_prefix_of_fifty_characters_to_make_it_all_too_long", long_name, 0}, {0}},
         "the option name a_prefix_of_fifty_characters_to_make_it_all_too_long.a_name_of_fifty_characters_to_make_the_"
         "whole_too_long is too long"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct config config;
        struct pw_error err;
        struct pw_options *o = (void *)&config;
        assert_int_equal(pw_options_create(table[i].groups, &config, NULL, &o, &err), PW_FAILED);
        assert_int_equal(err.status, PW_FAILED);
        assert_string_equal(err.message, table[i].message);
        assert_null(o);
    }
    pw_options_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults_fill_every_field, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_values_are_refused_with_one_clear_line_and_change_nothing, setup, teardown),
        cmocka_unit_test(time_without_a_clock_is_refused),
        cmocka_unit_test_setup_teardown(times_use_the_clock_that_is_set_last, setup, teardown),
        cmocka_unit_test_setup_teardown(plain_number_replaces_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(times_out_of_range_are_reported_with_who_set_them, setup, teardown),
        cmocka_unit_test_setup_teardown(pairs_are_split_at_the_first_equals_sign, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_fit_up_to_the_last_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(views_run_in_table_order_with_full_names, setup, teardown),
        cmocka_unit_test(bad_tables_fail_and_name_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
