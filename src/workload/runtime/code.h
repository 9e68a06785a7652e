/* Whose machine code a kernel follows (the parameter `code`), and straight stretches of such code as tables.
 *
 * Several kernels have by default the instructions of another compiler or an estimate, which the papers' figures use,
 * and with code=sm_90 those that nvcc 13 makes of the same program in capture/programs: how many lie between two
 * accesses, in which order it loads, and which loads an instruction waits for (scripts/machine-code holds them against
 * that code). Where a table of counts does not say it, because the compiler has unrolled a loop and moved its loads, a
 * kernel has a list of steps. */
#ifndef PW_WORKLOAD_CODE_H
#define PW_WORKLOAD_CODE_H

#include "workload/runtime/host.h"

enum { PW_CODE_DEFAULT, PW_CODE_SM_90, PW_CODE_COUNT };

/* The option row: `parameters` is the struct that has a member `code`, `name` what the default is called. */
#define PW_CODE_ROW(parameters, name, whose)                                                                           \
    {                                                                                                                  \
        "code", PW_OPTION_CHOICE, offsetof(parameters, code), 0, 0, name, "",                                          \
            (const char *const[]){name, "sm_90", NULL}, "whose instruction counts: " whose ", or those of an H200",    \
            false                                                                                                      \
    }

enum { PW_NO_ACCESS = UINT8_MAX, PW_NO_STEP = UINT8_MAX - 1 };

/* `count` instructions, of which the first waits for all loads but the youngest `in_flight`, and then an access: a
 * number that the kernel knows, or PW_NO_ACCESS. PW_NO_STEP ends a list. */
struct pw_step {
    uint8_t count, in_flight, access;
};

#define PW_WAIT_ACCESS(in_flight, count, access)                                                                       \
    {                                                                                                                  \
        count, in_flight, access                                                                                       \
    }
#define PW_ACCESS(count, access) PW_WAIT_ACCESS(PW_ANY_IN_FLIGHT, count, access)
#define PW_ARITHMETIC(count) PW_WAIT_ACCESS(PW_ANY_IN_FLIGHT, count, PW_NO_ACCESS)
#define PW_WAIT(in_flight, count) PW_WAIT_ACCESS(in_flight, count, PW_NO_ACCESS)
#define PW_STEPS_END PW_WAIT_ACCESS(PW_ANY_IN_FLIGHT, 0, PW_NO_STEP)

#define PW_FOR_STEPS(step, list) for (const struct pw_step *step = (list); step->access != PW_NO_STEP; step++)

/* The instructions of a step. True if an access follows them. */
static inline bool pw_take_step(struct pw_warp *w, const struct pw_step *step)
{
    pw_use_all_but(w, step->in_flight);
    pw_compute(w, step->count);
    return step->access != PW_NO_ACCESS;
}

#endif
