/* Reads a figure's file: collects its keys, then puts the parts together (figure_parts.c, figure_workloads.c), so that
 * a part may name another that comes later in the file. The file may be a user's: all that is in it is checked here,
 * and what comes out is fit to be printed. What only a run can tell (unknown designs, options, machines) is left to the
 * plan. */
#include "exp/figure/figure_internal.h"
#include "sim/c_locale.h"
#include "sim/option.h"
#include "sim/yaml.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_LIMIT = 4096 };

static const char *const top_keys[] = {"title", "where",    "machine",   "set",      "seed",  "mean",   "scope",
                                       "notes", "variants", "workloads", "measures", "table", "claims", NULL};
static const char *const section_names[SECTION_COUNT] = {"", "variants", "workloads", "measures", "table", "claims"};
static const char *const variant_fields[] = {"design", "machine", "set", "sweep", "null", NULL};
static const char *const workload_fields[] = {"list", "each", "copies", "random", "apps", "from",
                                              "seed", "sms",  "quick",  "full",   NULL};
/* NULL: what is in the section has a value itself. */
static const char *const *const section_fields[SECTION_COUNT] = {
    [SECTION_VARIANTS] = variant_fields, [SECTION_WORKLOADS] = workload_fields};

enum pw_status pw_figure_at(const struct figure_reader *r, int line, enum pw_status status)
{
    if (status == PW_USER_ERROR)
        pw_error_prefix(r->err, "%s:%d", r->file, line);
    return status;
}

enum pw_status pw_figure_refuse(const struct figure_reader *r, int line, const char *format, ...)
{
    char message[PW_ERROR_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pw_figure_at(r, line, pw_fail(r->err, PW_USER_ERROR, "%s", message));
}

enum pw_status pw_figure_no_memory(const struct figure_reader *r)
{
    return pw_fail_memory(r->err, "a figure");
}

void *pw_figure_grow(void *items, size_t count, size_t size)
{
    if (count & (count - 1) || (count == 0 && items))
        return items;
    return realloc(items, (count ? 2 * count : 1) * size);
}

const struct figure_entry *pw_figure_find(const struct figure_reader *r, enum figure_section section, const char *name,
                                          const char *field)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct figure_entry *e = &r->entries[i];
        if (e->section == section && !strcmp(e->name, name) &&
            (field ? e->field && !strcmp(e->field, field) : !e->field))
            return e;
    }
    return NULL;
}

bool pw_figure_is_first(const struct figure_reader *r, const struct figure_entry *entry)
{
    for (const struct figure_entry *e = r->entries; e < entry; e++)
        if (e->section == entry->section && !strcmp(e->name, entry->name))
            return false;
    return true;
}

enum pw_status pw_figure_number(const struct figure_reader *r, const struct figure_entry *entry, uint64_t low,
                                uint64_t high, uint64_t fallback, uint64_t *out)
{
    *out = fallback;
    if (!entry)
        return PW_OK;
    uint64_t value = 0;
    const char *c = entry->value;
    bool fits = *c;
    for (; fits && *c; c++)
        fits = isdigit((unsigned char)*c) && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*c - '0'), &value);
    *out = value;
    if (fits && value >= low && value <= high)
        return PW_OK;
    return pw_figure_refuse(r, entry->line, "'%.60s' is not a whole number from %llu to %llu", entry->value,
                            (unsigned long long)low, (unsigned long long)high);
}

/* Line breaks become blanks, those at the ends go; other control characters are refused. */
static bool clean_up(char *text)
{
    size_t length = 0;
    for (const char *c = text; *c; c++) {
        bool blank = *c == '\n' || *c == '\t' || *c == '\r' || *c == ' ';
        if (!blank && ((unsigned char)*c < ' ' || *c == 0x7f))
            return false;
        if (!blank || length > 0)
            text[length++] = blank ? ' ' : *c;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
    return true;
}

static enum pw_status unknown_key(const char *key, const char *part, const char *const *known, struct pw_error *err)
{
    const char *near = pw_suggest(part, known);
    if (near)
        return pw_fail(err, PW_USER_ERROR, "unknown key '%s'; did you mean '%s'?", key, near);
    char all[256] = "";
    for (size_t used = 0; *known && used < sizeof all; known++)
        used += (size_t)snprintf(all + used, sizeof all - used, " %s", *known);
    return pw_fail(err, PW_USER_ERROR, "unknown key '%s' (there are:%s)", key, all);
}

static const char *find_text(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(*list, text))
            return *list;
    return NULL;
}

