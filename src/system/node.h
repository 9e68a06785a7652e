/* A node: one GPU and what belongs to it alone. A system has one or more, and a host.
 *
 * Where something is kept follows from who shares it. Device memory, the page manager that moves pages in it, the
 * link to the host and the GPU with its MMU are a node's. An application has one address space and one page table,
 * wherever its pages are: an entry names the frame, and so the node whose memory it is in. The host has the
 * programs, the driver, the clock, the statistics and the logs (system.h). Each node's MMU has a base register per
 * application, all of which name the same table. */
#ifndef PW_SYSTEM_NODE_H
#define PW_SYSTEM_NODE_H

#include "gpu/gpu.h"
#include "sim/scope.h"
#include "vm/page_manager.h"

struct pw_system;

struct pw_node {
    struct pw_system *system;
    unsigned index;
    char name[PW_SCOPE_CAPACITY]; /* "gpu0": its scope in the statistics */
    struct pw_policies policies;  /* of its units */
    struct pw_physical_memory physical;
    const struct pw_page_table *tables[PW_MAX_APPS]; /* base registers, by address space */
    struct pw_link *link;                            /* to the host; NULL when paging is free */
    struct pw_gpu *gpu;
    struct pw_page_manager *manager; /* or NULL */
    struct pw_page_looks *looks;     /* at the page accesses of its SMs, or NULL */
};

/* First its memory, from which page tables come; then, once there are address spaces and a driver, the rest. */
enum pw_status pw_node_init(struct pw_node *n, struct pw_system *s, unsigned index, struct pw_error *err);
enum pw_status pw_node_connect(struct pw_node *n, struct pw_error *err);

/* Taken apart in the other order: units that use address spaces first, memory after the address spaces have gone.
 * Either may be called for a node that has not come so far. */
void pw_node_disconnect(struct pw_node *n);
void pw_node_release(struct pw_node *n);

/* Tell of an allocation and of a launch, where page accesses are looked at. */
enum pw_status pw_node_allocated(const struct pw_node *n, pw_asid app, pw_vpn first, uint64_t bytes,
                                 struct pw_error *err);
void pw_node_launched(const struct pw_node *n, pw_asid app);

/* Register what the node counts, in its scope. */
void pw_node_register_gpu(struct pw_node *n, struct pw_stats *stats);
void pw_node_register_memory(struct pw_node *n, struct pw_stats *stats);
void pw_node_register_manager(struct pw_node *n, struct pw_stats *stats);
void pw_node_register_link(struct pw_node *n, struct pw_stats *stats);
void pw_node_register_cost(struct pw_node *n, struct pw_stats *stats);

#endif
