/* What a policy would cost in hardware: the storage that it adds to that of a machine without it.
 *
 * A policy states it in a table of its own (struct pw_policy's `cost`), from its options and the machine; what comes
 * out for a run is in its metrics cost.* (system/cost.h). A structure stands in one of a few places, of which a GPU may
 * have several alike: what a row says is for each of them. */
#ifndef PW_SIM_COST_H
#define PW_SIM_COST_H

#include <stdint.h>

enum pw_cost_place {
    PW_COST_L1_TLB,     /* in each SM; bits */
    PW_COST_L2_TLB,     /* bits */
    PW_COST_L2,         /* the L2 cache, all slices together; bits */
    PW_COST_REQUEST,    /* that a memory request carries along; bits */
    PW_COST_DRAM_QUEUE, /* of each channel; entries */
    PW_COST_PLACE_COUNT
};

struct pw_cost_machine {
    uint32_t sms, warps; /* SMs, and warps that can be resident on each */
    uint32_t dram_queue; /* entries that a channel's queues have without the policy */
};

/* A structure. */
struct pw_policy_cost {
    const char *name; /* NULL ends a table */
    const char *help;
    enum pw_cost_place place;
    uint64_t each; /* its size */
    /* NULL, or gives the size instead; `options` are the policy's own. */
    uint64_t (*size)(const void *options, const struct pw_cost_machine *machine);
};

static inline uint64_t pw_policy_cost_size(const struct pw_policy_cost *c, const void *options,
                                           const struct pw_cost_machine *machine)
{
    return c->size ? c->size(options, machine) : c->each;
}

#endif
