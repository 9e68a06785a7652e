/* What an SM records on a timeline: how long its L1 TLB misses take, and when none of its warps can issue. */
#include "gpu/gpu_internal.h"

#include <stdlib.h>

/* Shorter stalls are what the pipeline always has, and would fill the file. */
enum { SHORTEST_STALL = 100 };

enum pw_status pw_sm_timeline_init(struct pw_sm *sm, struct pw_error *err)
{
    struct pw_timeline *t = sm->gpu->wiring.timeline;
    uint32_t misses = sm->gpu->config.l1_tlb.tlb.mshrs;
    if (!t)
        return PW_OK;
    sm->miss_since = calloc(misses, sizeof *sm->miss_since);
    if (!sm->miss_since)
        return pw_fail_memory(err, "timeline");
    uint32_t group = pw_timeline_group(t, "SM %u", sm->id);
    sm->stall_track = pw_timeline_tracks(t, group, "stall", sm->gpu->config.sm.schedulers);
    sm->miss_track = pw_timeline_tracks(t, group, "L1 TLB miss", misses);
    return PW_OK;
}

void pw_sm_timeline_miss(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now)
{
    sm->miss_since[pw_mshr_place(&sm->tlb_mshr, miss)] = now;
}

void pw_sm_timeline_miss_ended(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_cycle now)
{
    uint32_t place = pw_mshr_place(&sm->tlb_mshr, miss);
    pw_timeline_record(sm->gpu->wiring.timeline, &(struct pw_interval){.track = sm->miss_track + place,
                                                                       .name = "L1 TLB miss",
                                                                       .from = sm->miss_since[place],
                                                                       .to = now,
                                                                       .app = sm->app,
                                                                       .has_page = true,
                                                                       .page = {miss->key << sm->gpu->page_order}});
}

void pw_sm_timeline_stall(struct pw_sm *sm, uint32_t scheduler, pw_cycle from, pw_cycle now)
{
    if (now - from < SHORTEST_STALL)
        return;
    pw_timeline_record(
        sm->gpu->wiring.timeline,
        &(struct pw_interval){
            .track = sm->stall_track + scheduler, .name = "stall", .from = from, .to = now, .app = sm->app});
}
