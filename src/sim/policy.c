/* Instances of policies, and the calls they get at epochs. */
#include "sim/policy.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

enum pw_status pw_policy_create(const struct pw_policy *policy, const struct pw_policy_setup *setup, void **out_state,
                                struct pw_error *err)
{
    size_t bytes = policy->state_bytes + (policy->more_bytes ? policy->more_bytes(setup) : 0);
    bytes = (bytes / CACHE_LINE + 1) * CACHE_LINE;
    void *state = aligned_alloc(CACHE_LINE, bytes);
    *out_state = NULL;
    if (!state)
        return pw_fail_memory(err, policy->name);
    memset(state, 0, bytes);
    enum pw_status status = policy->init ? policy->init(state, setup, err) : PW_OK;
    if (status != PW_OK) {
        free(state);
        return status;
    }
    *out_state = state;
    return PW_OK;
}

void pw_policy_destroy(void *state)
{
    free(state);
}

static void epoch_over(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_epochs *e = object;
    pw_cycle next = e->call ? e->call(e->object, now) : PW_NEVER;
    if (next != PW_NEVER)
        pw_epochs_begin(e, next);
}

void pw_epochs_begin(struct pw_epochs *e, pw_cycle first)
{
    pw_events_post(e->events, first, epoch_over, e, 0);
}

void pw_epochs_end(struct pw_epochs *e)
{
    e->call = NULL;
}
