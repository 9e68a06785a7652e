/* The load-store unit of an SM: in order, one line per cycle, and the L1 TLB in front of it.
 *
 * Memory instructions queue up as the lines the coalescer made of them. Each cycle the unit takes one line: the first
 * line of a page looks the page up in the L1 TLB, and the others use that answer. A line whose translation is known
 * goes on to the L1 cache. On a TLB miss all lines of the page are parked in the TLB's miss registers and the unit
 * goes on with the next page (non-blocking), or waits (stall_lsu). When the translation comes, parked lines are
 * replayed, one per cycle, before anything in the queue. When a miss register or a place in the store buffer is
 * wanting, the unit waits where it is.
 *
 * The TLB and the L1 cache are looked up in the same step of the simulation, though the cache is reached `latency`
 * cycles later; a fill that arrives in between counts as a merge instead of a hit. */
#include "gpu/gpu_internal.h"

const struct pw_option pw_l1_tlb_options[] = {
    {"on_miss", PW_OPTION_CHOICE, offsetof(struct pw_l1_tlb_config, on_miss), 0, 0, "nonblocking", "",
     (const char *const[]){"nonblocking", "stall_lsu", NULL},
     "Whether the load-store unit goes on behind a miss in the L1 TLB, or waits for the translation.", false},
    {0}};

static void lsu_step(void *object, uint64_t argument, pw_cycle now);

static void post_step(struct pw_sm *sm, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (l->posted)
        return;
    l->posted = true;
    pw_events_post(sm->events, now > l->free ? now : l->free, lsu_step, sm, 0);
}

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

static PW_COLD void log_pages(struct pw_page_log *log, pw_asid app, const struct pw_lsu_entry *e, pw_cycle now)
{
    for (uint64_t i = 0, last = UINT64_MAX; i < e->count; i++) {
        uint64_t vpn = e->lines[i].line >> (PW_PAGE_SHIFT - PW_LINE_SHIFT);
        if (vpn != last)
            pw_page_log_access(log, app, (pw_vpn){vpn}, e->kind, now);
        last = vpn;
    }
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
    e->counted = e->translated = e->absent = e->holding = false;
    e->owner = PW_NO_OWNER;
    if (op->kind == PW_OP_LOAD || op->kind == PW_OP_ATOMIC_RETURN) {
        struct pw_sm_warp *w = &sm->warps[slot];
        e->owner = pw_load_owner(slot, w->loads - 1);
        w->load[(w->loads - 1) & (g->config.sm.loads_per_warp - 1)] = (struct pw_load){0, e->count};
    } else {
        g->launches[sm->app].stores_left += e->count;
    }
    touch_pages(&g->wiring.touched[sm->app], e);
    if (__builtin_expect(g->wiring.page_log != NULL, false))
        log_pages(g->wiring.page_log, sm->app, e, now);
    g->lines_outstanding += e->count;
    sm->counters->lines += e->count;
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_room(sm, now);
    if (l->wait == PW_LSU_NOT_WAITING)
        post_step(sm, now);
}

static uint32_t physical_line(const struct pw_gpu *g, pw_pfn first_frame, uint64_t vaddr_line)
{
    uint64_t within = vaddr_line & ((1ULL << g->page_lines_shift) - 1);
    return (uint32_t)(((uint64_t)first_frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) + within);
}

/* Parks the lines of the present page in a miss register until their translation comes. */
static void park(struct pw_sm *sm, struct pw_lsu_entry *e, const struct pw_mshr_entry *miss, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    uint32_t waited = sm->watched ? pw_breakdown_parked(sm, now) : 0;
    uint64_t within = (1ULL << g->page_lines_shift) - 1;
    struct pw_tlb_waiting *waiting = pw_tlb_waiting(sm, miss);
    waiting->written |= e->kind != PW_REQUEST_READ;
    for (; e->next < e->count && e->lines[e->next].line >> g->page_lines_shift == e->page; e->next++) {
        const struct pw_line_access *line = &e->lines[e->next];
        struct pw_parked_line *parked = pw_record_take(&g->parked.records);
        *parked = (struct pw_parked_line){.within = (uint32_t)(line->line & within),
                                          .owner = e->owner,
                                          .since = (uint32_t)now,
                                          .waited = waited,
                                          .kind = e->kind,
                                          .sectors = line->sectors,
                                          .full = line->full};
        pw_parked_push(&waiting->parked, parked);
    }
}

/* Lets a write wait until its page, of which the host has a copy too, is the only one. */
static void ask_to_write(struct pw_gpu *g, struct pw_tlb_miss miss, pw_cycle now)
{
    pw_mmu_await_page(g->mmu, miss);
    pw_uvm_write_waits(g->wiring.uvm, miss.asid, miss.vpn, now);
}

