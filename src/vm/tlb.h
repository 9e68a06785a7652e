/* One TLB: an array for base pages, an array for large pages (Mosaic, Section 2.2), and their counters.
 *
 * What an array can store and what it replaces is its organisation (policy/tlb), and the two may differ: a page is
 * looked for in both, and an ideal array hits the pages of its own size only. Arrays that the chosen page size can
 * never fill are not built, and cost no probe. Ports, latencies and misses belong to whoever owns the TLB: the
 * load-store unit for the L1 (src/gpu/lsu.c), the shared MMU for the L2 (mmu.c). */
#ifndef PW_VM_TLB_H
#define PW_VM_TLB_H

#include "policy/tlb/tlb_policy.h"
#include "sim/option.h"
#include "sim/policy_use.h"
#include "sim/stats.h"
#include "vm/page_table.h"

struct pw_tlb_config {
    struct pw_policy_choice organisation;       /* of the base array */
    struct pw_policy_choice large_organisation; /* of the large array, or "same" */
    uint32_t base_entries, base_ways, base_subpages;
    uint32_t large_entries, large_ways, large_subpages;
    bool large_as_base; /* the large array takes the base array's entries and ways */
    uint32_t latency, mshrs;
};

extern const struct pw_option pw_tlb_options[];

/* The page sizes that a run can map: bit PW_PAGE_4K, PW_PAGE_64K and PW_PAGE_2M. */
typedef uint32_t pw_page_orders;

/* What the TLBs of a level have in common. */
struct pw_tlb_level {
    const char *name; /* of its options: "l1_tlb" */
    const struct pw_tlb_config *config;
    pw_page_orders orders;
    const struct pw_page_table *const *tables; /* by asid */
    struct pw_policies *policies;              /* of the machine, or NULL */
    unsigned apps;
    uint64_t seed; /* of the run */
    char base_option[32], large_option[32];
    struct pw_policy_use base, large;
};

/* Of a level whose fields above the names are filled in, and which must stay where it is. */
enum pw_status pw_tlb_level_init(struct pw_tlb_level *level, struct pw_error *err);
void pw_tlb_level_release(struct pw_tlb_level *level); /* with its TLBs */

/* The array for base or for large pages. False: there is none, as no page of these sizes can be in it. */
bool pw_tlb_shape_of(const struct pw_tlb_config *config, pw_page_orders orders, bool large, struct pw_tlb_shape *out);

/* How many entries each TLB of a level has for pages of these sizes; an ideal array has none. */
uint64_t pw_tlb_entries(const struct pw_tlb_config *config, pw_page_orders orders);

/* Per application. A miss is unanswered until it is known to be one of three: it has merged into another one's, or it
 * waits for a far fault, or it is a primary one, whose translation was found. */
struct pw_tlb_counters {
    uint64_t lookups, hits, misses;
    uint64_t primary, merges, fault_waits, unanswered;
};

/* Another miss is known to be one of this kind. */
static inline void pw_tlb_count_answered(struct pw_tlb_counters *c, uint64_t *kind)
{
    c->unanswered--;
    ++*kind;
}

enum pw_tlb_number { PW_L1_TLB, PW_L2_TLB };

/* Registers what is counted at a level, by application. `looked_up`: there is such a TLB. */
void pw_tlb_register(struct pw_stats *stats, enum pw_tlb_number level, const struct pw_tlb_counters *counters,
                     bool looked_up);

struct pw_tlb_array {
    const struct pw_tlb_policy *policy;
    void *state; /* NULL: this array is not there */
    uint8_t order;
};

struct pw_tlb {
    struct pw_tlb_array base, large;
    bool asks_table;   /* any of its arrays does */
    bool is_the_table; /* all of them do: what it answers is right and needs no judge */
};

/* TLB `number` of its level, released with it. */
enum pw_status pw_tlb_init(struct pw_tlb *t, struct pw_tlb_level *level, uint32_t number, struct pw_error *err);

