/* What a policy would cost in hardware: the storage that it adds to that of a machine without it.
 *
 * A policy states it in a table of its own (struct pw_policy's `cost`), from its options and the machine; what comes
 * out for a run is in its metrics cost.* (system/cost.h). A structure stands in one of a few places, of which a GPU may
 * have several alike: what a row says is for each of them. */
#ifndef PW_SIM_COST_H
#define PW_SIM_COST_H

#include <stdint.h>

enum pw_cost_place {
    PW_COST_L1_TLB,             /* in each SM; bits */
    PW_COST_L2_TLB,             /* bits */
    PW_COST_L2,                 /* the L2 cache, all slices together; bits */
    PW_COST_REQUEST,            /* that a memory request carries along; bits */
    PW_COST_DRAM_QUEUE,         /* of each channel; entries */
    PW_COST_SUMS,               /* of each of those above there is a sum */
    PW_COST_TLB = PW_COST_SUMS, /* of an organisation: the TLB that has the array, one of the two above; bits */
    PW_COST_PART,               /* of what another row says, or of what is there anyway, and in no sum; bits */
    PW_COST_PLACE_COUNT
};

/* The array of a TLB that an organisation is chosen for. */
struct pw_cost_array {
    uint32_t entries, ways; /* ways 0: fully associative */
    uint32_t subpages;
    uint32_t page_bits, frame_bits; /* of its page numbers, and of its frame numbers in units of the page size */
};

struct pw_cost_machine {
    uint32_t sms, warps; /* SMs, and warps that can be resident on each */
    uint32_t dram_queue; /* entries that a channel's queues have without the policy */
    uint32_t asid_bits;
    struct pw_cost_array array; /* zero where there is none */
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