/* Sends for the translation of a page that the head misses, or for leave to write it. */
static void send_miss(struct pw_sm *sm, const struct pw_lsu_entry *e, uint32_t place, bool written, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_tlb_miss miss = {.vpn = {e->page << g->page_order},
                               .sm = (uint16_t)sm->id,
                               .warp = e->warp,
                               .asid = sm->app,
                               .place = (uint16_t)place};
    miss.fill = pw_may_fill(sm, miss.warp);
    if (written)
        ask_to_write(g, miss, now);
    else
        pw_mmu_request(g->mmu, miss, now + g->config.l1_tlb.tlb.latency);
}

/* The head's present page is not in the TLB, or there but not to be `written`. Returns what to wait for, if
 * anything. */
static enum pw_lsu_wait miss_page(struct pw_sm *sm, struct pw_lsu_entry *e, bool written, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_mshr_entry *miss = e->absent ? NULL : pw_mshr_find(&sm->tlb_mshr, e->page);
    if (miss) {
        g->tlb_counters[sm->app].merges++;
    } else {
        if (pw_mshr_full(&sm->tlb_mshr))
            return PW_LSU_TLB_MSHR;
        miss = pw_mshr_add(&sm->tlb_mshr, e->page);
        if (g->wiring.timeline)
            pw_sm_timeline_miss(sm, miss, now);
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_miss(sm, miss, written, now);
        send_miss(sm, e, pw_mshr_place(&sm->tlb_mshr, miss), written, now);
    }
    miss->mask |= 1ULL << e->warp;
    if (g->config.l1_tlb.on_miss == PW_TLB_STALL_LSU || g->config.sm.serial)
        return PW_LSU_TRANSLATION;
    park(sm, e, miss, now);
    e->counted = false;
    return PW_LSU_NOT_WAITING;
}

/* Fails the run, since the L1 TLB has a wrong frame; goes on to the end of the event with the right one. */
static void fail_wrong(struct pw_sm *sm, struct pw_lsu_entry *e, pw_vpn vpn)
{
    struct pw_gpu *g = sm->gpu;
    const struct pw_page_table *table = g->wiring.tables[sm->app];
    struct pw_error err;
    pw_frame_is_wrong(table, "an L1 TLB", sm->app, vpn, e->frame, &err);
    g->wiring.failed(g->wiring.node, &err);
    e->frame = pw_page_table_lookup(table, vpn).frame;
}

/* The head's present page is not in the TLB. Where it has to wait for a miss register, that is all that it waits for
 * until the page is put in, whatever else may come. */
static enum pw_lsu_wait miss_absent(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    enum pw_lsu_wait wait = miss_page(sm, e, false, now);
    e->absent = wait == PW_LSU_TLB_MSHR && !sm->tlb.asks_table;
    return wait;
}

/* Makes the translation of the head's next line known, if it can be. */
static enum pw_lsu_wait translate(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    uint64_t page = e->lines[e->next].line >> g->page_lines_shift;
    pw_vpn vpn = {page << g->page_order};
    if (e->translated && page == e->page)
        return PW_LSU_NOT_WAITING;
    if (e->absent)
        return miss_absent(sm, e, now);
    e->page = page;
    e->translated = pw_tlb_lookup(&sm->tlb, sm->app, vpn, &e->frame);
    if (!e->counted) {
        struct pw_tlb_counters *c = &g->tlb_counters[sm->app];
        c->lookups++;
        c->hits += e->translated;
        c->misses += !e->translated;
        e->counted = true;
    }
    if (!e->translated)
        return miss_absent(sm, e, now);
    if (__builtin_expect(!pw_tlb_is_right(&sm->tlb, g->wiring.tables[sm->app], vpn, e->frame), false))
        fail_wrong(sm, e, vpn);
    if (g->wiring.uvm && !pw_uvm_touch(g->wiring.uvm, sm->app, vpn, e->kind != PW_REQUEST_READ, now)) {
        e->translated = false;
        return miss_page(sm, e, true, now);
    }
    pw_gpu_mark_translated(g, sm, e->frame); /* a TLB that is ideal has heard of it only now */
    e->counted = false;
    return PW_LSU_NOT_WAITING;
}

static void pop_if_done(struct pw_sm *sm, const struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (e->next < e->count)
        return;
    if (++l->first == sm->gpu->config.sm.lsu_queue)
        l->first = 0;
    l->count--;
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_room(sm, now);
    if (l->wanted && pw_lsu_has_room(sm))
        pw_sm_lsu_has_room(sm, now);
}

/* Takes one line from the head of the queue. */
static enum pw_lsu_wait step_queue(struct pw_sm *sm, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    enum pw_lsu_wait wait = translate(sm, e, now);
    if (wait != PW_LSU_NOT_WAITING)
        return wait;
    if (e->translated) {
        const struct pw_line_access *line = &e->lines[e->next];
        struct pw_access access = {physical_line(g, e->frame, line->line), e->owner, e->kind, line->sectors,
                                   line->full};
        if (!pw_l1_access(sm, access, now + g->config.l1_tlb.tlb.latency, &wait))
            return wait;
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_entered(sm, e->owner, now);
        if (e->holding)
            pw_gpu_drop_frame(g, access.line, now);
        e->holding = false;
        e->next++;
    }
    pop_if_done(sm, e, now);
    return PW_LSU_NOT_WAITING;
}

