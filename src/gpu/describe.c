/* The state of a GPU in words, for the report of a run that has come to a halt: does it get on, and what waits for
 * what. */
#include "gpu/gpu_internal.h"

#include <stdio.h>

static size_t describe_sm(const struct pw_sm *sm, char *out, size_t capacity)
{
    static const char *const lsu_waits[] = {"runs", "waits for a miss register of the L1 TLB",
                                            "waits for a translation", "waits for a miss register of the L1 cache",
                                            "waits for the store buffer"};
    unsigned states[PW_WARP_STATE_COUNT] = {0};
    for (uint32_t i = 0; i < PW_MAX_WARPS; i++)
        states[sm->warps[i].state]++;
    int n = snprintf(out, capacity,
                     "  SM %u: %u CTAs; warps: %u ready%s, %u wait for arithmetic, %u for loads, %u at a barrier, %u "
                     "asleep; load-store "
                     "unit %s, %u instructions queued, %u pages and %u lines missing\n",
                     sm->id, sm->ctas, states[PW_WARP_READY], sm->lsu.wanted ? " but the load-store unit is full" : "",
                     states[PW_WARP_DEPENDENCY], states[PW_WARP_LOADS], states[PW_WARP_BARRIER], states[PW_WARP_ASLEEP],
                     lsu_waits[sm->lsu.wait], sm->lsu.count, sm->tlb_mshr.in_use, sm->l1_mshr.in_use);
    return n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity;
}

uint64_t pw_gpu_lines_ended(const struct pw_gpu *g)
{
    uint64_t issued = 0;
    for (unsigned i = 0; i < g->wiring.apps; i++)
        issued += g->counters[i].lines;
    return issued - g->lines_outstanding;
}

void pw_gpu_describe(const struct pw_gpu *g, char *out, size_t capacity)
{
    size_t used = pw_mmu_describe(g->mmu, out, capacity);
    used += pw_memory_describe(g->memory, out + used, capacity - used);
    for (uint32_t i = 0; i < g->config.sm.count && used < capacity; i++)
        if (g->sms[i].ctas)
            used += describe_sm(&g->sms[i], out + used, capacity - used);
}