/* Takes a dotted key apart into section, name and field; `key` is cut up. */
static enum pw_status split_key(char *key, struct figure_entry *out, char **out_name, struct pw_error *err)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s", key);
    char *name = strchr(key, '.');
    if (name)
        *name++ = '\0';
    if (!find_text(key, top_keys))
        return unknown_key(key, key, top_keys, err);
    for (unsigned s = SECTION_TOP + 1; s < SECTION_COUNT; s++)
        if (!strcmp(section_names[s], key))
            out->section = s;
    if (out->section == SECTION_TOP) {
        *out_name = key;
        return name ? pw_fail(err, PW_USER_ERROR, "'%s' takes a text, not a map", key) : PW_OK;
    }
    if (!name)
        return pw_fail(err, PW_USER_ERROR, "'%s' has to be a map (name: …)", key);
    *out_name = name;
    const char *const *fields = section_fields[out->section];
    char *field = strchr(name, '.');
    if (!fields) {
        bool free_text = out->section == SECTION_TABLE; /* headings name nothing, so they may hold "sm.warps=16" */
        return field && !free_text
                   ? pw_fail(err, PW_USER_ERROR, "the name '%s' must have no '.' and no map below it", name)
                   : PW_OK;
    }
    if (!field)
        return pw_fail(err, PW_USER_ERROR, "'%s' has to be a map, for example {%s: …}", whole, *fields);
    *field++ = '\0';
    out->field = find_text(field, fields);
    return out->field ? PW_OK : unknown_key(whole, field, fields, err);
}

static enum pw_status visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    struct figure_reader *r = context;
    struct figure_entry entry = {.line = line};
    char copy[256], *name = copy;
    snprintf(copy, sizeof copy, "%s", key);
    enum pw_status status = split_key(copy, &entry, &name, err);
    if (status != PW_OK)
        return status;
    if (r->count == ENTRY_LIMIT)
        return pw_fail(err, PW_USER_ERROR, "more than %d keys in a figure", ENTRY_LIMIT);
    struct figure_entry *grown = pw_figure_grow(r->entries, r->count, sizeof *grown);
    if (!grown)
        return pw_figure_no_memory(r);
    r->entries = grown;
    entry.name = strdup(name);
    entry.value = strdup(value);
    grown[r->count++] = entry;
    if (!entry.name || !entry.value)
        return pw_figure_no_memory(r);
    bool printable = clean_up(entry.value);
    for (const char *c = entry.name; *c; c++)
        printable &= (unsigned char)*c >= ' ' && *c != 0x7f;
    if (!printable)
        return pw_fail(err, PW_USER_ERROR, "'%s' holds a control character", key);
    return *entry.value ? PW_OK : pw_fail(err, PW_USER_ERROR, "'%s' is empty", key);
}

static enum pw_status copy_text(const struct figure_reader *r, const char *key, char **out)
{
    const struct figure_entry *e = pw_figure_find(r, SECTION_TOP, key, NULL);
    *out = strdup(e ? e->value : "");
    return *out ? PW_OK : pw_figure_no_memory(r);
}

static enum pw_status read_top(const struct figure_reader *r)
{
    struct pw_figure *f = r->figure;
    if (!pw_figure_find(r, SECTION_TOP, "title", NULL))
        return pw_figure_refuse(r, 1, "a figure needs a title");
    enum pw_status status = copy_text(r, "title", &f->title);
    if (status == PW_OK)
        status = copy_text(r, "where", &f->where);
    if (status == PW_OK)
        status = copy_text(r, "notes", &f->notes);
    if (status == PW_OK)
        status = pw_figure_number(r, pw_figure_find(r, SECTION_TOP, "seed", NULL), 1, UINT64_MAX, 1, &f->seed);
    const struct figure_entry *scope = pw_figure_find(r, SECTION_TOP, "scope", NULL);
    f->full_only = scope != NULL;
    if (status == PW_OK && scope && strcmp(scope->value, "full") != 0)
        status = pw_figure_refuse(r, scope->line, "scope has to be 'full' or left out, not '%.60s'", scope->value);
    const struct figure_entry *mean = pw_figure_find(r, SECTION_TOP, "mean", NULL);
    if (status != PW_OK || !mean)
        return status;
    f->geometric = !strcmp(mean->value, "geometric");
    if (!f->geometric && strcmp(mean->value, "arithmetic") != 0)
        return pw_figure_refuse(r, mean->line, "mean has to be 'arithmetic' or 'geometric', not '%.60s'", mean->value);
    return PW_OK;
}

