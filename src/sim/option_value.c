/* Values of options: from text with units into a field, and back into canonical text.
 *
 * Numbers with units are exact: the digits are read as an integer and a power of ten, multiplied by the unit in 128
 * bits and divided once. "1.5MB" is accepted because it is a whole number of bytes, "0.3B" is not. A time becomes
 * cycles rounded up, since hardware cannot answer within a part of a cycle. Only PW_OPTION_NUMBER is floating point,
 * with a decimal point in every locale. */
#include "sim/option_value.h"

#include "sim/c_locale.h"
#include "sim/policy.h"
#include "sim/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of a value a message quotes. */
#define QUOTED "%.200s"

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit count_units[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {0}};

static const struct unit byte_units[] = {{"", 1},
                                         {"B", 1},
                                         {"KB", 1ULL << 10},
                                         {"KiB", 1ULL << 10},
                                         {"MB", 1ULL << 20},
                                         {"MiB", 1ULL << 20},
                                         {"GB", 1ULL << 30},
                                         {"GiB", 1ULL << 30},
                                         {"TB", 1ULL << 40},
                                         {"TiB", 1ULL << 40},
                                         {0}};

static const struct unit cycle_units[] = {{"", 1}, {0}};

static const struct unit time_units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {0}};

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
    for (; units->suffix; units++)
        if (!strcmp(units->suffix, suffix))
            return units;
    return NULL;
}

/* A decimal number: digits / ten_power. */
struct decimal {
    uint64_t digits;
    uint64_t ten_power;
    bool too_large;
};

/* Reads "12", "12.5" or ".5" and returns what follows, or NULL where there is no number. A number that does not fit is
 * read to its end and marked. */
static const char *read_decimal(const char *text, struct decimal *out)
{
    *out = (struct decimal){0, 1, false};
    bool point = false, ends_in_digit = false;
    for (;; text++) {
        if (*text == '.' && !point) {
            point = true;
            ends_in_digit = false;
            continue;
        }
        if (*text < '0' || *text > '9')
            break;
        ends_in_digit = true;
        uint64_t digit = (uint64_t)(*text - '0');
        if (__builtin_mul_overflow(out->digits, 10, &out->digits) ||
            __builtin_add_overflow(out->digits, digit, &out->digits) ||
            (point && __builtin_mul_overflow(out->ten_power, 10, &out->ten_power)))
            out->too_large = true;
    }
    return ends_in_digit ? text : NULL;
}

bool pw_option_is_time(const char *text)
{
    struct decimal number;
    const char *suffix = read_decimal(text, &number);
    return suffix && find_unit(time_units, suffix);
}

static void format_bytes(uint64_t bytes, char *out, size_t capacity)
{
    static const char *const names[] = {"B", "KB", "MB", "GB", "TB"};
    size_t i = 0;
    while (bytes && bytes % 1024 == 0 && i + 1 < sizeof(names) / sizeof(*names)) {
        bytes /= 1024;
        i++;
    }
    snprintf(out, capacity, "%llu%s", (unsigned long long)bytes, names[i]);
}

const char *pw_size_text(char out[PW_SIZE_CAPACITY], uint64_t bytes, bool round_up)
{
    enum { MOST = 100000 };
    unsigned shift = 0;
    uint64_t value = bytes;
    while (value >= MOST && shift < 40) {
        shift += 10;
        value = (bytes >> shift) + (round_up && bytes & ((1ULL << shift) - 1));
    }
    format_bytes(value << shift, out, PW_SIZE_CAPACITY);
    return out;
}

/* The fewest digits that read back as the same number; whole numbers without an exponent. */
static void format_number(double number, char *out, size_t capacity)
{
    if (fabs(number) < 1e15 && number == trunc(number)) {
        pw_c_snprintf(out, capacity, "%.0f", number);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        pw_c_snprintf(out, capacity, "%.*g", precision, number);
        if (pw_c_strtod(out, NULL) == number)
            return;
    }
}

