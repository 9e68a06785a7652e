/* The inputs of a run: everything that it depends on, known before it is run. */
#include "system/inputs.h"

#include "system/app_sms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pw_version(void)
{
    return PW_VERSION;
}

/* The options that the caller sets, which may be a program that has left some out. */
static enum pw_status apply_sets(const struct pw_run_spec *spec, struct pw_options *options, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < spec->set_count; i++) {
        if (!spec->sets || !spec->sets[i])
            return pw_fail(err, PW_USER_ERROR, "option %zu of %zu to set is NULL; give a text KEY=VALUE", i + 1,
                           spec->set_count);
        status = pw_options_set_pair(options, spec->sets[i], "--set", err);
    }
    return status;
}

enum pw_status pw_run_configure(const struct pw_run_spec *spec, struct pw_config *config, struct pw_options **out,
                                char *out_design, size_t capacity, struct pw_error *err)
{
    struct pw_options *options = NULL;
    enum pw_status status = pw_config_create(config, &options, err);
    if (status == PW_OK)
        status = pw_catalog_apply_machine_noted(options, spec->machine ? spec->machine : "mosaic", config->machine_note,
                                                err);
    if (status == PW_OK)
        status = pw_catalog_apply_designs(options, spec->design ? spec->design : "gpu-mmu", out_design, capacity, err);
    if (status == PW_OK)
        status = apply_sets(spec, options, err);
    if (status == PW_OK)
        status = pw_workload_set_sms(spec->workload, config, options, err);
    if (status == PW_OK)
        status = pw_config_finish(config, options, err);
    if (status != PW_OK) {
        pw_options_destroy(options);
        options = NULL;
    }
    *out = options;
    return status;
}

/* Whether "key=value" sets the option of a line "name=value". */
static bool names(const char *set, const char *line)
{
    size_t length = strcspn(set, "=");
    return strcspn(line, "=") == length && strncmp(set, line, length) == 0;
}

/* Whether effective options, "name=value\n", have the one that "key=value" sets. */
static bool have(const char *effective, const char *set)
{
    for (const char *at = effective; *at; at += strcspn(at, "\n") + 1)
        if (names(set, at))
            return true;
    return false;
}

/* Whether every run has the option that "key=value" sets. */
static bool is_shared(const struct pw_options *shared, const char *set)
{
    for (size_t i = 0; i < pw_options_count(shared); i++) {
        struct pw_option_view view;
        pw_options_view(shared, i, &view);
        if (names(set, view.name))
            return true;
    }
    return false;
}

enum pw_status pw_run_takes(const struct pw_run_spec *spec, const char **out_sets, size_t *out_count,
                            struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *shared;
    struct pw_run_spec without = *spec;
    char *effective = NULL;
    enum pw_status status = pw_config_create(&config, &shared, err);
    if (status != PW_OK)
        return status;
    without.sets = out_sets;
    without.set_count = 0;
    for (size_t k = 0; k < spec->set_count; k++)
        if (is_shared(shared, spec->sets[k]))
            out_sets[without.set_count++] = spec->sets[k];
    status = pw_run_options(&without, &effective, err);
    size_t count = 0;
    for (size_t k = 0; status == PW_OK && k < spec->set_count; k++)
        if (is_shared(shared, spec->sets[k]) || have(effective, spec->sets[k]))
            out_sets[count++] = spec->sets[k];
    *out_count = count; /* only now: it may be the specification's own */
    free(effective);
    pw_options_destroy(shared);
    return status;
}

