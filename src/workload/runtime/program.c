/* Parses "NAME:key=value:key=value" into a workload with its parameters. Keys not given have their defaults, or what
 * the preset chosen with size=NAME says; of a key given twice, the last counts.
 *
 * A workload that passes over its data again and again does so as often as its original does, up to a number of warp
 * instructions that is the same for all (docs/workloads.md has it by program). Who gives the number of passes gets that
 * many, uncut. */
#include "workload/runtime/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct common {
    bool values;
    double scale;
    uint32_t instructions;
    bool passes_given, instructions_given;
};

static const struct pw_option common_rows[] = {
    {"values", PW_OPTION_BOOL, offsetof(struct common, values), 0, 0, "on", "", NULL,
     "compute real results; off needs no host memory for arrays", false},
    {"scale", PW_OPTION_NUMBER, offsetof(struct common, scale), 1e-6, 1e6, "1", "", NULL,
     "multiplies the size of the workload's data", false},
    {"instructions", PW_OPTION_COUNT, offsetof(struct common, instructions), 0, 0, "16M", "warp instructions", NULL,
     "no further pass over the data begins after so many, times the scale; 0, the default where the number of passes "
     "is given: no limit",
     false},
    {0},
};

/* The last of them is for workloads with passes only. */
enum { COMMON_COUNT = sizeof common_rows / sizeof *common_rows - 1, MAX_NAMES = 128 };

static size_t common_count(const struct pw_workload *workload)
{
    if (workload->has_no_values)
        return 0;
    return workload->passes ? COMMON_COUNT : COMMON_COUNT - 1;
}

static void suggest(const char *wrong, const char *const *names, char *out, size_t capacity)
{
    const char *near = pw_suggest(wrong, names);
    if (near)
        snprintf(out, capacity, "; did you mean %s?", near);
    else
        out[0] = 0;
}

/* The workload whose summary begins with this name, as "srad_v1: …": what the benchmark calls it. */
static const struct pw_workload *called(const char *name)
{
    size_t length = strlen(name);
    for (const struct pw_workload *const *w = pw_workloads; length && *w; w++)
        if (!strncmp((*w)->summary, name, length) && (*w)->summary[length] == ':')
            return *w;
    return NULL;
}

static enum pw_status unknown_workload(const char *name, struct pw_error *err)
{
    const char *names[MAX_NAMES + 1];
    size_t n = 0;
    for (; pw_workloads[n] && n < MAX_NAMES; n++)
        names[n] = pw_workloads[n]->name;
    names[n] = NULL;
    char hint[128];
    suggest(name, names, hint, sizeof hint);
    const struct pw_workload *other = called(name);
    if (other)
        snprintf(hint, sizeof hint, "; it is called %s here", other->name);
    if (strchr(name, '@'))
        return pw_fail(err, PW_USER_ERROR,
                       "unknown workload '%s'; the SMs of all applications are given once, at the end of a run's "
                       "workload, such as 3DS,HISTO@20+10",
                       name);
    if (strpbrk(name, "./")) /* the end of a file's name */
        return pw_fail(err, PW_USER_ERROR, "unknown workload '%s'; a ',' separates workloads, so no value can hold one",
                       name);
    return pw_fail(err, PW_USER_ERROR, "unknown workload '%s'%s", name,
                   hint[0] ? hint : "; `pagewalk list workloads` names them");
}

static enum pw_status unknown_key(const struct pw_workload *workload, const char *key, struct pw_error *err)
{
    const char *names[MAX_NAMES + 1];
    size_t n = 0;
    char all[512];
    size_t length = 0;
    all[0] = 0;
    for (const struct pw_option *row = workload->parameters; row->name && n < MAX_NAMES; row++)
        names[n++] = row->name;
    for (size_t i = 0; i < common_count(workload) && n < MAX_NAMES; i++)
        names[n++] = common_rows[i].name;
    for (size_t i = 0; i < n && length < sizeof all; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, " %s", names[i]);
    names[n] = NULL;
    char hint[128];
    suggest(key, names, hint, sizeof hint);
    return pw_fail(err, PW_USER_ERROR, "workload %s has no parameter '%s'%s (it has%s)", workload->name, key, hint,
                   all);
}

