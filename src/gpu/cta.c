/* CTAs: which SM takes the next one, and what happens when it ends.
 *
 * The CTAs of a launch, or of this GPU's share of it, go out in order. At its start each SM of the application gets one
 * in turn until none has room; from then on, an SM that has finished a CTA takes the next. Room means warps, CTA slots,
 * threads, shared memory and registers.
 *
 * With gpu.cta_interval one unit hands CTAs out, one after the other for all SMs and applications, each that long after
 * the one before, to the SM with the most room, from the first SM on at the beginning of a launch. That is what
 * NVIDIA's unit does (Gilman et al., "Demystifying the placement policies of the NVIDIA GPU thread block scheduler for
 * concurrent kernels", 2020), and it is why equal launches begin alike and go on differently: once CTAs end, where the
 * next one goes depends on when they do. */
#include "gpu/gpu_internal.h"

#include <stdlib.h>
#include <string.h>

static bool has_room(const struct pw_sm *sm, const struct pw_launch *l)
{
    const struct pw_sm_config *c = &sm->gpu->config.sm;
    return (uint32_t)__builtin_popcountll(sm->free_slots) >= pw_launch_warps(l) && sm->ctas < c->ctas &&
           sm->threads_used + pw_launch_threads(l) <= c->threads &&
           sm->shared_used + pw_launch_shared(sm->gpu, l) <= c->shared_bytes &&
           (uint64_t)sm->registers_used + pw_launch_registers(sm->gpu, l) <= c->registers;
}

static struct pw_cta *take_cta_slot(struct pw_sm *sm)
{
    struct pw_cta *cta = sm->cta;
    while (cta->in_use)
        cta++;
    return cta;
}

/* Shared memory of a CTA, zeroed. */
static bool prepare_shared(struct pw_cta *cta, size_t bytes)
{
    if (bytes > cta->shared_capacity) {
        free(cta->shared);
        cta->shared = malloc(bytes);
        cta->shared_capacity = cta->shared ? bytes : 0;
        if (!cta->shared)
            return false;
    }
    if (bytes)
        memset(cta->shared, 0, bytes);
    return true;
}

static void add_resident(struct pw_scheduler *s, pw_cycle now)
{
    if (!s->resident++)
        s->resident_since = now > s->free ? now : s->free;
}

static void remove_resident(struct pw_sm *sm, struct pw_scheduler *s)
{
    if (--s->resident)
        return;
    sm->counters->resident_cycles += s->free - s->resident_since;
    s->left = s->free;
}

/* A warp comes into a slot that is still free. */
static void become_youngest(struct pw_sm *sm, uint32_t slot)
{
    for (uint32_t i = 0; i < PW_MAX_WARPS; i++)
        sm->older[i] &= ~(1ULL << slot);
    sm->older[slot] = ~sm->free_slots;
    sm->age[slot] = sm->next_age++;
}

static bool start_warp(struct pw_sm *sm, struct pw_cta *cta, uint32_t slot, const struct pw_launch *l,
                       uint32_t cta_index, uint32_t warp_index, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_sm_warp *w = &sm->warps[slot];
    w->warp = pw_warp_start(g->warp_pool, l, cta_index, warp_index, cta->shared);
    if (!w->warp)
        return false;
    become_youngest(sm, slot);
    sm->free_slots &= ~(1ULL << slot);
    sm->active_slots |= 1ULL << slot;
    w->next = w->end = 0;
    w->pending = 0;
    w->loads = 0;
    w->cta = (uint8_t)(cta - sm->cta);
    w->scheduler = (uint8_t)(slot % g->config.sm.schedulers);
    cta->warps |= 1ULL << slot;
    add_resident(&sm->schedulers[w->scheduler], now);
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_start(sm, slot, now);
    return true;
}

bool pw_cta_start(struct pw_sm *sm, uint64_t slots, const struct pw_launch *l, uint32_t cta_index, pw_cycle now)
{
    struct pw_cta *cta = take_cta_slot(sm);
    uint32_t warps = pw_launch_warps(l);
    cta->in_use = true;
    cta->warps = 0;
    cta->left = warps;
    cta->arrived = 0;
    if (!prepare_shared(cta, l->shared_bytes))
        return false;
    for (uint32_t i = 0; i < warps; i++, slots &= slots - 1)
        if (!start_warp(sm, cta, (uint32_t)__builtin_ctzll(slots), l, cta_index, i, now))
            return false;
    sm->ctas++;
    sm->threads_used += pw_launch_threads(l);
    sm->shared_used += pw_launch_shared(sm->gpu, l);
    sm->registers_used += pw_launch_registers(sm->gpu, l);
    sm->counters->ctas++;
    sm->counters->warps += warps;
    for (slots = cta->warps; slots; slots &= slots - 1)
        pw_sm_prepare_warp(sm, (uint32_t)__builtin_ctzll(slots), now);
    return true;
}

static bool dispatch_to(struct pw_sm *sm, pw_cycle now)
{
    struct pw_app_launch *a = &sm->gpu->launches[sm->app];
    if (sm->gpu->stopped || !a->launch || a->next_cta == a->ctas || !has_room(sm, a->launch))
        return false;
    if (!pw_cta_start(sm, sm->free_slots, a->launch, a->share.first + a->next_cta++ * a->share.step, now)) {
        pw_events_out_of_memory(sm->gpu->wiring.events);
        return false;
    }
    return true;
}

/* The SM of an application with the fewest CTAs, which has the most room for another; the next one in turn of several.
 * NULL: none has any. */
