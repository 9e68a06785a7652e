/* Which of some translations is the best base for the others (TLB compression, Section 4.6: the one that needs the
 * fewest bits to represent them). A difference from a base is what is left of a number below the highest bit in which
 * the two differ, so it needs as many bits as their exclusive or. */
#ifndef PW_POLICY_TLB_BASE_SEARCH_H
#define PW_POLICY_TLB_BASE_SEARCH_H

#include "sim/types.h"

#include <stdint.h>

struct base_candidate {
    uint64_t tag;  /* the page number above the set's */
    uint32_t unit; /* the frame number, in units of the page size */
    pw_asid asid;
};

static inline unsigned base_bits(uint64_t difference)
{
    return difference ? 64 - (unsigned)__builtin_clzll(difference) : 0;
}

/* What all of them need, as differences from this one; one of another address space counts as wide as there are any. */
static inline uint64_t base_bits_from(const struct base_candidate *base, const struct base_candidate *all,
                                      uint32_t count)
{
    enum { WIDEST = 64 + 32 };
    uint64_t bits = 0;
    for (uint32_t i = 0; i < count; i++)
        bits += all[i].asid == base->asid ? base_bits(all[i].tag ^ base->tag) + base_bits(all[i].unit ^ base->unit)
                                          : (unsigned)WIDEST;
    return bits;
}

/* The first of those that are best; `otherwise` where there is none. */
static inline struct base_candidate base_search(const struct base_candidate *all, uint32_t count,
                                                struct base_candidate otherwise)
{
    uint64_t fewest = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = base_bits_from(&all[i], all, count);
        if (bits < fewest) {
            fewest = bits;
            otherwise = all[i];
        }
    }
    return otherwise;
}

#endif
