/* The address space of one application: its allocations, their pages, and the frames behind them.
 *
 * Allocations get consecutive ranges of virtual addresses, each aligned to 2 MiB as the CUDA driver aligns large ones.
 * Backing is a second step, taken before a kernel runs: every page gets its frame from the frame policy and is mapped
 * in the page table. So the pages of several programs that start together can be handed out in turn, page by page
 * (docs/decisions.md), as a driver sees their requests. Addresses are not used again before the program starts over:
 * then they begin anew, in an empty space, or with the allocations of the run before still there. Those lie behind the
 * ranges of the present run, because both were made in order of address, until it makes the same allocations again.
 *
 * In a system of several GPUs a placement policy says whose memory each page is put into; where there is no room the
 * next GPU's that has some takes it. With first touch, pages get their frames one by one, when they are asked for. */
#ifndef PW_VM_ADDRESS_SPACE_H
#define PW_VM_ADDRESS_SPACE_H

#include "policy/place/place_policy.h"
#include "sim/stats.h"
#include "vm/page_table.h"
#include "vm/physical_memory.h"
#include "vm/touched.h"

/* Per application. Bytes now, and the most there have been at once, which is what is reported. */
struct pw_page_counters {
    uint64_t allocated, allocated_peak; /* asked for and not freed */
    uint64_t mapped, mapped_peak;       /* of the pages behind them */
    uint64_t tables;                    /* of page table */
    uint64_t held_peak;                 /* of large frames, where the frame policy tells them apart */
};

/* An allocation, until it is freed: what has to be mapped and unmapped. What is known of an allocation for longer is
 * kept by those who report it (uvm/residency.h, log/page_log.h). Pages before `mapped` have their frames. */
struct pw_range {
    char name[32];
    uint32_t number;               /* of the allocations that its program had when it was made */
    uint64_t bytes, freed;         /* asked for, and of those freed in part */
    uint64_t first, outer, mapped; /* page numbers; managed: mapped = outer */
    bool managed;
    bool come;      /* its data, where memory is not managed */
    bool told;      /* its program has said what is in it */
    bool leaving;   /* its program has freed it and done nothing since: it goes when that goes on */
    bool wanted;    /* an explicit prefetch of it is to be sent */
    bool preloaded; /* its pages have been sent for ahead of the kernels */
    uint8_t denied; /* what its pages may not be used for: PW_MAY_READ, PW_MAY_WRITE */
};

/* Where a CUDA program's device pointers lie on 64-bit Linux. */
#define PW_FIRST_ADDRESS 0x7f4000000000ULL
#define PW_OUTER_ADDRESS 0x800000000000ULL

/* How pages are given to GPUs. */
struct pw_placement {
    const struct pw_place_policy *policy;
    void *state;
};

struct pw_address_space {
    pw_asid asid;
    enum pw_page_order order;
    struct pw_physical_memory *physical;  /* of the first GPU, which knows those of the others */
    const struct pw_placement *placement; /* NULL: everything is put there */
    struct pw_page_table *table;
    uint64_t next; /* first virtual address not used yet */
    struct pw_range *ranges;
    size_t range_count, range_capacity;
    size_t live;     /* ranges from this one on are those of an earlier run */
    size_t unmapped; /* ranges before this one have all their frames */
    bool denies;     /* some range has been given less than all permissions */
    struct pw_page_counters *counters;
    struct pw_touched *touched;
};

/* As frames name it. */
static inline pw_owner pw_address_space_owner(const struct pw_address_space *a)
{
    return (pw_owner)(PW_OWNER_APP + a->asid);
}

enum pw_status pw_address_space_init(struct pw_address_space *a, pw_asid asid, const struct pw_page_config *config,
                                     struct pw_physical_memory *physical, struct pw_page_counters *counters,
                                     struct pw_touched *touched, struct pw_error *err);
void pw_address_space_release(struct pw_address_space *a);

/* Reserves addresses for `bytes` (at least 1). More than physical memory is a user error, unless memory is `managed`:
 * its pages are mapped and unmapped one by one as they come and go, and addresses are reserved in whole 2 MiB. */
enum pw_status pw_address_space_allocate(struct pw_address_space *a, const char *name, uint64_t bytes, bool managed,
                                         pw_vaddr *out, struct pw_error *err);

/* The same at an address of the caller's choice, at which a page begins and nothing else lies, in a space that has no
 * allocations of an earlier run. Addresses begin at PW_FIRST_ADDRESS. */
