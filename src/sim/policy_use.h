/* Policies at work: of each choice the instances made, what they count, and when they are called at epochs.
 *
 * A mechanism keeps a struct pw_policy_use for each choice it has, and makes an instance for each of its parts that
 * decide apart from each other. Those of one machine are listed in a struct pw_policies, through which whoever runs
 * the machine registers the metrics of all of them, and begins and ends their epochs. */
#ifndef PW_SIM_POLICY_USE_H
#define PW_SIM_POLICY_USE_H

#include "sim/policy.h"
#include "sim/stats.h"

struct pw_policies {
    struct pw_policy_use *first, *last;
};

struct pw_policy_use {
    const struct pw_policy *policy;
    struct pw_policy_choice choice;
    const char *option;                     /* that chooses: "dram.schedule" */
    void *counters;                         /* counters_bytes for each application */
    char (*names)[PW_METRIC_NAME_CAPACITY]; /* of its metrics, then of its ratios */
    unsigned apps;
    struct pw_policy_instance *instances;
    /* NULL, or called before an epoch: of a mechanism that simulates behind time, which must not fall into it. */
    void (*catch_up)(void *owner, pw_cycle now);
    void *owner;
    struct pw_policies *list; /* that it is in, or NULL */
    struct pw_policy_use *next;
};

/* `policy` is what `choice` chooses; `option`, which must outlive the use, is the full name of the option that does.
 * `list` may be NULL: there are no epochs then. A use that was zeroed, and one whose initialisation failed, may be
 * released. It must stay where it is. */
enum pw_status pw_policy_use_init(struct pw_policy_use *u, struct pw_policies *list, const char *option,
                                  const struct pw_policy *policy, const struct pw_policy_choice *choice, unsigned apps,
                                  struct pw_error *err);
void pw_policy_use_release(struct pw_policy_use *u); /* with its instances */

/* Makes an instance; its state is the use's to release. */
enum pw_status pw_policy_use_add(struct pw_policy_use *u, const void *environment, void **out_state,
                                 struct pw_error *err);

/* The metrics of all policies in the list. The uses must outlive the registry. */
enum pw_status pw_policies_register(struct pw_policies *all, struct pw_stats *stats, struct pw_error *err);

/* From now on instances are called at epochs; and no longer. The list must not grow meanwhile. */
void pw_policies_begin(struct pw_policies *all, struct pw_events *events);
void pw_policies_end(struct pw_policies *all);

#endif
