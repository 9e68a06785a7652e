/* The In-Place Coalescer (Mosaic, Sections 4.1 and 4.3): makes a large page of base pages that lie right already.
 *
 * The runtime's part looks at each region that data has come to, and the policy decides. The hardware's part sets the
 * large bit of the level-3 entry with one memory operation, and the large page can be used from the moment its L2 slice
 * has taken that: no data has moved, so entries of base pages that TLBs still hold stay true and need no flush. Only
 * then the disabled bits of the level-4 entries follow; nobody waits for them.
 *
 * Between the decision and the large bit a page can leave, or come back: so the region is looked at again when the bit
 * is written, and an operation that finds it no longer whole, or large by then, changes nothing. Left out: the time
 * that the runtime needs to decide, which the paper takes to be hidden behind the transfer. */
#include "vm/page_manager_internal.h"

/* Whether all frames of this large frame belong to the application; none of host memory or of another GPU's does. */
static bool owns_block(const struct pw_page_manager *m, pw_asid asid, pw_pfn block)
{
    const struct pw_physical_memory *p = m->wiring.physical;
    if (!pw_physical_memory_has(p, (pw_pfn){block.v + PW_REGION_PAGES - 1}))
        return false;
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++)
        if (pw_physical_owner(p, (pw_pfn){block.v + i}) != PW_OWNER_APP + asid)
            return false;
    return true;
}

struct pw_coalesce_view pw_coalesce_view_of(const struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    const struct pw_page_table *table = pw_table_of(m, asid);
    pw_vpn region = pw_region_of(vpn);
    struct pw_coalesce_view view = {.asid = asid, .region = region, .contiguous = true};
    uint32_t first = 0; /* where the region would begin if all of it lay like its first page; may wrap around */
    for (uint32_t i = 0; i < PW_REGION_PAGES; i++) {
        pw_pfn frame;
        if (!pw_page_table_has_base(table, (pw_vpn){region.v + i}, &frame))
            continue;
        if (!view.allocated++)
            first = frame.v - i;
        view.contiguous &= frame.v - i == first;
    }
    view.aligned = view.allocated && first % PW_REGION_PAGES == 0;
    view.one_space = view.aligned && owns_block(m, asid, (pw_pfn){first});
    return view;
}

/* Whether the policy wants a region that can be coalesced where it is. */
static bool wanted(const struct pw_page_manager *m, pw_asid asid, pw_vpn region)
{
    if (!pw_page_table_can_coalesce(pw_table_of(m, asid), region))
        return false;
    struct pw_coalesce_view view = pw_coalesce_view_of(m, asid, region);
    return view.one_space && m->coalescing->wants(m->coalescing_state, &view);
}

static void disabled_bits_taken(struct pw_page_manager *m, pw_asid asid, pw_vpn first, unsigned count, bool last,
                                pw_cycle now)
{
    (void)last;
    (void)now;
    if (pw_page_table_is_large(pw_table_of(m, asid), first))
        pw_page_table_set_disabled(pw_table_of(m, asid), first, count, true);
}

static void large_bit_taken(struct pw_page_manager *m, pw_asid asid, pw_vpn region, unsigned count, bool last,
                            pw_cycle now)
{
    (void)count;
    (void)last;
    (void)now;
    struct pw_physical_memory *p = m->wiring.physical;
    struct pw_page_table *table = pw_table_of(m, asid);
    if (!wanted(m, asid, region))
        return;
    pw_page_table_set_large(table, region, true);
    if (p->policy->blocks)
        p->policy->blocks->coalesced(p->policy_state, p->frames,
                                     pw_frame_within(p, pw_page_table_lookup(table, region).frame), true);
    m->counters[asid].coalesced++;
    pw_write_entries(m, asid, region, PW_REGION_PAGES, 4, disabled_bits_taken);
}

void pw_coalesce_arrived(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    for (pw_vpn region = pw_region_of(first); region.v < outer.v; region.v += PW_REGION_PAGES) {
        m->counters[asid].checks++;
        if (wanted(m, asid, region))
            pw_write_entries(m, asid, region, 1, 3, large_bit_taken);
    }
}
