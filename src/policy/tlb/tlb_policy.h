/* The family "TLB organisation": how one array of a TLB stores translations of one page size.
 *
 * Each TLB has two such arrays, one for base pages and one for large pages (Mosaic, Section 2.2), and each array has
 * the organisation that its option chooses. Keys are page numbers in units of the array's page size. An organisation
 * decides what an entry covers and what is replaced; counting lookups, ports, latencies and misses belong to the TLB
 * (src/vm). The environment of an instance is a struct pw_tlb_shape, which lasts only while it is made; what an
 * organisation counts for itself it counts for key.asid.
 *
 * An entry may cover several pages under one tag: each with a frame of its own (plain, with subpages), with a
 * difference from a common base (compression), or a run of consecutive frames (as in CoLT). Functions are about single
 * pages all the same: a lookup asks for one, a shootdown of one leaves the others of its entry, and `each` visits every
 * one. */
#ifndef PW_POLICY_TLB_H
#define PW_POLICY_TLB_H

#include "sim/policy.h"

struct pw_page_table;

struct pw_tlb_shape {
    uint32_t entries;  /* 0: the array holds nothing */
    uint32_t ways;     /* 0: fully associative */
    uint32_t subpages; /* pages per entry under one tag, each with its own valid bit: 1 but for sectored TLBs */
    uint8_t order;     /* page size, enum pw_page_order */
    const struct pw_page_table *const *tables; /* by asid, as they are at any time */
    uint64_t seed;                             /* of the run */
    const char *stream;                        /* of random numbers that is this array's alone; while it is made */
};

struct pw_tlb_key {
    uint64_t page; /* vpn >> order */
    pw_asid asid;
};

/* What a walk learns beside the translation that it is for: it reads a line of the page table, and that holds the
 * entries of neighbouring pages too. */
enum { PW_TLB_LINE_PAGES = 16 };
struct pw_tlb_line {
    uint64_t first;   /* page; a multiple of their number */
    uint32_t count;   /* of pages whose entries share the line: a power of two up to PW_TLB_LINE_PAGES */
    uint32_t present; /* bit i: page first + i is mapped, by a page of the array's size that begins at frames[i] */
    pw_pfn frames[PW_TLB_LINE_PAGES]; /* words, as below */
};

/* frame is the 4 KiB frame number at which the page begins, with the page's permissions in its upper bits
 * (pw_frame_word in sim/types.h). An organisation gives back what it was given: one that keeps frames as differences or
 * as runs has to tell words with other permissions apart. */
typedef void pw_tlb_visit(void *context, struct pw_tlb_key key, pw_pfn frame);

struct pw_tlb_policy {
    struct pw_policy head;
    bool reads_lines; /* whether it has a use for lines of the page table */
    bool asks_table;  /* whether what it answers is what the page table has at that moment */
    /* A hit counts as a use of the entry. A miss changes nothing, and whoever has missed may know that a page is still
     * not there without asking: only an insert brings it in, unless the organisation asks the table. */
    bool (*lookup)(void *state, struct pw_tlb_key key, pw_pfn *out_frame);
    /* Puts a translation in, replacing as the organisation sees fit; a lookup finds it then. Inserting what is there
     * refreshes it. `line` is the line of the page table that the page's entry lies in, or NULL: where the organisation
     * reads none, or where the translation does not come from a walk. What it says may go in too, as a part of the same
     * entry. */
    void (*insert)(void *state, struct pw_tlb_key key, pw_pfn frame, const struct pw_tlb_line *line);
    /* NULL, or in how many cycles something that a walk of another table finds goes in beside a translation that a page
     * walk has just put in; PW_NEVER: nothing does. */
    pw_cycle (*late)(const void *state, struct pw_tlb_key key);
    /* Puts it in, as it is by then: the page may have moved or gone. NULL where `late` is. */
    void (*insert_late)(void *state, struct pw_tlb_key key);
    /* Drops every translation of [first, outer) of this address space and no other; returns how many. */
    unsigned (*invalidate)(void *state, pw_asid asid, uint64_t first, uint64_t outer);
    /* Everything stored, for the identity "every TLB entry maps to the same frame as the page table". */
    void (*each)(const void *state, pw_tlb_visit *visit, void *context);
    /* NULL, or told that a kernel of this application is launched, before anything of it comes in. */
    void (*launch)(void *state, pw_asid asid);
};

extern const struct pw_policy_family pw_tlb_family;

static inline const struct pw_tlb_policy *pw_tlb_policy_of(const struct pw_policy *head)
{
    return (const struct pw_tlb_policy *)head;
}

#endif