static enum pw_status read_figure(const char *text, size_t length, const char *file_name, const char *name,
                                  enum pw_scope scope, bool metrics_checked, struct pw_figure **out,
                                  struct pw_error *err)
{
    *out = NULL;
    struct pw_figure *f = calloc(1, sizeof *f);
    struct figure_reader r = {.figure = f, .file = file_name, .metrics_checked = metrics_checked, .err = err};
    if (!f)
        return pw_figure_no_memory(&r);
    f->scope = scope;
    f->percent = 100;
    f->name = strdup(name);
    enum pw_status status = f->name ? PW_OK : pw_figure_no_memory(&r);
    if (status == PW_OK)
        status = pw_yaml_read_text(text, length, file_name, visit, &r, err);
    if (status == PW_OK)
        status = read_top(&r);
    if (status == PW_OK)
        status = pw_figure_read_variants(&r);
    if (status == PW_OK)
        status = pw_figure_read_workloads(&r);
    if (status == PW_OK)
        status = pw_figure_read_expressions(&r);
    if (status == PW_OK)
        status = pw_figure_add_nulls(f, err);
    for (size_t i = 0; i < r.count; i++) {
        free(r.entries[i].name);
        free(r.entries[i].value);
    }
    free(r.entries);
    if (status != PW_OK) {
        pw_figure_free(f);
        return status;
    }
    *out = f;
    return PW_OK;
}

enum pw_status pw_figure_read(const char *text, size_t length, const char *file_name, const char *name,
                              enum pw_scope scope, struct pw_figure **out, struct pw_error *err)
{
    return read_figure(text, length, file_name, name, scope, false, out, err);
}

static enum pw_status read_file(const char *path, enum pw_scope scope, struct pw_figure **out, struct pw_error *err)
{
    enum { FILE_LIMIT = 1 << 20 };
    FILE *file;
    enum pw_status status = pw_yaml_open(path, &file, err);
    if (status != PW_OK)
        return status;
    char *text = malloc(FILE_LIMIT + 1);
    size_t length = text ? fread(text, 1, FILE_LIMIT + 1, file) : 0;
    if (!text)
        status = pw_fail_memory(err, "a figure");
    else if (ferror(file))
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot be read: %m", path);
    else
        status = pw_figure_read(text, length, path, path, scope, out, err);
    free(text);
    fclose(file);
    return status;
}

static enum pw_status unknown_figure(const char *name, struct pw_error *err)
{
    enum { CAPACITY = 512 };
    const char *names[CAPACITY + 1];
    size_t count = 0;
    for (; pw_figure_files[count].name && count < CAPACITY; count++)
        names[count] = pw_figure_files[count].name;
    names[count] = NULL;
    const char *near = pw_suggest(name, names);
    return pw_fail(err, PW_USER_ERROR, "unknown figure '%s'%s%s%s", name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : " (a file of your own has to end in .yaml)");
}

enum pw_status pw_figure_load(const char *name, enum pw_scope scope, struct pw_figure **out, struct pw_error *err)
{
    *out = NULL;
    size_t length = strlen(name);
    if (name[0] == '/' || name[0] == '.' || (length > 5 && !strcmp(name + length - 5, ".yaml")))
        return read_file(name, scope, out, err);
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++)
        if (!strcmp(f->name, name))
            return read_figure(f->text, f->length, f->path, f->name, scope, true, out, err);
    return unknown_figure(name, err);
}

struct search {
    size_t variant;
    bool found;
};

static void compare_variant(void *context, size_t measure, size_t variant, bool alone, int group)
{
    (void)measure;
    (void)alone;
    (void)group;
    struct search *s = context;
    s->found |= variant == s->variant;
}

bool pw_figure_uses_variant(const struct pw_figure *f, size_t variant)
{
    struct search s = {.variant = variant};
    for (size_t i = 0; i < f->column_count; i++)
        pw_expression_references(f->columns[i].expression, compare_variant, &s);
    for (size_t i = 0; i < f->claim_count; i++)
        for (size_t part = 0; part < f->claims[i].part_count; part++)
            pw_expression_references(f->claims[i].parts[part], compare_variant, &s);
    return s.found;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void pw_figure_variant_release(struct pw_figure_variant *v)
{
    free(v->name);
    free(v->machine);
    free(v->design);
    free_texts(v->sets, v->set_count);
}

void pw_figure_free(struct pw_figure *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->variant_count + f->null_count; i++)
        pw_figure_variant_release(&f->variants[i]);
    for (size_t i = 0; i < f->workload_count; i++) {
        free(f->workloads[i].programs);
        free(f->workloads[i].label);
        free(f->workloads[i].text);
    }
    for (size_t i = 0; i < f->measure_count; i++) {
        free(f->measures[i].name);
        pw_expression_free(f->measures[i].expression);
    }
    for (size_t i = 0; i < f->column_count; i++) {
        free(f->columns[i].heading);
        pw_expression_free(f->columns[i].expression);
    }
    for (size_t i = 0; i < f->claim_count; i++) {
        for (size_t part = 0; part < f->claims[i].part_count; part++)
            pw_expression_free(f->claims[i].parts[part]);
        free(f->claims[i].parts);
        free(f->claims[i].stand_in);
        free(f->claims[i].null_design);
    }
    free_texts(f->groups, f->group_count);
    free(f->variants);
    free(f->workloads);
    free(f->measures);
    free(f->columns);
    free(f->claims);
    free(f->name);
    free(f->title);
    free(f->where);
    free(f->notes);
    free(f);
}