static void format_integer(const struct pw_option *row, uint64_t value, char *out, size_t capacity)
{
    if (row->type == PW_OPTION_BYTES)
        format_bytes(value, out, capacity);
    else
        snprintf(out, capacity, "%llu", (unsigned long long)value);
}

static uint64_t integer_limit(const struct pw_option *row)
{
    uint64_t type_limit = row->type == PW_OPTION_BYTES ? UINT64_MAX : UINT32_MAX;
    if (row->max <= 0 || row->max >= (double)type_limit)
        return type_limit;
    return (uint64_t)row->max;
}

static enum pw_status fail_syntax(const struct pw_option *row, const char *name, const char *text, struct pw_error *err)
{
    if (!*text)
        return pw_fail(err, PW_USER_ERROR, "%s has no value", name);
    const char *wanted = row->type == PW_OPTION_BYTES    ? "a size (for example 512KB)"
                         : row->type == PW_OPTION_CYCLES ? "a number of cycles or a time (for example 45us)"
                         : row->type == PW_OPTION_COUNT  ? "a whole number (for example 1000 or 1k)"
                                                         : "a number";
    return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is not %s", name, text, wanted);
}

static void format_limit(const struct pw_option *row, double limit, char *out, size_t capacity)
{
    if (row->type == PW_OPTION_BYTES)
        format_bytes((uint64_t)limit, out, capacity);
    else
        format_number(limit, out, capacity);
}

/* "1 to 64", "4KB to 1GB", in units that can be typed back; "at least 0.5". A size without limit has what 64 bits hold,
 * in whole terabytes. */
static void format_range(const struct pw_option *row, char *out, size_t capacity)
{
    char least[32], most[32];
    double limit = row->max > 0                   ? row->max
                   : row->type == PW_OPTION_BYTES ? (double)(UINT64_MAX >> 40) * 0x1p40
                                                  : UINT32_MAX;
    format_limit(row, row->min, least, sizeof(least));
    format_limit(row, limit, most, sizeof(most));
    bool bounded = row->max > 0 || row->type != PW_OPTION_NUMBER;
    snprintf(out, capacity, bounded ? "%s to %s" : "at least %s", least, most);
}

static enum pw_status fail_range(const struct pw_option *row, const char *name, const char *text, struct pw_error *err)
{
    char range[80];
    format_range(row, range, sizeof(range));
    return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is out of range (%s)", name, text, range);
}

/* A number in the option's own unit: numerator / denominator. */
struct quantity {
    unsigned __int128 numerator, denominator;
    bool too_large, is_time;
};

static enum pw_status read_quantity(const struct pw_option *row, const char *name, const char *text, uint32_t clock_mhz,
                                    struct quantity *out, struct pw_error *err)
{
    struct decimal number;
    const char *suffix = read_decimal(text, &number);
    if (!suffix)
        return fail_syntax(row, name, text, err);
    const struct unit *units = row->type == PW_OPTION_BYTES   ? byte_units
                               : row->type == PW_OPTION_COUNT ? count_units
                                                              : cycle_units;
    const struct unit *unit = find_unit(units, suffix);
    if (unit) {
        *out = (struct quantity){(unsigned __int128)number.digits * unit->factor, number.ten_power, number.too_large,
                                 false};
        return PW_OK;
    }
    unit = row->type == PW_OPTION_CYCLES ? find_unit(time_units, suffix) : NULL;
    if (!unit)
        return fail_syntax(row, name, text, err);
    if (!clock_mhz)
        return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is a time, but there is no clock; give a number of cycles",
                       name, text);
    /* A cycle is 1000 / clock_mhz nanoseconds. Nothing overflows: 2^64 * 10^6 * 2^32 < 2^128. */
    *out = (struct quantity){(unsigned __int128)number.digits * unit->factor * clock_mhz,
                             (unsigned __int128)number.ten_power * 1000, number.too_large, true};
    return PW_OK;
}

