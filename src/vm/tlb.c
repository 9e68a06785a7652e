/* The two arrays of a TLB, built for the page sizes in use, and the checks over them. */
#include "vm/tlb.h"

#include <stdio.h>

const struct pw_option pw_tlb_options[] = {
    {"organisation", PW_OPTION_CHOICE, offsetof(struct pw_tlb_config, organisation), 0, 0, "plain", "",
     pw_tlb_policy_names, "How an array of the TLB stores translations.", false},
    {"base_entries", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_entries), 1, 1 << 20, "128", "entries", NULL,
     "Entries for base pages (4 KiB or 64 KiB).", false},
    {"base_ways", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_ways), 0, 1 << 20, "0", "ways", NULL,
     "Associativity of the base entries; 0 means fully associative.", false},
    {"base_subpages", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, base_subpages), 1, 64, "1", "pages", NULL,
     "Consecutive base pages that share one tag, each with its own valid bit.", true},
    {"large_entries", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_entries), 1, 1 << 20, "16", "entries", NULL,
     "Entries for large pages (2 MiB).", false},
    {"large_ways", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_ways), 0, 1 << 20, "0", "ways", NULL,
     "Associativity of the large entries; 0 means fully associative.", false},
    {"large_subpages", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, large_subpages), 1, 64, "1", "pages", NULL,
     "Consecutive large pages that share one tag, each with its own valid bit.", true},
    {"large_as_base", PW_OPTION_BOOL, offsetof(struct pw_tlb_config, large_as_base), 0, 0, "off", "", NULL,
     "Give the large entries the number and associativity of the base entries (Mosaic, Figure 3).", false},
    {"latency", PW_OPTION_CYCLES, offsetof(struct pw_tlb_config, latency), 0, 100000, "1", "cycles", NULL,
     "Cycles of a lookup.", false},
    {"mshrs", PW_OPTION_COUNT, offsetof(struct pw_tlb_config, mshrs), 1, 65536, "32", "entries", NULL,
     "Pages whose translation can be outstanding at once.", false},
    {0}};

static enum pw_status init_array(struct pw_tlb_array *a, const struct pw_tlb_policy *policy,
                                 const struct pw_tlb_shape *shape, struct pw_error *err)
{
    a->policy = policy;
    a->order = shape->order;
    return policy->create(shape, &a->state, err);
}

enum pw_status pw_tlb_init(struct pw_tlb *t, const struct pw_tlb_config *config, pw_page_orders orders,
                           const struct pw_page_table *const *tables, struct pw_error *err)
{
    *t = (struct pw_tlb){0};
    const struct pw_tlb_policy *policy = pw_tlb_policies[config->organisation];
    enum pw_status status = PW_OK;
    if (orders & (1U << PW_PAGE_4K | 1U << PW_PAGE_64K)) {
        struct pw_tlb_shape base = {.entries = config->base_entries,
                                    .ways = config->base_ways,
                                    .subpages = config->base_subpages,
                                    .order = orders & 1U << PW_PAGE_4K ? PW_PAGE_4K : PW_PAGE_64K,
                                    .tables = tables};
        status = init_array(&t->base, policy, &base, err);
    }
    if (status == PW_OK && orders & 1U << PW_PAGE_2M) {
        bool as_base = config->large_as_base;
        struct pw_tlb_shape large = {.entries = as_base ? config->base_entries : config->large_entries,
                                     .ways = as_base ? config->base_ways : config->large_ways,
                                     .subpages = config->large_subpages,
                                     .order = PW_PAGE_2M,
                                     .tables = tables};
        status = init_array(&t->large, policy, &large, err);
    }
    return status;
}

static void release_array(struct pw_tlb_array *a)
{
    if (a->state)
        a->policy->destroy(a->state);
    a->state = NULL;
}

void pw_tlb_release(struct pw_tlb *t)
{
    release_array(&t->base);
    release_array(&t->large);
}

void pw_tlb_insert(struct pw_tlb *t, pw_asid asid, pw_vpn vpn, struct pw_translation translation)
{
    struct pw_tlb_array *a = translation.order == PW_PAGE_2M ? &t->large : &t->base;
    if (!a->state)
        return;
    pw_pfn first = {translation.frame.v - (uint32_t)(vpn.v & ((1U << a->order) - 1))};
    a->policy->insert(a->state, (struct pw_tlb_key){vpn.v >> a->order, asid}, first);
}

static unsigned invalidate_array(struct pw_tlb_array *a, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    if (!a->state || first.v >= outer.v)
        return 0;
    return a->policy->invalidate(a->state, asid, first.v >> a->order, ((outer.v - 1) >> a->order) + 1);
}

unsigned pw_tlb_invalidate(struct pw_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    return invalidate_array(&t->base, asid, first, outer) + invalidate_array(&t->large, asid, first, outer);
}

void pw_frame_is_wrong(const struct pw_page_table *table, const char *who, pw_asid asid, pw_vpn vpn, pw_pfn frame,
                       struct pw_error *err)
{
    struct pw_translation t = pw_page_table_lookup(table, vpn);
    char right[32] = "no page";
    if (t.present)
        snprintf(right, sizeof right, "frame 0x%x", t.frame.v);
    pw_fail(err, PW_FAILED, "%s returned frame 0x%x for page 0x%llx of app%u, where the page table has %s", who,
            frame.v, (unsigned long long)vpn.v, asid, right);
}

struct check {
    const struct pw_page_table *const *tables;
    uint8_t order;
    bool wrong;
    struct pw_tlb_key key;
};

static void check_entry(void *context, struct pw_tlb_key key, pw_pfn frame)
{
    struct check *c = context;
    const struct pw_page_table *table = c->tables[key.asid];
    pw_vpn vpn = {key.page << c->order};
    struct pw_translation t = pw_page_table_lookup(table, vpn);
    bool size_fits = t.order == c->order || (c->order == PW_PAGE_4K && pw_page_table_is_large(table, vpn));
    if (!c->wrong && (!t.present || t.frame.v != frame.v || !size_fits)) {
        c->wrong = true;
        c->key = key;
    }
}

enum pw_status pw_tlb_check(const struct pw_tlb *t, const struct pw_page_table *const *tables, const char *name,
                            struct pw_error *err)
{
    const struct pw_tlb_array *arrays[] = {&t->base, &t->large};
    for (int i = 0; i < 2; i++) {
        struct check c = {.tables = tables, .order = arrays[i]->order};
        if (arrays[i]->state)
            arrays[i]->policy->each(arrays[i]->state, check_entry, &c);
        if (c.wrong)
            return pw_fail(err, PW_FAILED,
                           "%s: the entry for page 0x%llx of address space %u differs from the page table", name,
                           (unsigned long long)(c.key.page << arrays[i]->order), c.key.asid);
    }
    return PW_OK;
}
