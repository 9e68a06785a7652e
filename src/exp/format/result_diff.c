/* Differences between results: how they were made, options, then numbers with their change against the first.
 *
 * Strings of the files reach the terminal without control characters. What the host did and which version ran do not
 * make results different; versions and commands that differ are shown. Numbers are as short as the tables' unless they
 * would look alike and are not. */
#include "exp/format/kernel_name.h"
#include "exp/format/result.h"
#include "exp/format/result_load.h"
#include "exp/format/table.h"
#include "sim/c_locale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FILES = PW_TABLE_MAX_COLUMNS / 2 };

struct comparison {
    size_t count;
    json_t *files[MOST_FILES];
    struct pw_table table;
    bool section_open, relative; /* relative: numbers of this section are measured, so their change means something */
    const char *section;
    size_t same, different;
};

/* The values of one row, a column each; NULL where a file has none. */
typedef const json_t *row[MOST_FILES];

static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b) && !(json_is_integer(a) && json_is_integer(b)))
        return json_number_value(a) == json_number_value(b);
    return a == b || json_equal(a, b);
}

static bool all_same(const struct comparison *c, const row values)
{
    for (size_t i = 1; i < c->count; i++)
        if (!same_value(values[0], values[i]))
            return false;
    return true;
}

static void format_number(char out[PW_NUMBER_CAPACITY], const json_t *value, int digits)
{
    double real = json_number_value(value);
    json_int_t integer = json_integer_value(value);
    if (json_is_integer(value)) {
        out[0] = '-';
        pw_format_integer(out + (integer < 0), integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer);
    } else if (!digits) {
        pw_format_real(out, real);
    } else {
        pw_c_snprintf(out, PW_NUMBER_CAPACITY, "%.*g", digits, real);
    }
}

/* The fewest significant digits with which numbers of a row that differ look different; 0: those of the tables. */
static int digits_needed(const struct comparison *c, const row values)
{
    static const int choices[] = {0, 6, 9, 12, 15, 17};
    size_t level = 0;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < i; k++) {
            char a[PW_NUMBER_CAPACITY], b[PW_NUMBER_CAPACITY];
            if (!json_is_number(values[i]) || !json_is_number(values[k]) || same_value(values[i], values[k]))
                continue;
            for (; level + 1 < sizeof choices / sizeof *choices; level++) {
                format_number(a, values[i], choices[level]);
                format_number(b, values[k], choices[level]);
                if (strcmp(a, b) != 0)
                    break;
            }
        }
    return choices[level];
}

static void value_cell(struct comparison *c, const json_t *value, int digits)
{
    struct pw_table *t = &c->table;
    char number[PW_NUMBER_CAPACITY];
    if (json_is_string(value))
        pw_table_cell_printable(t, json_string_value(value));
    else if (json_is_integer(value) && !c->relative) /* a number that was given: as it was typed */
        pw_table_print(t, "%lld", (long long)json_integer_value(value));
    else if (json_is_number(value)) {
        format_number(number, value, digits);
        pw_table_cell(t, number);
    } else if (json_is_boolean(value))
        pw_table_cell(t, json_is_true(value) ? "yes" : "no");
    else
        pw_table_cell(t, value ? "null" : "-");
}

static void change_cell(struct comparison *c, const json_t *a, const json_t *b)
{
    if (!c->relative || !json_is_number(a) || !json_is_number(b)) {
        pw_table_cell(&c->table, "");
        return;
    }
    double from = json_number_value(a), to = json_number_value(b);
    char number[PW_NUMBER_CAPACITY];
    pw_format_real(number, 100 * fabs(to - from) / fabs(from));
    if (from == to)
        pw_table_cell(&c->table, "=");
    else if (from == 0)
        pw_table_cell(&c->table, "from 0");
    else
        pw_table_print(&c->table, "%s%s%%", to < from ? "-" : "+", number);
}

/* The section's heading comes before its first row. */
static void start_row(struct comparison *c)
{
    if (!c->section_open)
        pw_table_heading(&c->table, c->section);
    c->section_open = true;
}