enum pw_status pw_run_programs(const char *text, struct pw_program *programs, unsigned *out_count, struct pw_error *err)
{
    *out_count = 0;
    if (!text || !*text)
        return pw_fail(err, PW_USER_ERROR, "no workload is given; use -w NAME (see 'pagewalk list workloads')");
    char *copy = strndup(text, pw_workload_cut(text).programs);
    if (!copy)
        return pw_fail_memory(err, "workloads");
    enum pw_status status = PW_OK;
    char *rest = copy;
    while (status == PW_OK && rest) {
        const char *one = strsep(&rest, ",");
        if (!*one)
            status = pw_fail(err, PW_USER_ERROR, "workload '%s': a name is missing beside a comma", text);
        else if (pw_workload_cut(one).sms)
            status = pw_fail(err, PW_USER_ERROR,
                             "'%.80s': the SMs of all applications are given once, at the end of the workload, such as "
                             "3DS,HISTO@20+10",
                             one);
        else if (*out_count == PW_MAX_APPS)
            status = pw_fail(err, PW_USER_ERROR, "workload '%.60s': at most %d applications can share a GPU", text,
                             PW_MAX_APPS);
        else
            status = pw_program_parse(one, &programs[*out_count], err);
        *out_count += status == PW_OK;
    }
    free(copy);
    return status;
}

/* A digest of the files among a program's parameters; *out_any says whether there are any. */
static enum pw_status digest_files(const struct pw_program *p, uint64_t *out, bool *out_any, struct pw_error *err)
{
    struct pw_option_view view;
    enum pw_status status = PW_OK;
    *out = 0;
    *out_any = false;
    for (size_t i = 0; status == PW_OK && pw_program_parameter(p, i, &view); i++) {
        uint64_t digest = 0;
        if (strcmp(view.row->unit, "file") != 0 || !*view.value)
            continue;
        status = p->workload->digest_file(view.value, &digest, err);
        *out = (*out ^ digest) * 0x9e3779b97f4a7c15;
        *out_any = true;
    }
    return status;
}

enum pw_status pw_run_workload(const char *workload, char **out, struct pw_error *err)
{
    struct pw_program programs[PW_MAX_APPS] = {0};
    unsigned count = 0;
    size_t length = workload ? pw_workload_cut(workload).programs : 0;
    char *text = malloc(length + PW_MAX_APPS * sizeof " #0123456789abcdef" + 1);
    *out = NULL;
    if (!text)
        return pw_fail_memory(err, "a workload");
    memcpy(text, workload ? workload : "", length);
    text[length] = 0;
    enum pw_status status = pw_run_programs(workload, programs, &count, err);
    for (unsigned i = 0; status == PW_OK && i < count; i++) {
        uint64_t digest;
        bool any;
        status = digest_files(&programs[i], &digest, &any, err);
        if (status == PW_OK && any)
            length += (size_t)sprintf(text + length, " #%016llx", (unsigned long long)digest);
    }
    for (unsigned i = 0; i < count; i++)
        pw_program_release(&programs[i]);
    if (status != PW_OK) {
        free(text);
        return status;
    }
    *out = text;
    return PW_OK;
}

/* The configuration of a run whose design's name is not asked for. */
static enum pw_status configure(const struct pw_run_spec *spec, struct pw_config *out, struct pw_options **out_options,
                                struct pw_error *err)
{
    char design[256];
    return pw_run_configure(spec, out, out_options, design, sizeof design, err);
}

enum pw_status pw_run_options(const struct pw_run_spec *spec, char **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_config config;
    struct pw_options *options;
    enum pw_status status = configure(spec, &config, &options, err);
    if (status != PW_OK)
        return status;
    size_t count = pw_options_count(options), length = 0;
    struct pw_option_view view;
    char *text = malloc(count * (sizeof view.name + sizeof view.value + 2) + 1);
    for (size_t i = 0; text && i < count; i++) {
        pw_options_view(options, i, &view);
        length += (size_t)sprintf(text + length, "%s=%s\n", view.name, view.value);
    }
    pw_options_destroy(options);
    if (!text)
        return pw_fail_memory(err, "options of a run");
    *out = text;
    return PW_OK;
}

enum pw_status pw_run_sms(const struct pw_run_spec *spec, unsigned apps, unsigned *out_sms, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options;
    enum pw_status status = configure(spec, &config, &options, err);
    if (status != PW_OK)
        return status;
    status = pw_config_divide_sms(&config, apps, err);
    for (unsigned i = 0; status == PW_OK && i < apps; i++)
        out_sms[i] = config.gpu.app_sms[i];
    pw_options_destroy(options);
    return status;
}
