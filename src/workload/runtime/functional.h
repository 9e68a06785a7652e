/* The functional executor: runs a program without time, CTA after CTA, and counts what it does.
 *
 * For tests of results, for `pagewalk workload`, and to measure how fast operations are generated. */
#ifndef PW_WORKLOAD_FUNCTIONAL_H
#define PW_WORKLOAD_FUNCTIONAL_H

#include "workload/runtime/host.h"

struct pw_functional_counts {
    uint64_t passes, launches, ctas, warps, warp_instructions, memory_instructions, lane_accesses, allocated_bytes;
    uint64_t address_hash; /* order-dependent hash of every emitted word: the identity of the address stream */
};

/* Called for every operation when not NULL. */
typedef void pw_functional_visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words);

/* How far a program has come, after each CTA. */
struct pw_functional_position {
    const struct pw_launch *launch;
    uint64_t launches;         /* begun */
    uint32_t planned_launches; /* 0: the program does not say */
    uint32_t ctas;             /* of this launch that are done */
};

/* Who watches a program; functions may be NULL. A status other than PW_OK, with its error filled in, ends the program.
 * Names are valid during the call. */
struct pw_functional_observer {
    void *context;
    unsigned instance; /* of the program among those of a run: which of its streams of random numbers it draws from */
    pw_functional_visit *visit;
    enum pw_status (*allocated)(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err);
    enum pw_status (*origin)(void *context, uint32_t id, const struct pw_alloc_origin *origin, struct pw_error *err);
    enum pw_status (*freed)(void *context, uint32_t id, struct pw_error *err);
    enum pw_status (*prefetched)(void *context, uint32_t id, struct pw_error *err);
    enum pw_status (*advised)(void *context, uint32_t id, unsigned advice, struct pw_error *err);
    enum pw_status (*filled)(void *context, uint32_t id, uint64_t first, uint64_t bytes, enum pw_contents how,
                             struct pw_error *err);
    enum pw_status (*protected)(void *context, uint32_t id, unsigned permissions, struct pw_error *err);
    enum pw_status (*launched)(void *context, const struct pw_launch *launch, struct pw_error *err);
    enum pw_status (*advanced)(void *context, const struct pw_functional_position *position, struct pw_error *err);
    const volatile bool *interrupted; /* of programs that take long between launches; NULL: they are not */
};

enum pw_status pw_functional_observe(const struct pw_program *program, uint64_t seed, bool verify,
                                     const struct pw_functional_observer *observer, struct pw_functional_counts *out,
                                     struct pw_error *err);

/* The same for who wants the operations only. */
enum pw_status pw_functional_run(const struct pw_program *program, uint64_t seed, bool verify,
                                 pw_functional_visit *visit, void *context, struct pw_functional_counts *out,
                                 struct pw_error *err);

#endif
