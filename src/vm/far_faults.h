/* The far-fault registers of the MMU: which SMs wait for a page that is not on the GPU.
 *
 * They are the GPU's side of a far fault (UVM, Figure 1): a miss enters in step 3, when its walk finds no page, and
 * is answered in step 6, when the page has come. Here is which SMs wait, and nothing of how the page comes; the driver
 * knows how far it is with a page, and nothing of who waits (uvm/driver_faults.c). What of an SM waits is known there
 * (gpu/fault_wait.h): its L1 TLB's miss register is free as soon as the SM has heard of the fault.
 *
 * There are as many registers as pages are waited for, so that they are never full: neither the paper nor the real
 * fault buffer, which the GPU refills on every replay, bounds them in a way that would delay anybody but the waiting.
 * A page that does not come keeps nobody from the registers of any TLB. */
#ifndef PW_VM_FAR_FAULTS_H
#define PW_VM_FAR_FAULTS_H

#include "sim/key_map.h"
#include "sim/record_pool.h"
#include "vm/tlb_request.h"

/* A register. */
struct pw_far_fault {
    struct pw_key_link link;
    struct pw_tlb_requests waiting;
};

struct pw_far_faults {
    struct pw_key_map map;
    struct pw_record_pool records;
    struct pw_far_fault reserve[1]; /* a walk ends, or a write waits, in an event of its own */
};

/* Must not be moved afterwards. */
enum pw_status pw_far_faults_init(struct pw_far_faults *f, struct pw_events *events, struct pw_error *err);
void pw_far_faults_release(struct pw_far_faults *f);

/* This list of requests waits for the page too. */
void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, struct pw_tlb_request *first);

/* Those that wait for the page, who do so no longer; NULL when nobody does. */
struct pw_tlb_request *pw_far_faults_take(struct pw_far_faults *f, uint64_t key);

#endif
