/* Issue: which warp, and what its next operation does to it.
 *
 * Each scheduler issues at most one instruction per cycle, from the warps that are its own. A warp that may issue has
 * its bit in the scheduler's ready mask; every other warp is in a state that says what it waits for, and whoever ends
 * the wait puts the bit back. The scheduler has an event under way only while something is ready.
 *
 * A run of arithmetic under a greedy schedule is one step: the scheduler is busy for as many cycles as it has
 * instructions, and the warp's next operation may issue when the last result is there, dependency_latency cycles after
 * its instruction issued. Instructions within a run are taken not to wait for each other. */
#include "gpu/gpu_internal.h"

static bool is_load(uint8_t kind)
{
    return kind == PW_OP_LOAD || kind == PW_OP_ATOMIC_RETURN;
}

static bool is_memory(uint8_t kind)
{
    return kind >= PW_OP_LOAD && kind <= PW_OP_ATOMIC_RETURN;
}

static void scheduler_step(void *object, uint64_t index, pw_cycle now);

static void post_scheduler(struct pw_sm *sm, uint32_t index, pw_cycle now)
{
    struct pw_scheduler *s = &sm->schedulers[index];
    if (s->posted)
        return;
    s->posted = true;
    pw_events_post(sm->events, now > s->free ? now : s->free, scheduler_step, sm, index);
}

static void make_ready(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    w->state = PW_WARP_READY;
    __builtin_prefetch(pw_next_op(w)); /* it has waited, and left the host's caches meanwhile */
    sm->schedulers[w->scheduler].ready |= 1ULL << slot;
    post_scheduler(sm, w->scheduler, now);
}

static void make_wait(struct pw_sm *sm, uint32_t slot, enum pw_warp_state state)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    w->state = (uint8_t)state;
    sm->schedulers[w->scheduler].ready &= ~(1ULL << slot);
}

/* The loads that may be outstanding when this operation issues. */
static uint8_t allowed_in_flight(const struct pw_gpu *g, const struct pw_op *op)
{
    if (op->kind == PW_OP_EXIT)
        return 0;
    uint8_t limit = (uint8_t)(g->config.sm.loads_per_warp - 1);
    return is_load(op->kind) && op->loads_in_flight > limit ? limit : op->loads_in_flight;
}

static void fail(const struct pw_gpu *g, const struct pw_warp *w)
{
    struct pw_error err;
    pw_warp_failure(w, &err);
    g->wiring.failed(g->wiring.node, &err);
}

/* Finds out what the warp's next operation waits for. */
void pw_sm_prepare_warp(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    if (w->next == w->end) {
        if (__builtin_expect(!pw_warp_refill(w->warp), 0))
            fail(sm->gpu, w->warp);
        w->next = 0;
        w->end = w->warp->write;
        if (__builtin_expect(!w->end, 0)) {
            make_wait(sm, slot, PW_WARP_ASLEEP);
            return;
        }
    }
    const struct pw_op *op = pw_next_op(w);
    sm->memory_next = (sm->memory_next & ~(1ULL << slot)) | (uint64_t)is_memory(op->kind) << slot;
    if (w->pending) {
        uint8_t allowed = allowed_in_flight(sm->gpu, op);
        if (allowed < 64 && w->pending >> allowed) {
            w->in_flight = allowed;
            make_wait(sm, slot, PW_WARP_LOADS);
            return;
        }
    }
    make_ready(sm, slot, now);
}

static void dependency_over(void *object, uint64_t slot, pw_cycle now)
{
    pw_sm_prepare_warp(object, (uint32_t)slot, now);
}

void pw_sm_load_complete(struct pw_sm *sm, uint32_t owner, pw_cycle now)
{
    uint32_t slot = owner >> 16, number = owner & 0xffff;
    struct pw_sm_warp *w = &sm->warps[slot];
    w->pending &= ~(1ULL << ((w->loads - 1 - number) & 0xffff));
    if (__builtin_expect(sm->observed, false))
        pw_watch_loaded(sm, owner, now);
    if (w->state == PW_WARP_LOADS && !(w->pending >> w->in_flight)) {
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_loaded(sm, owner, now);
        make_ready(sm, slot, now);
    }
}

