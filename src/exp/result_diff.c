/* What differs between two results: options, then numbers with their relative change.
 *
 * The files are not trusted: they are read up to a limit, parsed by jansson (which bounds depth), and every member is
 * checked for its type before it is looked at; strings from them reach the terminal without control characters. What
 * the host did and which version ran do not make results different; the version is shown. */
#include "exp/result.h"
#include "exp/table.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A result of a million intervals does not fit; its parsed form would need some gigabytes. */
enum { FILE_LIMIT = 64 << 20 };

struct comparison {
    const json_t *a, *b;
    struct pw_table table;
    bool section_open, relative; /* relative: numbers of this section are measured, so their change means something */
    const char *section;
    size_t same, different;
};

static enum pw_status read_file(const char *path, struct pw_text *out, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    static const size_t step = 1 << 16;
    char *block = malloc(step);
    if (!block)
        out->failed = true;
    while (!out->failed) {
        ssize_t length = read(fd, block, step);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            status = pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %s", path, strerror(errno));
            break;
        }
        if (length == 0)
            break;
        pw_text_append(out, block, (size_t)length);
        if (out->length > FILE_LIMIT) {
            status = pw_fail(err, PW_USER_ERROR, "%s: is over %d MiB, too large to compare", path, FILE_LIMIT >> 20);
            break;
        }
    }
    free(block);
    close(fd);
    return status == PW_OK ? pw_text_finish(out, err) : status;
}

static enum pw_status check_map(const char *path, const json_t *root, const char *member, bool strings,
                                struct pw_error *err)
{
    const char *key;
    json_t *value;
    const json_t *map = json_object_get(root, member);
    if (!json_is_object(map))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no object \"%s\"", path, member);
    json_object_foreach((json_t *)map, key, value)
    {
        if (strings ? !json_is_string(value) : !json_is_number(value) && !json_is_null(value))
            return pw_fail(err, PW_USER_ERROR, "%s: a member of \"%s\" is no %s", path, member,
                           strings ? "string" : "number");
    }
    return PW_OK;
}

static enum pw_status check_array(const char *path, const json_t *root, const char *member, bool required,
                                  struct pw_error *err)
{
    const json_t *array = json_object_get(root, member);
    if (!array && !required)
        return PW_OK;
    if (!json_is_array(array))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no array \"%s\"", path, member);
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!json_is_object(json_array_get(array, i)))
            return pw_fail(err, PW_USER_ERROR, "%s: a row of \"%s\" is no object", path, member);
    return PW_OK;
}

static enum pw_status check_result(const char *path, const json_t *root, struct pw_error *err)
{
    static const char *const strings[] = {"version", "machine", "design"};
    static const char *const numbers[] = {"seed", "cycles", "nanoseconds"};
    const json_t *schema = json_object_get(root, "schema");
    if (!json_is_integer(schema))
        return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no \"schema\"", path);
    if (json_integer_value(schema) != PW_RESULT_SCHEMA)
        return pw_fail(err, PW_USER_ERROR, "%s: has schema %lld; this version reads schema %d", path,
                       (long long)json_integer_value(schema), PW_RESULT_SCHEMA);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!json_is_string(json_object_get(root, strings[i])))
            return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no string \"%s\"", path,
                           strings[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!json_is_number(json_object_get(root, numbers[i])))
            return pw_fail(err, PW_USER_ERROR, "%s: is no result of pagewalk run: it has no number \"%s\"", path,
                           numbers[i]);
    enum pw_status status = check_map(path, root, "options", true, err);
    status = status == PW_OK ? check_map(path, root, "metrics", false, err) : status;
    status = status == PW_OK ? check_array(path, root, "apps", true, err) : status;
    status = status == PW_OK ? check_array(path, root, "allocations", false, err) : status;
    status = status == PW_OK ? check_array(path, root, "identities", true, err) : status;
    status = status == PW_OK ? check_array(path, root, "kernels", false, err) : status;
    return status == PW_OK ? check_array(path, root, "intervals", false, err) : status;
}

static enum pw_status load(const char *path, json_t **out, struct pw_error *err)
{
    struct pw_text text = {0};
    json_error_t problem;
    enum pw_status status = read_file(path, &text, err);
    if (status != PW_OK)
        goto out;
    *out = json_loadb(text.bytes ? text.bytes : "", text.length, JSON_REJECT_DUPLICATES, &problem);
    if (!*out) {
        struct pw_text reason = {0};
        pw_text_printable(&reason, problem.text);
        status = pw_fail(err, PW_USER_ERROR, "%s:%d: is not JSON: %s", path, problem.line > 0 ? problem.line : 1,
                         reason.bytes ? reason.bytes : "");
        pw_text_free(&reason);
        goto out;
    }
    status = check_result(path, *out, err);
out:
    pw_text_free(&text);
    return status;
}

static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b) && !(json_is_integer(a) && json_is_integer(b)))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static void value_cell(struct pw_table *t, const json_t *value)
{
    struct pw_text number = {0};
    if (!value)
        pw_table_cell(t, "-");
    else if (json_is_string(value))
        pw_table_cell_printable(t, json_string_value(value));
    else if (json_is_integer(value))
        pw_table_print(t, "%lld", (long long)json_integer_value(value));
    else if (json_is_boolean(value))
        pw_table_cell(t, json_is_true(value) ? "yes" : "no");
    else {
        pw_text_real(&number, json_is_real(value) ? json_real_value(value) : NAN);
        pw_table_cell(t, number.bytes ? number.bytes : "");
    }
    pw_text_free(&number);
}

