/* The shared L2 TLB: its arrays (tlb.h), the bypass cache beside them (bypass_tlb.h), and what a shootdown drops.
 *
 * Large entries are probed before base entries where both exist, each probe at the full latency (docs/decisions.md).
 * The bypass cache is probed in the same cycles, so a hit there takes as long as one of the same page size here. A
 * translation goes into the arrays, or into the bypass cache where there is one and nobody may fill the arrays with it.
 *
 * A shootdown drops the entries of the pages that it is for. With flush = all it drops all there are, of every
 * application, where a valid translation has changed or gone (MASK, Section 5.2); coalescing in place changes no frame
 * and is no reason. Ports, miss registers and walks are the MMU's (mmu.h). */
#ifndef PW_VM_L2_TLB_H
#define PW_VM_L2_TLB_H

#include "vm/bypass_tlb.h"
#include "vm/tlb.h"
#include "vm/tlb_request.h"

enum pw_l2_tlb_flush { PW_FLUSH_ENTRIES, PW_FLUSH_ALL };

struct pw_l2_tlb_config {
    struct pw_tlb_config tlb;
    bool enabled;
    uint32_t distance; /* cycles between an SM and the L2 TLB, each way */
    uint32_t ports;    /* lookups that can start in one cycle */
    uint32_t flush;    /* enum pw_l2_tlb_flush: what a shootdown drops */
};

extern const struct pw_option pw_l2_tlb_options[];

struct pw_l2_tlb {
    struct pw_tlb tlb;
    struct pw_bypass_tlb bypass;
    uint32_t latency; /* of a probe */
    const struct pw_l2_tlb_config *config;
    const struct pw_page_table *const *tables; /* by application */
    unsigned apps;
    struct pw_tlb_level level;
    struct pw_l2_tlb_flushes *flushes; /* by application */
};

struct pw_l2_tlb_setup {
    const struct pw_l2_tlb_config *config; /* must outlive the TLB */
    struct pw_bypass_config bypass;
    pw_page_orders orders;
    const struct pw_page_table *const *tables;
    struct pw_policies *policies; /* of the machine */
    unsigned apps;
    uint64_t seed; /* of the run */
};

/* Makes nothing but what a shootdown needs where there is no L2 TLB. It must stay where it is. One that was zeroed, or
 * whose initialisation failed, may be released. */
enum pw_status pw_l2_tlb_init(struct pw_l2_tlb *t, const struct pw_l2_tlb_setup *setup, struct pw_error *err);
void pw_l2_tlb_release(struct pw_l2_tlb *t);
/* With what the MMU counts at the L2 TLB, by application. */
void pw_l2_tlb_register(const struct pw_l2_tlb *t, struct pw_stats *stats, const struct pw_tlb_counters *counters);

/* A translation that was found, or not, and where. */
struct pw_l2_tlb_found {
    struct pw_translation translation;
    enum pw_translation_source source;
};

/* Looks into an array and for a page of its size in the bypass cache. */
static inline bool pw_l2_tlb_probe_array(const struct pw_l2_tlb *t, const struct pw_tlb_array *a,
                                         const struct pw_tlb_miss *miss, struct pw_l2_tlb_found *out)
{
    pw_pfn word;
    out->source = PW_FROM_L2_TLB;
    bool present = pw_tlb_array_lookup(a, miss->asid, miss->vpn, &word);
    if (!present && t->bypass.state && a->state) {
        out->source = PW_FROM_BYPASS_TLB;
        present = pw_bypass_tlb_lookup(&t->bypass, a->order, miss->asid, miss->vpn, &word);
    }
    if (present)
        out->translation = (struct pw_translation){pw_frame_of(word), a->order, true, pw_denied_of(word)};
    return present;
}

/* Probes the arrays one after the other, large first; returns the cycles the probes took. */
static inline uint32_t pw_l2_tlb_probe(const struct pw_l2_tlb *t, const struct pw_tlb_miss *miss,
                                       struct pw_l2_tlb_found *out)
{
    uint32_t latency = t->latency;
    const struct pw_tlb_array *array = &t->tlb.large;
    out->translation.present = false;
    if (!pw_l2_tlb_probe_array(t, array, miss, out) && t->tlb.base.state) {
        latency = array->state ? 2 * latency : latency;
        pw_l2_tlb_probe_array(t, &t->tlb.base, miss, out);
    }
    return latency;
}

/* Puts in the translation of a page that was missed. Returns whether other pages may have come in with it, from the
 * line of the page table that a walk has read. */
bool pw_l2_tlb_fill(struct pw_l2_tlb *t, const struct pw_tlb_miss *page, struct pw_translation translation,
                    enum pw_translation_source source, bool may_fill);

/* Shootdown, after the page table has changed. Returns the number of entries dropped. */
unsigned pw_l2_tlb_invalidate(struct pw_l2_tlb *t, pw_asid asid, pw_vpn first, pw_vpn outer);

enum pw_status pw_l2_tlb_check(const struct pw_l2_tlb *t, struct pw_error *err);

#endif
