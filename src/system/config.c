/* The table of option groups: which prefix lies over which struct. */
#include "system/config.h"

#include <stdlib.h>
#include <string.h>

static const struct pw_option sim_options[] = {
    {"progress_limit", PW_OPTION_COUNT, offsetof(struct pw_sim_config, progress_limit), 1000, 4e9, "20M", "cycles",
     NULL, "Cycles without an instruction issued or an access ended after which a run is given up.", false},
    {"reuse", PW_OPTION_BOOL, offsetof(struct pw_sim_config, reuse), 0, 0, "off", "", NULL,
     "Measure at what distance pages are reused and which are accessed together: metrics reuse.* and pages.*.", false},
    {"snapshots", PW_OPTION_CYCLES, offsetof(struct pw_sim_config, snapshots), 0, 4e9, "0", "cycles", NULL,
     "Cycles between two looks at how much the translations in the L2 TLB differ: metrics deltas.*; 0: none.", false},
    {0}};

static const struct pw_option system_options[] = {{"count", PW_OPTION_COUNT, offsetof(struct pw_config, gpus), 1,
                                                   PW_MAX_GPUS, "1", "GPUs", NULL,
                                                   "GPUs of the system, each with a memory of its own.", false},
                                                  {0}};

static const struct pw_option gpu_options[] = {
    {"clock_mhz", PW_OPTION_COUNT, offsetof(struct pw_gpu_config, clock_mhz), 1, 10000, "1020", "MHz", NULL,
     "Core clock: the unit of simulated time.", false},
    {"launch_latency", PW_OPTION_CYCLES, offsetof(struct pw_gpu_config, launch_latency), 0, 10000000, "0", "cycles",
     NULL, "Cycles from the launch of a kernel to its first CTA.", false},
    {"launch_work", PW_OPTION_CYCLES, offsetof(struct pw_gpu_config, launch_work), 0, 10000000, "0", "cycles", NULL,
     "Cycles that the GPU itself is busy with a launch beside its CTAs; they follow the launch latency.", false},
    {"cta_interval", PW_OPTION_NUMBER, offsetof(struct pw_gpu_config, cta_interval), 0, 10000, "0", "cycles", NULL,
     "Mean cycles between the starts of two CTAs, over all SMs; 0: as many at once as there is room for.", false},
    {0}};

static const char *const backing_names[] = {"in-turn", "one-by-one", NULL};

static const char *const restart_names[] = {"keep", "fresh", NULL};

static const struct pw_option apps_options[] = {
    {"sms", PW_OPTION_TEXT, offsetof(struct pw_apps_config, sms), 0, 0, "even", "", NULL,
     "SMs of each application: even, or numbers such as 20+10; a workload may give them itself (-w 3DS,HISTO@20+10).",
     false},
    {"backing", PW_OPTION_CHOICE, offsetof(struct pw_apps_config, backing), 0, 0, "in-turn", "", backing_names,
     "Whether programs that start together get their memory one page of each in turn, or one program after the other.",
     false},
    {"restart", PW_OPTION_CHOICE, offsetof(struct pw_apps_config, restart), 0, 0, "keep", "", restart_names,
     "Whether a program that ends early and starts over keeps its pages, or begins in an empty address space.", false},
    {0}};

#define GPU(field) offsetof(struct pw_config, gpu.field)

const struct pw_option_group pw_config_groups[] = {
    {"gpu", system_options, 0},
    {"gpu", gpu_options, offsetof(struct pw_config, gpu)},
    {"sm", pw_sm_options, GPU(sm)},
    {"l1_tlb", pw_tlb_options, GPU(l1_tlb.tlb)},
    {"l1_tlb", pw_l1_tlb_options, GPU(l1_tlb)},
    {"l2_tlb", pw_tlb_options, GPU(l2_tlb.tlb)},
    {"l2_tlb", pw_l2_tlb_options, GPU(l2_tlb)},
    {"fill", pw_fill_options, GPU(fill)},
    {"walk", pw_walk_options, GPU(walk)},
    {"pwc", pw_walk_cache_options, GPU(walk_cache)},
    {"page", pw_page_options, offsetof(struct pw_config, page)},
    {"coalesce", pw_coalesce_options, offsetof(struct pw_config, coalesce)},
    {"compact", pw_compact_options, offsetof(struct pw_config, compact)},
    {"paging", pw_paging_options, offsetof(struct pw_config, paging)},
    {"uvm", pw_uvm_options, offsetof(struct pw_config, uvm)},
    {"link", pw_link_options, offsetof(struct pw_config, link)},
    {"link", pw_remote_options, GPU(remote)},
    {"l1d", pw_l1d_options, GPU(l1d)},
    {"xbar", pw_crossbar_options, GPU(crossbar)},
    {"l2", pw_l2_options, GPU(l2)},
    {"dram", pw_dram_options, GPU(dram)},
    {"route", pw_route_options, GPU(route)},
    {"iommu", pw_iommu_options, offsetof(struct pw_config, iommu)},
    {"fabric", pw_fabric_options, offsetof(struct pw_config, fabric)},
    {"place", pw_place_options, offsetof(struct pw_config, place)},
    {"apps", apps_options, offsetof(struct pw_config, apps)},
    {"sim", sim_options, offsetof(struct pw_config, sim)},
    {0}};

enum pw_status pw_config_create(struct pw_config *config, struct pw_options **out, struct pw_error *err)
{
    *config = (struct pw_config){0};
    return pw_options_create(pw_config_groups, config, &config->gpu.clock_mhz, out, err);
}

enum pw_status pw_config_finish(struct pw_config *config, struct pw_options *options, struct pw_error *err)
{
    enum pw_status status = pw_options_finish(options, err);
    if (status != PW_OK)
        return status;
    enum pw_page_order order = pw_page_config_order(&config->page);
    bool coalesces = pw_coalesce_config_enabled(&config->coalesce);
    if (coalesces && order != PW_PAGE_4K)
        return pw_fail(err, PW_USER_ERROR,
                       "coalesce.policy makes large pages of 4KB pages; set page.size=4KB or coalesce.policy=none");
    config->gpu.orders = 1U << order | (coalesces ? 1U << PW_PAGE_2M : 0);
    if (config->gpu.sm.warps < config->gpu.sm.schedulers)
        return pw_fail(err, PW_USER_ERROR, "sm.schedulers = %u is more than sm.warps = %u", config->gpu.sm.schedulers,
                       config->gpu.sm.warps);
    return pw_config_check(config, err);
}
