/* What is counted per allocation, once for all formats that show it: X(member, unit). The members have the same names
 * and meanings in struct pw_uvm_counters (uvm/residency.h) and in struct pw_allocation_result (pagewalk/pagewalk.h),
 * where each is a uint64_t, and are the metrics uvm.MEMBER of the application. The columns of a store's table follow
 * from the list: a change to it is a new schema of the store (exp/store_schema.c). */
#ifndef PW_UVM_ALLOCATION_H
#define PW_UVM_ALLOCATION_H

#define PW_ALLOCATION_COUNTERS(X)                                                                                      \
    X(far_faults, "faults")                                                                                            \
    X(pages_in, "pages")                                                                                               \
    X(pages_prefetched, "pages")                                                                                       \
    X(prefetched_used, "pages")                                                                                        \
    X(prefetched_evicted, "pages")                                                                                     \
    X(prefetched_resident, "pages")                                                                                    \
    X(pages_evicted, "pages")                                                                                          \
    X(pages_written, "pages")                                                                                          \
    X(pages_thrashed, "pages")

#endif
