/* The fabric: links and switches, with queues, between several GPUs and the host.
 *
 * Tree: GPUs hang on switches, `gpus_per_switch` on each, the switches on one root, and the host on the root too; there
 * is a root even where one switch has all GPUs. From GPU to GPU a message passes 2 links and 1 switch where both hang
 * on the same switch, otherwise 4 links and 3 switches, the root being one; from or to the host 3 links and 2 switches
 * (PCIe as in MGPUSim). All to all: every two GPUs have a link of their own, without a switch (NVLink class); the way
 * to the host is still that of the tree.
 *
 * A link has two directions that do not disturb each other. A message holds one for bytes / bandwidth and goes on to
 * the next as soon as its head is through (cut-through): link_latency and switch_latency cycles after it began to
 * cross. Each direction serves messages one after the other, in the order in which their heads come to it. The last
 * byte arrives when the slowest link has let it through and it has passed what follows: after a slower link a faster
 * one is held for its own time only, as if it interleaved packets, but the message is not there before the slower one
 * has delivered it.
 *
 * Messages without data, requests and acknowledgements, may have a queue of their own at each link (queues = by-class):
 * then they go on after those before them, and pass between messages with data, as PCIe's flow control by kinds of
 * packets lets them; the time they take is the others' loss. Left out: the rest of a message with data that is on the
 * link when one comes. In one queue (shared) a request waits behind all data that came before it.
 *
 * Queues have no bound; what bounds the traffic is what the ends can have under way (miss registers, walkers). */
#ifndef PW_MEM_FABRIC_H
#define PW_MEM_FABRIC_H

#include "sim/event.h"
#include "sim/option.h"
#include "sim/stats.h"

enum pw_fabric_topology { PW_FABRIC_TREE, PW_FABRIC_ALL_TO_ALL };

enum pw_fabric_queues { PW_FABRIC_SHARED, PW_FABRIC_BY_CLASS };

enum { PW_FABRIC_MOST_GPUS = 64 };

struct pw_fabric_config {
    uint32_t topology;        /* enum pw_fabric_topology */
    double gbytes_per_second; /* of a link, each way, in 10^9 bytes */
    uint32_t gpus_per_switch;
    uint32_t switch_latency;       /* cycles, of the root too */
    uint32_t link_latency;         /* cycles */
    double host_gbytes_per_second; /* tree: between root and host; all to all: of all links of the tree. 0: as above */
    uint32_t queues;               /* enum pw_fabric_queues */
    uint32_t request_bytes;        /* of a message without data, */
    uint32_t header_bytes;         /* and what data has in front; both for those who send */
};

extern const struct pw_option pw_fabric_options[];

struct pw_fabric;

/* Ends are numbered: GPUs from 0, then the host. */
enum pw_status pw_fabric_create(const struct pw_fabric_config *config, unsigned gpus, uint32_t clock_mhz,
                                struct pw_events *events, struct pw_fabric **out, struct pw_error *err);
void pw_fabric_destroy(struct pw_fabric *f);
void pw_fabric_register(struct pw_fabric *f, struct pw_stats *stats); /* fabric.messages .bytes .link_bytes … */

unsigned pw_fabric_host(const struct pw_fabric *f); /* the host's number as an end: the number of GPUs */

/* A message of so many bytes, ready now, from one end to another; they differ. `arrive` is called, as an event, when
 * its last byte is there. */
void pw_fabric_send(struct pw_fabric *f, unsigned from, unsigned to, uint32_t bytes, pw_cycle now, pw_event_fn *arrive,
                    void *object, uint64_t argument);

/* How long it takes when nothing else is under way. */
pw_cycle pw_fabric_unloaded(const struct pw_fabric *f, unsigned from, unsigned to, uint32_t bytes);

/* Messages under way; and a line on them, for the progress report. */
uint64_t pw_fabric_pending(const struct pw_fabric *f);
size_t pw_fabric_describe(const struct pw_fabric *f, char *out, size_t capacity);

#endif
