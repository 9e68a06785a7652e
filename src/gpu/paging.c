/* What it takes of a GPU that pages leave, for the host or another GPU: to say whether one is being accessed, and to
 * forget it.
 *
 * An access holds its frame from its translation to its end, so a page never leaves under an access. A page that leaves
 * is dropped from every TLB and cache at once; the time of a shootdown is part of the driver's. Data that arrives goes
 * to DRAM and not into the L2. */
#include "gpu/gpu_internal.h"

#include <stdlib.h>
#include <string.h>

bool pw_gpu_extend_frames(struct pw_gpu *g, uint64_t outer)
{
    if (outer <= g->frame_count)
        return true;
    uint64_t count = g->frame_count + g->frame_count / 4;
    count = count > outer ? count : outer;
    struct pw_frame_use *use = g->frame_use ? realloc(g->frame_use, count * sizeof *use) : calloc(count, sizeof *use);
    if (!use)
        return false;
    if (g->frame_use)
        memset(use + g->frame_count, 0, (count - g->frame_count) * sizeof *use);
    g->frame_use = use;
    g->frame_count = count;
    return true;
}

bool pw_gpu_write_waits(const struct pw_gpu *g, pw_asid asid, pw_vpn vpn)
{
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        if (g->sms[i].app == asid && pw_lsu_write_waits(&g->sms[i], vpn.v >> g->page_order))
            return true;
    return false;
}

bool pw_gpu_page_busy(const struct pw_gpu *g, pw_pfn frame, enum pw_page_order order)
{
    uint32_t in_flight = 0;
    for (uint32_t i = 0; i < 1U << order; i++)
        in_flight |= g->frame_use[frame.v + i].in_flight;
    return in_flight != 0;
}

static void forget_in_l1(struct pw_sm *sm, pw_pfn frame)
{
    for (uint32_t i = 0; i < PW_PAGE_BYTES / PW_LINE_BYTES; i++) {
        uint32_t line = (frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) + i;
        struct pw_way way = pw_cache_find_in(&sm->l1, line, pw_l1_set(sm, line));
        if (way.at >= 0)
            pw_cache_drop(&sm->l1, way);
    }
}

static void forget_frame(struct pw_gpu *g, pw_asid asid, pw_pfn frame)
{
    struct pw_frame_use *use = &g->frame_use[frame.v];
    for (uint32_t i = 0; use->cached_by && i < g->config.sm.count; i++)
        if (use->cached_by >> (i % 32) & 1)
            forget_in_l1(&g->sms[i], frame);
    use->cached_by = 0;
    pw_memory_forget_frame(g->memory, asid, frame);
}

/* The head of a load-store unit that waits with the page's translation has to ask again. */
static void forget_in_lsu(struct pw_sm *sm, uint64_t page)
{
    struct pw_lsu_entry *head = &sm->lsu.queue[sm->lsu.first];
    if (sm->lsu.count && head->translated && head->page == page)
        head->translated = false;
}

void pw_gpu_forget_page(struct pw_gpu *g, pw_asid asid, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    pw_vpn outer = {vpn.v + (1ULL << order)};
    pw_mmu_invalidate(g->mmu, asid, vpn, outer);
    uint32_t translated_by = g->frame_use[frame.v].translated_by;
    if (!translated_by) /* prefetched and never accessed: no SM has heard of it */
        return;
    g->frame_use[frame.v].translated_by = 0;
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        if (translated_by >> (i % 32) & 1 && g->sms[i].app == asid) {
            pw_tlb_invalidate(&g->sms[i].tlb, asid, vpn, outer);
            forget_in_lsu(&g->sms[i], vpn.v >> g->page_order);
        }
    for (uint32_t i = 0; i < 1U << order; i++)
        forget_frame(g, asid, (pw_pfn){frame.v + i});
}
