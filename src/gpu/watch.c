/* Those who watch an SM: the breakdown of warp time, and a listener, who hears of memory instructions one by one.
 *
 * A machine that neither is interested in has one branch where it would call them. A listener may have the pages of a
 * load translated without an access. Then a line stands for its page and has no sectors: it goes the way of any other
 * line through the load-store unit, the TLBs and the walkers, with a miss or a far fault if there is one, and is done
 * where it would reach the L1 cache. It does not count as a line. */
#include "gpu/gpu_internal.h"

static struct pw_slot slot_of(const struct pw_sm *sm, uint32_t warp)
{
    return (struct pw_slot){(uint16_t)sm->gpu->wiring.gpu, (uint16_t)sm->id, warp};
}

/* Leaves one line of each page, without sectors. Accesses to a page follow one another. */
static void keep_pages(const struct pw_gpu *g, struct pw_lsu_entry *e)
{
    uint8_t pages = 0;
    for (uint8_t i = 0; i < e->count; i++) {
        uint64_t line = e->lines[i].line;
        if (!pages || line >> g->page_lines_shift != e->lines[pages - 1].line >> g->page_lines_shift)
            e->lines[pages++] = (struct pw_line_access){.line = line};
    }
    e->count = pages;
}

void pw_watch_issued(struct pw_sm *sm, struct pw_lsu_entry *e, pw_cycle now)
{
    struct pw_gpu *g = sm->gpu;
    const struct pw_listener *l = &g->wiring.listener;
    enum pw_heard heard = l->issued(l->listener, slot_of(sm, e->warp), now);
    if (heard == PW_HEARD_ACCESS)
        return;
    keep_pages(g, e);
    e->kind = heard == PW_HEARD_TRANSLATE ? PW_REQUEST_READ : PW_REQUEST_WRITE;
    sm->warps[e->warp].load[e->owner & 0xffff & (g->config.sm.loads_per_warp - 1)].lines = e->count;
    sm->counters->lines -= e->count; /* before it is added */
}

static void tell_translated(const struct pw_sm *sm, uint32_t owner, pw_cycle at)
{
    const struct pw_listener *l = &sm->gpu->wiring.listener;
    if (l->listener && owner != PW_NO_OWNER)
        l->translated(l->listener, slot_of(sm, owner >> 16), (uint16_t)owner, at);
}

bool pw_watch_access(struct pw_sm *sm, struct pw_access access, bool replayed, pw_cycle at, enum pw_lsu_wait *out_wait)
{
    pw_cycle now = sm->events->now;
    if (!access.sectors) {
        tell_translated(sm, access.owner, at);
        pw_l1_line_done(sm, access.owner, at, now);
        return true;
    }
    if (!pw_l1_access(sm, access, at, out_wait))
        return false;
    tell_translated(sm, access.owner, at);
    if (sm->watched && replayed)
        pw_breakdown_replayed(sm, access.owner, now);
    else if (sm->watched)
        pw_breakdown_entered(sm, access.owner, now);
    return true;
}

static void tell_missed(const struct pw_sm *sm, uint32_t owner, enum pw_miss_stage stage)
{
    const struct pw_listener *l = &sm->gpu->wiring.listener;
    if (owner != PW_NO_OWNER)
        l->missed(l->listener, slot_of(sm, owner >> 16), (uint16_t)owner, stage);
}

void pw_watch_translated(struct pw_sm *sm, uint64_t page, const struct pw_tlb_waiting *waiting, bool faulted,
                         pw_cycle now)
{
    bool head = pw_lsu_head_waits(sm, page);
    if (sm->watched)
        pw_breakdown_translated(sm, page, waiting, head, now);
    if (!sm->gpu->wiring.listener.listener)
        return;
    enum pw_miss_stage stage = faulted ? PW_MISS_FAR_FAULT : (enum pw_miss_stage)waiting->stage;
    for (const struct pw_parked_line *r = waiting->parked.first; r; r = r->next)
        tell_missed(sm, r->owner, stage);
    if (head)
        tell_missed(sm, sm->lsu.queue[sm->lsu.first].owner, stage);
}

void pw_watch_loaded(const struct pw_sm *sm, uint32_t owner, pw_cycle now)
{
    const struct pw_listener *l = &sm->gpu->wiring.listener;
    if (l->listener)
        l->loaded(l->listener, slot_of(sm, owner >> 16), (uint16_t)owner, now);
}

void pw_watch_exited(const struct pw_sm *sm, uint32_t slot, pw_cycle now)
{
    const struct pw_listener *l = &sm->gpu->wiring.listener;
    if (l->listener)
        l->exited(l->listener, slot_of(sm, slot), now);
}

/* For a listener: the last stage of the page's miss. A page whose wait has become that for a far fault has had it. */
static void keep_stage(void *gpu, uint32_t sm_id, pw_vpn vpn, enum pw_miss_stage stage, pw_cycle from)
{
    (void)from;
    const struct pw_gpu *g = gpu;
    const struct pw_sm *sm = &g->sms[sm_id];
    const struct pw_mshr_entry *miss = pw_mshr_find(&sm->tlb_mshr, vpn.v >> g->page_order);
    if (miss && stage > pw_tlb_waiting(sm, miss)->stage)
        pw_tlb_waiting(sm, miss)->stage = (uint8_t)stage;
}

pw_stage_fn *pw_watch_stages(const struct pw_gpu *g)
{
    return g->breakdown ? pw_breakdown_stage : g->wiring.listener.listener ? keep_stage : NULL;
}
