/* What a run depends on, known before it is run. */
#include "system/inputs.h"

#include "system/catalog.h"
#include "system/core_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pw_version(void)
{
    return PW_VERSION;
}

const char *pw_core_version(void)
{
    return PW_CORE_VERSION;
}

enum pw_status pw_run_configure(const struct pw_run_spec *spec, struct pw_config *config, struct pw_options **out,
                                char *out_design, size_t capacity, struct pw_error *err)
{
    struct pw_options *options = NULL;
    enum pw_status status = pw_config_create(config, &options, err);
    if (status == PW_OK)
        status = pw_catalog_apply_machine(options, spec->machine ? spec->machine : "mosaic", err);
    if (status == PW_OK)
        status = pw_catalog_apply_designs(options, spec->design ? spec->design : "gpu-mmu", out_design, capacity, err);
    for (size_t i = 0; status == PW_OK && i < spec->set_count; i++)
        status = pw_options_set_pair(options, spec->sets[i], "--set", err);
    if (status == PW_OK)
        status = pw_config_finish(config, options, err);
    if (status != PW_OK) {
        pw_options_destroy(options);
        options = NULL;
    }
    *out = options;
    return status;
}

enum pw_status pw_run_options(const struct pw_run_spec *spec, char **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_config config;
    struct pw_options *options;
    char design[256];
    enum pw_status status = pw_run_configure(spec, &config, &options, design, sizeof design, err);
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
    char design[256];
    enum pw_status status = pw_run_configure(spec, &config, &options, design, sizeof design, err);
    if (status != PW_OK)
        return status;
    status = pw_config_divide_sms(&config, apps, err);
    for (unsigned i = 0; status == PW_OK && i < apps; i++)
        out_sms[i] = config.gpu.app_sms[i];
    pw_options_destroy(options);
    return status;
}
