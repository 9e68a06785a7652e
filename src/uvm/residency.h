/* Which managed pages are on the GPU: the decisions of demand paging without its time.
 *
 * Memory is kept in 2 MiB blocks (a block belongs to one allocation; allocations begin at multiples of 2 MiB). For each
 * page a few bits say whether it is resident, on its way, dirty, accessed, prefetched and not yet used, evicted before,
 * and awaited by an access that must be replayed before the page may leave. A fault is decided (what comes), makes room
 * (what leaves), is granted, and arrives; the timed driver (uvm/driver.h) puts time between these steps, the replayer
 * of page touches (exp/touch/replay.h) none.
 *
 * Where pages are larger than 4 KiB (page.size) all of this happens in units of whole pages: masks are widened to them.
 * A number of pages is always one of 4 KiB pages; only faults count whole units. */
#ifndef PW_UVM_RESIDENCY_H
#define PW_UVM_RESIDENCY_H

#include "policy/evict/evict_policy.h"
#include "policy/prefetch/prefetch_policy.h"
#include "sim/policy_use.h"
#include "uvm/advice.h"
#include "uvm/order.h"

/* What reserved pages are kept from (UVM, Sec. 5.3 and 7.4): leaving at all, or only being the candidate, so that they
 * may still leave with another one of their block. */
enum pw_reserve_from { PW_RESERVE_FROM_EVICTION, PW_RESERVE_FROM_CANDIDATES };

struct pw_residency_config {
    struct pw_policy_choice prefetch;      /* of pw_prefetch_family, until memory is full */
    struct pw_policy_choice prefetch_full; /* from then on; may be "same" */
    struct pw_policy_choice evict;         /* of pw_evict_family */
    struct pw_policies *policies;          /* of the machine, or NULL */
    const struct pw_events *events;        /* for the time, or NULL: there is none */
    double reserve;                        /* share of the resident pages, at the old end, that stay: 0 to 0.9 */
    enum pw_reserve_from reserve_from;
    double free_buffer;       /* share of capacity kept free by evicting ahead of need: 0 to 0.5 */
    uint64_t capacity;        /* pages of device memory for managed data */
    enum pw_page_order order; /* of the pages: the unit of residency */
    uint64_t seed;
    /* Whether accesses to the page are in flight, so that it cannot leave now. NULL: never. */
    bool (*busy)(void *context, pw_asid asid, pw_vpn vpn);
    void *context;
};

/* Per application. */
struct pw_uvm_counters {
    uint64_t far_faults;       /* units asked for that were neither resident nor on their way */
    uint64_t merged_faults;    /* accesses that found their page on its way */
    uint64_t pages_in;         /* arrived, prefetched ones included */
    uint64_t pages_prefetched; /* arrived, and were not asked for when their coming was decided */
    uint64_t prefetched_used, prefetched_evicted,
        prefetched_resident;               /* of those: accessed since; left (or were freed) unused; neither */
    uint64_t pages_evicted, pages_written; /* written: back to the host */
    uint64_t pages_thrashed;               /* arrived after having been evicted */
    uint64_t pages_remote;                 /* mapped where they are, in host memory */
    uint64_t pages_collapsed;              /* copies that were written to: the host's is gone */
};

/* A managed allocation. It stays after it is freed, and when its program starts over, so that the counters of all
 * allocations of an application add up to its own; an address space has only those that live (vm/address_space.h). */
struct pw_managed_range {
    char name[32];
    pw_asid asid;
    uint64_t bytes;
    pw_vpn first;
    uint64_t pages;                    /* that exist, rounding included */
    uint32_t first_block, block_count; /* numbers of its blocks */
    bool freed;                        /* its blocks may belong to another range by now */
    unsigned advice;                   /* enum pw_memory_advice */
    struct pw_uvm_counters counters;
};

struct pw_residency;
enum pw_status pw_residency_create(const struct pw_residency_config *config, struct pw_residency **out,
                                   struct pw_error *err);
void pw_residency_destroy(struct pw_residency *r);
const struct pw_residency_config *pw_residency_settings(const struct pw_residency *r);
void pw_residency_set_capacity(struct pw_residency *r, uint64_t pages); /* before the first fault */

/* Managed allocations: nothing becomes resident, and no work is done per page. Rounding (`extent` of the policy that
 * prefetches until memory is full) may make more pages exist than were asked for. `first` is a multiple of 2 MiB. */
enum pw_status pw_residency_add(struct pw_residency *r, pw_asid asid, const char *name, pw_vpn first, uint64_t bytes,
                                struct pw_error *err);
/* Everything of the allocation that begins at `first` is gone, from the host as well: nothing is written back. Pages
 * that were granted and have not arrived must be forgotten by the caller. The caller unmaps what visit names. */
typedef void pw_residency_visit(void *context, pw_asid asid, pw_vpn vpn);
enum pw_status pw_residency_remove(struct pw_residency *r, pw_asid asid, pw_vpn first, pw_residency_visit *visit,
                                   void *context, struct pw_error *err);