static const struct pw_option *find_row(const struct pw_option *rows, const char *name)
{
    for (; rows->name; rows++)
        if (!strcmp(rows->name, name))
            return rows;
    return NULL;
}

static const struct pw_option *find_common_row(const struct pw_workload *workload, const char *name)
{
    const struct pw_option *row = find_row(common_rows, name);
    return row && row < common_rows + common_count(workload) ? row : NULL;
}

/* Of what decides whether passes are cut, what the user has said. */
static void note_given(const struct pw_workload *workload, const char *key, struct common *common)
{
    if (workload->passes) {
        common->passes_given |= !strcmp(key, workload->passes);
        common->instructions_given |= !strcmp(key, "instructions");
    }
}

static enum pw_status set_defaults(const struct pw_option *rows, void *target, struct pw_error *err)
{
    for (; rows->name; rows++)
        if (pw_option_parse(rows, rows->fallback, 0, (char *)target + rows->offset, err))
            return err ? err->status : PW_FAILED;
    return PW_OK;
}

static enum pw_status set_text(const struct pw_workload *workload, const struct pw_option *row, const char *value,
                               void *parameters, struct pw_error *err)
{
    enum pw_status status = pw_option_parse(row, value, 0, (char *)parameters + row->offset, err);
    if (status)
        pw_error_prefix(err, "workload %s", workload->name);
    return status;
}

/* `pair` is a copy that may be cut up. */
static enum pw_status set_pair(const struct pw_workload *workload, char *pair, void *parameters, struct common *common,
                               struct pw_error *err)
{
    if (workload->required && !strchr(pair, '='))
        return set_text(workload, find_row(workload->parameters, workload->required), pair, parameters, err);
    char *equals = strchr(pair, '=');
    if (!equals || equals == pair)
        return pw_fail(err, PW_USER_ERROR, "workload %s: '%s' is not key=value%s", workload->name, pair,
                       strpbrk(pair, "./") ? "; a ':' separates parameters, so no value can hold one" : "");
    *equals = 0;
    const struct pw_option *row = find_row(workload->parameters, pair);
    char *target = parameters;
    if (!row) {
        row = find_common_row(workload, pair);
        target = (char *)common;
    }
    if (!row)
        return unknown_key(workload, pair, err);
    if (row->type == PW_OPTION_TEXT && !equals[1])
        return pw_fail(err, PW_USER_ERROR, "workload %s: %s has no value; give one, or leave %s= out", workload->name,
                       pair, pair);
    enum pw_status status = pw_option_parse(row, equals + 1, 0, target + row->offset, err);
    if (status)
        pw_error_prefix(err, "workload %s", workload->name);
    else
        note_given(workload, pair, common);
    return status;
}

static enum pw_status set_pairs(const struct pw_workload *workload, char *pairs, void *parameters,
                                struct common *common, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    while (status == PW_OK && pairs)
        status = set_pair(workload, strsep(&pairs, ":"), parameters, common, err);
    return status;
}

static enum pw_status apply_preset(const struct pw_workload *workload, const char *name, void *parameters,
                                   struct common *common, struct pw_error *err)
{
    const char *names[MAX_NAMES + 1] = {NULL};
    size_t n = 0;
    for (const struct pw_preset *p = workload->presets; p && p->name && n < MAX_NAMES; p++) {
        names[n++] = p->name;
        if (strcmp(p->name, name) != 0)
            continue;
        char pairs[sizeof((struct pw_program *)0)->text];
        snprintf(pairs, sizeof pairs, "%s", p->parameters);
        return set_pairs(workload, pairs, parameters, common, err);
    }
    char hint[128];
    suggest(name, names, hint, sizeof hint);
    return pw_fail(err, PW_USER_ERROR, "workload %s has no size '%s'%s%s", workload->name, name, hint,
                   hint[0] ? ""
                   : n     ? "; `pagewalk list workloads` names them"
                           : "; it has no presets");
}