enum pw_status pw_address_space_allocate_at(struct pw_address_space *a, const char *name, pw_vaddr at, uint64_t bytes,
                                            bool managed, struct pw_error *err);

/* Whether the next allocation of an earlier run is the same, at the same address: it is the present run's from now on,
 * as it is, and `out` is set. */
bool pw_address_space_take_up(struct pw_address_space *a, const char *name, uint64_t bytes, pw_vaddr *out);
/* Whether allocations of an earlier run are in the way of a new one of so many bytes. */
bool pw_address_space_collides(const struct pw_address_space *a, uint64_t bytes);

/* What the pages of an allocation may not be used for from now on, those that are mapped and those to come. The caller
 * shoots the TLBs down. */
void pw_address_space_protect(struct pw_address_space *a, struct pw_range *r, unsigned denied);
/* The allocation around an address, or NULL. */
const struct pw_range *pw_address_space_around(const struct pw_address_space *a, pw_vaddr address);

/* The allocation that begins at this address, or NULL. */
struct pw_range *pw_address_space_find(const struct pw_address_space *a, pw_vaddr base);

/* Backs everything that is allocated in these spaces, one page of each in turn. Too little physical memory is a user
 * error; *out_failed is then the space that came away empty. */
enum pw_status pw_address_spaces_back(struct pw_address_space *spaces, unsigned count, unsigned *out_failed,
                                      struct pw_error *err);

/* Backs one allocation now, before those that were made earlier. */
enum pw_status pw_address_space_back(struct pw_address_space *a, pw_vaddr base, struct pw_error *err);

/* One managed page of the space's order. Map: false when there is no frame, whatever the page manager does to find one.
 * Unmap: it leaves, and its large page ends with it; its frame is free again; returns it. A frame behind those of
 * device memory lies in host memory; nobody hands it out or takes it back. */
bool pw_address_space_map(struct pw_address_space *a, pw_vpn vpn);
/* The same in the memory of one GPU, which must have room. */
bool pw_address_space_map_on(struct pw_address_space *a, pw_vpn vpn, unsigned gpu);
/* On this GPU or the next one that has room. Every GPU has all page tables, so those that would keep some memory for
 * them come first. */
bool pw_address_space_map_near(struct pw_address_space *a, pw_vpn vpn, unsigned gpu, unsigned *out_gpu);
/* Moves a mapped page to a frame of another GPU; its large page ends with that, and it may become part of one there.
 * False when there is no frame, and then the page is where it was. */
bool pw_address_space_move(struct pw_address_space *a, pw_vpn vpn, unsigned gpu);
/* Whether an address is in an allocation whose pages get their frames on first touch, and this page has none yet. */
bool pw_address_space_awaits_touch(const struct pw_address_space *a, pw_vpn vpn);
bool pw_address_space_map_host(struct pw_address_space *a, pw_vpn vpn, pw_pfn frame);
pw_pfn pw_address_space_unmap(struct pw_address_space *a, pw_vpn vpn);
/* Unmaps one whose allocation is about to be freed. All its pages go for good and at once, so its large page is not
 * splintered for it; what is left of that is looked at when the allocation's addresses are freed. */
pw_pfn pw_address_space_unmap_freed(struct pw_address_space *a, pw_vpn vpn);

/* Unmaps what allocate returned (managed pages are unmapped already) and has the page manager look at what is left. The
 * caller shoots the TLBs down, for [*out_first, *out_outer). */
enum pw_status pw_address_space_free(struct pw_address_space *a, pw_vaddr base, pw_vpn *out_first, pw_vpn *out_outer,
                                     struct pw_error *err);

/* The same for some pages of one allocation, [first, outer); whole pages of the space's order, that have been backed.
 * They are gone for good, and what is left is freed as if they were still there. Pages that have no mapping stay as
 * they are. */
enum pw_status pw_address_space_free_part(struct pw_address_space *a, pw_vpn first, pw_vpn outer, struct pw_error *err);

/* Frees whatever is left; addresses start anew. The caller shoots the TLBs down, for [*out_first, *out_outer). */
void pw_address_space_reset(struct pw_address_space *a, pw_vpn *out_first, pw_vpn *out_outer);

/* Addresses start anew; allocations stay for the next run, which may take them up. All are mapped and whole. */
void pw_address_space_start_over(struct pw_address_space *a);

/* frame_check.c: the identity "every frame is owned once": what the page tables map is what the frames say, and nothing
 * is left over. */
enum pw_status pw_address_spaces_check(const struct pw_address_space *spaces, unsigned count, struct pw_error *err);

#endif
