/* A line of a figure's table that stands for all values of a sweep: "Entries *: speed@l1-* / speed@ideal" is a column
 * for each of l1-32, l1-64, …, with the value in the place of the heading's '*' or, where it has none, behind it. Lines
 * are written out as text and then read like any other. Sweeps that one line names together go on together, and so need
 * the same values. */
#include "exp/figure/figure_internal.h"
#include "exp/format/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The next "@NAME-*" of an expression: where NAME begins, and its length; NULL when there is none. */
static const char *next_sweep(const char *text, size_t *out_length)
{
    for (const char *star; (star = strstr(text, "-*")); text = star + 2) {
        const char *name = star;
        while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_' || name[-1] == '-'))
            name--;
        const char *at = name;
        while (at > text && at[-1] == ' ')
            at--;
        if (name < star && at > text && at[-1] == '@') {
            *out_length = (size_t)(star - name);
            return name;
        }
    }
    return NULL;
}

/* The values of a sweep, "v1 v2 …" of "OPTION v1 v2 …". */
static enum pw_status find_values(const struct figure_reader *r, const struct figure_entry *e, const char *name,
                                  const char **out)
{
    const struct figure_entry *sweep = pw_figure_find(r, SECTION_VARIANTS, name, "sweep");
    if (!sweep)
        return pw_figure_refuse(r, e->line, "'%s-*' stands for the values of a sweep, and variant '%s' has none", name,
                                name);
    *out = sweep->value + strcspn(sweep->value, " ");
    *out += strspn(*out, " ");
    return PW_OK;
}

/* Finds the values that a line goes through; NULL when it is a plain one. */
static enum pw_status values_of(const struct figure_reader *r, const struct figure_entry *e, const char **out)
{
    size_t length;
    enum pw_status status = PW_OK;
    *out = NULL;
    for (const char *at = e->value; status == PW_OK && (at = next_sweep(at, &length)); at += length) {
        const char *values = "";
        char *name = strndup(at, length);
        status = name ? find_values(r, e, name, &values) : pw_figure_no_memory(r);
        if (status == PW_OK && *out && strcmp(*out, values) != 0)
            status =
                pw_figure_refuse(r, e->line, "'%s-*' has other values than the sweep before it in this line", name);
        else if (status == PW_OK)
            *out = values;
        free(name);
    }
    return status;
}

static void write_heading(const char *heading, const char *value, struct pw_text *out)
{
    bool placed = false;
    for (; *heading; heading++) {
        if (*heading == '*')
            pw_text_add(out, value);
        else
            pw_text_append(out, heading, 1);
        placed |= *heading == '*';
    }
    if (!placed)
        pw_text_print(out, " %s", value);
}

static void write_expression(const char *text, const char *value, struct pw_text *out)
{
    size_t length;
    for (const char *name; (name = next_sweep(text, &length)); text = name + length + 2) {
        pw_text_append(out, text, (size_t)(name - text) + length + 1);
        pw_text_add(out, value);
    }
    pw_text_add(out, text);
}

static enum pw_status add_for_value(const struct figure_reader *r, const struct figure_entry *e,
                                    const struct pw_expression_names *names, const char *value)
{
    struct pw_text heading = {0}, expression = {0};
    write_heading(e->name, value, &heading);
    write_expression(e->value, value, &expression);
    struct figure_entry line = {
        .section = e->section, .name = heading.bytes, .value = expression.bytes, .line = e->line};
    bool written = !heading.failed && !expression.failed;
    enum pw_status status = written ? pw_figure_add_column(r, &line, names) : pw_figure_no_memory(r);
    pw_text_free(&heading);
    pw_text_free(&expression);
    return status;
}

enum pw_status pw_figure_add_columns(const struct figure_reader *r, const struct figure_entry *e,
                                     const struct pw_expression_names *names)
{
    const char *values;
    enum pw_status status = values_of(r, e, &values);
    if (status != PW_OK || !values)
        return status == PW_OK ? pw_figure_add_column(r, e, names) : status;
    char *copy = strdup(values), *rest = NULL;
    if (!copy)
        return pw_figure_no_memory(r);
    for (const char *value = strtok_r(copy, " ", &rest); value && status == PW_OK; value = strtok_r(NULL, " ", &rest))
        status = add_for_value(r, e, names, value);
    free(copy);
    return status;
}
