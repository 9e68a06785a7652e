/* Memory of other GPUs, accessed line by line where it is: direct cache access (GMMU Bypass, Section 2.2, by RDMA).
 *
 * Lines are numbered over the memories of all GPUs (vm/physical_memory.h). What an L1 cache misses of another GPU's
 * memory goes through the crossbar to the fabric instead of to an L2 slice, over the fabric to the owner, and through
 * its crossbar to the slice that has the line: there it is an access like those of the owner's own SMs. The answer
 * takes the way back. The L2 of the GPU that asks holds no lines of others; its L1 caches do. A page stays where it is.
 *
 * A read is a message without data and its answer the sectors it is for behind a header; a store takes its data along
 * and is acknowledged by a message without; an atomic whose result is wanted has data both ways. What a GPU can have
 * under way is bounded by the miss registers of its L1 caches and by its store buffers. */
#ifndef PW_MEM_PEER_H
#define PW_MEM_PEER_H

#include "mem/fabric.h"
#include "mem/request.h"

struct pw_memory;

/* What the memories of several GPUs have in common. */
struct pw_peers {
    struct pw_fabric *fabric;
    uint32_t request_bytes, header_bytes; /* of messages (mem/fabric.h) */
    uint32_t line_shift;                  /* line >> line_shift is the GPU whose it is */
    unsigned count;
    struct pw_memory **memories; /* by GPU; they enter themselves when they are made */
};

/* Per application, of the GPU that asks. An atomic with a result is a write and a read. */
struct pw_peer_counters {
    uint64_t reads, writes;
    uint64_t bytes; /* of data, both ways */
};

/* An event: a request of an SM has come through the crossbar, for a line of another GPU. */
void pw_peer_arrive(void *memory, uint64_t request, pw_cycle now);

struct pw_slice;
/* A slice answers a request of another GPU. */
void pw_peer_answer(struct pw_slice *s, struct pw_request *r, pw_cycle now);

void pw_peer_register(struct pw_memory *m, struct pw_stats *stats);

#endif
