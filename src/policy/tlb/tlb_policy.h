/* The family "TLB organisation": how one array of a TLB stores translations of one page size.
 *
 * Each TLB level has two such arrays, one for base pages and one for large pages (Mosaic, Section 2.2), so that
 * organisations combine freely. Keys are page numbers in units of the array's page size. An organisation decides what
 * an entry covers and what is replaced; counting, ports, latencies and misses belong to the TLB (src/vm). */
#ifndef PW_POLICY_TLB_H
#define PW_POLICY_TLB_H

#include "sim/option.h"

struct pw_page_table;

struct pw_tlb_shape {
    uint32_t entries;  /* 0: the array holds nothing */
    uint32_t ways;     /* 0: fully associative */
    uint32_t subpages; /* pages per entry under one tag, each with its own valid bit: 1 but for sectored TLBs */
    uint8_t order;     /* page size, enum pw_page_order */
    const struct pw_page_table *const *tables; /* by asid; only the ideal organisation looks there */
};

struct pw_tlb_key {
    uint64_t page; /* vpn >> order */
    pw_asid asid;
};

/* frame is the 4 KiB frame number at which the page begins. */
typedef void pw_tlb_visit(void *context, struct pw_tlb_key key, pw_pfn frame);

struct pw_tlb_policy {
    const char *name;
    const char *summary;
    enum pw_status (*create)(const struct pw_tlb_shape *shape, void **out_state, struct pw_error *err);
    void (*destroy)(void *state);
    /* A hit makes the entry the most recently used. */
    bool (*lookup)(void *state, struct pw_tlb_key key, pw_pfn *out_frame);
    /* Puts a translation in, replacing as the organisation sees fit. Inserting what is there refreshes it. */
    void (*insert)(void *state, struct pw_tlb_key key, pw_pfn frame);
    /* Drops every translation of [first, outer) of this address space; returns how many. */
    unsigned (*invalidate)(void *state, pw_asid asid, uint64_t first, uint64_t outer);
    /* Everything stored, for the identity "every TLB entry maps to the same frame as the page table". */
    void (*each)(const void *state, pw_tlb_visit *visit, void *context);
};

extern const struct pw_tlb_policy *const pw_tlb_policies[];
extern const char *const pw_tlb_policy_names[];

#endif