static void show_row(struct comparison *c, const char *name, const row values)
{
    int digits = digits_needed(c, values);
    start_row(c);
    pw_table_cell_printable(&c->table, name);
    for (size_t i = 0; i < c->count; i++) {
        value_cell(c, values[i], digits);
        if (i)
            change_cell(c, values[0], values[i]);
    }
}

static void compare(struct comparison *c, const char *name, const row values)
{
    if (all_same(c, values)) {
        c->same++;
        return;
    }
    c->different++;
    show_row(c, name, values);
}

static void members(const struct comparison *c, const row objects, const char *key, row out)
{
    for (size_t i = 0; i < c->count; i++)
        out[i] = json_object_get(objects[i], key);
}

static void roots(const struct comparison *c, row out)
{
    for (size_t i = 0; i < c->count; i++)
        out[i] = c->files[i];
}

static void compare_member(struct comparison *c, const char *key)
{
    row files = {0}, values = {0};
    roots(c, files);
    members(c, files, key, values);
    compare(c, key, values);
}

static void open_section(struct comparison *c, const char *title, bool relative)
{
    c->relative = relative;
    c->section = title;
    c->section_open = false;
}

static bool in_earlier_map(const row maps, size_t before, const char *key)
{
    for (size_t i = 0; i < before; i++)
        if (json_object_get(maps[i], key))
            return true;
    return false;
}

/* Every key of the first map, then those that only the next one has, and so on; `prefix` goes before the names. */
static void compare_maps(struct comparison *c, const char *prefix, const row maps, const char *left_out)
{
    for (size_t map = 0; map < c->count; map++) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)maps[map], key, value)
        {
            if (in_earlier_map(maps, map, key) || !strcmp(key, left_out))
                continue;
            struct pw_text name = {0};
            row values = {0};
            members(c, maps, key, values);
            pw_text_add(&name, prefix);
            pw_text_add(&name, key);
            if (name.failed)
                c->table.bytes.failed = true;
            else
                compare(c, name.bytes, values);
            pw_text_free(&name);
        }
    }
}

static size_t most_rows(const struct comparison *c, const row arrays)
{
    size_t most = 0;
    for (size_t i = 0; i < c->count; i++)
        most = json_array_size(arrays[i]) > most ? json_array_size(arrays[i]) : most;
    return most;
}

static void compare_rows(struct comparison *c, const char *member, const char *label, const char *left_out)
{
    row files = {0}, arrays = {0}, maps = {0};
    roots(c, files);
    members(c, files, member, arrays);
    size_t rows = most_rows(c, arrays);
    for (size_t i = 0; i < rows; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "%s%zu.", label, i);
        for (size_t k = 0; k < c->count; k++)
            maps[k] = json_array_get(arrays[k], i);
        compare_maps(c, prefix, maps, left_out);
    }
}

/* The row of a kernel whose launches differ: cycles of all of them. */
static void compare_kernel(struct comparison *c, const row arrays, const char *name, size_t differing)
{
    row cycles = {0};
    json_t *sums[MOST_FILES] = {0};
    size_t launches = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t own = 0, index;
        json_t *window;
        uint64_t sum = 0;
        json_array_foreach((json_t *)arrays[i], index, window)
        {
            const char *other = json_string_value(json_object_get(window, "kernel"));
            if (other && strcmp(other, name) == 0) {
                sum += (uint64_t)json_integer_value(json_object_get(window, "cycles"));
                own++;
            }
        }
        cycles[i] = sums[i] = own ? json_integer((json_int_t)sum) : NULL;
        launches = own > launches ? own : launches;
    }
    char brief[PW_KERNEL_NAME_SHORT];
    struct pw_text label = {0};
    pw_kernel_name_short(name, brief, sizeof brief);
    pw_text_print(&label, "kernel %s, %zu of %zu launch%s: cycles", brief, differing, launches,
                  pw_counted(launches, "", "es"));
    show_row(c, label.bytes ? label.bytes : "", cycles);
    c->table.bytes.failed |= label.failed;
    pw_text_free(&label);
    for (size_t i = 0; i < c->count; i++)
        json_decref(sums[i]);
}

