/* Machines and designs as files, and the options that a run would have.
 *
 * What this prints for a machine or design can be saved, changed and given back with -m or -d. One file comes byte
 * for byte, since its comments say where the values are from. A combination, or a file with a base, is what they set
 * together, one option per line with FILE:LINE as a comment; laid over the same options it gives the same values. */
#include "exp/tools/show.h"

#include "exp/format/table.h"
#include "system/catalog_layers.h"
#include "system/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BLOCK = 1 << 16, VALUE_COLUMN = 36 };

static enum pw_status copy_file(const char *path, struct pw_text *out, struct pw_error *err)
{
    char *block = malloc(COPY_BLOCK);
    FILE *file = fopen(path, "re");
    enum pw_status status = PW_OK;
    if (!block)
        status = pw_fail_memory(err, "a file");
    else if (!file)
        status = pw_fail(err, PW_FAILED, "%s: cannot be opened", path); /* it has been read a moment ago */
    for (size_t length; status == PW_OK && (length = fread(block, 1, COPY_BLOCK, file));)
        pw_text_append(out, block, length);
    if (file)
        fclose(file);
    free(block);
    return status == PW_OK ? pw_text_finish(out, err) : status;
}

/* A scalar as YAML: quoted where it would not read back as it is. */
static void add_scalar(struct pw_text *line, const char *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+:./%";
    if (*value && !strchr("-:%", *value) && !value[strspn(value, plain)] && value[strlen(value) - 1] != ':')
        pw_text_add(line, value);
    else
        pw_text_json_string(line, value);
}

/* Options in the order of their table; those of one unit stand together under its name. */
static void add_options(const struct pw_options *o, struct pw_text *out)
{
    char unit[96] = "";
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view view;
        struct pw_text line = {0};
        pw_options_view(o, i, &view);
        if (!strcmp(view.origin, "default"))
            continue;
        size_t length = strcspn(view.name, ".");
        if (strncmp(unit, view.name, length) != 0 || unit[length]) {
            snprintf(unit, sizeof unit, "%.*s", (int)length, view.name);
            pw_text_print(out, "%s:\n", unit);
        }
        pw_text_print(&line, "  %s: ", view.name + length + 1);
        add_scalar(&line, view.value);
        size_t used = line.length < VALUE_COLUMN ? line.length : VALUE_COLUMN;
        pw_text_fill(&line, ' ', 2 + VALUE_COLUMN - used);
        pw_text_add(&line, "# ");
        pw_text_printable(&line, view.origin);
        pw_text_add(&line, "\n");
        out->failed = out->failed || line.failed;
        if (!out->failed)
            pw_text_append(out, line.bytes, line.length);
        pw_text_free(&line);
    }
}

/* What several files set together. */
static enum pw_status merge(enum pw_catalog_kind kind, const char *names, struct pw_options *o, struct pw_text *out,
                            struct pw_error *err)
{
    char note[PW_DESCRIPTION_CAPACITY] = "", joined[1024];
    enum pw_status status = kind == PW_CATALOG_MACHINES
                                ? pw_catalog_apply_machine_noted(o, names, note, err)
                                : pw_catalog_apply_designs(o, names, joined, sizeof joined, err);
    if (status != PW_OK)
        return status;
    pw_text_add(out, "summary: ");
    pw_text_json_string(out, names);
    if (*note) {
        pw_text_add(out, "\nassumed: ");
        pw_text_json_string(out, note);
    }
    pw_text_add(out, "\n# Beside each value stands where it comes from.\n");
    add_options(o, out);
    return pw_text_finish(out, err);
}

static enum pw_status show(enum pw_catalog_kind kind, const char *names, struct pw_text *out, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options = NULL;
    struct pw_layers *layers = NULL;
    enum pw_status status = pw_layers_open(kind, names, &layers, err);
    if (status != PW_OK)
        return status;
    const struct pw_catalog_file *embedded = layers->rows[0].embedded;
    if (layers->count > 1) {
        status = pw_config_create(&config, &options, err);
        status = status == PW_OK ? merge(kind, names, options, out, err) : status;
        pw_options_destroy(options);
    } else if (embedded) {
        pw_text_append(out, embedded->text, embedded->length);
        status = pw_text_finish(out, err);
    } else {
        status = copy_file(layers->rows[0].path, out, err);
    }
    pw_layers_release(layers);
    return status;
}

enum pw_status pw_show_machine(const char *names, struct pw_text *out, struct pw_error *err)
{
    return show(PW_CATALOG_MACHINES, names, out, err);
}

enum pw_status pw_show_design(const char *names, struct pw_text *out, struct pw_error *err)
{
    return show(PW_CATALOG_DESIGNS, names, out, err);
}

static void options_table(const struct pw_options *o, struct pw_text *out)
{
    static const char *const headings[] = {"option", "value", "unit", "set by"};
    struct pw_table table = {.columns = 4, .align = "l"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        pw_table_cell(&table, headings[i]);
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view view;
        pw_options_view(o, i, &view);
        pw_table_cell(&table, view.name);
        pw_table_cell_printable(&table, view.value);
        pw_table_cell(&table, view.row->unit ? view.row->unit : "");
        pw_table_cell_printable(&table, view.origin);
    }
    pw_table_finish(&table, out);
}

static void options_json(const struct pw_options *o, struct pw_text *out)
{
    pw_text_add(out, "[");
    for (size_t i = 0; i < pw_options_count(o); i++) {
        struct pw_option_view view;
        pw_options_view(o, i, &view);
        const char *const members[] = {"name",     view.name,  "value",
                                       view.value, "unit",     view.row->unit ? view.row->unit : "",
                                       "origin",   view.origin};
        pw_text_add(out, i ? ",\n  {" : "\n  {");
        for (size_t k = 0; k < sizeof members / sizeof *members; k += 2) {
            pw_text_print(out, "%s\"%s\": ", k ? ", " : "", members[k]);
            pw_text_json_string(out, members[k + 1]);
        }
        pw_text_add(out, "}");
    }
    pw_text_add(out, "\n]\n");
}

enum pw_status pw_show_options(const struct pw_run_spec *spec, bool json, struct pw_text *out, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options = NULL;
    char design[256];
    enum pw_status status = pw_run_configure(spec, &config, &options, design, sizeof design, err);
    if (status != PW_OK)
        return status;
    if (json)
        options_json(options, out);
    else
        options_table(options, out);
    pw_options_destroy(options);
    return pw_text_finish(out, err);
}
