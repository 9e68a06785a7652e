/* What counters lack, or have too much, when they are read while warps are resident.
 *
 * A scheduler counts when something ends, or before it does: a stall when the next instruction issues, a run of
 * arithmetic and a pause of all SMs as they begin, its stay when the last warp exits. So at any moment its counters
 * stand at a time of its own, `free`. A snapshot cuts every stay at the same cycle: it adds the stall that is under
 * way, takes away what lies ahead, and counts the stay up to there, and no other counter than these has to be touched
 * on the hot path. Instructions count in the cycle in which they issue. */
#include "gpu/gpu_internal.h"

#include <string.h>

static pw_cycle later(pw_cycle a, pw_cycle b)
{
    return a > b ? a : b;
}

/* How many of the cycles that a scheduler has booked from `from` on are those of a pause. */
static uint64_t paused_after(const struct pw_gpu *g, const struct pw_scheduler *s, pw_cycle from)
{
    pw_cycle begin = later(from, s->pause_begin);
    return g->paused_until > begin ? g->paused_until - begin : 0;
}

static void cut_stay(const struct pw_gpu *g, const struct pw_scheduler *s, pw_cycle now, struct pw_sm_open *open)
{
    pw_cycle booked = later(s->free, s->resident_since), from = later(now, s->resident_since);
    open->resident_cycles += from - s->resident_since;
    if (booked <= from) {
        open->stall_cycles += from - booked;
        return;
    }
    uint64_t stalls = paused_after(g, s, from);
    open->stall_cycles -= stalls;
    open->issued -= booked - from - stalls;
    open->memory_instructions -= s->accessed > now;
}

/* A line without sectors stands for a page that is only translated (gpu/watch.c), and does not count. */
static uint64_t lines_parked(const struct pw_parked_list *list)
{
    uint64_t lines = list->count;
    for (const struct pw_parked_line *l = list->first; l; l = l->next)
        lines -= !l->sectors;
    return lines;
}

static uint64_t lines_waiting(const struct pw_sm *sm)
{
    uint32_t size = sm->gpu->config.sm.lsu_queue;
    uint64_t lines = lines_parked(&sm->lsu.replay);
    for (uint32_t i = 0; i < sm->lsu.count; i++) {
        const struct pw_lsu_entry *e = &sm->lsu.queue[(sm->lsu.first + i) % size];
        if (e->lines[0].sectors)
            lines += (uint64_t)e->count - e->next;
    }
    for (uint32_t i = 0; sm->tlb_mshr.in_use && i < sm->tlb_mshr.capacity; i++)
        lines += lines_parked(&sm->tlb_waiting[i].parked);
    for (const struct pw_key_link *l = pw_key_map_next(&sm->fault_waits, NULL); l;
         l = pw_key_map_next(&sm->fault_waits, l))
        lines += lines_parked(&((const struct pw_fault_wait *)l)->waiting.parked);
    return lines;
}

void pw_gpu_bring_up_to_date(struct pw_gpu *g, pw_cycle now, enum pw_border border)
{
    g->cycles = now;
    memset(g->open, 0, g->wiring.apps * sizeof *g->open);
    for (uint32_t i = 0; i < g->config.sm.count; i++) {
        const struct pw_sm *sm = &g->sms[i];
        if (sm->app == PW_NO_APP)
            continue;
        struct pw_sm_open *open = &g->open[sm->app];
        for (uint32_t k = 0; k < g->config.sm.schedulers; k++) {
            const struct pw_scheduler *s = &sm->schedulers[k];
            bool exits = border == PW_BEFORE_CYCLE && s->left > now;
            open->issued -= exits;
            open->resident_cycles -= exits;
            if (s->resident)
                cut_stay(g, s, now, open);
        }
        open->lines_waiting += lines_waiting(sm);
    }
    pw_memory_bring_up_to_date(g->memory, now);
    pw_walker_bring_up_to_date(pw_mmu_walker(g->mmu), now);
}