/* Launches are compared one by one and shown by kernel, the first of those that differ. */
static void compare_kernels(struct comparison *c)
{
    enum { MOST_KERNELS = 20 };
    row files = {0}, arrays = {0}, windows = {0};
    json_t *differing = json_object(); /* how many launches, by name */
    roots(c, files);
    members(c, files, "kernels", arrays);
    size_t rows = most_rows(c, arrays), shown = 0;
    for (size_t i = 0; i < rows; i++) {
        const char *name = NULL;
        for (size_t k = 0; k < c->count; k++) {
            windows[k] = json_array_get(arrays[k], i);
            const char *own = json_string_value(json_object_get(windows[k], "kernel"));
            name = name || !own ? name : own;
        }
        if (all_same(c, windows)) {
            c->same++;
            continue;
        }
        c->different++;
        name = name ? name : "?";
        json_int_t before = json_integer_value(json_object_get(differing, name));
        c->table.bytes.failed |= json_object_set_new(differing, name, json_integer(before + 1)) != 0;
    }
    const char *name;
    json_t *count;
    json_object_foreach(differing, name, count)
    {
        if (shown++ < MOST_KERNELS)
            compare_kernel(c, arrays, name, (size_t)json_integer_value(count));
    }
    if (shown > MOST_KERNELS) {
        pw_table_print(&c->table, "… and %zu more kernel%s", shown - MOST_KERNELS, pw_plural(shown - MOST_KERNELS));
        for (size_t i = 1; i < c->table.columns; i++)
            pw_table_cell(&c->table, "");
    }
    json_decref(differing);
}

/* Intervals are too many to list: how many rows differ. */
static void compare_intervals(struct comparison *c)
{
    row files = {0}, arrays = {0}, windows = {0};
    roots(c, files);
    members(c, files, "intervals", arrays);
    size_t rows = most_rows(c, arrays), differing = 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < c->count; k++)
            windows[k] = json_array_get(arrays[k], i);
        differing += !all_same(c, windows);
    }
    if (!differing) {
        c->same += rows;
        return;
    }
    c->different++;
    start_row(c);
    pw_table_print(&c->table, "intervals (%zu %s)", differing, differing == 1 ? "row differs" : "rows differ");
    for (size_t i = 0; i < c->count; i++) {
        size_t count = json_array_size(arrays[i]);
        pw_table_print(&c->table, "%zu %s", count, count == 1 ? "row" : "rows");
        if (i)
            pw_table_cell(&c->table, "");
    }
}

/* The applications of a result as -w takes them. */
static json_t *workload_of(const json_t *file)
{
    struct pw_text text = {0};
    const json_t *apps = json_object_get(file, "apps");
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(apps, i), "name"));
        pw_text_print(&text, "%s%s", i ? "," : "", name ? name : "?");
    }
    json_t *workload = json_string(text.bytes ? text.bytes : "");
    pw_text_free(&text);
    return workload;
}

static void compare_workloads(struct comparison *c)
{
    json_t *workloads[MOST_FILES] = {0};
    row values = {0};
    for (size_t i = 0; i < c->count; i++) {
        values[i] = workloads[i] = workload_of(c->files[i]);
        if (!workloads[i])
            c->table.bytes.failed = true;
    }
    compare(c, "workload", values);
    for (size_t i = 0; i < c->count; i++)
        json_decref(workloads[i]);
}

/* What older versions did not record can be anything, so it makes no difference; where others have something unusual it
 * is shown. */
static void compare_made(struct comparison *c, const row made, const char *key, const json_t *usual)
{
    row values = {0};
    const json_t *known = NULL;
    bool complete = true, differ = false, unusual = false;
    members(c, made, key, values);
    for (size_t i = 0; i < c->count; i++) {
        complete = complete && values[i];
        unusual = unusual || (values[i] && !same_value(values[i], usual));
        differ = differ || (known && values[i] && !same_value(known, values[i]));
        known = values[i] ? values[i] : known;
    }
    if (complete)
        compare(c, key, values);
    else if (differ || unusual)
        show_row(c, key, values);
    c->different += differ && !complete;
}

