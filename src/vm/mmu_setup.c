/* Builds an MMU, registers its statistics and says what waits in it. The model is described in mmu.h. */
#include "vm/mmu_internal.h"

#include <stdio.h>
#include <stdlib.h>

static enum pw_status init_misses(struct pw_mmu *m, struct pw_error *err)
{
    enum { CHUNK_BYTES = 64 << 10 };
    m->misses = calloc(m->config.l2_tlb.tlb.mshrs, sizeof *m->misses);
    m->reserve = aligned_alloc(_Alignof(struct pw_tlb_request), sizeof *m->reserve); /* an event asks for one page */
    m->counters = calloc(m->config.apps, sizeof *m->counters);
    if (!m->misses || !m->reserve || !m->counters)
        return pw_fail_memory(err, "L2 TLB");
    pw_record_pool_init(&m->requests, m->wiring.events, sizeof *m->reserve, CHUNK_BYTES, m->reserve, 1);
    enum pw_status status = pw_mshr_init(&m->mshr, "l2_tlb.mshrs", m->config.l2_tlb.tlb.mshrs, err);
    if (status == PW_OK && m->config.far_faults)
        status = pw_far_faults_init(&m->far_faults, m->wiring.events, err);
    return status;
}

/* The router and the walker, each of which knows the other. */
static enum pw_status create_walkers(struct pw_mmu *m, struct pw_error *err)
{
    const struct pw_mmu_config *c = &m->config;
    const struct pw_mmu_wiring *w = &m->wiring;
    struct pw_router_wiring route = {.policies = w->policies,
                                     .iommu = w->iommu,
                                     .tables = w->tables,
                                     .physical = w->physical,
                                     .gpu = c->gpu,
                                     .apps = c->apps,
                                     .requests = c->l2_tlb.tlb.mshrs,
                                     .host = w->host,
                                     .touch = w->touch,
                                     .moving = w->moving,
                                     .client = m,
                                     .found = pw_mmu_route_found,
                                     .ended = pw_mmu_route_ended};
    enum pw_status status = w->iommu ? pw_router_create(&c->route, &route, &m->router, err) : PW_OK;
    if (status != PW_OK)
        return status;
    struct pw_walker_config walker = {c->walk, c->walk_cache, c->l2_tlb.tlb.mshrs, c->apps, c->gpu};
    struct pw_walker_wiring to = {.events = w->events,
                                  .pool = w->pool,
                                  .memory = w->memory,
                                  .tables = w->tables,
                                  .timeline = w->timeline,
                                  .pressure = w->pressure,
                                  .client = m->router ? (void *)m->router : m,
                                  .done = m->router ? pw_router_walked : pw_mmu_walk_done};
    status = pw_walker_create(&walker, &to, &m->walker, err);
    if (status == PW_OK && m->router)
        pw_router_connect(m->router, m->walker);
    return status;
}

enum pw_status pw_mmu_create(const struct pw_mmu_config *config, const struct pw_mmu_wiring *wiring,
                             struct pw_mmu **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_mmu *m = calloc(1, sizeof *m);
    if (!m)
        return pw_fail_memory(err, "L2 TLB");
    m->config = *config;
    m->wiring = *wiring;
    if (wiring->timeline)
        m->wait_lanes = (struct pw_lanes){.timeline = wiring->timeline,
                                          .group = pw_timeline_group(wiring->timeline, "L2 TLB"),
                                          .name = "waiting request"};
    m->merge_order = (uint8_t)__builtin_ctz(config->orders);
    struct pw_l2_tlb_setup tlb = {.config = &m->config.l2_tlb,
                                  .bypass = config->bypass,
                                  .orders = config->orders,
                                  .tables = wiring->tables,
                                  .policies = wiring->policies,
                                  .apps = config->apps,
                                  .seed = config->seed};
    enum pw_status status = init_misses(m, err);
    if (status == PW_OK)
        status = pw_l2_tlb_init(&m->tlb, &tlb, err);
    if (status == PW_OK)
        status = create_walkers(m, err);
    if (status != PW_OK) {
        pw_mmu_destroy(m);
        return status;
    }
    *out = m;
    return PW_OK;
}

void pw_mmu_destroy(struct pw_mmu *m)
{
    if (!m)
        return;
    pw_walker_destroy(m->walker);
    pw_router_destroy(m->router);
    pw_l2_tlb_release(&m->tlb);
    free(m->misses);
    pw_record_pool_destroy(&m->requests);
    free(m->reserve);
    pw_mshr_release(&m->mshr);
    pw_far_faults_release(&m->far_faults);
    pw_lanes_release(&m->wait_lanes);
    free(m->counters);
    free(m);
}

void pw_mmu_register(struct pw_mmu *m, struct pw_stats *stats)
{
    pw_l2_tlb_register(&m->tlb, stats, m->counters);
    pw_walker_register(m->walker, stats);
    if (!m->router)
        return;
    pw_router_register(m->router, stats);
    if (m->config.l2_tlb.enabled)
        pw_stats_identity(stats, "l2_tlb.primary_misses", "route.local + route.remote");
}

size_t pw_mmu_describe(const struct pw_mmu *m, char *out, size_t capacity)
{
    int n = snprintf(out, capacity,
                     "  translation: %u misses in the L2 TLB's registers, %u requests wait for one; %u walks under "
                     "way, %u wait for a walker; %u pages are waited for that are not on the GPU\n",
                     m->mshr.in_use, m->waiting, pw_walker_active(m->walker), pw_walker_queued(m->walker),
                     m->far_faults.map.count);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}
