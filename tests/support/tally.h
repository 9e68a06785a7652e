/* Runs a program without time, checks its result, and counts the lanes of its operations. */
#ifndef PW_TESTS_TALLY_H
#define PW_TESTS_TALLY_H

#include "workload.h"

/* Lanes by kind of operation, over a whole run. */
struct tally {
    uint64_t lanes[PW_OP_KIND_COUNT], operations[PW_OP_KIND_COUNT];
    uint64_t waits, waits_for_all_but[9];
};

static inline void count(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w, (void)words;
    struct tally *t = context;
    t->operations[op->kind]++;
    t->waits += op->loads_in_flight != PW_ANY_IN_FLIGHT;
    if (op->loads_in_flight < 9)
        t->waits_for_all_but[op->loads_in_flight]++;
    if (op->kind >= PW_OP_LOAD && op->kind <= PW_OP_ATOMIC_RETURN)
        t->lanes[op->kind] += (uint32_t)__builtin_popcount(op->count_or_mask);
}

static inline struct pw_functional_counts run(const char *text, uint64_t seed, struct tally *tally)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts = {0};
    if (pw_program_parse(text, &p, &err) ||
        pw_functional_run(&p, seed, true, tally ? count : NULL, tally, &counts, &err))
        fail_msg("%s, seed %llu: %s", text, (unsigned long long)seed, err.message);
    pw_program_release(&p);
    return counts;
}

#endif
