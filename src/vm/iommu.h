/* The IOMMU: the host's page walkers, to which GPUs send translations over the fabric (GMMU Bypass, Section 2.3).
 *
 * The host knows every page, wherever it is. A request crosses the fabric, waits for a walker, first come, first
 * served, takes a fixed time there, and its answer crosses the fabric back. There is no IOTLB: the paper names none,
 * and MGPUSim has none. Requests of different GPUs for one page are different walks.
 *
 * Before it answers, the host may move the page to the GPU that asks (system/moves.h); the request waits for that. */
#ifndef PW_VM_IOMMU_H
#define PW_VM_IOMMU_H

#include "mem/fabric.h"
#include "sim/record_pool.h"
#include "vm/page_table.h"

struct pw_iommu_config {
    uint32_t walkers; /* 0: there is no IOMMU */
    uint32_t latency; /* of a walk, in cycles */
};

extern const struct pw_option pw_iommu_options[];

/* A request from a GPU, from its way there to its way back. */
struct pw_iommu_request {
    struct pw_iommu_request *next; /* in the one list that it is in */
    pw_vpn vpn;
    uint32_t id; /* the GPU's own */
    uint8_t gpu;
    pw_asid asid;
    pw_cycle sent, arrived, begun, walked, left; /* the GPU, at the host, at a walker, from it, the host */
};

struct pw_iommu;

/* A GPU that asks. */
struct pw_iommu_client {
    void *object;
    /* The answer is there; what it says is asked of the page table. */
    void (*answered)(void *object, const struct pw_iommu_request *r, pw_cycle now);
};

struct pw_iommu_wiring {
    struct pw_events *events;
    struct pw_fabric *fabric;
    uint32_t message_bytes; /* of a request and of an answer */
    unsigned gpus, apps;
    void *mover;
    /* A walk has ended. True: the request waits for its page to move, until pw_iommu_answer. NULL: pages never do. */
    bool (*moves)(void *mover, struct pw_iommu_request *r, pw_cycle now);
};

enum pw_status pw_iommu_create(const struct pw_iommu_config *config, const struct pw_iommu_wiring *wiring,
                               struct pw_iommu **out, struct pw_error *err);
void pw_iommu_destroy(struct pw_iommu *i);
void pw_iommu_connect(struct pw_iommu *i, unsigned gpu, struct pw_iommu_client client);
void pw_iommu_register(struct pw_iommu *i, struct pw_stats *stats); /* iommu.walks .queue_mean … */

/* A GPU asks for a page; `id` comes back with the answer. */
void pw_iommu_ask(struct pw_iommu *i, unsigned gpu, uint32_t id, pw_asid asid, pw_vpn vpn, pw_cycle now);

/* Sends a request that waited for its page back. */
void pw_iommu_answer(struct pw_iommu *i, struct pw_iommu_request *r, pw_cycle now);

uint64_t pw_iommu_pending(const struct pw_iommu *i);
size_t pw_iommu_describe(const struct pw_iommu *i, char *out, size_t capacity);

#endif
