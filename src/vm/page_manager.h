/* The page manager: the runtime and the hardware behind it that coalesce, splinter and compact pages.
 *
 * It acts when data has come and when memory is freed (Mosaic, Section 4.1), and at intervals for policies that want to
 * be asked so. What to do is decided by policies: where frames come from (policy/frame), what is coalesced
 * (policy/coalesce), what is splintered and emptied (policy/compact). What is done here:
 *
 * In place (Section 4.3): one write sets the large bit of the level-3 entry, from which moment on the region is a large
 * page; further writes then set the disabled bits, a line of entries each. No data moves, no TLB is flushed, no SM
 * waits.
 *
 * Splintering (Section 4.4): writes clear the disabled bits, a last one the large bit, and the large entry is dropped
 * from every TLB. Compaction copies the remaining base pages into other frames of the same application and gives the
 * large frame back. It is modelled at its worst, as in Section 5: all SMs stand still from beginning to end. That is
 * why its effects take place at once, in the order above, and its time is charged as a pause; nothing but walks under
 * way can tell the difference, and those look the page up when they end. The writes to the page table are memory
 * traffic in any case.
 *
 * Migrating (Section 4.3, Figure 6a, the conventional way): the most used region is copied page by page into a free
 * large frame, through memory; then its entries are written; then the TLBs are flushed while all SMs stand still. */
#ifndef PW_VM_PAGE_MANAGER_H
#define PW_VM_PAGE_MANAGER_H

#include "mem/memory.h"
#include "sim/event.h"
#include "sim/policy_use.h"
#include "sim/timeline.h"
#include "vm/address_space.h"
#include "vm/mmu.h"

struct pw_coalesce_config {
    struct pw_policy_choice policy; /* of pw_coalesce_family */
    uint32_t interval;              /* cycles between choices of a policy that migrates */
};

enum pw_copy { PW_COPY_CHANNEL, PW_COPY_BULK, PW_COPY_FREE };

struct pw_compact_config {
    struct pw_policy_choice policy; /* of pw_compact_family */
    uint32_t threshold;             /* % of 512 base pages; fewer than that are splintered */
    uint32_t copy;                  /* enum pw_copy: how a base page is moved */
    uint32_t bulk_latency;          /* cycles of a copy inside DRAM */
};

extern const struct pw_option pw_coalesce_options[]; /* group "coalesce" */
extern const struct pw_option pw_compact_options[];  /* group "compact" */

/* What is chosen. */
const struct pw_coalesce_policy *pw_coalesce_config_policy(const struct pw_coalesce_config *c);
const struct pw_compact_policy *pw_compact_config_policy(const struct pw_compact_config *c);

/* Whether base pages can become large ones with this configuration: then TLBs need entries for both. */
bool pw_coalesce_config_enabled(const struct pw_coalesce_config *c);

/* Per application. */
struct pw_page_manager_counters {
    uint64_t checks;               /* regions looked at by the coalescer */
    uint64_t coalesced;            /* large bits set */
    uint64_t splintered;           /* large bits cleared, but for regions that were freed altogether */
    uint64_t migrated;             /* base pages moved to another frame */
    uint64_t table_writes;         /* memory operations on page tables */
    uint64_t flushes;              /* of TLBs, of one page or more, by coalescing and splintering */
    uint64_t compact_checks;       /* deallocations in a coalesced page */
    uint64_t compactions;          /* large frames emptied */
    uint64_t emergencies;          /* coalesced pages splintered because nothing else was left */
    uint64_t pauses, pause_cycles; /* of all SMs */
};

struct pw_page_manager_wiring {
    struct pw_events *events;
    struct pw_policies *policies; /* of the machine, or NULL */
    struct pw_request_pool *pool;
    struct pw_memory *memory; /* page-table writes; NULL: they take no time (tests) */
    struct pw_mmu *mmu;       /* tells of walks a policy that wants to know; NULL: nobody does (tests) */
    struct pw_physical_memory *physical;
    struct pw_address_space *spaces; /* by asid */
    unsigned apps;
    unsigned gpu;                 /* whose memory it is */
    struct pw_timeline *timeline; /* or NULL */
    uint32_t page_copy_cycles;    /* of one base page over one channel */
    void *machine;
    /* Drops these pages from every TLB. */
    unsigned (*shootdown)(void *machine, pw_asid asid, pw_vpn first, pw_vpn outer);
    /* No SM issues before `until`. */
    void (*pause)(void *machine, pw_cycle until);
    /* The `until` of the last pause, which may be over; 0: there was none. */
    pw_cycle (*paused_until)(const void *machine);
};

struct pw_page_manager;

enum pw_status pw_page_manager_create(const struct pw_coalesce_config *coalesce,
                                      const struct pw_compact_config *compact,
                                      const struct pw_page_manager_wiring *wiring, struct pw_page_manager **out,
                                      struct pw_error *err);
void pw_page_manager_destroy(struct pw_page_manager *m);
void pw_page_manager_register(struct pw_page_manager *m, struct pw_stats *stats);

/* The data of these pages has come, and they are mapped. */
void pw_page_manager_arrived(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer);

/* There is no frame for a page of this application. True: something was freed, try again. */
bool pw_page_manager_make_room(struct pw_page_manager *m, pw_asid asid, bool whole_region);

/* A page is about to be unmapped for another reason than that its program frees it: its large page, if any, ends
 * now. */
void pw_page_manager_evicting(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn);

/* The program has freed these pages; they are unmapped. */
void pw_page_manager_freed(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer);

/* An answer from memory. */
void pw_page_manager_written(void *manager, struct pw_request *r, pw_cycle now);

/* Operations under way; at the end of a run there are none that anybody waits for. */
uint64_t pw_page_manager_pending(const struct pw_page_manager *m);

#endif
