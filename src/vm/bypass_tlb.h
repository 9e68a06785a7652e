/* The bypass cache beside the shared L2 TLB (MASK, Section 5.2): a small, fully associative cache, true LRU, for
 * translations that may not be put into the L2 TLB.
 *
 * It is there only if the fill policy asks for it (policy/fill), and only beside an L2 TLB. Both are probed in the same
 * cycle, and a hit here takes as long as a hit of the same page size there and counts as one; a translation that misses
 * in both and that none of those who asked may put into the L2 TLB goes here. An entry holds a page of any size that
 * the run maps, with its address space beside it, so that no application matches another's. A shootdown reaches the
 * bypass cache whenever it reaches the L2 TLB (mmu.c).
 *
 * Left out: ports. It has those of the L2 TLB, since every lookup probes both. */
#ifndef PW_VM_BYPASS_TLB_H
#define PW_VM_BYPASS_TLB_H

#include "vm/tlb.h"

struct pw_bypass_config {
    bool enabled;
    uint32_t entries;
};

/* Per application. Every translation that comes is put into the L2 TLB (filled) or here (bypassed). */
struct pw_bypass_counters {
    uint64_t lookups, hits, unneeded;
    uint64_t filled, bypassed;
    uint64_t arrived; /* translations that came with their page, not from a walk */
    uint64_t late;    /* misses that found theirs when a miss register would have been free */
};

struct pw_bypass_tlb {
    const struct pw_tlb_policy *policy; /* how entries are stored: one plain array, whatever their page size */
    void *state;                        /* NULL: there is no bypass cache */
    struct pw_bypass_counters *counters;
};

/* A struct that was zeroed, or whose initialisation failed, may be released. */
enum pw_status pw_bypass_tlb_init(struct pw_bypass_tlb *b, uint32_t entries, unsigned apps, struct pw_error *err);
void pw_bypass_tlb_release(struct pw_bypass_tlb *b);

/* Of one that is there: with those of the L2 TLB, whose identities its own go on from. */
void pw_bypass_tlb_register(const struct pw_bypass_tlb *b, struct pw_stats *stats,
                            const struct pw_tlb_counters *l2_tlb);

/* Looks for a page of this size; the word (pw_frame_word) is that of the 4 KiB page asked for. False where there is no
 * cache. */
bool pw_bypass_tlb_lookup(const struct pw_bypass_tlb *b, uint8_t order, pw_asid asid, pw_vpn vpn, pw_pfn *out);

/* Puts in the translation of the page that contains vpn. */
void pw_bypass_tlb_insert(struct pw_bypass_tlb *b, pw_asid asid, pw_vpn vpn, struct pw_translation translation);

/* Shootdown: drops every translation of pages that overlap [first, outer). Returns how many. */
unsigned pw_bypass_tlb_invalidate(struct pw_bypass_tlb *b, pw_asid asid, pw_vpn first, pw_vpn outer);

/* A lookup of the L2 TLB and this cache was a hit in one of them, or in neither. */
static inline void pw_bypass_tlb_count(struct pw_bypass_tlb *b, pw_asid asid, bool hit, bool in_l2_tlb)
{
    struct pw_bypass_counters *c = &b->counters[asid];
    c->lookups++;
    c->hits += hit && !in_l2_tlb;
    c->unneeded += hit && in_l2_tlb;
}

/* A translation has come, from a walk or with its page, and goes into the L2 TLB or in here. */
static inline void pw_bypass_tlb_count_fill(struct pw_bypass_tlb *b, pw_asid asid, bool into_l2_tlb, bool arrived)
{
    struct pw_bypass_counters *c = &b->counters[asid];
    c->filled += into_l2_tlb;
    c->bypassed += !into_l2_tlb;
    c->arrived += arrived;
}

/* The identity "every entry maps to the same frame as the page table". */
enum pw_status pw_bypass_tlb_check(const struct pw_bypass_tlb *b, const struct pw_page_table *const *tables,
                                   struct pw_error *err);

#endif
