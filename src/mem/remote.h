/* Remote accesses: lines of host memory that an SM reads and writes over the link (zero-copy).
 *
 * A physical line behind the end of device memory lies in host memory. It is cached in the L1 like any other, and what
 * misses there goes through the crossbar to the host interface instead of to an L2 slice; the L2 holds no host lines. A
 * read takes one of `reads` tags, and its data leaves the host `latency` cycles after it got the tag; it crosses the
 * link and the crossbar back. A store takes the way out: it counts as done half the latency after its last byte has
 * left. An atomic whose result is wanted is both, one after the other.
 *
 * A request moves the sectors it is for, rounded up to `bytes`; requests without data take no bandwidth, as in the
 * crossbar. How long such small transfers take, and how they share the link with pages on the move, is said in
 * mem/link.h. */
#ifndef PW_MEM_REMOTE_H
#define PW_MEM_REMOTE_H

#include "mem/link.h"
#include "mem/request.h"

struct pw_remote_config {
    uint32_t latency; /* from the request at the host interface to the first byte of its answer */
    uint64_t bytes;   /* a transfer is a multiple of it */
    uint32_t reads;   /* under way at a time */
};

extern const struct pw_option pw_remote_options[];

/* Per application. An atomic with a result is a write and a read. */
struct pw_remote_counters {
    uint64_t reads, writes;
    uint64_t bytes; /* both ways */
};

/* Part of a memory system (memory_internal.h). */
struct pw_remote {
    struct pw_remote_config config;
    struct pw_link *link; /* NULL: there is no host memory */
    uint32_t reads;       /* under way */
    struct pw_request_list waiting;
    struct pw_remote_counters *counters;
};

struct pw_memory;

/* An event: the request has come through the crossbar. */
void pw_remote_arrive(void *memory, uint64_t request, pw_cycle now);
void pw_remote_register(struct pw_memory *m, struct pw_stats *stats);

#endif
