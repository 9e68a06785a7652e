/* One run from its specification: machine, design, options and programs in; a result out. */
#include "system/catalog.h"
#include "system/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *pw_version(void)
{
    return PW_VERSION;
}

static enum pw_status configure(const struct pw_run_spec *spec, struct pw_options *options, struct pw_config *config,
                                char *out_design, size_t capacity, struct pw_error *err)
{
    enum pw_status status = pw_catalog_apply_machine(options, spec->machine ? spec->machine : "mosaic", err);
    if (status == PW_OK)
        status = pw_catalog_apply_designs(options, spec->design ? spec->design : "gpu-mmu", out_design, capacity, err);
    for (size_t i = 0; status == PW_OK && i < spec->set_count; i++)
        status = pw_options_set_pair(options, spec->sets[i], "--set", err);
    return status == PW_OK ? pw_config_finish(config, options, err) : status;
}

static enum pw_status parse_programs(const char *text, struct pw_program *program, struct pw_error *err)
{
    if (!text || !*text)
        return pw_fail(err, PW_USER_ERROR, "no workload is given; use -w NAME (see 'pagewalk list workloads')");
    if (strchr(text, ','))
        return pw_fail(err, PW_USER_ERROR, "workload '%s': several applications on one GPU are not supported yet",
                       text);
    return pw_program_parse(text, program, err);
}

enum pw_status pw_run(const struct pw_run_spec *spec, struct pw_result **out, struct pw_error *err)
{
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    *out = NULL;
    struct pw_config config;
    struct pw_options *options = NULL;
    struct pw_system *system = NULL;
    struct pw_program program = {0};
    char design[256];
    enum pw_status status = pw_config_create(&config, &options, err);
    if (status == PW_OK)
        status = configure(spec, options, &config, design, sizeof design, err);
    if (status == PW_OK)
        status = parse_programs(spec->workload, &program, err);
    if (status == PW_OK)
        status = pw_system_create(&config, spec, &program, 1, &system, err);
    if (status == PW_OK)
        status = pw_system_run(system, err);
    if (status == PW_OK) {
        clock_gettime(CLOCK_MONOTONIC, &ended);
        double seconds = (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
        status = pw_system_result(system, options, spec->machine ? spec->machine : "mosaic", design, seconds, out, err);
    }
    pw_system_destroy(system);
    pw_program_release(&program);
    pw_options_destroy(options);
    return status;
}
