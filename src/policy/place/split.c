/* An allocation is cut into as many parts as there are GPUs, each of consecutive pages, and the sizes of two parts
 * differ by a page at most: with thread blocks in consecutive blocks too, what a GPU works on is often its own. */
#include "policy/place/place_policy.h"

static unsigned choose(void *state, const struct pw_place_request *request)
{
    (void)state;
    return (unsigned)((unsigned __int128)request->page * request->gpus / request->pages);
}

extern const struct pw_place_policy pw_place_policy_split;
const struct pw_place_policy pw_place_policy_split = {
    .head = {.name = "split", .summary = "an allocation is cut into one part of consecutive pages for each GPU"},
    .choose = choose,
};