void pw_sm_lsu_has_room(struct pw_sm *sm, pw_cycle now)
{
    sm->lsu.wanted = false;
    for (uint32_t i = 0; i < sm->gpu->config.sm.schedulers; i++)
        if (sm->schedulers[i].ready & sm->memory_next)
            post_scheduler(sm, i, now);
}

/* Takes (part of) a run of arithmetic; returns the cycles the scheduler is busy. */
static uint32_t issue_compute(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    struct pw_gpu *g = sm->gpu;
    struct pw_op *op = (struct pw_op *)&w->warp->words[w->next];
    uint32_t count = g->schedule->greedy ? op->count_or_mask : 1;
    sm->counters->issued += count;
    op->count_or_mask -= count;
    if (op->count_or_mask) {
        uint64_t wait = pw_sm_result_wait(sm, count, false);
        if (wait) {
            make_wait(sm, slot, PW_WARP_DEPENDENCY);
            pw_events_post(sm->events, now + count + wait, dependency_over, sm, slot);
        }
        return count;
    }
    w->next++;
    pw_cycle ready = now + count + pw_sm_result_wait(sm, count, true);
    if (ready > now + count) {
        make_wait(sm, slot, PW_WARP_DEPENDENCY);
        pw_events_post(sm->events, ready, dependency_over, sm, slot);
    } else {
        pw_sm_prepare_warp(sm, slot, now);
    }
    return count;
}

/* Apart from the step of a scheduler, which would have no registers left for itself. */
static __attribute__((noinline)) void issue_memory(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    const struct pw_op *op = pw_next_op(w);
    const uint64_t *words = &w->warp->words[w->next + 1];
    if (is_load(op->kind)) {
        w->pending = w->pending << 1 | 1;
        w->loads++;
    }
    pw_lsu_push(sm, slot, op, words, now);
    uint32_t length = op->form == PW_FORM_AFFINE ? 3 : 1 + (uint32_t)__builtin_popcount(op->count_or_mask);
    w->next = (uint16_t)(w->next + length);
    sm->counters->issued++;
    sm->counters->memory_instructions++;
    sm->schedulers[w->scheduler].accessed = now + 1;
    pw_sm_prepare_warp(sm, slot, now);
}

static void barrier_over(void *object, uint64_t index, pw_cycle now)
{
    struct pw_sm *sm = object;
    struct pw_cta *cta = &sm->cta[index];
    cta->arrived = 0;
    for (uint64_t slots = cta->warps; slots; slots &= slots - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(slots);
        if (sm->warps[slot].state != PW_WARP_BARRIER)
            continue;
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_released(sm, slot, now);
        pw_sm_prepare_warp(sm, slot, now);
    }
}

/* All warps of the CTA that have not exited have arrived. */
static void release_barrier(struct pw_sm *sm, struct pw_cta *cta, pw_cycle now)
{
    uint64_t index = (uint64_t)(cta - sm->cta);
    uint32_t latency = sm->gpu->config.sm.barrier_latency;
    if (latency)
        pw_events_post(sm->events, now + latency, barrier_over, sm, index);
    else
        barrier_over(sm, index, now);
}

static __attribute__((noinline)) void issue_barrier(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    struct pw_cta *cta = &sm->cta[w->cta];
    w->next++;
    sm->counters->issued++;
    make_wait(sm, slot, PW_WARP_BARRIER);
    if (++cta->arrived == cta->left)
        release_barrier(sm, cta, now);
}

static __attribute__((noinline)) void issue_exit(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    struct pw_sm_warp *w = &sm->warps[slot];
    struct pw_cta *cta = &sm->cta[w->cta];
    sm->counters->issued++;
    make_wait(sm, slot, PW_WARP_EMPTY);
    sm->schedulers[w->scheduler].free = now + 1;
    cta->left--;
    if (cta->left && cta->arrived == cta->left)
        release_barrier(sm, cta, now);
    pw_cta_warp_exited(sm, slot, now);
}

/* Issues the next operation of a warp; returns the cycles the scheduler is busy. */
static uint32_t issue(struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    uint8_t kind = pw_next_op(&sm->warps[slot])->kind;
    if (kind == PW_OP_COMPUTE)
        return issue_compute(sm, slot, now);
    if (is_memory(kind))
        issue_memory(sm, slot, now);
    else if (kind == PW_OP_BARRIER)
        issue_barrier(sm, slot, now);
    else
        issue_exit(sm, slot, now);
    return 1;
}

