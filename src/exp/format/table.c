/* The cells of a table. They are kept one after the other in one buffer, each ended by a zero byte; a heading is a row
 * of one cell that starts with PW_TABLE_HEADING. How they are laid out is in table_layout.c. */
#include "exp/format/table.h"

#include "exp/format/kernel_name.h"
#include "sim/c_locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_CAPACITY = 512 };

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

void pw_table_kernel(struct pw_table *t, const char *name, bool full)
{
    char brief[PW_KERNEL_NAME_SHORT];
    char *whole = full ? malloc(PW_KERNEL_NAME_FULL) : NULL;
    if (whole)
        pw_kernel_name_full(name, whole, PW_KERNEL_NAME_FULL);
    else
        pw_kernel_name_short(name, brief, sizeof brief);
    t->bytes.failed |= full && !whole;
    pw_table_cell(t, whole ? whole : brief);
    free(whole);
}

void pw_table_print(struct pw_table *t, const char *format, ...)
{
    char cell[CELL_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(cell, sizeof cell, format, arguments);
    va_end(arguments);
    pw_table_cell(t, cell);
}

void pw_table_integer(struct pw_table *t, uint64_t value)
{
    char number[PW_NUMBER_CAPACITY];
    pw_format_integer(number, value);
    pw_table_cell(t, number);
}

void pw_table_bytes(struct pw_table *t, uint64_t value)
{
    char number[PW_NUMBER_CAPACITY];
    pw_format_bytes(number, (double)value);
    pw_table_cell(t, number);
}

void pw_table_dimensions(struct pw_table *t, uint32_t x, uint32_t y, uint32_t z)
{
    if (z > 1)
        pw_table_print(t, "%u x %u x %u", x, y, z);
    else if (y > 1)
        pw_table_print(t, "%u x %u", x, y);
    else
        pw_table_print(t, "%u", x);
}

void pw_table_heading(struct pw_table *t, const char *string)
{
    pw_text_fill(&t->bytes, PW_TABLE_HEADING, 1);
    pw_table_cell(t, string);
}
