/* Aligned tables for people: cells are added row by row, widths are found at the end.
 *
 * The first row is the heading of the columns where there is one. A last column that is left-aligned and wide is text,
 * and is the first to be wrapped where the table is too wide. */
#ifndef PW_EXP_TABLE_H
#define PW_EXP_TABLE_H

#include "exp/format/text.h"

enum { PW_TABLE_MAX_COLUMNS = 96, PW_TABLE_HEADING = '\n' };

struct pw_table {
    size_t columns; /* at most PW_TABLE_MAX_COLUMNS */
    /* One letter per column: 'l' left, 'r' right; the last letter goes on for the columns after it. */
    const char *align;
    const char *indent; /* before every row that is no heading; NULL: nothing */
    size_t cells;
    struct pw_text bytes;
};

void pw_table_cell(struct pw_table *t, const char *string);
/* A cell from a file that is not trusted. */
void pw_table_cell_printable(struct pw_table *t, const char *string);
/* The name of a kernel, short or in full (kernel_name.h). */
void pw_table_kernel(struct pw_table *t, const char *name, bool full);
/* "1,234", "1.50 MiB", "8 x 8": only as many dimensions as are more than 1. */
void pw_table_integer(struct pw_table *t, uint64_t value);
void pw_table_bytes(struct pw_table *t, uint64_t value);
void pw_table_dimensions(struct pw_table *t, uint32_t x, uint32_t y, uint32_t z);
void pw_table_print(struct pw_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line of its own over all columns, after an empty line unless it is the first. */
void pw_table_heading(struct pw_table *t, const char *string);

/* Appends the table to `out`, no wider than out->width where that is not 0, and empties it. */
void pw_table_finish(struct pw_table *t, struct pw_text *out);

#endif
