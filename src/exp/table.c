/* Aligned tables. Cells are kept one after the other in one buffer, each ended by a zero byte; a heading is a row of
 * one cell that starts with HEADING. Trailing blanks are never written. */
#include "exp/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADING = '\n', CELL_CAPACITY = 512 };

static void end_cell(struct pw_table *t)
{
    pw_text_append(&t->bytes, "", 1);
    t->cells++;
}

void pw_table_cell(struct pw_table *t, const char *string)
{
    pw_text_add(&t->bytes, string);
    end_cell(t);
}

void pw_table_cell_printable(struct pw_table *t, const char *string)
{
    pw_text_printable(&t->bytes, string);
    end_cell(t);
}

void pw_table_print(struct pw_table *t, const char *format, ...)
{
    char cell[CELL_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cell, sizeof cell, format, arguments);
    va_end(arguments);
    pw_table_cell(t, cell);
}

void pw_table_heading(struct pw_table *t, const char *string)
{
    pw_text_fill(&t->bytes, HEADING, 1);
    pw_table_cell(t, string);
}

static char alignment(const struct pw_table *t, size_t column)
{
    size_t given = strlen(t->align);
    return t->align[column < given ? column : given - 1];
}

static void measure(const struct pw_table *t, size_t widths[PW_TABLE_MAX_COLUMNS])
{
    memset(widths, 0, PW_TABLE_MAX_COLUMNS * sizeof *widths);
    size_t column = 0;
    const char *cell = t->bytes.bytes;
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        if (column == 0 && *cell == HEADING)
            continue;
        size_t width = pw_text_columns(cell);
        if (width > widths[column])
            widths[column] = width;
        column = (column + 1) % t->columns;
    }
}

static void write_cell(const struct pw_table *t, const char *cell, size_t column, size_t width, size_t *blanks,
                       struct pw_text *out)
{
    size_t missing = width - pw_text_columns(cell);
    bool right = alignment(t, column) == 'r';
    size_t before = *blanks + (column ? 2 : 0) + (right ? missing : 0);
    *blanks = before;
    if (!*cell) {
        *blanks += right ? 0 : missing;
        return;
    }
    pw_text_fill(out, ' ', before);
    pw_text_add(out, cell);
    *blanks = right ? 0 : missing;
}

void pw_table_finish(struct pw_table *t, struct pw_text *out)
{
    if (t->bytes.failed)
        out->failed = true;
    if (!t->cells || out->failed)
        goto out;
    size_t widths[PW_TABLE_MAX_COLUMNS];
    measure(t, widths);
    size_t column = 0, blanks = 0;
    const char *cell = t->bytes.bytes;
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
        if (column == 0 && *cell == HEADING) {
            pw_text_print(out, "%s%s\n", i ? "\n" : "", cell + 1);
            continue;
        }
        if (column == 0) {
            pw_text_add(out, t->indent ? t->indent : "");
            blanks = 0;
        }
        write_cell(t, cell, column, widths[column], &blanks, out);
        column = (column + 1) % t->columns;
        if (column == 0)
            pw_text_add(out, "\n");
    }
out:
    pw_text_free(&t->bytes);
    t->cells = 0;
}
