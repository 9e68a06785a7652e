/* How alike the translations of a TLB are, from snapshots of it (compression, Section 3.4): what a scheme that keeps
 * differences from a base could save.
 *
 * Every `interval` cycles one translation of each application is picked at random as the base, in each of the TLB's two
 * arrays, and every other one of the application in that array is compared with it: the bits that the difference of
 * their page numbers takes, and that of their frame numbers. Page numbers are compared without what chooses the set
 * (and the page under a common tag), as tags are; frames in units of the array's page size. A difference of n bits is
 * less than 2^n either way: its sign is not counted. An organisation that stores nothing has nothing to compare. */
#ifndef PW_VM_TLB_DELTAS_H
#define PW_VM_TLB_DELTAS_H

#include "vm/tlb.h"

enum { PW_VPT_BITS = 36, PW_PFN_BITS = 27 }; /* at most: of page and frame numbers */

struct pw_tlb_deltas_counters {
    uint64_t snapshots; /* with anything to compare */
    uint64_t translations;
    uint64_t vpt_bits, pfn_bits;                                 /* summed over them */
    uint64_t vpt_fit[PW_VPT_BITS + 1], pfn_fit[PW_PFN_BITS + 1]; /* [n]: differences of at most n bits */
};

struct pw_tlb_deltas;

struct pw_tlb_deltas_setup {
    const struct pw_tlb *tlb;           /* both must outlive it */
    const struct pw_tlb_config *config; /* of the TLB */
    struct pw_events *events;
    pw_cycle interval; /* not 0 */
    unsigned apps;
    uint64_t seed; /* of the run */
};

enum pw_status pw_tlb_deltas_create(const struct pw_tlb_deltas_setup *setup, struct pw_tlb_deltas **out,
                                    struct pw_error *err);
void pw_tlb_deltas_destroy(struct pw_tlb_deltas *d);
void pw_tlb_deltas_register(const struct pw_tlb_deltas *d, struct pw_stats *stats);

/* From now on, and no longer, there are snapshots. */
void pw_tlb_deltas_begin(struct pw_tlb_deltas *d);
void pw_tlb_deltas_end(struct pw_tlb_deltas *d);

/* Takes one now. */
void pw_tlb_deltas_take(struct pw_tlb_deltas *d);
/* By application. */
const struct pw_tlb_deltas_counters *pw_tlb_deltas_counters(const struct pw_tlb_deltas *d);

#endif
