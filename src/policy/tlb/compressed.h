/* What the compressed organisation (compressed.c) is made from: its own options, and how they divide an array. */
#ifndef PW_POLICY_TLB_COMPRESSED_H
#define PW_POLICY_TLB_COMPRESSED_H

#include "policy/tlb/shape.h"
#include "sim/cost.h"

enum { COMPRESSED_BASE_OF_RUN, COMPRESSED_BASE_OF_LAUNCH };

struct compressed_options {
    uint32_t virtual_bits, physical_bits; /* of the differences */
    uint32_t ratio, share;
    uint32_t counter;
    uint32_t sets_per_base; /* 0: all */
    uint32_t first_base;
    bool consecutive, search;
};

/* How many of a set's ways are compressed: the nearest number to the share; where two are as near, the lower. */
static inline uint32_t compressed_ways(const struct compressed_options *o, uint32_t ways)
{
    return (uint32_t)(((uint64_t)ways * o->share + 49) / 100);
}

/* How many sets have a base in common; at most all there are. */
static inline uint32_t compressed_sets_per_base(const struct compressed_options *o, uint32_t sets)
{
    return o->sets_per_base && o->sets_per_base < sets ? o->sets_per_base : sets;
}

extern const struct pw_policy_cost pw_tlb_compressed_cost[];

#endif
