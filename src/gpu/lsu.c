/* The load-store unit of an SM: in order, one line per cycle.
 *
 * Memory instructions queue up as the lines the coalescer made of them. Each cycle the unit takes one line: the first
 * line of a page looks the page up in the L1 TLB (l1_tlb.c), and the others use that answer. A line whose translation
 * is known goes on to the L1 cache. On a TLB miss all lines of the page are parked and the unit goes on with the next
 * page, unless l1_tlb.on_miss lets it wait. When the translation comes, parked lines are replayed, one per cycle,
 * before anything in the queue. When a miss register or a place in the store buffer is wanting, the unit waits where
 * it is.
 *
 * The TLB and the L1 cache are looked up in the same step of the simulation, though the cache is reached `latency`
 * cycles later; a fill that arrives in between counts as a merge instead of a hit. */
#include "gpu/gpu_internal.h"

bool pw_lsu_has_room(const struct pw_sm *sm)
{
    const struct pw_sm_config *c = &sm->gpu->config.sm;
    if (c->serial && sm->gpu->lines_outstanding)
        return false;
    return sm->lsu.count < c->lsu_queue;
}

static uint8_t request_kind(uint8_t op_kind)
{
    switch (op_kind) {
    case PW_OP_LOAD:
        return PW_REQUEST_READ;
    case PW_OP_STORE:
        return PW_REQUEST_WRITE;
    default:
        return PW_REQUEST_ATOMIC;
    }
}

static void touch_pages(struct pw_touched *touched, const struct pw_lsu_entry *e)
{
    for (uint64_t i = 0, last = UINT64_MAX; i < e->count; i++) {
        uint64_t vpn = e->lines[i].line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT);
        if (vpn != last)
            pw_touch(touched, (pw_vpn){vpn});
        last = vpn;
    }
}

/* The log has pages of 4 KiB. */
static void log_pages(struct pw_page_log *log, pw_asid app, const struct pw_lsu_entry *e, pw_cycle now)
{
    for (uint64_t i = 0, last = UINT64_MAX; i < e->count; i++) {
        uint64_t vpn = e->lines[i].line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT);
        if (vpn != last)
            pw_page_log_access(log, app, (pw_vpn){vpn}, e->kind, now);
        last = vpn;
    }
}

static void look_at_pages(const struct pw_sm *sm, const struct pw_lsu_entry *e, pw_cycle now)
{
    const struct pw_gpu *g = sm->gpu;
    for (uint64_t i = 0, last = UINT64_MAX; i < e->count; i++) {
        uint64_t page = e->lines[i].line >> g->page_lines_shift;
        if (page != last &&
            !pw_page_looks_access(g->wiring.looks, sm->app, sm->id, (pw_vpn){page << g->page_order}, now))
            pw_events_out_of_memory(sm->events);
        last = page;
    }
}

static PW_COLD void watch_pages(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    if (sm->gpu->wiring.listener.listener)
        pw_watch_issued(sm, e, now);
    if (sm->gpu->wiring.page_log)
        log_pages(sm->gpu->wiring.page_log, sm->app, e, now);
    if (sm->gpu->wiring.looks)
        look_at_pages(sm, e, now);
}

void pw_lsu_push(struct pw_sm *sm, uint32_t slot, const struct pw_op *op, const uint64_t *words, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_lsu *l = &sm->lsu;
    uint32_t place = l->first + l->count++;
    if (place >= g->config.sm.lsu_queue)
        place -= g->config.sm.lsu_queue;
    struct pw_lsu_entry *e = &l->queue[place];
    e->kind = request_kind(op->kind);
    e->count = (uint8_t)pw_coalesce_accesses(op, words, g->page_lines_shift, e->lines);
    e->next = 0;
    e->warp = (uint8_t)slot;
    e->counted = e->translated = e->absent = e->missing = e->holding = false;
    e->owner = PW_NO_OWNER;
    if (op->kind == PW_OP_LOAD || op->kind == PW_OP_ATOMIC_RETURN) {
        struct pw_sm_warp *w = &sm->warps[slot];
        e->owner = pw_load_owner(slot, w->loads - 1);
        w->load[(w->loads - 1) & (g->config.sm.loads_per_warp - 1)] = (struct pw_load){0, e->count};
    } else {
        g->launches[sm->app].stores_left += e->count;
    }
    touch_pages(&g->wiring.touched[sm->app], e);
    if (__builtin_expect(g->pages_watched, false))
        watch_pages(sm, e, now);
    g->lines_outstanding += e->count;
    sm->counters->lines += e->count;
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_room(sm, now);
    if (l->wait == PW_LSU_NOT_WAITING)
        pw_lsu_post_step(sm, now);
}

/* Takes one line from the head of the queue. */
static enum pw_lsu_wait step_queue(struct pw_sm *sm, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    enum pw_lsu_wait wait = pw_lsu_translate(sm, e, now);
    if (wait != PW_LSU_NOT_WAITING)
        return wait;
    if (e->translated) {
        const struct pw_line_access *line = &e->lines[e->next];
        struct pw_access access = {pw_physical_line(g, e->frame, line->line), e->owner, e->kind, line->sectors,
                                   line->full};
        pw_cycle at = now + g->config.l1_tlb.tlb.latency;
        if (__builtin_expect(sm->observed, false) ? !pw_watch_access(sm, access, false, at, &wait)
                                                  : !pw_l1_access(sm, access, at, &wait))
            return wait;
        if (e->holding)
            pw_gpu_drop_frame(g, access.line, now);
        e->holding = false;
        e->next++;
    }
    pw_lsu_pop_if_done(sm, e, now);
    return PW_LSU_NOT_WAITING;
}

/* Takes one line whose translation has come late. */
static enum pw_lsu_wait step_replay(struct pw_sm *sm, pw_cycle now)
{
    const struct pw_parked_line *r = sm->lsu.replay.first;
    struct pw_access access = {r->line, r->owner, r->kind, r->sectors, r->full};
    enum pw_lsu_wait wait;
    if (__builtin_expect(sm->observed, false) ? !pw_watch_access(sm, access, true, now, &wait)
                                              : !pw_l1_access(sm, access, now, &wait))
        return wait;
    pw_gpu_drop_frame(sm->gpu, access.line, now);
    pw_record_give(&sm->gpu->parked.records, pw_parked_pop(&sm->lsu.replay));
    return PW_LSU_NOT_WAITING;
}

void pw_lsu_step(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_sm *sm = object;
    struct pw_lsu *l = &sm->lsu;
    l->posted = false;
    bool replay = l->replay.first != NULL;
    if (!replay && l->stalled) {
        l->wait = PW_LSU_TRANSLATION;
        return;
    }
    if (replay)
        l->wait = (uint8_t)step_replay(sm, now);
    else if (l->count)
        l->wait = (uint8_t)step_queue(sm, now);
    else
        return;
    if (l->wait != PW_LSU_NOT_WAITING) {
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_lsu_waits(sm, replay, now);
        return;
    }
    l->free = now + 1;
    if (l->replay.first || l->count)
        pw_lsu_post_step(sm, now);
}

void pw_lsu_resume(struct pw_sm *sm, enum pw_lsu_wait reason, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (l->wait != reason)
        return;
    l->wait = PW_LSU_NOT_WAITING;
    pw_lsu_post_step(sm, now);
}