static enum pw_status parse_integer(const struct pw_option *row, const char *name, const char *text, uint32_t clock_mhz,
                                    uint64_t *out, struct pw_error *err)
{
    struct quantity quantity = {.denominator = 1};
    enum pw_status status = read_quantity(row, name, text, clock_mhz, &quantity, err);
    if (status != PW_OK)
        return status;
    if (quantity.too_large)
        return fail_range(row, name, text, err);
    unsigned __int128 value = quantity.numerator / quantity.denominator;
    if (quantity.numerator % quantity.denominator) {
        if (!quantity.is_time)
            return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is not a whole number%s", name, text,
                           row->type == PW_OPTION_BYTES ? " of bytes" : "");
        value++;
    }
    if (value < (unsigned __int128)row->min || value > integer_limit(row))
        return fail_range(row, name, text, err);
    if (row->power_of_two && (value == 0 || value & (value - 1)))
        return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is not a power of two", name, text);
    *out = (uint64_t)value;
    return PW_OK;
}

static enum pw_status parse_number(const struct pw_option *row, const char *name, const char *text, double *out,
                                   struct pw_error *err)
{
    if (!*text || strspn(text, "0123456789.eE+-") != strlen(text) || *text == '+')
        return fail_syntax(row, name, text, err);
    char *end;
    double value = pw_c_strtod(text, &end);
    if (end == text || *end)
        return fail_syntax(row, name, text, err);
    if (!isfinite(value) || value < row->min || (row->max != 0 && value > row->max))
        return fail_range(row, name, text, err);
    *out = value + 0.0; /* -0 becomes 0 */
    return PW_OK;
}

static enum pw_status parse_bool(const char *name, const char *text, bool *out, struct pw_error *err)
{
    static const char *const words[2][4] = {{"off", "false", "no", "0"}, {"on", "true", "yes", "1"}};
    for (int value = 0; value < 2; value++)
        for (int i = 0; i < 4; i++)
            if (!strcmp(text, words[value][i])) {
                *out = value;
                return PW_OK;
            }
    if (!*text)
        return pw_fail(err, PW_USER_ERROR, "%s has no value; give on or off", name);
    return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is neither on nor off", name, text);
}

const struct pw_policy_family *pw_option_family(const struct pw_option *row)
{
    return row->type == PW_OPTION_POLICY || row->type == PW_OPTION_POLICY_OR_SAME ? row->choices : NULL;
}

static bool has_choices(const struct pw_option *row)
{
    return row->type == PW_OPTION_CHOICE || pw_option_family(row);
}

const char *pw_option_choice(const struct pw_option *row, uint32_t index)
{
    if (row->type == PW_OPTION_CHOICE)
        return ((const char *const *)row->choices)[index];
    if (row->type == PW_OPTION_POLICY_OR_SAME && !index--)
        return "same";
    const struct pw_policy *policy = pw_option_family(row)->policies[index];
    return policy ? policy->name : NULL;
}

static void list_choices(const struct pw_option *row, char *out, size_t capacity)
{
    size_t used = 0;
    *out = '\0';
    for (uint32_t i = 0; pw_option_choice(row, i) && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i ? ", " : "", pw_option_choice(row, i));
}

static const char *nearest_choice(const struct pw_option *row, const char *text)
{
    enum { CAPACITY = 64 };
    const char *names[CAPACITY + 1];
    uint32_t count = 0;
    while (count < CAPACITY && (names[count] = pw_option_choice(row, count)))
        count++;
    names[count] = NULL;
    return pw_suggest(text, names);
}

static enum pw_status parse_choice(const struct pw_option *row, const char *name, const char *text, uint32_t *out,
                                   struct pw_error *err)
{
    for (uint32_t i = 0; pw_option_choice(row, i); i++)
        if (!strcmp(text, pw_option_choice(row, i))) {
            *out = i;
            return PW_OK;
        }
    char list[512];
    list_choices(row, list, sizeof list);
    if (!*text)
        return pw_fail(err, PW_USER_ERROR, "%s has no value; give one of %s", name, list);
    const char *nearest = nearest_choice(row, text);
    if (nearest)
        return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is not one of %s; did you mean '%s'?", name, text, list,
                       nearest);
    return pw_fail(err, PW_USER_ERROR, "%s = " QUOTED " is not one of %s", name, text, list);
}

