/* The effective options of a comparison's places.
 *
 * The effective options of every machine, design and combination of values are found once, and the same options are the
 * same run: a setting that only repeats what a machine says, or a design under two names, costs nothing.
 *
 * An option of a policy exists only where that policy is chosen, which the other settings can change. So the options
 * without these settings come first; those of them that exist by then are set, and the others are left out there. One
 * that is left out everywhere is a mistake. */
#include "exp/tools/compare_internal.h"

#include "system/inputs.h"

#include <stdlib.h>
#include <string.h>

static enum pw_status write_pairs(struct pw_compare *c, struct pw_error *err)
{
    for (size_t v = 0; v < c->values_count; v++)
        for (size_t k = 0; k < c->setting_count; k++) {
            struct pw_text text = {0};
            pw_text_print(&text, "%s=%s", c->settings[k].key, pw_compare_value(c, v, k));
            if (pw_text_finish(&text, err) != PW_OK)
                return PW_FAILED;
            c->private->pairs[v * c->setting_count + k] = text.bytes;
        }
    return PW_OK;
}

struct pw_run_spec pw_compare_spec_at(const struct pw_compare *c, const struct pw_compare_place *p)
{
    size_t place = pw_compare_options_place(c, p);
    return (struct pw_run_spec){.machine = c->spec.machines[p->machine],
                                .design = c->designs[p->design],
                                .workload = c->spec.workloads[p->workload],
                                .sets = &c->private->sets[place * c->setting_count],
                                .set_count = c->private->set_counts[place],
                                .seed = c->spec.seeds[p->seed],
                                .breakdown = true};
}

enum pw_status pw_compare_blame(const struct pw_run_spec *spec, bool workload, enum pw_status status,
                                struct pw_error *err)
{
    struct pw_run_spec bare = *spec;
    struct pw_error ignored;
    char *options = NULL;
    bare.set_count = 0;
    if (status != PW_USER_ERROR || (!workload && pw_run_options(&bare, &options, &ignored) != PW_OK))
        return status;
    free(options);
    struct pw_text sets = {0};
    for (size_t i = 0; i < spec->set_count; i++)
        pw_text_print(&sets, " --set %s", spec->sets[i]);
    pw_error_prefix(err, "-m %s -d %s%s%s%s", spec->machine, spec->design, workload ? " -w " : "",
                    workload ? spec->workload : "", sets.bytes && !sets.failed ? sets.bytes : "");
    pw_text_free(&sets);
    return status;
}

/* Marks the settings that are options of policies, which not every run has. */
static enum pw_status find_own(const struct pw_compare *c, bool *out_own, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options;
    enum pw_status status = pw_config_create(&config, &options, err);
    if (status != PW_OK)
        return status;
    for (size_t k = 0; k < c->setting_count; k++)
        out_own[k] = true;
    for (size_t i = 0; i < pw_options_count(options); i++) {
        struct pw_option_view view;
        pw_options_view(options, i, &view);
        for (size_t k = 0; k < c->setting_count; k++)
            out_own[k] &= strcmp(c->settings[k].key, view.name) != 0;
    }
    pw_options_destroy(options);
    return PW_OK;
}

/* Whether effective options, "name=value\n", have one of this name. */
static bool have(const char *options, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = options; *at; at += strcspn(at, "\n") + 1)
        if (!strncmp(at, name, length) && at[length] == '=')
            return true;
    return false;
}

/* Keeps the settings of a combination for which `lacks` does not say otherwise. */
static size_t keep(const struct pw_compare *c, size_t values, const bool *lacks, const char **out_sets)
{
    size_t count = 0;
    for (size_t k = 0; k < c->setting_count; k++)
        if (!lacks[k])
            out_sets[count++] = c->private->pairs[values * c->setting_count + k];
    return count;
}

enum pw_status pw_compare_take(const struct pw_compare *c, struct pw_run_spec *spec, size_t values,
                               const char **out_sets, bool *out_lacks, char **out_options, struct pw_error *err)
{
    const bool *own = c->private->own;
    bool any = false;
    memcpy(out_lacks, own, c->setting_count * sizeof *own);
    spec->sets = out_sets;
    spec->set_count = keep(c, values, out_lacks, out_sets);
    enum pw_status status = pw_run_options(spec, out_options, err);
    if (status != PW_OK)
        return pw_compare_blame(spec, false, status, err);
    for (size_t k = 0; k < c->setting_count; k++) {
        out_lacks[k] = own[k] && !have(*out_options, c->settings[k].key);
        any |= own[k] && !out_lacks[k];
    }
    if (!any)
        return PW_OK;
    free(*out_options);
    spec->set_count = keep(c, values, out_lacks, out_sets);
    status = pw_run_options(spec, out_options, err);
    return pw_compare_blame(spec, false, status, err);
}

