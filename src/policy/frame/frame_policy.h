/* The family "frame allocation": where a page of an allocation is put.
 *
 * The mechanism asks for one run of frames per page, in the order in which the program's allocations name them; the
 * policy answers with a run it has taken from struct pw_frames. One file per policy, one line in frame.def. */
#ifndef PW_POLICY_FRAME_H
#define PW_POLICY_FRAME_H

#include "sim/option.h"
#include "sim/random.h"
#include "vm/frames.h"

struct pw_frame_request {
    pw_owner owner;
    pw_vpn vpn; /* first 4 KiB page to be backed; undefined for page tables */
    enum pw_page_order order;
};

struct pw_frame_policy {
    const char *name;
    const char *summary;
    size_t state_bytes;
    /* State is zeroed memory of state_bytes, owned by the host; init may keep nothing else. */
    void (*init)(void *state, struct pw_frames *frames, struct pw_random *random);
    /* Takes a run for the request; false when memory is out. */
    bool (*allocate)(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out);
    /* Gives it back. */
    void (*release)(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at);
};

/* NULL-terminated, and their names for option rows. */
extern const struct pw_frame_policy *const pw_frame_policies[];
extern const char *const pw_frame_policy_names[];

#endif
