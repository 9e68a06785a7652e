/* The uses of a program's allocations: which kernels and launches access each, when the functional executor runs it. */
#ifndef PW_EXP_PROFILE_USES_H
#define PW_EXP_PROFILE_USES_H

#include "pagewalk/pagewalk.h"
#include "sim/status.h"
#include "sim/types.h"
#include "trace/op.h"

struct pw_allocation_uses;

struct pw_profile_uses {
    size_t allocation_count, allocation_capacity;
    struct pw_allocation_uses *allocations; /* in the order of allocation */
    size_t piece_count, piece_capacity;
    uint32_t *pieces; /* by 2 MiB from the first address on: the allocation */
    uint64_t first_address;
    size_t kernel_count, kernel_capacity;
    const char **kernels; /* names; the caller's */
    uint32_t kernel;      /* of the present launch */
    uint64_t launch;      /* from 1 */
    bool out_of_memory;
};

/* Allocations lie upward from the first, each on a border of 2 MiB. */
enum pw_status pw_profile_uses_allocated(struct pw_profile_uses *u, pw_vaddr base, uint64_t bytes,
                                         struct pw_error *err);
/* The name has to live as long as the uses. */
enum pw_status pw_profile_uses_launched(struct pw_profile_uses *u, const char *kernel, struct pw_error *err);
void pw_profile_uses_access(struct pw_profile_uses *u, const struct pw_op *op, const uint64_t *words);

/* Fills in what the profile says of each allocation's uses. */
enum pw_status pw_profile_uses_finish(struct pw_profile_uses *u, struct pw_profile_allocation *out,
                                      struct pw_error *err);
void pw_profile_uses_release(struct pw_profile_uses *u);

#endif
