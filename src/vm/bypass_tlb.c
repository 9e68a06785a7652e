/* The bypass cache as one plain array, whose keys are page numbers and sizes together. The model is described in
 * bypass_tlb.h. */
#include "vm/bypass_tlb.h"

#include <stdlib.h>

/* The pages of each size have numbers of their own, all of them above those of smaller pages. */
enum { SIZE_SHIFT = PW_TABLE_VPN_BITS };

static uint64_t key_of(uint8_t order, uint64_t page)
{
    return (uint64_t)order << SIZE_SHIFT | page;
}

enum pw_status pw_bypass_tlb_init(struct pw_bypass_tlb *b, uint32_t entries, unsigned apps, struct pw_error *err)
{
    struct pw_policy_choice plain;
    *b = (struct pw_bypass_tlb){0};
    enum pw_status status = pw_policy_choose(&pw_tlb_family, "plain", 1, &plain, err);
    if (status != PW_OK)
        return status;
    b->policy = pw_tlb_policy_of(pw_policy_chosen(&pw_tlb_family, &plain));
    b->counters = calloc(apps, sizeof *b->counters);
    if (!b->counters)
        return pw_fail_memory(err, "bypass cache");
    struct pw_tlb_shape shape = {.entries = entries, .ways = 0, .subpages = 1, .stream = "bypass cache"};
    struct pw_policy_setup setup = {.options = plain.options, .environment = &shape, .apps = apps};
    return pw_policy_create(&b->policy->head, &setup, &b->state, err);
}

void pw_bypass_tlb_release(struct pw_bypass_tlb *b)
{
    pw_policy_destroy(b->state);
    free(b->counters);
    *b = (struct pw_bypass_tlb){0};
}

void pw_bypass_tlb_register(const struct pw_bypass_tlb *b, struct pw_stats *stats, const struct pw_tlb_counters *l2_tlb)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, b->counters, sizeof *b->counters,                                        \
                     offsetof(struct pw_bypass_counters, field))
    COUNTER("bypass_tlb.lookups", "lookups", lookups,
            "Lookups in the bypass cache, one with each in the L2 TLB. Only with a bypass cache.");
    COUNTER("bypass_tlb.hits", "lookups", hits,
            "Those that hit there and not in the L2 TLB itself; l2_tlb.hits has them too. Only with a bypass cache.");
    COUNTER("bypass_tlb.unneeded", "lookups", unneeded,
            "Those that hit in the L2 TLB itself. Only with a bypass cache.");
    COUNTER("fill.filled", "translations", filled,
            "Translations that were put into the L2 TLB. Only with a bypass cache.");
    COUNTER("fill.bypassed", "translations", bypassed,
            "Translations that were put into the bypass cache instead. Only with a bypass cache.");
    COUNTER("fill.late", "lookups", late, NULL);
    COUNTER("fill.due", "translations", arrived, NULL);
#undef COUNTER
    pw_stats_further_place(stats, "fill.due", l2_tlb, sizeof *l2_tlb, offsetof(struct pw_tlb_counters, primary));
    pw_stats_identity(stats, "bypass_tlb.lookups", "l2_tlb.lookups");
    pw_stats_identity(stats, "bypass_tlb.lookups", "bypass_tlb.unneeded + bypass_tlb.hits + l2_tlb.misses");
    pw_stats_identity(stats, "fill.due", "fill.filled + fill.bypassed + fill.late");
}

bool pw_bypass_tlb_lookup(const struct pw_bypass_tlb *b, uint8_t order, pw_asid asid, pw_vpn vpn, pw_pfn *out)
{
    pw_pfn first;
    if (!b->state || !b->policy->lookup(b->state, (struct pw_tlb_key){key_of(order, vpn.v >> order), asid}, &first))
        return false;
    out->v = first.v + (uint32_t)(vpn.v & ((1U << order) - 1));
    return true;
}

void pw_bypass_tlb_insert(struct pw_bypass_tlb *b, pw_asid asid, pw_vpn vpn, struct pw_translation t)
{
    pw_pfn first = {pw_frame_word(t.frame, t.denied).v - (uint32_t)(vpn.v & ((1U << t.order) - 1))};
    b->policy->insert(b->state, (struct pw_tlb_key){key_of(t.order, vpn.v >> t.order), asid}, first, NULL);
}

unsigned pw_bypass_tlb_invalidate(struct pw_bypass_tlb *b, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    static const uint8_t orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    unsigned dropped = 0;
    for (size_t i = 0; b->state && first.v < outer.v && i < sizeof orders; i++)
        dropped += b->policy->invalidate(b->state, asid, key_of(orders[i], first.v >> orders[i]),
                                         key_of(orders[i], ((outer.v - 1) >> orders[i]) + 1));
    return dropped;
}

struct check {
    const struct pw_page_table *const *tables;
    bool wrong;
    pw_vpn vpn;
    pw_asid asid;
};

static void check_entry(void *context, struct pw_tlb_key key, pw_pfn word)
{
    struct check *c = context;
    uint8_t order = (uint8_t)(key.page >> SIZE_SHIFT);
    pw_vpn vpn = {(key.page & ((1ULL << SIZE_SHIFT) - 1)) << order};
    if (c->wrong || pw_tlb_entry_is_right(c->tables[key.asid], vpn, order, word))
        return;
    c->wrong = true;
    c->vpn = vpn;
    c->asid = key.asid;
}

enum pw_status pw_bypass_tlb_check(const struct pw_bypass_tlb *b, const struct pw_page_table *const *tables,
                                   struct pw_error *err)
{
    struct check c = {.tables = tables};
    if (b->state)
        b->policy->each(b->state, check_entry, &c);
    if (!c.wrong)
        return PW_OK;
    return pw_fail(err, PW_FAILED,
                   "bypass cache: the entry for page 0x%llx of address space %u differs from the page table",
                   (unsigned long long)c.vpn.v, c.asid);
}