/* Takes one line whose translation has come late. */
static enum pw_lsu_wait step_replay(struct pw_sm *sm, pw_cycle now)
{
    const struct pw_parked_line *r = sm->lsu.replay.first;
    struct pw_access access = {r->line, r->owner, r->kind, r->sectors, r->full};
    enum pw_lsu_wait wait;
    if (!pw_l1_access(sm, access, now, &wait))
        return wait;
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_replayed(sm, access.owner, now);
    pw_gpu_drop_frame(sm->gpu, access.line, now);
    pw_record_give(&sm->gpu->parked.records, pw_parked_pop(&sm->lsu.replay));
    return PW_LSU_NOT_WAITING;
}

static void lsu_step(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_sm *sm = object;
    struct pw_lsu *l = &sm->lsu;
    l->posted = false;
    bool replay = l->replay.first != NULL;
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
        post_step(sm, now);
}

void pw_lsu_resume(struct pw_sm *sm, enum pw_lsu_wait reason, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (l->wait != reason)
        return;
    l->wait = PW_LSU_NOT_WAITING;
    post_step(sm, now);
}

/* Whether the head waits for this page under stall_lsu. */
static bool head_waits(const struct pw_sm *sm, uint64_t page)
{
    return sm->lsu.wait == PW_LSU_TRANSLATION && sm->lsu.queue[sm->lsu.first].page == page;
}

/* The head goes on with the translation it has been given. It holds the frame: with little memory the page would leave
 * for the next one that is waited for before it was ever accessed. */
static void hand_to_head(struct pw_sm *sm, uint64_t page, pw_pfn frame)
{
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    if (!head_waits(sm, page))
        return;
    e->frame = frame;
    e->translated = e->holding = true;
    e->counted = false;
    pw_gpu_hold_frame(sm->gpu, physical_line(sm->gpu, frame, e->lines[e->next].line));
}

bool pw_lsu_write_waits(const struct pw_sm *sm, uint64_t page)
{
    if (head_waits(sm, page) && sm->lsu.queue[sm->lsu.first].kind != PW_REQUEST_READ)
        return true;
    const struct pw_mshr_entry *miss = pw_mshr_find(&sm->tlb_mshr, page);
    return miss && pw_tlb_waiting(sm, miss)->written;
}

/* Replays what was parked for the page. */
static void replay_parked(struct pw_sm *sm, const struct pw_mshr_entry *miss, pw_pfn frame)
{
    struct pw_tlb_waiting *waiting = pw_tlb_waiting(sm, miss);
    uint32_t first = frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT);
    for (struct pw_parked_line *r = waiting->parked.first; r; r = r->next) {
        r->line = first + r->within;
        pw_gpu_hold_frame(sm->gpu, r->line);
    }
    pw_parked_move(&waiting->parked, &sm->lsu.replay);
    waiting->written = false;
}

static void fill_tlb(struct pw_sm *sm, pw_vpn vpn, struct pw_translation t)
{
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    pw_tlb_insert(&sm->tlb, sm->app, vpn, t);
    if ((e->page << sm->gpu->page_order ^ vpn.v) >> t.order == 0)
        e->absent = false;
}

unsigned pw_lsu_translated(void *gpu, struct pw_tlb_miss answered, struct pw_translation t, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    struct pw_sm *sm = &g->sms[answered.sm];
    pw_vpn vpn = answered.vpn;
    uint64_t page = vpn.v >> g->page_order;
    if (!t.present) { /* it has left while the answer was under way */
        pw_mmu_request(g->mmu, answered, now);
        return 0;
    }
    if (g->wiring.uvm && !pw_uvm_touch(g->wiring.uvm, sm->app, vpn, pw_lsu_write_waits(sm, page), now)) {
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_stage(g, sm->id, vpn, PW_MISS_FAR_FAULT, now);
        ask_to_write(g, answered, now);
        return 0;
    }
    if (answered.fill & PW_FILL_L1)
        fill_tlb(sm, vpn, t);
    pw_gpu_mark_translated(g, sm, t.frame);
    struct pw_mshr_entry *miss = &sm->tlb_mshr.entries[answered.place];
    unsigned warps = (unsigned)__builtin_popcountll(miss->mask);
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_translated(sm, miss, head_waits(sm, page), now);
    replay_parked(sm, miss, t.frame);
    if (g->wiring.timeline)
        pw_sm_timeline_translated(sm, miss, now);
    pw_mshr_remove(&sm->tlb_mshr, miss);
    hand_to_head(sm, page, t.frame);
    if (sm->lsu.wait == PW_LSU_TRANSLATION || sm->lsu.wait == PW_LSU_TLB_MSHR)
        sm->lsu.wait = PW_LSU_NOT_WAITING;
    if (sm->lsu.wait == PW_LSU_NOT_WAITING && (sm->lsu.replay.first || sm->lsu.count))
        post_step(sm, now);
    return warps;
}