static enum pw_status parse_text(const char *name, const char *text, char *out, struct pw_error *err)
{
    if (strnlen(text, PW_OPTION_TEXT_CAPACITY) == PW_OPTION_TEXT_CAPACITY)
        return pw_fail(err, PW_USER_ERROR, "%s is longer than %d bytes", name, PW_OPTION_TEXT_CAPACITY - 1);
    for (const char *s = text; *s;) { /* results are JSON */
        size_t length = pw_utf8_printable_length(s);
        if (!length)
            return pw_fail(err, PW_USER_ERROR, "%s holds a control character or is not UTF-8", name);
        s += length;
    }
    strncpy(out, text, PW_OPTION_TEXT_CAPACITY);
    return PW_OK;
}

enum pw_status pw_option_parse_as(const struct pw_option *row, const char *name, const char *text, uint32_t clock_mhz,
                                  void *target, struct pw_error *err)
{
    uint64_t value;
    enum pw_status status;
    switch (row->type) {
    case PW_OPTION_BOOL:
        return parse_bool(name, text, target, err);
    case PW_OPTION_COUNT:
    case PW_OPTION_CYCLES:
        status = parse_integer(row, name, text, clock_mhz, &value, err);
        if (status == PW_OK)
            *(uint32_t *)target = (uint32_t)value;
        return status;
    case PW_OPTION_BYTES:
        return parse_integer(row, name, text, clock_mhz, target, err);
    case PW_OPTION_NUMBER:
        return parse_number(row, name, text, target, err);
    case PW_OPTION_CHOICE:
    case PW_OPTION_POLICY:
    case PW_OPTION_POLICY_OR_SAME:
        return parse_choice(row, name, text, target, err);
    case PW_OPTION_TEXT:
        return parse_text(name, text, target, err);
    }
    return pw_fail(err, PW_FAILED, "option %s has an unknown type", name);
}

enum pw_status pw_option_parse(const struct pw_option *row, const char *text, uint32_t clock_mhz, void *target,
                               struct pw_error *err)
{
    return pw_option_parse_as(row, row->name, text, clock_mhz, target, err);
}

void pw_option_format(const struct pw_option *row, const void *target, char *out, size_t capacity)
{
    switch (row->type) {
    case PW_OPTION_BOOL:
        snprintf(out, capacity, "%s", *(const bool *)target ? "on" : "off");
        break;
    case PW_OPTION_COUNT:
    case PW_OPTION_CYCLES:
        format_integer(row, *(const uint32_t *)target, out, capacity);
        break;
    case PW_OPTION_BYTES:
        format_integer(row, *(const uint64_t *)target, out, capacity);
        break;
    case PW_OPTION_NUMBER:
        format_number(*(const double *)target, out, capacity);
        break;
    case PW_OPTION_CHOICE:
    case PW_OPTION_POLICY:
    case PW_OPTION_POLICY_OR_SAME:
        snprintf(out, capacity, "%s", pw_option_choice(row, *(const uint32_t *)target));
        break;
    case PW_OPTION_TEXT:
        snprintf(out, capacity, "%s", (const char *)target);
        break;
    }
}

void pw_option_describe_range(const struct pw_option *row, char *out, size_t capacity)
{
    out[0] = 0;
    if (row->type == PW_OPTION_BOOL) {
        snprintf(out, capacity, "on, off");
    } else if (has_choices(row)) {
        list_choices(row, out, capacity);
    } else if (row->max > 0) {
        char range[80];
        format_range(row, range, sizeof range);
        snprintf(out, capacity, "%s%s", range, row->power_of_two ? ", power of two" : "");
    }
}
