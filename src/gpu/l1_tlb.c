/* The L1 TLB of an SM as its load-store unit sees it: lookups, misses, and what becomes of them.
 *
 * On a miss all lines of the page are parked in one of the TLB's miss registers, where those of other instructions
 * join them. l1_tlb.on_miss says who may start a miss while others are under way:
 * - nonblocking: anybody.
 * - hit_under_miss: nobody but the memory instruction whose misses these are, for its other pages. One that hits, or
 *   that joins one of these misses, goes on; one that would start a miss waits at the head, and all behind it with it,
 *   until every one of them has been answered. This is how we understand the TLB of Pichai et al. (ASPLOS 2014), which
 *   MASK (Section 6) and UVM (Section 6.1) name. A further instruction of the same warp is another one. One with more
 *   pages than there are registers takes them as they become free. Stores and atomics are treated as loads are.
 * - stall_lsu: nobody. The head waits for its translation, and all behind it with it.
 *
 * A far fault ends a miss under each of them: what waits goes on waiting without a register (fault_wait.h), the head of
 * a unit that stalls too, and the unit goes on. Only where memory instructions go one at a time (sm.serial) does the
 * head stay.
 *
 * What a page may not be used for comes with its translation, from the TLB or from the MMU, and is checked before
 * anything is done with either (protection.c). */
#include "gpu/gpu_internal.h"

const struct pw_option pw_l1_tlb_options[] = {
    {"on_miss", PW_OPTION_CHOICE, offsetof(struct pw_l1_tlb_config, on_miss), 0, 0, "nonblocking", "",
     (const char *const[]){"nonblocking", "hit_under_miss", "stall_lsu", NULL},
     "What goes on under a miss in the L1 TLB: everything; hits, merges and misses of the same instruction; nothing.",
     false},
    {0}};

