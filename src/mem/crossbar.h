/* The crossbar between SMs and L2 slices: two networks, one up and one down, each with a latency and ports that move a
 * fixed number of bytes per cycle.
 *
 * A packet leaves its source port one flit per cycle and its last flit arrives `latency` cycles after it left. There it
 * takes its turn at the destination port: packets are served in the order of their last flit's arrival, and a packet of
 * n flits keeps the port for n cycles. A read request is one flit; data moves in as many flits as it has bytes to
 * carry; headers travel beside the data. Buffers at the ports are not bounded: what bounds the traffic are the miss
 * registers and the store buffers of the SMs. */
#ifndef PW_MEM_CROSSBAR_H
#define PW_MEM_CROSSBAR_H

#include "sim/option.h"
#include "sim/types.h"

struct pw_crossbar_config {
    uint32_t latency;
    uint32_t bytes_per_cycle;
};

extern const struct pw_option pw_crossbar_options[];

/* One direction of one port. */
struct pw_port {
    pw_cycle free;
};

/* Flits of a packet that carries `bytes` of data (0: a request without data). */
static inline uint32_t pw_flits(uint32_t bytes, uint32_t bytes_per_cycle)
{
    return bytes <= bytes_per_cycle ? 1 : (bytes + bytes_per_cycle - 1) / bytes_per_cycle;
}

/* Sends a packet that is ready at `ready`; returns when its last flit arrives at the other side. */
static inline pw_cycle pw_port_send(struct pw_port *p, pw_cycle ready, uint32_t flits, uint32_t latency)
{
    pw_cycle start = ready > p->free ? ready : p->free;
    p->free = start + flits;
    return start + flits - 1 + latency;
}

/* Takes in a packet whose last flit is here at `now`; returns when it has passed the port. */
static inline pw_cycle pw_port_receive(struct pw_port *p, pw_cycle now, uint32_t flits)
{
    pw_cycle done = p->free + flits - 1;
    if (done < now)
        done = now;
    p->free = done + 1;
    return done;
}

/* Of so many equal ports, the one that is free first. */
static inline struct pw_port *pw_port_free_first(struct pw_port *ports, uint32_t count)
{
    struct pw_port *best = ports;
    for (uint32_t i = 1; i < count; i++)
        if (ports[i].free < best->free)
            best = &ports[i];
    return best;
}

#endif
