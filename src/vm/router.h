/* Where a GPU's translation requests go: to its own page walkers, to the host's IOMMU, or to both (GMMU Bypass).
 *
 * Every primary miss of the L2 TLB is a request, for a page that is local, in this GPU's memory, or remote, in that of
 * another. A GPU's own page table has no entries for remote pages (Section 3), so a walk of its own finds only what is
 * local. The policy (policy/route) says for each request:
 * - GMMU: the GPU walks; if it finds nothing, the request goes on to the IOMMU (Figure 2).
 * - IOMMU: the request goes there at once (Figure 1).
 * - both at once: the first answer that is one counts. An answer of the IOMMU that comes later is discarded, and so is
 *   a walk of the GPU that finds nothing (Section 4). A walk under way is not stopped: it keeps its walker until it
 *   ends, and the miss register of the request is not free before both have ended.
 *
 * Between the GPU's registers and its own walkers there is no distance; the IOMMU is behind the fabric. A request's
 * time is that until its answer: waiting for walkers, walking, on the fabric, and for a page that moves. Of two walks
 * at once, the one that gave the answer counts. */
#ifndef PW_VM_ROUTER_H
#define PW_VM_ROUTER_H

#include "policy/route/route_policy.h"
#include "sim/policy_use.h"
#include "vm/iommu.h"
#include "vm/physical_memory.h"
#include "vm/walker.h"

struct pw_route_config {
    struct pw_policy_choice policy; /* of pw_route_family */
};

extern const struct pw_option pw_route_options[];

struct pw_router;

struct pw_router_wiring {
    struct pw_policies *policies; /* of the machine */
    struct pw_iommu *iommu;
    const struct pw_page_table *const *tables;
    const struct pw_physical_memory *physical; /* of this GPU */
    unsigned gpu, apps;
    uint32_t requests; /* that can be under way: the miss registers */
    void *host;
    /* NULL, or called for each request, before it is sent: a page that has no frame gets one on first touch. */
    void (*touch)(void *host, unsigned gpu, pw_asid asid, pw_vpn vpn);
    /* NULL, or whether the page is on its way between two GPUs: no GPU's own table has it then. */
    bool (*moving)(void *host, pw_asid asid, pw_vpn vpn);
    void *client;
    /* The request has its answer; not present: there is no such page. */
    void (*found)(void *client, uint32_t id, struct pw_translation translation, pw_cycle now);
    /* And nothing of it is under way any more: its id may be used again. */
    void (*ended)(void *client, uint32_t id, pw_cycle now);
};

enum pw_status pw_router_create(const struct pw_route_config *config, const struct pw_router_wiring *wiring,
                                struct pw_router **out, struct pw_error *err);
void pw_router_destroy(struct pw_router *r);
/* The GPU's own walkers; they tell of the end of a walk by pw_router_walked. */
void pw_router_connect(struct pw_router *r, struct pw_walker *walker);
void pw_router_register(struct pw_router *r, struct pw_stats *stats);

/* Sends a request. */
void pw_router_start(struct pw_router *r, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now);
/* A walk of the GPU's own has ended. */
void pw_router_walked(void *router, uint32_t id, struct pw_translation translation, pw_cycle now);

/* Whether the request has been answered, though something of it is under way. */
bool pw_router_is_answered(const struct pw_router *r, uint32_t id);
/* When the walk began that has found its page, or failed to. */
pw_cycle pw_router_begun(const struct pw_router *r, uint32_t id);

#endif
