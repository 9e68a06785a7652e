/* A text that grows: what every format of a result is written into before any byte of it leaves the program.
 *
 * Results are written whole or not at all, so they are put together in memory first. Running out of memory is
 * remembered and reported once, by pw_text_finish, instead of being checked after every append. */
#ifndef PW_EXP_TEXT_H
#define PW_EXP_TEXT_H

#include "sim/plural.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_text {
    char *bytes; /* zero-terminated once something was appended */
    size_t length, capacity;
    bool failed;
    /* For what people read, set by who shows it, since the library knows no terminal: */
    size_t width; /* columns that lines are wrapped at; 0: tables are not wrapped, prose at PW_PROSE_COLUMNS */
    bool colour;
};

enum { PW_PROSE_COLUMNS = 80 };

void pw_text_free(struct pw_text *t);

void pw_text_append(struct pw_text *t, const char *bytes, size_t length);
void pw_text_add(struct pw_text *t, const char *string);
void pw_text_fill(struct pw_text *t, char c, size_t count);
void pw_text_print(struct pw_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The shortest decimal that reads back as the same double, with a point in every locale; "null" when not finite. */
void pw_text_real(struct pw_text *t, double value);

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void pw_text_json_string(struct pw_text *t, const char *string);

/* A CSV field, quoted where it has to be (RFC 4180). */
void pw_text_csv_field(struct pw_text *t, const char *string);

/* A string from a file, fit for a terminal: control characters become '?'. */
void pw_text_printable(struct pw_text *t, const char *string);

/* PW_OK, or PW_FAILED when memory ran out on the way. */
enum pw_status pw_text_finish(const struct pw_text *t, struct pw_error *err);

/* Columns a string, or so many bytes of it, takes on a terminal: its UTF-8 code points, colours left out. */
size_t pw_text_columns(const char *string);
size_t pw_text_columns_of(const char *bytes, size_t length);

/* How many bytes of `text` go on a line of `width` columns: whole words, and at least one however long it is. */
size_t pw_text_line(const char *text, size_t width);

/* Appends each line of `lines` wrapped by words: it begins after `indent` columns, and goes on after `hang`. A line
 * that has blanks before it keeps them, on all its lines. */
void pw_text_prose(struct pw_text *t, size_t indent, size_t hang, const char *lines);

enum { PW_NUMBER_CAPACITY = 48 };

/* "1,234,567" */
void pw_format_integer(char out[PW_NUMBER_CAPACITY], uint64_t value);
/* "1,234.57", three significant digits below 1: "0.960" */
void pw_format_real(char out[PW_NUMBER_CAPACITY], double value);
/* "1,234.568" with so many decimals */
void pw_format_fixed(char out[PW_NUMBER_CAPACITY], double value, int decimals);
/* How many decimals tell all these values, which are shown together, with three digits or more; NANs do not count. */
int pw_decimals(const double *values, size_t count);
/* "1.50 MiB" */
void pw_format_bytes(char out[PW_NUMBER_CAPACITY], double value);
/* "1.23M", for speeds and counts where three digits are enough */
void pw_format_short(char out[PW_NUMBER_CAPACITY], double value);

#endif