static void compare_setup(struct comparison *c)
{
    static const char *const keys[] = {"warmup", "kernels", "interval", "alone", "breakdown"};
    json_t *usual = json_pack("{s:i, s:s, s:i, s:b, s:b}", "warmup", 0, "kernels", "all", "interval", 0, "alone", 0,
                              "breakdown", 0);
    row files = {0}, made = {0}, values = {0};
    roots(c, files);
    members(c, files, "made", made);
    open_section(c, "Run", false);
    compare_workloads(c);
    compare_member(c, "machine");
    compare_member(c, "design");
    compare_member(c, "seed");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        compare_made(c, made, keys[i], json_object_get(usual, keys[i]));
    json_decref(usual);
    members(c, files, "version", values);
    if (!all_same(c, values))
        show_row(c, "version", values);
    members(c, made, "core_version", values);
    if (!all_same(c, values))
        show_row(c, "core_version", values);
}

static void compare_all(struct comparison *c)
{
    static const char *const totals[] = {"cycles", "nanoseconds", "ipc_throughput", "weighted_speedup", "unfairness"};
    row files = {0}, maps = {0};
    roots(c, files);
    compare_setup(c);
    open_section(c, "Options", false);
    members(c, files, "options", maps);
    compare_maps(c, "", maps, "");
    open_section(c, "Results", true);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        compare_member(c, totals[i]);
    compare_rows(c, "apps", "app", "name"); /* the names are the workload */
    compare_rows(c, "allocations", "allocation", "");
    compare_kernels(c);
    compare_intervals(c);
    open_section(c, "Metrics", true);
    members(c, files, "metrics", maps);
    compare_maps(c, "", maps, "");
    open_section(c, "Identities", false);
    compare_rows(c, "identities", "identity", "");
}

/* A, B, …, Z, AA, AB, …: what a column is called. */
static void column_name(char out[4], size_t index)
{
    if (index < 26)
        snprintf(out, 4, "%c", (char)('A' + index));
    else
        snprintf(out, 4, "A%c", (char)('A' + index % 26));
}

/* Which column is which file, and where commands differ, what made it. */
static void legend(const struct comparison *c, const char *const *paths, struct pw_text *out)
{
    row files = {0}, hosts = {0}, commands = {0};
    roots(c, files);
    members(c, files, "host", hosts);
    members(c, hosts, "command", commands);
    bool differ = !all_same(c, commands);
    struct pw_table table = {.columns = 2, .align = "l"};
    for (size_t i = 0; i < c->count; i++) {
        char column[4];
        struct pw_text line = {0};
        column_name(column, i);
        pw_table_cell(&table, column);
        pw_text_add(&line, paths[i]);
        if (differ && commands[i])
            pw_text_print(&line, ": %s", json_string_value(commands[i]));
        pw_table_cell_printable(&table, line.bytes ? line.bytes : "");
        pw_text_free(&line);
    }
    pw_table_finish(&table, out);
    pw_text_add(out, "\n");
}

static void show(struct comparison *c, const char *const *paths, struct pw_text *out)
{
    c->table = (struct pw_table){.columns = 2 * c->count, .align = "lr", .indent = "  "};
    pw_table_cell(&c->table, "");
    for (size_t i = 0; i < c->count; i++) {
        char column[4];
        column_name(column, i);
        pw_table_cell(&c->table, column);
        if (i)
            pw_table_cell(&c->table, "change");
    }
    size_t headings = c->table.cells;
    compare_all(c);
    legend(c, paths, out);
    if (c->table.cells > headings) {
        pw_table_finish(&c->table, out);
        pw_text_add(out, "\n");
    }
    out->failed = out->failed || c->table.bytes.failed;
    pw_text_free(&c->table.bytes);
    pw_text_print(out, "%zu different, %zu the same\n", c->different, c->same);
}

enum pw_status pw_result_diff(const char *const *paths, size_t count, struct pw_text *out, bool *out_differ,
                              struct pw_error *err)
{
    struct comparison c = {0};
    enum pw_status status = PW_OK;
    if (count > MOST_FILES)
        return pw_fail(err, PW_USER_ERROR, "at most %d results can be compared at once, not %zu", MOST_FILES, count);
    for (; status == PW_OK && c.count < count; c.count++)
        status = pw_result_load(paths[c.count], &c.files[c.count], err);
    if (status == PW_OK) {
        show(&c, paths, out);
        *out_differ = c.different > 0;
        status = pw_text_finish(out, err);
    }
    for (size_t i = 0; i < c.count; i++)
        json_decref(c.files[i]);
    return status;
}
