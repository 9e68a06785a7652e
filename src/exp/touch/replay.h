/* Page touches one at a time, without time: what each finds, and what comes and goes with it. This is how a policy is
 * compared with a real GPU, touch by touch.
 *
 * The file is not trusted. Lines: `alloc NAME BYTES`, `read NAME PAGE`, `write NAME PAGE`, `free NAME`; pages are of 4
 * KiB, from the start of the allocation; '#' begins a comment; sizes may have units (2MB, 192K). */
#ifndef PW_EXP_REPLAY_H
#define PW_EXP_REPLAY_H

#include "uvm/residency.h"

struct pw_touch {
    uint64_t step; /* from 0, counting reads and writes */
    const char *name;
    uint64_t page;
    bool write, fault;
    unsigned pages_in, pages_out;
};
/* False: stop here. */
typedef bool pw_touch_visit(void *context, const struct pw_touch *touch);

/* Replays a text. A mistake in it is a user error with FILE:LINE; PW_INTERRUPTED when `visit` has stopped it. */
enum pw_status pw_replay_touches(struct pw_residency *r, const char *text, size_t length, const char *file_name,
                                 pw_touch_visit *visit, void *context, struct pw_error *err);

/* A size as touch files have it: as an option's, where the B of KB, MB, GB and TB may be missing. */
enum pw_status pw_touch_size(const char *text, uint64_t *out, struct pw_error *err);

#endif