static struct pw_sm *most_room(struct pw_gpu *g, unsigned app)
{
    struct pw_sm *best = NULL;
    uint32_t count = g->config.sm.count;
    for (uint32_t i = 0, at = g->next_sm; i < count; i++, at = at + 1 < count ? at + 1 : 0) {
        struct pw_sm *sm = &g->sms[at];
        if (sm->app == app && (!best || sm->ctas < best->ctas) && has_room(sm, g->launches[app].launch))
            best = sm;
    }
    return best;
}

/* Starts a CTA; false when no SM has room. */
static bool start_next(struct pw_gpu *g, unsigned app, pw_cycle now)
{
    struct pw_sm *sm = g->launches[app].launch ? most_room(g, app) : NULL;
    if (!sm)
        return false;
    g->next_sm = (uint32_t)(sm - g->sms) + 1 < g->config.sm.count ? (uint32_t)(sm - g->sms) + 1 : 0;
    return dispatch_to(sm, now);
}

static void cta_starts(void *object, uint64_t app, pw_cycle now);

/* Has the next CTA started as soon as the interval allows, if one is left. */
static void ask_for_cta(struct pw_gpu *g, unsigned app, pw_cycle now)
{
    struct pw_app_launch *a = &g->launches[app];
    if (a->starting || a->next_cta == a->ctas)
        return;
    a->starting = true;
    pw_cycle at = (g->cta_free + 255) >> 8;
    pw_events_post(g->wiring.events, at > now ? at : now, cta_starts, g, app);
}

static void cta_starts(void *object, uint64_t app, pw_cycle now)
{
    struct pw_gpu *g = object;
    g->launches[app].starting = false;
    if (g->cta_free > now << 8) { /* another application's has started meanwhile */
        ask_for_cta(g, (unsigned)app, now);
        return;
    }
    if (!start_next(g, (unsigned)app, now))
        return;
    uint64_t earliest = now << 8;
    if (g->cta_free + 256 > earliest) /* what rounding up to this cycle has cost is made up for */
        earliest = g->cta_free;
    g->cta_free = earliest + g->cta_interval;
    ask_for_cta(g, (unsigned)app, now);
}

void pw_gpu_dispatch(struct pw_gpu *g, unsigned app, pw_cycle now)
{
    if (g->cta_interval) {
        ask_for_cta(g, app, now);
        return;
    }
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < g->config.sm.count; i++)
            if (g->sms[i].app == app)
                any |= dispatch_to(&g->sms[i], now);
    }
}

void pw_gpu_launch_maybe_done(struct pw_gpu *g, unsigned app, pw_cycle now)
{
    struct pw_app_launch *a = &g->launches[app];
    if (!a->launch || a->done_ctas < a->ctas || a->stores_left)
        return;
    a->launch = NULL;
    g->wiring.launch_done(g->wiring.node, app, now);
}

static void end_cta(struct pw_sm *sm, struct pw_cta *cta, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_app_launch *a = &g->launches[sm->app];
    cta->in_use = false;
    sm->ctas--;
    sm->threads_used -= pw_launch_threads(a->launch);
    sm->shared_used -= pw_launch_shared(sm->gpu, a->launch);
    sm->registers_used -= pw_launch_registers(g, a->launch);
    a->done_ctas++;
    if (g->cta_interval)
        ask_for_cta(g, sm->app, now);
    else
        while (dispatch_to(sm, now))
            ;
    pw_gpu_launch_maybe_done(g, sm->app, now);
}

void pw_cta_warp_exited(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    struct pw_cta *cta = &sm->cta[w->cta];
    pw_warp_finish(sm->gpu->warp_pool, w->warp);
    w->warp = NULL;
    sm->free_slots |= 1ULL << slot;
    cta->warps &= ~(1ULL << slot);
    remove_resident(sm, &sm->schedulers[w->scheduler]);
    if (!cta->left)
        end_cta(sm, cta, now);
    if (__builtin_expect(sm->observed, false))
        pw_watch_exited(sm, slot, now);
}

static void begin_dispatch(void *object, uint64_t app, pw_cycle now)
{
    struct pw_gpu *g = object;
    pw_tlb_launch(pw_mmu_tlb(g->mmu), (pw_asid)app);
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        if (g->sms[i].app == app)
            pw_sm_begin_launch(&g->sms[i], g->launches[app].launch);
    g->next_sm = 0;
    pw_gpu_dispatch(g, (unsigned)app, now);
}

enum pw_status pw_gpu_launch(struct pw_gpu *g, unsigned app, const struct pw_launch *launch, struct pw_cta_share share,
                             pw_cycle now, struct pw_error *err)
{
    const struct pw_sm_config *c = &g->config.sm;
    uint64_t columns = (uint64_t)launch->grid.x * launch->grid.y;
    if (!columns || !launch->grid.z || columns > UINT32_MAX / launch->grid.z || !pw_launch_threads(launch))
        return pw_fail(err, PW_USER_ERROR, "kernel %s: a grid of %u x %u x %u CTAs of %u threads cannot be launched",
                       launch->name, launch->grid.x, launch->grid.y, launch->grid.z, pw_launch_threads(launch));
    if (pw_launch_warps(launch) > c->warps || pw_launch_threads(launch) > c->threads ||
        pw_launch_shared(g, launch) > c->shared_bytes || pw_launch_registers(g, launch) > c->registers)
        return pw_fail(
            err, PW_USER_ERROR,
            "kernel %s: a CTA of %u threads, %llu bytes of shared memory and %u registers per thread does not "
            "fit on an SM of this machine",
            launch->name, pw_launch_threads(launch), (unsigned long long)pw_launch_shared(g, launch),
            launch->registers);
    struct pw_app_launch *a = &g->launches[app];
    *a = (struct pw_app_launch){.launch = launch, .ctas = share.count, .share = share};
    g->counters[app].launches++;
    pw_events_post(g->wiring.events, now + g->config.launch_latency + g->config.launch_work, begin_dispatch, g, app);
    return PW_OK;
}
