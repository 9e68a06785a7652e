/* First free: the lowest free run, in the order of the requests.
 *
 * This is GPU-MMU's allocator (Mosaic, Section 3.1 and Figure 1a): it does not look at who asks, so applications that
 * allocate at the same time end up with their base pages mixed in one 2 MiB frame. */
#include "policy/frame/frame_policy.h"

static bool allocate(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out)
{
    (void)state;
    return pw_frames_take(frames, request->order, (pw_pfn){0}, request->owner, out);
}

static void release(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at)
{
    (void)state;
    pw_frames_release(frames, request->order, at, request->owner);
}

extern const struct pw_frame_policy pw_frame_policy_first_free;
const struct pw_frame_policy pw_frame_policy_first_free = {
    .head = {.name = "first-free", .summary = "the lowest free run, in request order, whoever asks (GPU-MMU)"},
    .allocate = allocate,
    .release = release,
};
