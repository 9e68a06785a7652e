/* The insides of the page manager, common to page_manager.c, table_writer.c, coalescer.c, compactor.c and
 * migrator.c. */
#ifndef PW_VM_PAGE_MANAGER_INTERNAL_H
#define PW_VM_PAGE_MANAGER_INTERNAL_H

#include "policy/coalesce/coalesce_policy.h"
#include "policy/compact/compact_policy.h"
#include "vm/page_manager.h"

enum { PW_REGION_PAGES = 1 << PW_PAGE_2M };

struct pw_migrator;

struct pw_page_manager {
    struct pw_coalesce_config coalesce;
    struct pw_compact_config compact;
    const struct pw_coalesce_policy *coalescing;
    const struct pw_compact_policy *compaction;
    void *coalescing_state, *compaction_state;
    struct pw_policy_use coalescing_use, compaction_use;
    struct pw_page_manager_wiring wiring;
    struct pw_page_manager_counters *counters; /* by application */
    uint64_t writes_pending;                   /* page-table writes on their way */
    struct pw_write_job *jobs;                 /* an index pool: batches of writes somebody waits for */
    uint32_t job_count, job_capacity, free_job;
    struct pw_lanes write_lanes;  /* with a timeline */
    struct pw_migrator *migrator; /* or NULL */
};

static inline struct pw_page_table *pw_table_of(const struct pw_page_manager *m, pw_asid asid)
{
    return m->wiring.spaces[asid].table;
}

/* Whether the region is one large page, in the memory that this manager has. */
static inline bool pw_is_large_here(const struct pw_page_manager *m, const struct pw_page_table *table, pw_vpn vpn)
{
    return pw_page_table_is_large(table, vpn) &&
           pw_physical_memory_has(m->wiring.physical, pw_page_table_lookup(table, vpn).frame);
}

static inline pw_vpn pw_region_of(pw_vpn vpn)
{
    return (pw_vpn){vpn.v & ~(uint64_t)(PW_REGION_PAGES - 1)};
}

static inline pw_pfn pw_block_of(pw_pfn frame)
{
    return (pw_pfn){frame.v & ~(uint32_t)(PW_REGION_PAGES - 1)};
}

/* table_writer.c: entries of page tables, written as memory operations. A batch is the entries of `count` pages of one
 * region, from vpn on, of level 3 (then count is 1) or 4; the entries of one 128-byte line are one operation. All
 * operations of a batch are sent at once. `taken`, unless NULL, is called for each when its L2 slice has taken it, with
 * the pages it was for; `last` says that it was the last of its batch. Without memory they are taken at once. */
typedef void pw_entries_taken(struct pw_page_manager *m, pw_asid asid, pw_vpn first, unsigned count, bool last,
                              pw_cycle now);
void pw_write_entries(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned count, unsigned level,
                      pw_entries_taken *taken);

/* coalescer.c: looks at the regions of pages whose data has come and coalesces in place those the policy wants. */
void pw_coalesce_arrived(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer);
struct pw_coalesce_view pw_coalesce_view_of(const struct pw_page_manager *m, pw_asid asid, pw_vpn vpn);

/* compactor.c */
/* Ends a large page: disabled bits, large bit, TLBs, in this order; the effects take place at once. */
void pw_splinter(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn);
/* After pages of this region were freed: leaves it, keeps it for an emergency, or splinters and empties it. */
void pw_compact_region(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn);
bool pw_compact_make_room(struct pw_page_manager *m, pw_asid asid, bool whole_region);
/* All SMs stand still for so many cycles more, counted for this application. */
void pw_pause_sms(struct pw_page_manager *m, pw_asid asid, uint64_t cycles);

/* migrator.c */
enum pw_status pw_migrator_create(struct pw_page_manager *m, struct pw_error *err);
void pw_migrator_destroy(struct pw_migrator *g);
/* The MMU tells of a walk of this base page: for policies that tally. */
void pw_migrator_walked(void *manager, pw_asid asid, pw_vpn vpn);
/* These pages leave, for whatever reason: a job that copies one of them is given up. */
void pw_migrator_freed(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer);
/* Gives the frame of its job back, if there is one. */
bool pw_migrator_make_room(struct pw_page_manager *m);
/* Lines being copied. A request of one has PW_COPY_OWNER in its owner, where those for entries have the job's
 * number. */
enum { PW_COPY_JOBS = 0x3fffffff };
#define PW_COPY_OWNER 0x80000000U
void pw_migrator_answered(struct pw_page_manager *m, struct pw_request *r, pw_cycle now);
uint64_t pw_migrator_pending(const struct pw_migrator *g);

#endif
