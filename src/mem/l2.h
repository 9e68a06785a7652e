/* The slices of the L2 cache.
 *
 * Each channel has one or more slices (Mosaic, Section 2.1: a memory partition pairs a slice of the L2 with a memory
 * controller). A request enters a slice by an event at its arrival, takes a port, and is looked up; a hit answers after
 * the latency, a miss takes a miss register and goes to DRAM after it. Lines are allocated when their data arrives.
 * Stores write without fetching (write-validate): sectors written in part are fetched when they are read. Dirty sectors
 * are written back when their line is replaced. A slice that is out of miss registers makes everything behind the
 * blocked request wait, in order.
 *
 * A page-table read uses the L2 as a policy says (policy/l2_walks/l2_walks_policy.h). One that bypasses it takes no
 * port and no time there, but a miss register, so that reads of one line merge; it brings its line into the cache only
 * if somebody else who waits for it wants it there. No values are simulated, so that a table entry that was written and
 * is still in the L2 need not be looked for.
 *
 * Left out: the lookup reads the tags when a request is accepted, not when its port slot comes; the difference is
 * visible only to a fill within those few cycles, which then counts as a merge instead of a hit. */
#ifndef PW_MEM_L2_H
#define PW_MEM_L2_H

#include "policy/l2_walks/l2_walks_policy.h"
#include "sim/types.h"

struct pw_l2_config {
    uint64_t bytes; /* all slices together */
    uint32_t ways;
    uint32_t slices;          /* per channel */
    uint32_t ports;           /* per slice: lookups per cycle */
    uint32_t bytes_per_cycle; /* of a port; 0: a lookup takes one cycle, whatever it carries */
    uint32_t latency;
    uint32_t path;  /* core cycles between the entrance of a memory partition and the slice's lookup */
    uint32_t mshrs; /* per slice */
    bool sectored;
    uint32_t fetch_bytes;          /* with sectors: what a miss fetches, aligned */
    bool halves;                   /* l2_halves.c */
    uint32_t far_latency;          /* from one half to the other, each way */
    bool copies;                   /* what programs copy to the GPU passes through it and stays (l2_contents.c) */
    double occupied;               /* %, by something else, when a program begins */
    uint32_t partition;            /* enum pw_l2_partition */
    struct pw_policy_choice walks; /* of pw_l2_walks_family */
};

/* Whether applications share all channels, with the slices on them, or each has its own (MASK, Section 7: Static). */
enum pw_l2_partition { PW_L2_SHARED, PW_L2_BY_APP };

extern const struct pw_option pw_l2_options[];

/* What is looked up: data, or a page-table read of level 1 (root) to PW_TABLE_LEVELS. */
enum { PW_L2_KINDS = PW_TABLE_LEVELS + 1 };

/* How long requests have waited at their slices: for a port, and for a miss register while they or one before them has
 * none. The latter count when somebody begins or ends to wait. */
struct pw_l2_queue {
    uint64_t cycles;
    uint64_t blocked; /* requests that wait for a miss register now */
    pw_cycle since;   /* so many have, and up to then their waits are counted */
};

/* Per application. */
struct pw_l2_counters {
    uint64_t accesses[PW_L2_KINDS], hits[PW_L2_KINDS], bypassed[PW_L2_KINDS];
    uint64_t misses, merges, writebacks;
    uint64_t read_sectors, read_sector_hits, write_sectors; /* of data */
    struct pw_l2_queue queues[2];                           /* of data and of page-table reads */
};

#endif
