/* The far-fault registers of the MMU: which misses of L1 TLBs wait for a page that is not on the GPU.
 *
 * They are the GPU's side of a far fault (UVM, Figure 1): a miss enters in step 3, when its walk finds no page, and
 * is answered in step 6, when the page has come. Here is who waits, and nothing of how the page comes; the driver
 * knows how far it is with a page, and nothing of who waits (uvm/driver_faults.c).
 *
 * There are as many registers as pages can be asked for at once, the miss registers of all L1 TLBs together, so
 * they are never full, and a page that does not come keeps nobody from the registers of the L2 TLB. */
#ifndef PW_VM_FAR_FAULTS_H
#define PW_VM_FAR_FAULTS_H

#include "mem/mshr.h"
#include "vm/tlb_request.h"

struct pw_far_faults {
    struct pw_mshr mshr;
    struct pw_tlb_requests *waiting; /* by register */
};

enum pw_status pw_far_faults_init(struct pw_far_faults *f, uint32_t registers, struct pw_error *err);
void pw_far_faults_release(struct pw_far_faults *f);

/* This list of requests waits for the page too. */
void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, struct pw_tlb_request *first);

/* Those that wait for the page, who do so no longer; NULL when nobody does. */
struct pw_tlb_request *pw_far_faults_take(struct pw_far_faults *f, uint64_t key);

#endif