/* Takes the pairs size=NAME out of the text and applies them; the rest is set afterwards, whatever the order. */
static enum pw_status apply_presets(const struct pw_workload *workload, char *pairs, void *parameters,
                                    struct common *common, struct pw_error *err)
{
    if (!pairs || find_row(workload->parameters, "size"))
        return PW_OK;
    enum pw_status status = PW_OK;
    char copy[sizeof((struct pw_program *)0)->text], *rest = copy, *kept = pairs;
    snprintf(copy, sizeof copy, "%s", pairs);
    *kept = 0;
    while (status == PW_OK && rest) {
        const char *pair = strsep(&rest, ":");
        if (!strncmp(pair, "size=", 5))
            status = apply_preset(workload, pair + 5, parameters, common, err);
        else
            kept += sprintf(kept, "%s%s", kept == pairs ? "" : ":", pair);
    }
    return status;
}

/* Whether something is missing between the ':' of the parameters. */
static bool has_gap(const char *pairs)
{
    if (!pairs)
        return false;
    size_t length = strlen(pairs);
    return !length || pairs[0] == ':' || pairs[length - 1] == ':' || strstr(pairs, "::");
}

enum pw_status pw_program_parse(const char *text, struct pw_program *out, struct pw_error *err)
{
    *out = (struct pw_program){0};
    size_t length = strlen(text);
    if (length >= sizeof out->text)
        return pw_fail(err, PW_USER_ERROR, "workload '%.40s…' is longer than %zu characters", text,
                       sizeof out->text - 1);
    char copy[sizeof out->text];
    memcpy(copy, text, length + 1);

    char *rest = copy;
    const char *name = strsep(&rest, ":");
    const struct pw_workload *workload = pw_workload_find(name);
    if (!workload)
        return unknown_workload(name, err);

    void *parameters = calloc(1, workload->parameters_bytes ? workload->parameters_bytes : 1);
    if (!parameters)
        return pw_fail_memory(err, "workload parameters");
    struct common common = {0};
    enum pw_status status = set_defaults(common_rows, &common, err);
    if (!status)
        status = set_defaults(workload->parameters, parameters, err);
    if (!status && has_gap(rest))
        status = pw_fail(err, PW_USER_ERROR,
                         "workload %s: a parameter is missing beside a ':'; give key=value there, or "
                         "leave the ':' out",
                         workload->name);
    if (!status)
        status = apply_presets(workload, rest, parameters, &common, err);
    if (!status && rest && *rest)
        status = set_pairs(workload, rest, parameters, &common, err);
    if (!status && workload->needs_values && !common.values)
        status = pw_fail(err, PW_USER_ERROR, "workload %s: its addresses depend on its data, so it needs values=on",
                         workload->name);
    if (status) {
        free(parameters);
        return status;
    }
    struct pw_program_object *kept = calloc(1, sizeof *kept);
    if (!kept) {
        free(parameters);
        return pw_fail_memory(err, "a program");
    }
    bool cut = workload->passes && (common.instructions_given || !common.passes_given);
    *out = (struct pw_program){.workload = workload,
                               .parameters = parameters,
                               .kept = kept,
                               .values = common.values && !workload->has_no_values,
                               .scale = common.scale,
                               .instructions = cut ? common.instructions : 0};
    memcpy(out->text, text, length + 1);
    return PW_OK;
}

void pw_program_release(struct pw_program *p)
{
    if (p->kept && p->kept->release)
        p->kept->release(p->kept->object);
    free(p->kept);
    free(p->parameters);
    *p = (struct pw_program){0};
}

bool pw_program_parameter(const struct pw_program *p, size_t index, struct pw_option_view *out)
{
    const struct common common = {.values = p->values, .scale = p->scale, .instructions = p->instructions};
    const struct pw_option *row = p->workload->parameters;
    const char *target = p->parameters;
    for (; row->name && index; row++)
        index--;
    if (!row->name) {
        if (index >= common_count(p->workload))
            return false;
        row = &common_rows[index];
        target = (const char *)&common;
    }
    *out = (struct pw_option_view){.row = row};
    snprintf(out->name, sizeof out->name, "%s", row->name);
    pw_option_format(row, target + row->offset, out->value, sizeof out->value);
    return true;
}
