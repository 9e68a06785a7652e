/* The functional executor: runs a program without time, CTA after CTA, and counts what it does.
 *
 * For tests of results, for `pagewalk workload`, and to measure how fast operations are generated. */
#ifndef PW_WORKLOAD_FUNCTIONAL_H
#define PW_WORKLOAD_FUNCTIONAL_H

#include "workload/host.h"

struct pw_functional_counts {
    uint64_t launches, ctas, warps, warp_instructions, memory_instructions, lane_accesses, allocated_bytes;
    uint64_t address_hash; /* order-dependent hash of every emitted word: the identity of the address stream */
};

/* Called for every operation when not NULL. */
typedef void pw_functional_visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words);

enum pw_status pw_functional_run(const struct pw_program *program, uint64_t seed, bool verify,
                                 pw_functional_visit *visit, void *context, struct pw_functional_counts *out,
                                 struct pw_error *err);

#endif
