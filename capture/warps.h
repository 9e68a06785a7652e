/* From records of the GPU to operations of warps.
 *
 * Records of a warp come in its program order. Between two of them lie instructions that were not recorded: they are
 * told from the machine code (capture/code.h), with the loads that they wait for. Without it the distance of the
 * program counters is what lies between, and a jump back is one instruction; a store, an atomic operation or a barrier
 * then waits for all loads.
 *
 * Instructions on shared and local memory count as instructions; what a warp does there is no access. An asynchronous
 * copy to shared memory is a load whose first use is the wait for its group; a bulk copy is as many loads of 512 bytes
 * as it takes. A warp ends when all of its threads have, a CTA when all of its warps have.
 *
 * Lanes that went different ways come as records of parts of the warp, in the order in which the hardware ran them. The
 * instructions between two of them are those on the way from one to the other, as if the warp had gone it; where lanes
 * that were away join the others, both have executed the instruction that joins them, and lanes that others have left
 * by ending go on behind the branch where they stayed. */
#ifndef PW_CAPTURE_WARPS_H
#define PW_CAPTURE_WARPS_H

#include "code.h"
#include "layout.h"
#include "trace/op.h"

/* Takes an operation, or with op NULL the end of a CTA. False: no more are wanted. */
typedef bool pw_capture_emit(void *context, uint32_t cta, uint32_t warp, const struct pw_op *op, const uint64_t *words);

struct pw_capture_warps;

/* What is known of a kernel. Code NULL: nothing; it and its address, where its first instruction lies, must outlast the
 * object. */
struct pw_capture_kernel {
    uint32_t threads; /* of a CTA */
    const struct pw_code_function *code;
    uint64_t address;
};

/* NULL: out of memory. */
struct pw_capture_warps *pw_capture_warps_new(const struct pw_capture_kernel *kernel, pw_capture_emit *emit,
                                              void *context);
void pw_capture_warps_free(struct pw_capture_warps *w); /* NULL is fine */

/* A record, with the addresses of its active lanes if its form is PW_CAPTURE_LANES. One that no GPU writes (a warp that
 * the CTA does not have, no lane) is an error; so are CTAs without memory for them. */
enum pw_status pw_capture_warps_take(struct pw_capture_warps *w, const struct pw_capture_cell *head,
                                     const uint64_t *addresses, struct pw_error *err);

struct pw_capture_warps_counts {
    uint64_t operations;  /* accesses to global memory */
    uint64_t divergent;   /* of them, with an address per lane */
    uint64_t guessed;     /* ways that the machine code did not tell */
    uint64_t guessed_at;  /* the first of them: program counter of its end */
    uint64_t ctas, ended; /* seen, and seen to their end */
    uint64_t odd_sizes;   /* accesses of sizes that a trace does not know: instructions without memory */
};
struct pw_capture_warps_counts pw_capture_warps_get_counts(const struct pw_capture_warps *w);

/* Of what has been taken (pace.h): cycles from one instruction of a warp to its next in thousandths, or 0. */
uint32_t pw_capture_warps_get_pace(const struct pw_capture_warps *w);

#endif
