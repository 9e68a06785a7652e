/* Open launches: warps that are started one by one, in slots that are chosen, instead of CTAs that are dispatched.
 *
 * Each warp is a CTA of its own, without shared memory. Its kernel may suspend it without an operation: then it sleeps,
 * resident, and its scheduler's cycles count as stalls, until it is woken. One CTA more than have been started keeps
 * the launch under way until it is closed. Nothing waits for the launch latency. */
#include "gpu/gpu_internal.h"

/* SMs of an application have consecutive numbers. */
void pw_gpu_open(struct pw_gpu *g, unsigned app, const struct pw_launch *launch)
{
    g->launches[app] = (struct pw_app_launch){.launch = launch, .next_cta = 1, .ctas = 1};
    g->counters[app].launches++;
    pw_tlb_launch(pw_mmu_tlb(g->mmu), (pw_asid)app);
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        if (g->sms[i].app == app)
            pw_sm_begin_launch(&g->sms[i], launch);
}

void pw_gpu_start_warp(struct pw_gpu *g, unsigned app, uint32_t sm, uint32_t slot, uint32_t cta, pw_cycle now)
{
    struct pw_app_launch *a = &g->launches[app];
    a->next_cta = ++a->ctas;
    if (!pw_cta_start(&g->sms[sm], 1ULL << slot, a->launch, cta, now))
        pw_events_out_of_memory(g->wiring.events);
}

void pw_gpu_wake_warp(struct pw_gpu *g, uint32_t sm, uint32_t slot, pw_cycle now)
{
    if (g->sms[sm].warps[slot].state == PW_WARP_ASLEEP)
        pw_sm_prepare_warp(&g->sms[sm], slot, now);
}

void pw_gpu_close(struct pw_gpu *g, unsigned app, pw_cycle now)
{
    g->launches[app].done_ctas++;
    pw_gpu_launch_maybe_done(g, app, now);
}

uint64_t pw_gpu_stores_left(const struct pw_gpu *g, unsigned app)
{
    return g->launches[app].stores_left;
}
