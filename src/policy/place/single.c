/* Everything lies on the first GPU: to the others all pages are remote, as they are to a program that has not been
 * written for several GPUs. */
#include "policy/place/place_policy.h"

static unsigned choose(void *state, const struct pw_place_request *request)
{
    (void)state, (void)request;
    return 0;
}

extern const struct pw_place_policy pw_place_policy_single;
const struct pw_place_policy pw_place_policy_single = {
    .head = {.name = "single", .summary = "all pages go to the first GPU"},
    .choose = choose,
};