/* A setting that no place has is a mistake, and the first design that was asked for says which. */
static enum pw_status check_places(const struct pw_compare *c, struct pw_error *err)
{
    const struct pw_compare_private *p = c->private;
    for (size_t k = 0; k < c->setting_count; k++) {
        bool somewhere = false;
        for (size_t place = 0; place < p->place_count; place++)
            somewhere |= !p->lacks[place * c->setting_count + k];
        if (somewhere)
            continue;
        struct pw_run_spec spec = {.machine = c->spec.machines[0],
                                   .design = c->designs[c->design_count - c->spec.design_count],
                                   .sets = (const char *const *)&p->pairs[k],
                                   .set_count = 1};
        char *options = NULL;
        enum pw_status status = pw_run_options(&spec, &options, err);
        free(options);
        return status != PW_OK ? pw_compare_blame(&spec, false, status, err)
                               : pw_fail(err, PW_USER_ERROR, "--set %s: no design has this option with these settings",
                                         c->settings[k].key);
    }
    return PW_OK;
}

static enum pw_status resolve_options(struct pw_compare *c, struct pw_error *err)
{
    struct pw_compare_private *p = c->private;
    p->own = calloc(c->setting_count + 1, sizeof *p->own);
    enum pw_status status = p->own ? find_own(c, p->own, err) : pw_compare_no_memory(err);
    for (size_t place = 0; place < p->place_count && status == PW_OK; place++) {
        struct pw_compare_place at = pw_compare_place(c, place * c->spec.seed_count);
        struct pw_run_spec spec = {.machine = c->spec.machines[at.machine], .design = c->designs[at.design]};
        size_t first = place * c->setting_count;
        status = pw_compare_take(c, &spec, at.values, &p->sets[first], &p->lacks[first], &p->options[place], err);
        p->set_counts[place] = spec.set_count;
    }
    return status == PW_OK ? check_places(c, err) : status;
}

bool pw_compare_lacks(const struct pw_compare *c, const struct pw_compare_place *place, size_t setting)
{
    return c->private->lacks[pw_compare_options_place(c, place) * c->setting_count + setting];
}

const char *pw_compare_shown_value(const struct pw_compare *c, const struct pw_compare_place *place, size_t setting)
{
    return pw_compare_lacks(c, place, setting) ? "any" : pw_compare_value(c, place->values, setting);
}

bool pw_compare_repeats(const struct pw_compare *c, size_t row)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    for (size_t k = 0; k < c->setting_count; k++)
        if (pw_compare_lacks(c, &p, k) && pw_compare_value_number(c, p.values, k) > 0)
            return true;
    return false;
}

struct numbered {
    const char *options;
    size_t place;
};

static int by_options(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int order = strcmp(x->options, y->options);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* Numbers the different options in the order of their first place. */
static enum pw_status number_options(struct pw_compare *c, struct pw_error *err)
{
    struct pw_compare_private *p = c->private;
    struct numbered *sorted = calloc(p->place_count + 1, sizeof *sorted);
    if (!sorted)
        return pw_compare_no_memory(err);
    for (size_t i = 0; i < p->place_count; i++)
        sorted[i] = (struct numbered){p->options[i], i};
    qsort(sorted, p->place_count, sizeof *sorted, by_options);
    /* First the first place that has the same options, then numbers. */
    for (size_t i = 0, first = 0; i < p->place_count; i++) {
        if (strcmp(sorted[i].options, sorted[first].options) != 0)
            first = i;
        p->number[sorted[i].place] = sorted[first].place;
    }
    free(sorted);
    for (size_t i = 0; i < p->place_count; i++)
        p->number[i] = p->number[i] == i ? p->different++ : p->number[p->number[i]];
    return PW_OK;
}

enum pw_status pw_compare_resolve(struct pw_compare *c, struct pw_error *err)
{
    enum pw_status status = write_pairs(c, err);
    if (status == PW_OK)
        status = resolve_options(c, err);
    return status == PW_OK ? number_options(c, err) : status;
}