/* A page's number, PW_NO_PAGE when it is in no allocation. */
pw_page_id pw_residency_find(const struct pw_residency *r, pw_asid asid, pw_vpn vpn);
pw_asid pw_residency_asid(const struct pw_residency *r, pw_page_id page);
pw_vpn pw_residency_vpn(const struct pw_residency *r, pw_page_id page);

enum pw_page_state { PW_PAGE_ABSENT, PW_PAGE_COMING, PW_PAGE_RESIDENT };
enum pw_page_state pw_residency_state(const struct pw_residency *r, pw_page_id page);

/* An access to a page that is resident or mapped remotely: on the hot path of runs with demand paging. The first one
 * after arrival is the replay of the access that waited for the page. False for a write to a copy, which has to
 * collapse first; nothing has changed then. */
bool pw_residency_touch(struct pw_residency *r, pw_page_id page, bool write);

/* Memory advice: of the allocation that a page is in. What is advised decides only what is written back (copies never
 * are); what is mapped remotely is the caller's business. Remote pages count as absent, or coming. */
unsigned pw_residency_advice(const struct pw_residency *r, pw_page_id page);
void pw_residency_advise(struct pw_residency *r, pw_page_id page, unsigned advice);
bool pw_residency_is_remote(const struct pw_residency *r, pw_page_id page);
void pw_residency_set_remote(struct pw_residency *r, pw_page_id page, bool remote);
/* A resident page of a read-mostly allocation is the only copy from now on, until it leaves. `copied`: it was a copy,
 * and is counted. */
void pw_residency_collapse(struct pw_residency *r, pw_page_id page, bool copied);

/* What a fault brings in. */
struct pw_fetch {
    uint32_t block;
    struct pw_page_mask faulted, prefetched; /* disjoint; all of them are "coming" from now on */
};
/* Decides for absent pages of one block that were asked for together; counts far faults. Pages of `asked` that are not
 * absent are left out. From the first time that all this would exceed capacity less the free-page buffer, memory counts
 * as full and prefetch_full decides. */
void pw_residency_decide(struct pw_residency *r, uint32_t block, const struct pw_page_mask *asked,
                         struct pw_fetch *out);
/* An access to a page that is coming: it is awaited too. */
void pw_residency_merge(struct pw_residency *r, pw_page_id page);
/* The explicit prefetch call: absent pages of a block, none of them awaited or counted as faults. */
void pw_residency_decide_explicit(struct pw_residency *r, uint32_t block, const struct pw_page_mask *wanted,
                                  struct pw_fetch *out);
/* Gives up pages that were decided and have no room: they are absent again. Only prefetched ones that have not been
 * granted; those that an access has merged into are awaited by now and stay. Returns what was given up. */
struct pw_page_mask pw_residency_give_up(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages);

/* Pages that could be granted now: capacity less resident and granted ones. */
uint64_t pw_residency_room(const struct pw_residency *r);
uint64_t pw_residency_granted(const struct pw_residency *r); /* pages that have room and have not arrived */
/* Takes room for pages that were decided. */
void pw_residency_grant(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages);

/* What leaves together: it is absent from now on. Room grows at once; when the frames can be used again is the caller's
 * business. The first candidate in order of which something may leave decides; reserved pages leave only when
 * nothing else may. False when nothing may leave (everything is awaited or busy). */
struct pw_eviction {
    uint32_t block;
    struct pw_page_mask pages, written; /* written: those that go back over the link */
};
bool pw_residency_evict(struct pw_residency *r, struct pw_eviction *out);
/* The host takes pages of a block back, as when a program writes them there: those that are resident leave. Not counted
 * as an eviction. None of them may be awaited. */
void pw_residency_take_back(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages);
/* Pages short of the free-page buffer: to be evicted ahead of need. */
uint64_t pw_residency_buffer_short(const struct pw_residency *r);

/* Granted pages are resident now (others of the mask are left out). Faulted ones stay awaited until they are
 * touched. */
void pw_residency_arrive(struct pw_residency *r, uint32_t block, const struct pw_page_mask *pages);

size_t pw_residency_range_count(const struct pw_residency *r);
const struct pw_managed_range *pw_residency_range(const struct pw_residency *r, size_t index);
const struct pw_managed_range *pw_residency_range_of(const struct pw_residency *r, pw_page_id page);
struct pw_uvm_counters *pw_residency_counters(struct pw_residency *r); /* [PW_MAX_APPS] */
uint64_t pw_residency_resident(const struct pw_residency *r);
bool pw_residency_is_full(const struct pw_residency *r); /* prefetch_full decides */
size_t pw_residency_bytes(const struct pw_residency *r); /* of memory held */

/* Recounts everything: masks against counts, order against masks, prefetched = used + evicted unused + resident
 * unused. */
enum pw_status pw_residency_check(const struct pw_residency *r, struct pw_error *err);

#endif
