/* How the entries of an array are laid out in sets, for organisations that have sets. */
#ifndef PW_POLICY_TLB_SHAPE_H
#define PW_POLICY_TLB_SHAPE_H

#include "policy/tlb/tlb_policy.h"

static inline uint32_t tlb_ways(const struct pw_tlb_shape *shape)
{
    return shape->ways ? shape->ways : shape->entries;
}

/* At least one. */
static inline uint32_t tlb_sets(const struct pw_tlb_shape *shape)
{
    return shape->entries ? shape->entries / tlb_ways(shape) : 1;
}

static inline enum pw_status tlb_check_sets(const struct pw_tlb_shape *shape, struct pw_error *err)
{
    if (shape->ways && shape->entries % shape->ways)
        return pw_fail(err, PW_USER_ERROR,
                       "a TLB of %u entries cannot have %u ways; give ways that divide the entries, or 0 for fully "
                       "associative",
                       shape->entries, shape->ways);
    return PW_OK;
}

#endif
