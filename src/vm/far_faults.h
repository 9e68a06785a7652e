/* The far-fault miss registers: which SMs wait for a page that is not on the GPU (UVM, Figure 1, steps 3 and 6).
 *
 * There are as many as pages can be asked for at once, the miss registers of all L1 TLBs together, so they are never
 * full, and a page that does not come keeps nobody from the registers of the L2 TLB. */
#ifndef PW_VM_FAR_FAULTS_H
#define PW_VM_FAR_FAULTS_H

#include "mem/mshr.h"

struct pw_far_faults {
    struct pw_mshr mshr;
    uint32_t words; /* of a set of SMs */
    uint64_t *sms;  /* by register */
};

enum pw_status pw_far_faults_init(struct pw_far_faults *f, uint32_t sm_words, uint32_t registers, struct pw_error *err);
void pw_far_faults_release(struct pw_far_faults *f);

/* These SMs wait for the page too. */
void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, const uint64_t *sms);

/* Who waits for the page, and nobody does any longer; NULL when nobody did. Valid until the next add. */
const uint64_t *pw_far_faults_take(struct pw_far_faults *f, uint64_t key);

#endif
