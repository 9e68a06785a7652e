/* Instances of policies, and the calls they get at epochs. */
#include "sim/policy.h"

#include <assert.h>
#include <stdio.h>
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

enum pw_status pw_policy_choose(const struct pw_policy_family *family, const char *name, uint32_t clock_mhz,
                                struct pw_policy_choice *out, struct pw_error *err)
{
    *out = (struct pw_policy_choice){0};
    while (family->policies[out->index] && strcmp(family->policies[out->index]->name, name) != 0)
        out->index++;
    const struct pw_policy *policy = family->policies[out->index];
    if (!policy)
        return pw_fail(err, PW_USER_ERROR, "there is no %s '%.100s'", family->decides, name);
    enum pw_status status = PW_OK;
    for (const struct pw_option *row = policy->options; row && row->name && status == PW_OK; row++)
        status = pw_option_parse(row, row->fallback, clock_mhz, out->options + row->offset, err);
    return status;
}

bool pw_policy_own_name(const char *option, const char *own, char *out, size_t capacity)
{
    const char *last = strrchr(option, '.');
    bool generic = last && (!strcmp(last, ".policy") || !strcmp(last, ".schedule"));
    int length = (int)(generic ? (size_t)(last - option) : strlen(option));
    int written = snprintf(out, capacity, "%.*s.%s", length, option, own);
    return written >= 0 && (size_t)written < capacity;
}

void pw_policy_rests(void *state, uint64_t calls)
{
    (void)state, (void)calls;
}

/* Makes the calls at `first` and then every `length` cycles before `until`; returns the time of the next one. */
static pw_cycle rest(struct pw_epochs *e, pw_cycle first, pw_cycle length, pw_cycle until)
{
    uint64_t calls = (until - 1 - first) / length + 1;
    e->rest(e->object, first, calls);
    return first + calls * length;
}

static void epoch_over(void *object, uint64_t argument, pw_cycle now)
{
    (void)argument;
    struct pw_epochs *e = object;
    e->events->epochs--;
    e->events->single -= !e->rest;
    pw_cycle next = e->call ? e->call(e->object, now) : PW_NEVER;
    assert(next > now);
    if (next < e->events->rests)
        next = rest(e, next, next - now, e->events->rests);
    if (next != PW_NEVER)
        pw_epochs_begin(e, next);
}

void pw_epochs_begin(struct pw_epochs *e, pw_cycle first)
{
    e->events->epochs++;
    e->events->single += !e->rest;
    pw_events_post(e->events, first, epoch_over, e, 0);
}

void pw_epochs_end(struct pw_epochs *e)
{
    e->call = NULL;
}
