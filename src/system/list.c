/* Listings of what there is: machines, designs, workloads, policies, options and metrics. */
#include "system/catalog.h"
#include "system/cost.h"
#include "system/effect.h"
#include "system/inputs.h"
#include "system/list_policies.h"
#include "system/parameters.h"
#include "system/system.h"

#include <stdio.h>

static enum pw_status list_catalog(const struct pw_catalog_file *files, pw_list_visit *visit, void *context,
                                   struct pw_error *err)
{
    for (; files->name; files++) {
        struct pw_catalog_description d;
        enum pw_status status = pw_catalog_describe(files, &d, err);
        if (status != PW_OK)
            return status;
        visit(context,
              &(struct pw_listing){.name = files->name, .summary = d.summary, .detail = d.aliases, .value = d.assumed});
    }
    return PW_OK;
}

static enum pw_status list_workloads(pw_list_visit *visit, void *context, struct pw_error *err)
{
    for (const struct pw_workload *const *w = pw_workloads; *w; w++) {
        struct pw_program program;
        struct pw_parameters parameters = {0};
        enum pw_status status = pw_program_parse((*w)->name, &program, err);
        if (status == PW_OK)
            status = pw_parameters_describe(&program, &parameters, err);
        if (status == PW_OK)
            visit(context, &(struct pw_listing){.name = (*w)->name,
                                                .summary = (*w)->summary,
                                                .detail = (*w)->suite,
                                                .papers = (*w)->papers,
                                                .parameter_count = parameters.parameter_count,
                                                .parameters = parameters.parameters,
                                                .size_count = parameters.size_count,
                                                .sizes = parameters.sizes});
        pw_parameters_release(&parameters);
        pw_program_release(&program);
        if (status != PW_OK)
            return status;
    }
    return PW_OK;
}

static enum pw_status list_options(pw_list_visit *visit, void *context, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options;
    enum pw_status status = pw_config_create(&config, &options, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < pw_options_count(options); i++) {
        struct pw_option_view view;
        char range[256], effect[512];
        pw_options_view(options, i, &view);
        pw_option_describe_range(view.row, range, sizeof range);
        pw_effect_describe(view.name, effect, sizeof effect);
        visit(context, &(struct pw_listing){.name = view.name,
                                            .summary = view.row->help,
                                            .detail = view.row->unit,
                                            .value = view.value,
                                            .range = range,
                                            .effect = effect});
        pw_list_own_options(view.name, view.row, visit, context);
    }
    pw_options_destroy(options);
    return PW_OK;
}

/* Under these there is more to measure than by default. */
static const struct {
    const char *key, *value;
} with_metrics[] = {{"paging.mode", "demand"}, {"page.frames", "contiguity"}, {"coalesce.policy", "in-place"},
                    {"fill.policy", "tokens"}, {"l2_tlb.flush", "all"},       {"sim.reuse", "on"},
                    {"sim.snapshots", "10000"}};

/* Metrics are registered by the units themselves, so the list comes from a machine that is built and not run. Those of
 * policies follow, whatever that machine has chosen. */
static enum pw_status list_metrics(pw_list_visit *visit, void *context, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options = NULL;
    struct pw_system *system = NULL;
    struct pw_program program = {0};
    struct pw_run_spec spec = {.breakdown = true};
    enum pw_status status = pw_config_create(&config, &options, err);
    for (size_t i = 0; status == PW_OK && i < sizeof with_metrics / sizeof *with_metrics; i++)
        status = pw_options_set(options, with_metrics[i].key, with_metrics[i].value, "listing", err);
    if (status == PW_OK)
        status = pw_config_finish(&config, options, err);
    if (status == PW_OK)
        status = pw_program_parse(pw_workloads[0]->name, &program, err);
    if (status == PW_OK)
        status = pw_system_create(&config, &spec, &program, 1, &system, err);
    for (size_t i = 0; status == PW_OK && i < pw_stats_count(system->stats); i++) {
        struct pw_metric_info info = pw_stats_info(system->stats, i);
        if (!pw_list_is_own_metric(info.name))
            visit(context, &(struct pw_listing){.name = info.name, .summary = info.help, .detail = info.unit});
    }
    if (status == PW_OK)
        pw_list_own_metrics(visit, context);
    pw_system_destroy(system);
    pw_program_release(&program);
    pw_options_destroy(options);
    return status;
}

static enum pw_status list_cost(const char *machine, const char *design, pw_cost_visit *visit, void *context,
                                struct pw_error *err)
{
    const struct pw_run_spec spec = {.machine = machine, .design = design};
    struct pw_config config;
    struct pw_options *options;
    struct pw_cost cost;
    char name[256];
    enum pw_status status = pw_run_configure(&spec, &config, &options, name, sizeof name, err);
    if (status != PW_OK)
        return status;
    status = pw_cost_of(&config, &cost, err);
    for (unsigned i = 0; status == PW_OK && i < cost.count; i++)
        visit(context, &(struct pw_cost_listing){.design = design,
                                                 .metric = cost.items[i].name,
                                                 .unit = cost.items[i].unit,
                                                 .summary = cost.items[i].help,
                                                 .value = pw_cost_value(&cost, i),
                                                 .is_structure = cost.items[i].is_structure});
    pw_options_destroy(options);
    return status;
}

enum pw_status pw_list_costs(const char *machine, pw_cost_visit *visit, void *context, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (const struct pw_catalog_file *f = pw_design_files; status == PW_OK && f->name; f++)
        status = list_cost(machine, f->name, visit, context, err);
    return status;
}

enum pw_status pw_list(enum pw_list_kind kind, pw_list_visit *visit, void *context, struct pw_error *err)
{
    switch (kind) {
    case PW_LIST_MACHINES:
        return list_catalog(pw_machine_files, visit, context, err);
    case PW_LIST_DESIGNS:
        return list_catalog(pw_design_files, visit, context, err);
    case PW_LIST_WORKLOADS:
        return list_workloads(visit, context, err);
    case PW_LIST_POLICIES:
        pw_list_policies(visit, context);
        return PW_OK;
    case PW_LIST_OPTIONS:
        return list_options(visit, context, err);
    case PW_LIST_METRICS:
        return list_metrics(visit, context, err);
    default:
        return pw_fail(err, PW_FAILED, "there is no such listing");
    }
}
