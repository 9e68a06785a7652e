/* Sizes that do not go together, said in the names of the options that are to blame. The units themselves check their
 * shapes too, but know neither which of several TLBs they are nor what their share of a cache comes from. */
#include "system/config.h"

struct array {
    const char *tlb, *kind; /* "l2_tlb", "base" */
    uint32_t entries, ways;
};

static enum pw_status check_array(const struct array *a, struct pw_error *err)
{
    if (!a->ways || a->entries % a->ways == 0)
        return PW_OK;
    return pw_fail(
        err, PW_USER_ERROR,
        "%s.%s_entries = %u do not make sets of %s.%s_ways = %u; give ways that divide the entries, or 0 for "
        "fully associative",
        a->tlb, a->kind, a->entries, a->tlb, a->kind, a->ways);
}

static enum pw_status check_tlb(const char *name, const struct pw_tlb_config *c, pw_page_orders orders,
                                struct pw_error *err)
{
    bool large_alone = orders & 1U << PW_PAGE_2M && !c->large_as_base;
    bool base = orders & ~(1U << PW_PAGE_2M) || c->large_as_base;
    enum pw_status status = PW_OK;
    if (base)
        status = check_array(&(struct array){name, "base", c->base_entries, c->base_ways}, err);
    if (status == PW_OK && large_alone)
        status = check_array(&(struct array){name, "large", c->large_entries, c->large_ways}, err);
    return status;
}

static enum pw_status check_l2(const struct pw_gpu_config *g, struct pw_error *err)
{
    char enough[PW_SIZE_CAPACITY];
    uint32_t slices = g->dram.channels * g->l2.slices;
    uint64_t lines = g->l2.bytes / PW_LINE_BYTES / slices;
    if (lines >= g->l2.ways)
        return PW_OK;
    return pw_fail(
        err, PW_USER_ERROR,
        "the L2 cache has %u slices (dram.channels = %u times l2.slices = %u), and l2.bytes gives each of them "
        "%llu lines, less than l2.ways = %u; give more l2.bytes (%s would do) or fewer of the others",
        slices, g->dram.channels, g->l2.slices, (unsigned long long)lines, g->l2.ways,
        pw_size_text(enough, (uint64_t)slices * g->l2.ways * PW_LINE_BYTES, true));
}

/* Shared memory may take all that it can have of the memory that it shares with the L1 data cache. */
static enum pw_status check_carved(const struct pw_gpu_config *g, struct pw_error *err)
{
    char least[PW_SIZE_CAPACITY];
    uint64_t bytes = g->sm.shared_bytes + (uint64_t)g->l1d.ways * PW_LINE_BYTES;
    if (!g->l1d.carved || g->l1d.bytes >= bytes)
        return PW_OK;
    return pw_fail(err, PW_USER_ERROR,
                   "with l1d.carved, sm.shared_bytes comes out of l1d.bytes and has to leave a set of l1d.ways lines; "
                   "give l1d.bytes=%s or more, or l1d.carved=off",
                   pw_size_text(least, bytes, true));
}

unsigned pw_config_frame_shift(const struct pw_config *config)
{
    unsigned shift = PW_PAGE_2M;
    while (config->gpu.dram.bytes >> PW_PAGE_SHIFT >> shift && (config->gpu.dram.bytes - 1) >> PW_PAGE_SHIFT >> shift)
        shift++;
    return shift;
}

/* What several GPUs, or an IOMMU, need and cannot have. */
static enum pw_status check_system(const struct pw_config *config, struct pw_error *err)
{
    const struct pw_policy *route = pw_policy_chosen(&pw_route_family, &config->gpu.route.policy);
    char most[PW_SIZE_CAPACITY];
    if (!config->iommu.walkers && (config->gpus > 1 || route != pw_route_family.policies[0]))
        return pw_fail(err, PW_USER_ERROR,
                       "%s needs the host's IOMMU; give it walkers (iommu.walkers=8), or take machine mgpu4",
                       config->gpus > 1 ? "gpu.count above 1" : "this route.policy");
    if (config->iommu.walkers && config->paging.mode != PW_PAGING_FREE)
        return pw_fail(
            err, PW_USER_ERROR,
            "demand paging and preloading (paging.mode) are for one GPU without an IOMMU: a driver that moves "
            "pages between a host and several GPUs is not modelled; set paging.mode=free, or gpu.count=1 and "
            "iommu.walkers=0");
    uint64_t each = 1ULL << pw_config_frame_shift(config);
    uint64_t frames = 1ULL << (32 - PW_PAGE_SHIFT + PW_LINE_SHIFT);
    if (config->gpus > 1 && each > frames / config->gpus)
        return pw_fail(err, PW_USER_ERROR,
                       "gpu.count = %u GPUs can have memories of up to %s each, as a power of two; lower dram.bytes",
                       config->gpus, pw_size_text(most, frames / config->gpus << PW_PAGE_SHIFT, false));
    return PW_OK;
}

enum pw_status pw_config_check(const struct pw_config *config, struct pw_error *err)
{
    const struct pw_gpu_config *g = &config->gpu;
    enum pw_status status = check_system(config, err);
    if (status != PW_OK)
        return status;
    status = check_tlb("l1_tlb", &g->l1_tlb.tlb, g->orders, err);
    if (status == PW_OK && g->l2_tlb.enabled)
        status = check_tlb("l2_tlb", &g->l2_tlb.tlb, g->orders, err);
    if (status == PW_OK)
        status = check_carved(g, err);
    return status == PW_OK ? check_l2(g, err) : status;
}
