/* An allocation lies on one GPU as a whole, the next one on the next GPU. That is what becomes of allocations that a
 * benchmark of MGPUSim distributes by itself. */
#include "policy/place/place_policy.h"

static unsigned choose(void *state, const struct pw_place_request *request)
{
    (void)state;
    return request->array % request->gpus;
}

extern const struct pw_place_policy pw_place_policy_by_array;
const struct pw_place_policy pw_place_policy_by_array = {
    .head = {.name = "by-array", .summary = "whole allocations go to the GPUs in turn"},
    .choose = choose,
};