/* The ready warps of a scheduler that can issue now: those that need the load-store unit only if it has room. */
static uint64_t can_issue(struct pw_sm *sm, const struct pw_scheduler *s)
{
    if (!(s->ready & sm->memory_next) || pw_lsu_has_room(sm))
        return s->ready;
    sm->lsu.wanted = true;
    return s->ready & ~sm->memory_next;
}

/* Which of the candidates issues. A greedy schedule stays with the warp that issued last while it can, unless that has
 * left and another has taken its slot; it need not be asked then. */
static uint32_t pick(const struct pw_sm *sm, const struct pw_scheduler *s, uint64_t candidates)
{
    const struct pw_warp_policy *schedule = sm->gpu->schedule;
    uint32_t last = s->last;
    if (schedule->greedy && last != PW_NO_WARP) {
        if (sm->age[last] != s->last_age)
            last = PW_NO_WARP;
        else if (candidates >> last & 1)
            return last;
    }
    return schedule->pick(sm->schedule, candidates, last, sm->older);
}

static void scheduler_step(void *object, uint64_t index, pw_cycle now)
{
    struct pw_sm *sm = object;
    struct pw_scheduler *s = &sm->schedulers[index];
    if (__builtin_expect(now < s->free, false)) { /* a pause has begun since this event was posted */
        pw_events_post(sm->events, s->free, scheduler_step, sm, index);
        return;
    }
    uint64_t candidates = can_issue(sm, s);
    if (candidates) {
        pw_cycle idle_since = s->free > s->resident_since ? s->free : s->resident_since;
        uint32_t slot = pick(sm, s, candidates);
        s->last = slot;
        s->last_age = sm->age[slot];
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_issue(sm, slot, now);
        sm->counters->stall_cycles += now - idle_since; /* an exit may end a launch, which is counted */
        /* `posted` stays set meanwhile: what becomes ready through this instruction is seen below. */
        uint32_t busy = issue(sm, slot, now);
        if (s->free < now + busy) /* unless the end of a launch has begun a pause */
            s->free = now + busy;
        if (__builtin_expect(sm->gpu->wiring.timeline != NULL, false))
            pw_sm_timeline_stall(sm, (uint32_t)index, idle_since, now);
    }
    s->posted = false;
    if (can_issue(sm, s))
        post_scheduler(sm, (uint32_t)index, now);
}

/* Holds a scheduler back until `until`. An instruction that issues in this very cycle is through; what is left of a run
 * of arithmetic then comes after the pause, and its result is taken to be there with its last instruction. The cycles
 * that are lost are stalls, counted as the pause begins. */
static void pause_scheduler(struct pw_sm *sm, uint32_t index, pw_cycle from, pw_cycle until)
{
    struct pw_scheduler *s = &sm->schedulers[index];
    pw_cycle now = sm->gpu->wiring.events->now;
    bool issuing = s->free > from;
    pw_cycle begin = from + (issuing && from == now);
    pw_cycle idle_since = s->free > s->resident_since ? s->free : s->resident_since;
    if (issuing)
        idle_since = begin;
    if (s->resident && until > idle_since) {
        sm->counters->stall_cycles += until - idle_since;
        if (sm->gpu->wiring.timeline)
            pw_sm_timeline_stall(sm, index, idle_since, until);
    }
    if (from == now)
        s->pause_begin = begin;
    s->free = until + (issuing ? s->free - begin : 0);
}

void pw_gpu_pause(struct pw_gpu *g, pw_cycle until)
{
    pw_cycle now = g->wiring.events->now, from = g->paused_until > now ? g->paused_until : now;
    if (until <= from)
        return;
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        for (uint32_t k = 0; k < g->config.sm.schedulers; k++)
            pause_scheduler(&g->sms[i], k, from, until);
    if (g->breakdown)
        pw_breakdown_pause(g->breakdown, until - from);
    g->paused_until = until;
}

pw_cycle pw_gpu_paused_until(const struct pw_gpu *g)
{
    return g->paused_until;
}