static void change_cell(struct pw_table *t, const json_t *a, const json_t *b, bool relative)
{
    if (!relative || !json_is_number(a) || !json_is_number(b)) {
        pw_table_cell(t, "");
        return;
    }
    double from = json_number_value(a), to = json_number_value(b);
    if (from == 0)
        pw_table_cell(t, "from 0");
    else
        pw_table_print(t, "%+.*f%%", fabs(to - from) < fabs(from) * 0.0001 ? 6 : 2, 100 * (to - from) / fabs(from));
}

/* The section's heading comes before its first row. */
static void count_difference(struct comparison *c)
{
    c->different++;
    if (!c->section_open)
        pw_table_heading(&c->table, c->section);
    c->section_open = true;
}

static void compare(struct comparison *c, const char *name, const json_t *a, const json_t *b)
{
    if (same_value(a, b)) {
        c->same++;
        return;
    }
    count_difference(c);
    pw_table_cell_printable(&c->table, name);
    value_cell(&c->table, a);
    value_cell(&c->table, b);
    change_cell(&c->table, a, b, c->relative);
}

static void open_section(struct comparison *c, const char *title, bool relative)
{
    c->relative = relative;
    c->section = title;
    c->section_open = false;
}

/* Every key of `a`, then those that only `b` has; `prefix` goes before the names. */
static void compare_maps(struct comparison *c, const char *prefix, const json_t *a, const json_t *b)
{
    const json_t *maps[] = {a, b};
    for (int pass = 0; pass < 2; pass++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)maps[pass], key, value)
        {
            if (pass && json_object_get(a, key))
                continue;
            struct pw_text name = {0};
            pw_text_add(&name, prefix);
            pw_text_add(&name, key);
            if (name.failed)
                c->table.bytes.failed = true;
            else
                compare(c, name.bytes, json_object_get(a, key), json_object_get(b, key));
            pw_text_free(&name);
        }
    }
}

static void compare_rows(struct comparison *c, const char *member, const char *label)
{
    const json_t *a = json_object_get(c->a, member), *b = json_object_get(c->b, member);
    size_t rows = json_array_size(a) > json_array_size(b) ? json_array_size(a) : json_array_size(b);
    for (size_t i = 0; i < rows; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "%s%zu.", label, i);
        compare_maps(c, prefix, json_array_get(a, i), json_array_get(b, i));
    }
}

/* Kernels and intervals are too many to list: how many rows differ. */
static void compare_windows(struct comparison *c, const char *member)
{
    const json_t *a = json_object_get(c->a, member), *b = json_object_get(c->b, member);
    size_t rows_a = json_array_size(a), rows_b = json_array_size(b), differing = 0;
    size_t rows = rows_a > rows_b ? rows_a : rows_b;
    for (size_t i = 0; i < rows; i++)
        differing += !json_equal(json_array_get(a, i), json_array_get(b, i));
    if (!differing) {
        c->same += rows;
        return;
    }
    count_difference(c);
    pw_table_print(&c->table, "%s (%zu rows differ)", member, differing);
    pw_table_print(&c->table, "%zu rows", rows_a);
    pw_table_print(&c->table, "%zu rows", rows_b);
    pw_table_cell(&c->table, "");
}

static void compare_all(struct comparison *c)
{
    static const char *const members[] = {"seed", "machine", "design"};
    open_section(c, "Run", false);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        compare(c, members[i], json_object_get(c->a, members[i]), json_object_get(c->b, members[i]));
    size_t same = c->same, different = c->different;
    compare(c, "version", json_object_get(c->a, "version"), json_object_get(c->b, "version"));
    c->same = same;
    c->different = different;
    open_section(c, "Options", false);
    compare_maps(c, "", json_object_get(c->a, "options"), json_object_get(c->b, "options"));
    open_section(c, "Results", true);
    compare(c, "cycles", json_object_get(c->a, "cycles"), json_object_get(c->b, "cycles"));
    compare(c, "nanoseconds", json_object_get(c->a, "nanoseconds"), json_object_get(c->b, "nanoseconds"));
    compare_rows(c, "apps", "app");
    compare_rows(c, "allocations", "allocation");
    compare_windows(c, "kernels");
    compare_windows(c, "intervals");
    open_section(c, "Metrics", true);
    compare_maps(c, "", json_object_get(c->a, "metrics"), json_object_get(c->b, "metrics"));
    open_section(c, "Identities", false);
    compare_rows(c, "identities", "identity");
}

enum pw_status pw_result_diff(const char *path_a, const char *path_b, struct pw_text *out, bool *out_differ,
                              struct pw_error *err)
{
    json_t *a = NULL, *b = NULL;
    enum pw_status status = load(path_a, &a, err);
    if (status == PW_OK)
        status = load(path_b, &b, err);
    if (status != PW_OK)
        goto out;
    struct comparison c = {.a = a, .b = b, .table = {.columns = 4, .align = "lr", .indent = "  "}};
    pw_table_cell(&c.table, "");
    pw_table_cell(&c.table, "A");
    pw_table_cell(&c.table, "B");
    pw_table_cell(&c.table, "change");
    size_t headings = c.table.cells;
    compare_all(&c);
    if (c.table.cells > headings)
        pw_table_finish(&c.table, out);
    pw_text_free(&c.table.bytes);
    pw_text_print(out, "%s%zu different, %zu the same\n", out->length ? "\n" : "", c.different, c.same);
    *out_differ = c.different > 0;
    status = pw_text_finish(out, err);
out:
    json_decref(a);
    json_decref(b);
    return status;
}
