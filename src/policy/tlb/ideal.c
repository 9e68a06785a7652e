/* Ideal: every page that is mapped hits (Mosaic, Section 3.1; MASK, Section 3: "every TLB access is a hit").
 *
 * It holds nothing and asks the page table, so there is nothing to fill, to replace or to invalidate. As with any
 * organisation an array of 0 entries never hits. */
#include "policy/tlb/tlb_policy.h"
#include "vm/page_table.h"

#include <stdlib.h>

struct ideal {
    const struct pw_page_table *const *tables;
    uint8_t order;
    bool is_empty;
};

static enum pw_status create(const struct pw_tlb_shape *shape, void **out_state, struct pw_error *err)
{
    if (!shape->tables)
        return pw_fail(err, PW_FAILED, "an ideal TLB needs the page tables");
    struct ideal *t = malloc(sizeof *t);
    if (!t)
        return pw_fail_memory(err, "TLB");
    *t = (struct ideal){shape->tables, shape->order, shape->entries == 0};
    *out_state = t;
    return PW_OK;
}

static void destroy(void *state)
{
    free(state);
}

static bool lookup(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    const struct ideal *t = state;
    const struct pw_page_table *table = t->tables[key.asid];
    if (!table || t->is_empty)
        return false;
    struct pw_translation found = pw_page_table_lookup(table, (pw_vpn){key.page << t->order});
    *out_frame = found.frame;
    return found.present && found.order == t->order;
}

static void insert(void *state, struct pw_tlb_key key, pw_pfn frame)
{
    (void)state;
    (void)key;
    (void)frame;
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
    .name = "ideal",
    .summary = "hits whenever the page is mapped",
    .create = create,
    .destroy = destroy,
    .lookup = lookup,
    .insert = insert,
    .invalidate = invalidate,
    .each = each,
};
