/* The family "page placement": which GPU's memory a page is put into before the kernels run.
 *
 * `choose` is asked once for each page of each allocation and answers with the number of a GPU. A policy without it
 * leaves the page where it is until a GPU accesses it, and then it is that GPU's.
 *
 * There is one instance for a system; it has no environment. One file per policy, one line in place.def. */
#ifndef PW_POLICY_PLACE_H
#define PW_POLICY_PLACE_H

#include "sim/policy.h"

struct pw_place_request {
    pw_asid asid;
    uint32_t array;       /* number of the allocation among the program's, from 0 */
    uint64_t page, pages; /* which page of the allocation, from 0, and how many it has */
    unsigned gpus;
};

struct pw_place_policy {
    struct pw_policy head;
    /* A number below `gpus`; NULL: the GPU that accesses the page first. */
    unsigned (*choose)(void *state, const struct pw_place_request *request);
};

extern const struct pw_policy_family pw_place_family;

static inline const struct pw_place_policy *pw_place_policy_of(const struct pw_policy *head)
{
    return (const struct pw_place_policy *)head;
}

#endif