/* Parks the lines of the head's present page until their translation comes. */
static inline void park(struct pw_sm *sm, struct pw_lsu_entry *e, struct pw_tlb_waiting *waiting, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    pw_cycle joined = now;
    uint32_t waited = sm->watched ? pw_breakdown_parked(sm, &joined) : 0;
    uint64_t within = (1ULL << g->page_lines_shift) - 1;
    waiting->written |= e->kind != PW_REQUEST_READ;
    for (; e->next < e->count && e->lines[e->next].line >> g->page_lines_shift == e->page; e->next++) {
        const struct pw_line_access *line = &e->lines[e->next];
        struct pw_parked_line *parked = pw_record_take(&g->parked.records);
        *parked = (struct pw_parked_line){.within = (uint32_t)(line->line & within),
                                          .owner = e->owner,
                                          .since = (uint32_t)joined,
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

/* What the head asks for: its present page. */
static struct pw_tlb_miss miss_of(const struct pw_sm *sm, const struct pw_lsu_entry *e)
{
    return (struct pw_tlb_miss){.vpn = {e->page << sm->gpu->page_order},
                                .sm = (uint16_t)sm->id,
                                .warp = e->warp,
                                .asid = sm->app,
                                .fill = pw_may_fill(sm, e->warp)};
}

/* Lets the lines of the head's present page wait with others, or the head itself. */
static inline enum pw_lsu_wait wait_with(struct pw_sm *sm, struct pw_lsu_entry *e, struct pw_tlb_waiting *waiting,
                                         bool stays, pw_cycle now)
{
    if (stays) {
        sm->lsu.stalled = true;
        return PW_LSU_TRANSLATION;
    }
    park(sm, e, waiting, now);
    e->counted = false;
    return PW_LSU_NOT_WAITING;
}

static inline enum pw_lsu_wait join_miss(struct pw_sm *sm, struct pw_lsu_entry *e, struct pw_mshr_entry *miss,
                                         pw_cycle now)
{
    const struct pw_gpu_config *c = &sm->gpu->config;
    miss->mask |= 1ULL << e->warp;
    return wait_with(sm, e, pw_tlb_waiting(sm, miss), c->l1_tlb.on_miss == PW_TLB_STALL_LSU || c->sm.serial, now);
}

PW_COLD static enum pw_lsu_wait join_fault(struct pw_sm *sm, struct pw_lsu_entry *e, struct pw_fault_wait *wait,
                                           pw_cycle now)
{
    return wait_with(sm, e, &wait->waiting, sm->gpu->config.sm.serial, now);
}

/* Whether the head may start a miss. */
static bool may_miss(const struct pw_sm *sm, const struct pw_lsu_entry *e)
{
    if (pw_mshr_full(&sm->tlb_mshr))
        return false;
    return sm->gpu->config.l1_tlb.on_miss != PW_TLB_HIT_UNDER_MISS || !sm->tlb_mshr.in_use || e->missing;
}

/* Takes a miss register for the head's present page and sends for its translation. */
static struct pw_mshr_entry *start_miss(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_mshr_entry *miss = pw_mshr_add(&sm->tlb_mshr, e->page);
    if (g->wiring.timeline)
        pw_sm_timeline_miss(sm, miss, now);
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_miss(sm, miss, now);
    e->missing = true;
    struct pw_tlb_miss asked = miss_of(sm, e);
    asked.place = (uint16_t)pw_mshr_place(&sm->tlb_mshr, miss);
    pw_mmu_request(g->mmu, asked, now + g->config.l1_tlb.tlb.latency);
    return miss;
}

/* The head's present page is not in the TLB. Returns what to wait for, if anything. */
static enum pw_lsu_wait miss_page(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_tlb_counters *c = &sm->gpu->tlb_counters[sm->app];
    struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, e->page);
    if (__builtin_expect(wait != NULL, false)) {
        pw_tlb_count_answered(c, &c->fault_waits);
        return join_fault(sm, e, wait, now);
    }
    struct pw_mshr_entry *miss = e->absent ? NULL : pw_mshr_find(&sm->tlb_mshr, e->page);
    if (miss)
        pw_tlb_count_answered(c, &c->merges);
    else if (may_miss(sm, e))
        miss = start_miss(sm, e, now);
    else
        return PW_LSU_TLB_MSHR;
    return join_miss(sm, e, miss, now);
}

/* The head's present page is in the TLB, but a copy that is not to be written as long as the host has one too. */
PW_COLD static enum pw_lsu_wait wait_to_write(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, e->page);
    struct pw_mshr_entry *miss = wait ? NULL : pw_mshr_find(&sm->tlb_mshr, e->page);
    if (miss) /* large by now, and one of its base pages is still asked for */
        return join_miss(sm, e, miss, now);
    if (!wait) {
        wait = pw_fault_wait_add(&g->fault_waits, &sm->fault_waits, e->page);
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_write_waits(sm, wait, now);
        ask_to_write(g, miss_of(sm, e), now);
    }
    return join_fault(sm, e, wait, now);
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
    enum pw_lsu_wait wait = miss_page(sm, e, now);
    e->absent = wait == PW_LSU_TLB_MSHR && !sm->tlb.asks_table;
    return wait;
}

enum pw_lsu_wait pw_lsu_translate(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    struct pw_tlb_counters *c = &g->tlb_counters[sm->app];
    uint64_t page = e->lines[e->next].line >> g->page_lines_shift;
    pw_vpn vpn = {page << g->page_order};
    if (e->translated && page == e->page)
        return PW_LSU_NOT_WAITING;
    if (e->absent)
        return miss_absent(sm, e, now);
    e->page = page;
    e->translated = pw_tlb_lookup(&sm->tlb, sm->app, vpn, &e->frame);
    if (!e->counted) {
        c->lookups++;
        c->hits += e->translated;
        c->misses += !e->translated;
        c->unanswered += !e->translated;
        e->counted = true;
    } else if (e->translated) { /* the miss has waited for a register until its page was here */
        pw_tlb_count_answered(c, &c->primary);
    }
    if (!e->translated)
        return miss_absent(sm, e, now);
    if (__builtin_expect(!pw_tlb_is_right(&sm->tlb, g->wiring.tables[sm->app], vpn, e->frame), false))
        fail_wrong(sm, e, vpn);
    if (__builtin_expect(pw_denied_of(e->frame) != 0, false))
        pw_protect_head(sm, e);
    if (g->wiring.uvm && !pw_uvm_touch(g->wiring.uvm, sm->app, vpn, e->kind != PW_REQUEST_READ, now)) {
        e->translated = false;
        return wait_to_write(sm, e, now);
    }
    pw_gpu_mark_translated(g, sm, e->frame); /* a TLB that is ideal has heard of it only now */
    e->counted = false;
    return PW_LSU_NOT_WAITING;
}

/* The head goes on with the translation it has been given. It holds the frame: with little memory the page would leave
 * for the next one that is waited for before it was ever accessed. */
static void hand_to_head(struct pw_sm *sm, uint64_t page, pw_pfn frame)
{
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    if (!pw_lsu_head_waits(sm, page))
        return;
    sm->lsu.stalled = false;
    e->frame = frame;
    e->translated = e->holding = true;
    e->counted = false;
    pw_gpu_hold_frame(sm->gpu, pw_physical_line(sm->gpu, frame, e->lines[e->next].line));
}

bool pw_lsu_write_waits(const struct pw_sm *sm, uint64_t page)
{
    if (pw_lsu_head_waits(sm, page) && sm->lsu.queue[sm->lsu.first].kind != PW_REQUEST_READ)
        return true;
    const struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, page);
    if (wait)
        return wait->waiting.written;
    const struct pw_mshr_entry *miss = pw_mshr_find(&sm->tlb_mshr, page);
    return miss && pw_tlb_waiting(sm, miss)->written;
}

/* Replays what was parked for the page. */
static void replay_parked(struct pw_sm *sm, struct pw_tlb_waiting *waiting, pw_pfn frame)
{
    uint32_t first = frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT);
    for (struct pw_parked_line *r = waiting->parked.first; r; r = r->next) {
        r->line = first + r->within;
        pw_gpu_hold_frame(sm->gpu, r->line);
    }
    pw_parked_move(&waiting->parked, &sm->lsu.replay);
    waiting->written = false;
    waiting->stage = 0;
}

