/* Single values with units: exactly in, canonically out, and the limits of the types. */
#include "sim/option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const schedules[] = {"fr-fcfs", "fcfs", NULL};

struct good_value {
    enum pw_option_type type;
    const char *text;
    double expected;
    const char *canonical;
};

/* Rows without limits: only the type's own. */
static const struct good_value good_values[] = {
    {PW_OPTION_BOOL, "on", 1, "on"},
    {PW_OPTION_BOOL, "true", 1, "on"},
    {PW_OPTION_BOOL, "yes", 1, "on"},
    {PW_OPTION_BOOL, "1", 1, "on"},
    {PW_OPTION_BOOL, "off", 0, "off"},
    {PW_OPTION_BOOL, "false", 0, "off"},
    {PW_OPTION_BOOL, "no", 0, "off"},
    {PW_OPTION_BOOL, "0", 0, "off"},
    {PW_OPTION_COUNT, "0", 0, "0"},
    {PW_OPTION_COUNT, "007", 7, "7"},
    {PW_OPTION_COUNT, "4294967295", 4294967295, "4294967295"},
    {PW_OPTION_COUNT, "2k", 2000, "2000"},
    {PW_OPTION_COUNT, "1.5k", 1500, "1500"},
    {PW_OPTION_COUNT, "3M", 3000000, "3000000"},
    {PW_OPTION_COUNT, "4G", 4000000000, "4000000000"},
    {PW_OPTION_COUNT, "12.0", 12, "12"},
    {PW_OPTION_BYTES, "0", 0, "0B"},
    {PW_OPTION_BYTES, "130", 130, "130B"},
    {PW_OPTION_BYTES, "130B", 130, "130B"},
    {PW_OPTION_BYTES, "1024", 1024, "1KB"},
    {PW_OPTION_BYTES, "512KB", 524288, "512KB"},
    {PW_OPTION_BYTES, "512KiB", 524288, "512KB"},
    {PW_OPTION_BYTES, "2048KB", 2097152, "2MB"},
    {PW_OPTION_BYTES, "2MB", 2097152, "2MB"},
    {PW_OPTION_BYTES, "2MiB", 2097152, "2MB"},
    {PW_OPTION_BYTES, "1.5MB", 1572864, "1536KB"},
    {PW_OPTION_BYTES, "3GB", 3221225472, "3GB"},
    {PW_OPTION_BYTES, "3GiB", 3221225472, "3GB"},
    {PW_OPTION_BYTES, "1TB", 1099511627776, "1TB"},
    {PW_OPTION_BYTES, "1TiB", 1099511627776, "1TB"},
    {PW_OPTION_BYTES, "2048TB", 2251799813685248, "2048TB"},
    {PW_OPTION_CYCLES, "45", 45, "45"},
    {PW_OPTION_CYCLES, "45us", 62325, "62325"},   /* at 1385 MHz, the clock below */
    {PW_OPTION_CYCLES, "54.5us", 75483, "75483"}, /* 75482.5, rounded up */
    {PW_OPTION_CYCLES, "1ns", 2, "2"},            /* 1.385 */
    {PW_OPTION_CYCLES, "0ns", 0, "0"},
    {PW_OPTION_CYCLES, "200ns", 277, "277"}, /* exactly */
    {PW_OPTION_CYCLES, "201ns", 279, "279"}, /* 278.385 */
    {PW_OPTION_CYCLES, "3ms", 4155000, "4155000"},
    {PW_OPTION_CYCLES, ".5us", 693, "693"}, /* 692.5 */
    {PW_OPTION_NUMBER, "0", 0, "0"},
    {PW_OPTION_NUMBER, "0.1", 0.1, "0.1"},
    {PW_OPTION_NUMBER, "-0", 0, "0"},
    {PW_OPTION_NUMBER, "1e3", 1000, "1000"},
    {PW_OPTION_NUMBER, "2.5e-3", 0.0025, "0.0025"},
    {PW_OPTION_NUMBER, "0.30000000000000004", 0.30000000000000004, "0.30000000000000004"},
    {PW_OPTION_CHOICE, "fcfs", 1, "fcfs"},
};

