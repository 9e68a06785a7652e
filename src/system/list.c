/* Listings of what there is: machines, designs, workloads, policies, options and metrics. */
#include "policy/dram/dram_policy.h"
#include "system/catalog.h"
#include "system/system.h"

#include <stdio.h>

static enum pw_status list_catalog(const struct pw_catalog_file *files, pw_list_visit *visit, void *context,
                                   struct pw_error *err)
{
    for (; files->name; files++) {
        char summary[256], aliases[256];
        enum pw_status status = pw_catalog_describe(files, summary, sizeof summary, aliases, sizeof aliases, err);
        if (status != PW_OK)
            return status;
        visit(context, &(struct pw_listing){files->name, summary, aliases, "", ""});
    }
    return PW_OK;
}

static void list_workloads(pw_list_visit *visit, void *context)
{
    for (const struct pw_workload *const *w = pw_workloads; *w; w++)
        visit(context, &(struct pw_listing){(*w)->name, (*w)->summary, (*w)->suite, "", ""});
}

static void list_policies(pw_list_visit *visit, void *context)
{
    for (int i = 0; pw_warp_policies[i]; i++)
        visit(context, &(struct pw_listing){pw_warp_policy_names[i], pw_warp_policies[i]->summary, "warp schedule",
                                            "sm.schedule", ""});
    for (int i = 0; pw_tlb_policies[i]; i++)
        visit(context, &(struct pw_listing){pw_tlb_policy_names[i], pw_tlb_policies[i]->summary, "TLB organisation",
                                            "l1_tlb.organisation, l2_tlb.organisation", ""});
    for (int i = 0; pw_frame_policies[i]; i++)
        visit(context, &(struct pw_listing){pw_frame_policy_names[i], pw_frame_policies[i]->summary, "frame allocation",
                                            "page.frames", ""});
    for (int i = 0; pw_dram_policies[i]; i++)
        visit(context, &(struct pw_listing){pw_dram_policy_names[i], pw_dram_policies[i]->summary, "DRAM schedule",
                                            "dram.schedule", ""});
}

static void describe_range(const struct pw_option *row, char *out, size_t capacity)
{
    out[0] = 0;
    if (row->type == PW_OPTION_BOOL) {
        snprintf(out, capacity, "on, off");
    } else if (row->type == PW_OPTION_CHOICE) {
        size_t used = 0;
        for (const char *const *c = row->choices; *c && used < capacity; c++)
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", *c);
    } else if (row->max > 0) {
        snprintf(out, capacity, "%.0f to %.0f%s", row->min, row->max, row->power_of_two ? ", power of two" : "");
    }
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
        char range[256];
        pw_options_view(options, i, &view);
        describe_range(view.row, range, sizeof range);
        visit(context, &(struct pw_listing){view.name, view.row->help, view.row->unit, view.value, range});
    }
    pw_options_destroy(options);
    return PW_OK;
}

/* Metrics are registered by the units themselves, so the list comes from a machine that is built and not run. */
static enum pw_status list_metrics(pw_list_visit *visit, void *context, struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options = NULL;
    struct pw_system *system = NULL;
    struct pw_program program = {0};
    struct pw_run_spec spec = {0};
    enum pw_status status = pw_config_create(&config, &options, err);
    if (status == PW_OK)
        status = pw_config_finish(&config, options, err);
    if (status == PW_OK)
        status = pw_program_parse(pw_workloads[0]->name, &program, err);
    if (status == PW_OK)
        status = pw_system_create(&config, &spec, &program, 1, &system, err);
    for (size_t i = 0; status == PW_OK && i < pw_stats_count(system->stats); i++) {
        struct pw_metric_info info = pw_stats_info(system->stats, i);
        visit(context, &(struct pw_listing){info.name, info.help, info.unit, "", ""});
    }
    pw_system_destroy(system);
    pw_program_release(&program);
    pw_options_destroy(options);
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
        list_workloads(visit, context);
        return PW_OK;
    case PW_LIST_POLICIES:
        list_policies(visit, context);
        return PW_OK;
    case PW_LIST_OPTIONS:
        return list_options(visit, context, err);
    case PW_LIST_METRICS:
        return list_metrics(visit, context, err);
    default:
        return pw_fail(err, PW_FAILED, "there is no such listing");
    }
}