static inline bool pw_tlb_array_lookup(const struct pw_tlb_array *a, pw_asid asid, pw_vpn vpn, pw_pfn *out)
{
    pw_pfn first;
    if (!a->state || !a->policy->lookup(a->state, (struct pw_tlb_key){vpn.v >> a->order, asid}, &first))
        return false;
    out->v = first.v + (uint32_t)(vpn.v & ((1U << a->order) - 1));
    return true;
}

/* Looks for a large page first; where there is one, the base entries are left alone, though the page may still have one
 * of the time before it was coalesced (Mosaic, Section 4.3). What is found is the frame word of the 4 KiB page asked
 * for: its frame, and what the page may not be used for. */
static inline bool pw_tlb_lookup(const struct pw_tlb *t, pw_asid asid, pw_vpn vpn, pw_pfn *out)
{
    return pw_tlb_array_lookup(&t->large, asid, vpn, out) || pw_tlb_array_lookup(&t->base, asid, vpn, out);
}

/* Puts in the translation of the page that contains vpn, of which nothing else is known: whoever asks for a translation
 * is answered with that and nothing more. */
void pw_tlb_insert(struct pw_tlb *t, pw_asid asid, pw_vpn vpn, struct pw_translation translation);

/* Likewise, as a walk has found it in this table; then the line that its entry lies in is known too. */
void pw_tlb_insert_walked(struct pw_tlb *t, const struct pw_page_table *table, pw_vpn vpn,
                          struct pw_translation translation);

/* Whether an insert of a walked translation may bring in more pages than its own. */
static inline bool pw_tlb_reads_lines(const struct pw_tlb *t)
{
    return (t->base.state && t->base.policy->reads_lines) || (t->large.state && t->large.policy->reads_lines);
}

/* In how many cycles more goes in, beside a walked translation that has just gone in; PW_NEVER: nothing does. */
static inline pw_cycle pw_tlb_late(const struct pw_tlb *t, pw_asid asid, pw_vpn vpn, uint8_t order)
{
    const struct pw_tlb_array *a = order == PW_PAGE_2M ? &t->large : &t->base;
    return a->state && a->policy->late ? a->policy->late(a->state, (struct pw_tlb_key){vpn.v >> a->order, asid})
                                       : PW_NEVER;
}

/* It goes in. */
static inline void pw_tlb_insert_late(struct pw_tlb *t, pw_asid asid, pw_vpn vpn, uint8_t order)
{
    const struct pw_tlb_array *a = order == PW_PAGE_2M ? &t->large : &t->base;
    a->policy->insert_late(a->state, (struct pw_tlb_key){vpn.v >> a->order, asid});
}

/* Shootdown: drops every translation of pages that overlap [first, outer). Returns how many. */
unsigned pw_tlb_invalidate(struct pw_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer);

/* A kernel of this application is launched, and nothing of it has come in yet. */
void pw_tlb_launch(struct pw_tlb *t, pw_asid asid);

/* Whether this TLB's answer is the frame word of the page. */
static inline bool pw_tlb_is_right(const struct pw_tlb *t, const struct pw_page_table *table, pw_vpn vpn, pw_pfn word)
{
    return t->is_the_table || pw_page_table_has_word(table, vpn, word);
}

/* Says that `who` has returned a wrong one. */
void pw_frame_is_wrong(const struct pw_page_table *table, const char *who, pw_asid asid, pw_vpn vpn, pw_pfn word,
                       struct pw_error *err);

/* Whether an entry for a page of this size, which begins at vpn, maps to the same frame as the page table, with the
 * same permissions. A base entry may lie in a region that has been coalesced since; a large entry exists only while its
 * page is large. */
bool pw_tlb_entry_is_right(const struct pw_page_table *table, pw_vpn vpn, uint8_t order, pw_pfn word);

/* The identity "every entry maps to the same frame as the page table", with the same permissions. */
enum pw_status pw_tlb_check(const struct pw_tlb *t, const struct pw_page_table *const *tables, const char *name,
                            struct pw_error *err);

#endif
