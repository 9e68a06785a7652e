/* Ideal: every page that is mapped hits (Mosaic, Section 3.1; MASK, Section 3: "every TLB access is a hit").
 *
 * It holds nothing and asks the page table, so there is nothing to fill, to replace or to invalidate. As with any
 * organisation an array of 0 entries never hits. */
#include "policy/tlb/tlb_policy.h"
#include "vm/page_table.h"

struct ideal {
    const struct pw_page_table *const *tables;
    uint8_t order;
    bool is_empty;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct ideal *t = state;
    const struct pw_tlb_shape *shape = setup->environment;
    if (!shape->tables)
        return pw_fail(err, PW_FAILED, "an ideal TLB needs the page tables");
    *t = (struct ideal){shape->tables, shape->order, shape->entries == 0};
    return PW_OK;
}

static bool lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    const struct ideal *t = state;
    const struct pw_page_table *table = t->tables[key.asid];
    if (!table || t->is_empty)
        return false;
    struct pw_translation found = pw_page_table_lookup(table, (pw_vpn){key.page << t->order});
    *out_frame = pw_frame_word(found.frame, found.denied);
    return found.present && found.order == t->order;
}

static void insert(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line)
{
    (void)state;
    (void)key;
    (void)frame;
    (void)line;
}

static unsigned invalidate(void *state, pw_asid asid, uint64_t first, uint64_t outer)
{
    (void)state;
    (void)asid;
    (void)first;
    (void)outer;
    return 0;
}

static void each(const void *state, pw_tlb_visit *visit, void *context)
{
    (void)state;
    (void)visit;
    (void)context;
}

extern const struct pw_tlb_policy pw_tlb_policy_ideal;
const struct pw_tlb_policy pw_tlb_policy_ideal = {
    .head = {.name = "ideal",
             .summary = "hits whenever the page is mapped",
             .state_bytes = sizeof(struct ideal),
             .init = init},
    .asks_table = true,
    .lookup = lookup,
    .insert = insert,
    .invalidate = invalidate,
    .each = each,
};
