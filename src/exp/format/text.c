/* Growing text, and how numbers and strings are written in the formats that results have. */
#include "exp/format/text.h"

#include "sim/c_locale.h"
#include "sim/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pw_text_free(struct pw_text *t)
{
    free(t->bytes);
    *t = (struct pw_text){0};
}

static bool reserve(struct pw_text *t, size_t more)
{
    if (t->failed)
        return false;
    if (more < t->capacity - t->length)
        return true;
    size_t capacity = t->capacity ? t->capacity : 4096;
    while (capacity - t->length <= more) {
        if (capacity > SIZE_MAX / 2) {
            t->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes) {
        t->failed = true;
        return false;
    }
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

void pw_text_append(struct pw_text *t, const char *bytes, size_t length)
{
    if (!reserve(t, length))
        return;
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
    t->bytes[t->length] = '\0';
}

void pw_text_add(struct pw_text *t, const char *string)
{
    pw_text_append(t, string, strlen(string));
}

void pw_text_fill(struct pw_text *t, char c, size_t count)
{
    if (!reserve(t, count))
        return;
    memset(t->bytes + t->length, c, count);
    t->length += count;
    t->bytes[t->length] = '\0';
}

void pw_text_print(struct pw_text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = pw_c_vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        t->failed = true;
    else if (reserve(t, (size_t)length)) {
        pw_c_vsnprintf(t->bytes + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

void pw_text_real(struct pw_text *t, double value)
{
    if (!isfinite(value)) {
        pw_text_add(t, "null");
        return;
    }
    char number[PW_NUMBER_CAPACITY];
    for (int digits = 15; digits <= 17; digits++) {
        pw_c_snprintf(number, sizeof number, "%.*g", digits, value);
        if (pw_c_strtod(number, NULL) == value)
            break;
    }
    pw_text_add(t, number);
}

void pw_text_json_string(struct pw_text *t, const char *string)
{
    pw_text_add(t, "\"");
    for (const char *s = string; *s;) {
        size_t length = pw_utf8_length(s);
        if (length == 0) {
            pw_text_add(t, "\\ufffd");
            length = 1;
        } else if (*s == '"' || *s == '\\')
            pw_text_print(t, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            pw_text_print(t, "\\u%04x", *s);
        else
            pw_text_append(t, s, length);
        s += length;
    }
    pw_text_add(t, "\"");
}

void pw_text_csv_field(struct pw_text *t, const char *string)
{
    if (!string[strcspn(string, ",\"")]) {
        pw_text_printable(t, string);
        return;
    }
    struct pw_text printable = {0};
    pw_text_printable(&printable, string);
    t->failed |= printable.failed;
    pw_text_add(t, "\"");
    for (size_t i = 0; i < printable.length; i++) {
        if (printable.bytes[i] == '"')
            pw_text_add(t, "\"");
        pw_text_append(t, &printable.bytes[i], 1);
    }
    pw_text_add(t, "\"");
    pw_text_free(&printable);
}

void pw_text_printable(struct pw_text *t, const char *string)
{
    for (const char *s = string; *s;) {
        size_t length = pw_utf8_printable_length(s), bytes = pw_utf8_length(s);
        pw_text_append(t, length ? s : "?", length ? length : 1);
        s += bytes ? bytes : 1;
    }
}

enum pw_status pw_text_finish(const struct pw_text *t, struct pw_error *err)
{
    return t->failed ? pw_fail_memory(err, "the output") : PW_OK;
}

/* Puts commas between groups of three digits of `digits` (no sign). */
static void group_digits(char *out, const char *digits)
{
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        *out++ = digits[i];
        if (i + 1 < length && (length - i - 1) % 3 == 0)
            *out++ = ',';
    }
    *out = '\0';
}

void pw_format_integer(char out[PW_NUMBER_CAPACITY], uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    group_digits(out, digits);
}

void pw_format_real(char out[PW_NUMBER_CAPACITY], double value)
{
    double size = fabs(value);
    if (!isfinite(value) || size >= 1e15 || size < 1000) {
        pw_c_snprintf(out, PW_NUMBER_CAPACITY, size > 0 && size < 1 ? "%#.3g" : size < 1000 ? "%.2f" : "%.6g", value);
        return;
    }
    /* Rounded to hundredths as one integer, so that the carry reaches the grouped part. */
    uint64_t hundredths = (uint64_t)(size * 100 + 0.5);
    char whole[PW_NUMBER_CAPACITY];
    pw_format_integer(whole, hundredths / 100);
    snprintf(out, PW_NUMBER_CAPACITY, "%s%.30s.%02u", value < 0 ? "-" : "", whole, (unsigned)(hundredths % 100));
}

void pw_format_bytes(char out[PW_NUMBER_CAPACITY], double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    pw_c_snprintf(out, PW_NUMBER_CAPACITY, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

void pw_format_short(char out[PW_NUMBER_CAPACITY], double value)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T", "P"};
    size_t suffix = 0;
    /* 999.5 would print as 1000 with no digits after the point. */
    while (value >= 999.5 && suffix + 1 < sizeof suffixes / sizeof *suffixes) {
        value /= 1000;
        suffix++;
    }
    int digits = suffix == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    pw_c_snprintf(out, PW_NUMBER_CAPACITY, "%.*f%s", digits, value, suffixes[suffix]);
}