static void fill_tlb(struct pw_sm *sm, pw_vpn vpn, struct pw_translation t)
{
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    pw_tlb_insert(&sm->tlb, sm->app, vpn, t);
    if ((e->page << sm->gpu->page_order ^ vpn.v) >> t.order == 0)
        e->absent = false;
}

/* The miss has ended, with a translation or with a far fault; its register is free. */
static inline void end_miss(struct pw_sm *sm, struct pw_mshr_entry *miss, bool translated, pw_cycle now)
{
    struct pw_tlb_counters *c = &sm->gpu->tlb_counters[sm->app];
    pw_tlb_count_answered(c, translated ? &c->primary : &c->fault_waits);
    if (sm->gpu->wiring.timeline)
        pw_sm_timeline_miss_ended(sm, miss, now);
    pw_mshr_remove(&sm->tlb_mshr, miss);
}

/* The head tries again what it waited for, and what is to be replayed goes on. */
static void wake(struct pw_sm *sm, pw_cycle now)
{
    struct pw_lsu *l = &sm->lsu;
    if (l->wait == PW_LSU_TRANSLATION || l->wait == PW_LSU_TLB_MSHR)
        l->wait = PW_LSU_NOT_WAITING;
    if (l->wait == PW_LSU_NOT_WAITING && (l->replay.first || l->count))
        pw_lsu_post_step(sm, now);
}

/* The head, which stalls for this page, waits with the others for it to come, and the unit goes on after this cycle. */
static void park_head(struct pw_sm *sm, struct pw_fault_wait *wait, pw_cycle now)
{
    struct pw_lsu_entry *e = &sm->lsu.queue[sm->lsu.first];
    if (join_fault(sm, e, wait, now) != PW_LSU_NOT_WAITING)
        return;
    sm->lsu.stalled = false;
    sm->lsu.free = now + 1;
    pw_lsu_pop_if_done(sm, e, now);
}

/* What waited in a miss register waits for its page from now on, or for leave to write it once it is `translated`;
 * nothing changes for what does so already. */
static void move_to_fault(struct pw_sm *sm, const struct pw_tlb_miss *asked, bool translated, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    uint64_t page = asked->vpn.v >> g->page_order;
    if (pw_fault_wait_find(&sm->fault_waits, page)) /* it had come and left, and was asked for again */
        return;
    struct pw_mshr_entry *miss = &sm->tlb_mshr.entries[asked->place];
    struct pw_tlb_waiting *waiting = pw_tlb_waiting(sm, miss);
    struct pw_fault_wait *wait = pw_fault_wait_add(&g->fault_waits, &sm->fault_waits, page);
    wait->waiting = *waiting;
    *waiting = (struct pw_tlb_waiting){0};
    if (__builtin_expect(sm->watched, false))
        pw_breakdown_faulted(sm, miss, wait);
    end_miss(sm, miss, translated, now);
    if (pw_lsu_head_waits(sm, page))
        park_head(sm, wait, now);
    wake(sm, now);
}

void pw_lsu_faulted(void *gpu, struct pw_tlb_miss miss, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    move_to_fault(&g->sms[miss.sm], &miss, false, now);
}

/* What waits for the page, here or in a miss register, is replayed and waits no longer. Returns the number of warps
 * that waited for a walk. */
static unsigned replay_page(struct pw_sm *sm, uint64_t page, uint32_t place, pw_pfn frame, pw_cycle now)
{
    struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, page);
    struct pw_mshr_entry *miss = &sm->tlb_mshr.entries[place];
    struct pw_tlb_waiting *waiting = wait ? &wait->waiting : pw_tlb_waiting(sm, miss);
    if (__builtin_expect(sm->observed, false))
        pw_watch_translated(sm, page, waiting, wait, now);
    replay_parked(sm, waiting, frame);
    if (wait) {
        pw_fault_wait_remove(&sm->gpu->fault_waits, &sm->fault_waits, wait);
        return 0;
    }
    unsigned warps = (unsigned)__builtin_popcountll(miss->mask);
    end_miss(sm, miss, true, now);
    return warps;
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
    if (__builtin_expect(t.denied != 0, false))
        pw_protect_waiting(sm, page, answered.place, t.denied);
    if (g->wiring.uvm && !pw_uvm_touch(g->wiring.uvm, sm->app, vpn, pw_lsu_write_waits(sm, page), now)) {
        if (__builtin_expect(sm->watched, false))
            pw_breakdown_stage(g, sm->id, vpn, PW_MISS_FAR_FAULT, now);
        move_to_fault(sm, &answered, true, now);
        ask_to_write(g, answered, now);
        return 0;
    }
    if (answered.fill & PW_FILL_L1)
        fill_tlb(sm, vpn, t);
    pw_gpu_mark_translated(g, sm, t.frame);
    unsigned warps = replay_page(sm, page, answered.place, t.frame, now);
    hand_to_head(sm, page, t.frame);
    wake(sm, now);
    return warps;
}
