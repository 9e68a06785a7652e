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

/* Under these there is more to measure than by default; two systems, for several GPUs have no demand paging. */
struct setting {
    const char *key, *value;
};
static const struct setting one_gpu[] = {{"paging.mode", "demand"},       {"page.frames", "contiguity"},
                                         {"coalesce.policy", "in-place"}, {"fill.policy", "tokens"},
                                         {"l2_tlb.flush", "all"},         {"sim.reuse", "on"},
                                         {"sim.snapshots", "10000"},      {NULL, NULL}};
static const struct setting several_gpus[] = {
    {"gpu.count", "2"}, {"iommu.walkers", "1"}, {"place.remote", "migrate"}, {NULL, NULL}};

/* A system that is built and not run. */
struct example {
    struct pw_config config;
    struct pw_options *options;
    struct pw_program program;
    struct pw_system *system;
};

static enum pw_status build(const struct setting *settings, struct example *out, struct pw_error *err)
{
    static const struct pw_run_spec spec = {.breakdown = true};
    enum pw_status status = pw_config_create(&out->config, &out->options, err);
    for (; status == PW_OK && settings->key; settings++)
        status = pw_options_set(out->options, settings->key, settings->value, "listing", err);
    if (status == PW_OK)
        status = pw_config_finish(&out->config, out->options, err);
    if (status == PW_OK)
        status = pw_program_parse(pw_workloads[0]->name, &out->program, err);
    return status == PW_OK ? pw_system_create(&out->config, &spec, &out->program, 1, &out->system, err) : status;
}

static void release(struct example *e)
{
    pw_system_destroy(e->system);
    pw_program_release(&e->program);
    pw_options_destroy(e->options);
}

/* Those that `known` does not have. */
static void visit_metrics(const struct pw_stats *stats, const struct pw_stats *known, pw_list_visit *visit,
                          void *context)
{
    for (size_t i = 0; i < pw_stats_count(stats); i++) {
        struct pw_metric_info info = pw_stats_info(stats, i);
        if (!pw_list_is_own_metric(info.name) && (!known || pw_stats_find(known, info.name) < 0))
            visit(context, &(struct pw_listing){.name = info.name, .summary = info.help, .detail = info.unit});
    }
}

/* Metrics are registered by the units themselves, so the list comes from systems that are built. Those of policies
 * follow, whatever these systems have chosen. */
static enum pw_status list_metrics(pw_list_visit *visit, void *context, struct pw_error *err)
{
    struct example one = {0}, several = {0};
    enum pw_status status = build(one_gpu, &one, err);
    if (status == PW_OK)
        status = build(several_gpus, &several, err);
    if (status == PW_OK) {
        visit_metrics(one.system->stats, NULL, visit, context);
        visit_metrics(several.system->stats, one.system->stats, visit, context);
        pw_list_own_metrics(visit, context);
    }
    release(&several);
    release(&one);
    return status;
}

static enum pw_status list_cost(const char *machine, const char *design, pw_cost_visit *visit, void *context,
                                struct pw_error *err)
{
    static const char *const iommu[] = {"iommu.walkers=1"};
    const struct pw_run_spec spec = {.machine = machine, .design = design};
    const struct pw_run_spec with_iommu = {.machine = machine, .design = design, .sets = iommu, .set_count = 1};
    struct pw_config config;
    struct pw_options *options;
    struct pw_cost cost;
    char name[256];
    enum pw_status status = pw_run_configure(&spec, &config, &options, name, sizeof name, err);
    if (status != PW_OK) /* a design that routes translations needs an IOMMU, which a machine may not have */
        status = pw_run_configure(&with_iommu, &config, &options, name, sizeof name, err);
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