static double field_value(enum pw_option_type type, const void *field)
{
    switch (type) {
    case PW_OPTION_BOOL:
        return *(const bool *)field;
    case PW_OPTION_BYTES:
        return (double)*(const uint64_t *)field;
    case PW_OPTION_NUMBER:
        return *(const double *)field;
    default:
        return *(const uint32_t *)field;
    }
}

static void good_values_parse_exactly_and_format_canonically(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good_values) / sizeof(*good_values); i++) {
        const struct good_value *v = &good_values[i];
        struct pw_option row = {.name = "x", .type = v->type, .choices = schedules};
        uint64_t field = 0, again = 0;
        struct pw_error err = {0};
        char text[64];
        if (pw_option_parse(&row, v->text, 1385, &field, &err) != PW_OK)
            fail_msg("'%s': %s", v->text, err.message);
        if (field_value(v->type, &field) != v->expected)
            fail_msg("'%s' is %.17g", v->text, field_value(v->type, &field));
        pw_option_format(&row, &field, text, sizeof(text));
        assert_string_equal(text, v->canonical);
        assert_int_equal(pw_option_parse(&row, text, 0, &again, &err), PW_OK);
        assert_memory_equal(&field, &again, sizeof(field));
    }
}

static void largest_size_is_not_rounded(void **state)
{
    (void)state;
    struct pw_option row = {.name = "x", .type = PW_OPTION_BYTES};
    uint64_t size;
    assert_int_equal(pw_option_parse(&row, "18446744073709551615", 0, &size, NULL), PW_OK);
    assert_int_equal(size, UINT64_MAX);
    assert_int_equal(pw_option_parse(&row, "9007199254740993B", 0, &size, NULL), PW_OK);
    assert_int_equal(size, (1ULL << 53) + 1);
}

static void rows_without_limits_name_the_limit_of_their_type(void **state)
{
    (void)state;
    static const struct {
        enum pw_option_type type;
        double min;
        const char *text, *message;
    } table[] = {
        {PW_OPTION_COUNT, 0, "4294967296", "x = 4294967296 is out of range (0 to 4294967295)"},
        {PW_OPTION_COUNT, 2, "5G", "x = 5G is out of range (2 to 4294967295)"},
        {PW_OPTION_CYCLES, 0, "10ms", "x = 10ms is out of range (0 to 4294967295)"},
        {PW_OPTION_BYTES, 0, "16777216TB", "x = 16777216TB is out of range (0B to 16777215TB)"},
        {PW_OPTION_NUMBER, 0.25, "0.2", "x = 0.2 is out of range (at least 0.25)"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct pw_option row = {.name = "x", .type = table[i].type, .min = table[i].min};
        struct pw_error err;
        uint64_t field;
        assert_int_equal(pw_option_parse(&row, table[i].text, UINT32_MAX, &field, &err), PW_USER_ERROR);
        assert_string_equal(err.message, table[i].message);
    }
}

static void sizes_in_messages_can_be_typed_back(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *down, *up;
    } table[] = {
        {0, "0B", "0B"},
        {1, "1B", "1B"},
        {4096, "4KB", "4KB"},
        {99999, "99999B", "99999B"},
        {5000000, "4882KB", "4883KB"},
        {3ULL << 30, "3GB", "3GB"},
        {(3ULL << 30) + 1, "3GB", "3073MB"},
        {17592186040320, "16383GB", "16TB"},
        {UINT64_MAX, "16777215TB", NULL},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char out[PW_SIZE_CAPACITY];
        assert_string_equal(pw_size_text(out, table[i].bytes, false), table[i].down);
        if (table[i].up)
            assert_string_equal(pw_size_text(out, table[i].bytes, true), table[i].up);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_values_parse_exactly_and_format_canonically),
        cmocka_unit_test(largest_size_is_not_rounded),
        cmocka_unit_test(sizes_in_messages_can_be_typed_back),
        cmocka_unit_test(rows_without_limits_name_the_limit_of_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
