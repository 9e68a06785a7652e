/* The pages of an allocation go to the GPUs in turn, beginning with the first, as on MGPUSim's unified device. */
#include "policy/place/place_policy.h"

static unsigned choose(void *state, const struct pw_place_request *request)
{
    (void)state;
    return (unsigned)(request->page % request->gpus);
}

extern const struct pw_place_policy pw_place_policy_interleaved;
const struct pw_place_policy pw_place_policy_interleaved = {
    .head = {.name = "interleaved", .summary = "the pages of an allocation go to the GPUs in turn"},
    .choose = choose,
};
