/* Rows of configuration tables: what an option is in effect, once machine and design are laid over the defaults, must
 * be what the paper says. Every row names the claim that it decides. */
#ifndef PW_TESTS_CONFIG_ROWS_H
#define PW_TESTS_CONFIG_ROWS_H

#include "exp/figure/figure.h"
#include "system/catalog.h"
#include "system/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *claim, *machine, *design, *option, *value;
};

/* The configuration with machine and design laid over it; the caller destroys the options. */
static inline struct pw_options *effective(struct pw_config *config, const char *machine, const char *design)
{
    struct pw_options *o = NULL;
    struct pw_error err = {0};
    char names[256];
    if (pw_config_create(config, &o, &err) != PW_OK || pw_catalog_apply_machine(o, machine, &err) != PW_OK ||
        pw_catalog_apply_designs(o, design, names, sizeof(names), &err) != PW_OK ||
        pw_config_finish(config, o, &err) != PW_OK)
        fail_msg("%s under %s: %s", machine, design, err.message);
    return o;
}

static inline void view_of(const struct pw_options *o, const char *name, struct pw_option_view *out)
{
    int index = pw_options_find(o, name);
    if (index < 0)
        fail_msg("there is no option %s", name);
    pw_options_view(o, (size_t)index, out);
}

/* The value of a count, or of a number of bytes. */
static inline uint64_t number_of(const struct pw_options *o, const char *name)
{
    struct pw_option_view view;
    struct pw_error err;
    uint32_t count = 0;
    uint64_t bytes = 0;
    view_of(o, name, &view);
    bool is_bytes = view.row->type == PW_OPTION_BYTES;
    assert_true(is_bytes || view.row->type == PW_OPTION_COUNT);
    assert_int_equal(pw_option_parse(view.row, view.value, 0, is_bytes ? (void *)&bytes : &count, &err), PW_OK);
    return is_bytes ? bytes : count;
}

static inline void check_row(const struct row *row, const char *design)
{
    static struct pw_config config;
    struct pw_option_view view;
    struct pw_options *o = effective(&config, row->machine, design);
    view_of(o, row->option, &view);
    if (strcmp(view.value, row->value))
        fail_msg("%s: %s is %s on %s under %s (set by %s), not %s", row->claim, row->option, view.value, row->machine,
                 design, view.origin, row->value);
    pw_options_destroy(o);
}

enum { MAX_DESIGNS = 64 };

/* The designs of one paper: those that its figures run, and those of the catalogue that have its name. */
struct designs {
    char names[MAX_DESIGNS][64];
    size_t count;
};

static inline bool begins_with(const char *text, const char *prefix, char end)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && (text[length] == end || (end == '-' && !text[length]));
}

static inline void add_design(struct designs *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->names[i], name) == 0)
            return;
    assert_true(d->count < MAX_DESIGNS);
    snprintf(d->names[d->count++], sizeof d->names[0], "%s", name);
}

static inline void find_designs(const char *paper, struct designs *out)
{
    struct pw_error err = {0};
    out->count = 0;
    for (const struct pw_catalog_file *f = pw_design_files; f->name; f++)
        if (begins_with(f->name, paper, '-'))
            add_design(out, f->name);
    for (const struct pw_figure_file *f = pw_figure_files; f->name; f++) {
        struct pw_figure *figure;
        if (!begins_with(f->name, paper, '/'))
            continue;
        if (pw_figure_load(f->name, PW_FULL, &figure, &err) != PW_OK)
            fail_msg("%s", err.message);
        for (size_t i = 0; i < figure->variant_count; i++)
            add_design(out, figure->variants[i].design);
        pw_figure_free(figure);
    }
}

static inline bool has_design(const struct designs *d, const char *name)
{
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->names[i], name) == 0)
            return true;
    return false;
}

/* A row without a design holds under every design of its claim's paper. */
static inline void check_rows(const struct row *rows, size_t count)
{
    static struct designs all;
    char paper[32], found_for[32] = "";
    for (size_t i = 0; i < count; i++) {
        if (rows[i].design) {
            check_row(&rows[i], rows[i].design);
            continue;
        }
        snprintf(paper, sizeof paper, "%.*s", (int)strcspn(rows[i].claim, "-"), rows[i].claim);
        if (strcmp(paper, found_for) != 0)
            find_designs(paper, &all);
        memcpy(found_for, paper, sizeof found_for);
        for (size_t k = 0; k < all.count; k++)
            check_row(&rows[i], all.names[k]);
    }
}

#endif
