/* The instances of a choice, and the list of all choices of a machine. */
#include "sim/policy_use.h"

#include <stdlib.h>
#include <string.h>

struct pw_policy_instance {
    const struct pw_policy_use *use;
    void *state;
    struct pw_epochs epochs;
    struct pw_policy_instance *next;
};

static void append(struct pw_policies *list, struct pw_policy_use *u)
{
    u->list = list;
    if (list->last)
        list->last->next = u;
    else
        list->first = u;
    list->last = u;
}

static void unlink_use(struct pw_policy_use *u)
{
    struct pw_policy_use *previous = NULL, *at = u->list->first;
    for (; at != u; at = at->next)
        previous = at;
    if (previous)
        previous->next = u->next;
    else
        u->list->first = u->next;
    if (u->list->last == u)
        u->list->last = previous;
}

static unsigned count_metrics(const struct pw_policy *policy)
{
    unsigned count = 0;
    for (const struct pw_policy_metric *m = policy->metrics; m && m->name; m++)
        count++;
    for (const struct pw_policy_ratio *r = policy->ratios; r && r->name; r++)
        count++;
    return count;
}

enum pw_status pw_policy_use_init(struct pw_policy_use *u, struct pw_policies *list, const char *option,
                                  const struct pw_policy *policy, const struct pw_policy_choice *choice, unsigned apps,
                                  struct pw_error *err)
{
    *u = (struct pw_policy_use){.policy = policy, .choice = *choice, .option = option, .apps = apps};
    unsigned metrics = count_metrics(policy);
    u->counters = policy->counters_bytes ? calloc(apps, policy->counters_bytes) : NULL;
    u->names = metrics ? calloc(metrics, sizeof *u->names) : NULL;
    if ((policy->counters_bytes && !u->counters) || (metrics && !u->names))
        return pw_fail_memory(err, option);
    if (list)
        append(list, u);
    return PW_OK;
}

void pw_policy_use_release(struct pw_policy_use *u)
{
    for (struct pw_policy_instance *i = u->instances, *next; i; i = next) {
        next = i->next;
        pw_policy_destroy(i->state);
        free(i);
    }
    if (u->list)
        unlink_use(u);
    free(u->counters);
    free(u->names);
    *u = (struct pw_policy_use){0};
}

enum pw_status pw_policy_use_add(struct pw_policy_use *u, const void *environment, void **out_state,
                                 struct pw_error *err)
{
    *out_state = NULL;
    struct pw_policy_instance *i = calloc(1, sizeof *i);
    if (!i)
        return pw_fail_memory(err, u->option);
    struct pw_policy_setup setup = {u->choice.options, environment, u->counters, u->apps};
    enum pw_status status = pw_policy_create(u->policy, &setup, &i->state, err);
    if (status != PW_OK) {
        free(i);
        return status;
    }
    i->use = u;
    i->next = u->instances;
    u->instances = i;
    *out_state = i->state;
    return PW_OK;
}

/* Writes the name at `at`. */
static enum pw_status name_metric(struct pw_policy_use *u, unsigned at, const char *own, struct pw_error *err)
{
    if (!pw_policy_own_name(u->option, own, u->names[at], sizeof u->names[at]))
        return pw_fail(err, PW_FAILED, "the metric name %s.%s is too long", u->option, own);
    return PW_OK;
}

/* The full name of a counter, which has been named before; or its own, which the registry does not know. */
static const char *counter_name(const struct pw_policy_use *u, const char *own)
{
    unsigned at = 0;
    for (const struct pw_policy_metric *m = u->policy->metrics; m && m->name; m++, at++)
        if (!strcmp(m->name, own))
            return u->names[at];
    return own;
}

static enum pw_status register_metrics(struct pw_policy_use *u, struct pw_stats *stats, struct pw_error *err)
{
    unsigned at = 0;
    enum pw_status status = PW_OK;
    for (const struct pw_policy_metric *m = u->policy->metrics; m && m->name; m++, at++) {
        if ((status = name_metric(u, at, m->name, err)) != PW_OK)
            return status;
        pw_stats_counter(stats, u->names[at], m->unit, m->help, u->counters, u->policy->counters_bytes, m->offset);
        if (m->level)
            pw_stats_level(stats, u->names[at]);
    }
    for (const struct pw_policy_ratio *r = u->policy->ratios; r && r->name; r++, at++) {
        if ((status = name_metric(u, at, r->name, err)) != PW_OK)
            return status;
        pw_stats_ratio(stats, u->names[at], r->unit, r->help, counter_name(u, r->of), counter_name(u, r->per),
                       r->scale);
    }
    return status;
}

enum pw_status pw_policies_register(struct pw_policies *all, struct pw_stats *stats, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (struct pw_policy_use *u = all->first; status == PW_OK && u; u = u->next)
        status = register_metrics(u, stats, err);
    return status;
}

static pw_cycle epoch(void *object, pw_cycle now)
{
    const struct pw_policy_instance *i = object;
    if (i->use->catch_up)
        i->use->catch_up(i->use->owner, now);
    return i->use->policy->epoch(i->state, now);
}

static void rest(void *object, pw_cycle first, uint64_t calls)
{
    (void)first;
    const struct pw_policy_instance *i = object;
    i->use->policy->rest(i->state, calls);
}

void pw_policies_begin(struct pw_policies *all, struct pw_events *events)
{
    for (struct pw_policy_use *u = all->first; u; u = u->next)
        for (struct pw_policy_instance *i = u->policy->epoch ? u->instances : NULL; i; i = i->next) {
            i->epochs = (struct pw_epochs){events, i, epoch, u->policy->rest ? rest : NULL};
            pw_epochs_begin(&i->epochs, events->now);
        }
}

void pw_policies_end(struct pw_policies *all)
{
    for (struct pw_policy_use *u = all->first; u; u = u->next)
        for (struct pw_policy_instance *i = u->instances; i; i = i->next)
            pw_epochs_end(&i->epochs);
}
