/* Policies for tests: a choice by name with its options at their defaults, and single instances. */
#ifndef PW_TESTS_POLICIES_H
#define PW_TESTS_POLICIES_H

#include "sim/policy_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { POLICIES_CLOCK_MHZ = 1000 };

static inline struct pw_policy_choice policy_choice(const struct pw_policy_family *family, const char *name)
{
    struct pw_policy_choice choice;
    struct pw_error err;
    if (pw_policy_choose(family, name, POLICIES_CLOCK_MHZ, &choice, &err) != PW_OK)
        fail_msg("%s", err.message);
    return choice;
}

/* Sets an option of the chosen policy's own. */
static inline void policy_set(const struct pw_policy_family *family, struct pw_policy_choice *choice, const char *name,
                              const char *value)
{
    struct pw_error err;
    const struct pw_option *row = pw_policy_chosen(family, choice)->options;
    while (row->name && strcmp(row->name, name) != 0)
        row++;
    if (!row->name || pw_option_parse(row, value, POLICIES_CLOCK_MHZ, choice->options + row->offset, &err) != PW_OK)
        fail_msg("%s=%s: %s", name, value, row->name ? err.message : "no such option");
}

/* For an option that may say "same". */
static inline struct pw_policy_choice policy_choice_or_same(const struct pw_policy_family *family, const char *name)
{
    struct pw_policy_choice choice = policy_choice(family, name);
    choice.index++;
    return choice;
}

static inline const struct pw_policy *policy_named(const struct pw_policy_family *family, const char *name)
{
    struct pw_policy_choice choice = policy_choice(family, name);
    return pw_policy_chosen(family, &choice);
}

/* A policy's own options at their defaults, until the next call. */
static inline const void *policy_defaults(const struct pw_policy *policy)
{
    static struct pw_policy_choice choice;
    struct pw_error err;
    choice = (struct pw_policy_choice){0};
    for (const struct pw_option *row = policy->options; row && row->name; row++)
        assert_int_equal(pw_option_parse(row, row->fallback, POLICIES_CLOCK_MHZ, choice.options + row->offset, &err),
                         PW_OK);
    return choice.options;
}

static inline unsigned policy_count(const struct pw_policy_family *family)
{
    unsigned count = 0;
    while (family->policies[count])
        count++;
    return count;
}

/* An instance, to be released with the use that it belongs to. */
static inline void *policy_instance(struct pw_policy_use *use, const struct pw_policy_family *family,
                                    const struct pw_policy *policy, const void *environment)
{
    struct pw_policy_choice choice = policy_choice(family, policy->name);
    struct pw_error err;
    void *state = NULL;
    if (pw_policy_use_init(use, NULL, family->name, policy, &choice, PW_MAX_APPS, &err) != PW_OK ||
        pw_policy_use_add(use, environment, &state, &err) != PW_OK)
        fail_msg("%s: %s", policy->name, err.message);
    return state;
}

#endif
