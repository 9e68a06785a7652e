/* Page permissions: whether a page may be used for what an access wants of it.
 *
 * An allocation has permissions, its pages' entries in the page table have them, and so do the TLBs' (sim/types.h). An
 * access is checked where it gets its translation: at its lookup in the L1 TLB when that hits, and with whatever else
 * waited for the page when the translation comes from the MMU. Nothing that is denied is translated, so nothing of it
 * reaches a cache; the run ends. A load wants to read, a store to write, an atomic both.
 *
 * Left out: what a real GPU does then (the kernel is killed, its context with it), and the time that takes. */
#include "gpu/gpu_internal.h"

static unsigned wanted_by(uint8_t kind)
{
    return kind == PW_REQUEST_READ ? PW_MAY_READ : kind == PW_REQUEST_WRITE ? PW_MAY_WRITE : PW_MAY_ALL;
}

static void check(const struct pw_sm *sm, uint64_t line, uint8_t sectors, uint8_t kind, unsigned denied)
{
    const struct pw_gpu_wiring *to = &sm->gpu->wiring;
    unsigned wanted = wanted_by(kind);
    uint64_t sector = sectors ? (uint64_t)__builtin_ctz(sectors) : 0;
    if (wanted & denied)
        to->denied(to->node, sm->app,
                   (struct pw_denied_access){.address = {(line << PW_LINE_SHIFT) + sector * PW_SECTOR_BYTES},
                                             .wanted = (uint8_t)wanted,
                                             .denied = (uint8_t)denied});
}

static void check_head(const struct pw_sm *sm, const struct pw_lsu_entry *e, unsigned denied)
{
    const struct pw_line_access *line = &e->lines[e->next];
    check(sm, line->line, line->sectors, e->kind, denied);
}

void pw_protect_head(struct pw_sm *sm, struct pw_lsu_entry *e)
{
    check_head(sm, e, pw_denied_of(e->frame));
    e->frame = pw_frame_of(e->frame);
}

void pw_protect_waiting(struct pw_sm *sm, uint64_t page, uint32_t place, unsigned denied)
{
    const struct pw_fault_wait *wait = pw_fault_wait_find(&sm->fault_waits, page);
    const struct pw_tlb_waiting *waiting = wait ? &wait->waiting : pw_tlb_waiting(sm, &sm->tlb_mshr.entries[place]);
    for (const struct pw_parked_line *r = waiting->parked.first; r; r = r->next)
        check(sm, (page << sm->gpu->page_lines_shift) + r->within, r->sectors, r->kind, denied);
    if (pw_lsu_head_waits(sm, page))
        check_head(sm, &sm->lsu.queue[sm->lsu.first], denied);
}
