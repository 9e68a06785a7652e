/* Random: a run drawn from all of memory, as after long use by other programs.
 *
 * No two neighbouring pages stay neighbours, which is the worst case for everything that lives on contiguity: range
 * TLBs, compression, coalescing. While memory is mostly free the draw is uniform; after MAX_DRAWS places that are taken
 * it settles for the first free run above the next one, and so always finds what there is. The state holds a generator
 * of its own, seeded from the one it is given, so that it outlives nothing and shifts nobody's numbers. */
#include "policy/frame/frame_policy.h"

enum { MAX_DRAWS = 16 };

struct state {
    struct pw_random random;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct state *s = state;
    const struct pw_frame_environment *environment = setup->environment;
    for (unsigned i = 0; i < sizeof s->random.s / sizeof s->random.s[0]; i++)
        s->random.s[i] = pw_random_next(environment->random);
    return PW_OK;
}

static pw_pfn draw(struct state *s, const struct pw_frames *frames, enum pw_page_order order)
{
    uint64_t run = pw_random_below(&s->random, pw_frames_total(frames) >> order);
    return (pw_pfn){(uint32_t)(run << order)};
}

static bool allocate(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out)
{
    struct state *s = state;
    for (unsigned i = 0; i < MAX_DRAWS; i++) {
        *out = draw(s, frames, request->order);
        if (pw_frames_take_at(frames, request->order, *out, request->owner))
            return true;
    }
    return pw_frames_take(frames, request->order, draw(s, frames, request->order), request->owner, out) ||
           pw_frames_take(frames, request->order, (pw_pfn){0}, request->owner, out);
}

static void release(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at)
{
    (void)state;
    pw_frames_release(frames, request->order, at, request->owner);
}

extern const struct pw_frame_policy pw_frame_policy_random;
const struct pw_frame_policy pw_frame_policy_random = {
    .head = {.name = "random",
             .summary = "a random free run: memory without any contiguity",
             .state_bytes = sizeof(struct state),
             .init = init},
    .allocate = allocate,
    .release = release,
};
