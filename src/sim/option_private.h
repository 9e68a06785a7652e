/* A set of options, shared by option.c (its own rows) and option_policies.c (those of the policies that are chosen). */
#ifndef PW_SIM_OPTION_PRIVATE_H
#define PW_SIM_OPTION_PRIVATE_H

#include "sim/option_value.h"
#include "sim/policy.h"

struct slot {
    uint64_t hash; /* of the name */
    const struct pw_option *row;
    void *field;  /* NULL: an option of a policy that is not resolved yet */
    char *origin; /* NULL: default */
    char *text;   /* of a value that is not in its field yet; of a policy's option: that was set at all */
    struct pw_policy_choice *choice; /* whose policy it is an option of; NULL for the set's own rows */
};

struct pw_options {
    size_t count, capacity;
    struct slot *slots;
    char **names; /* NULL-terminated, as pw_suggest wants them */
    const uint32_t *clock_mhz;
    bool resolved; /* times are in their fields */
};

/* Puts a slot, whose name is copied, in front of the one at `at`. */
enum pw_status pw_options_insert(struct pw_options *o, size_t at, const char *name, struct slot slot,
                                 struct pw_error *err);
void pw_options_remove(struct pw_options *o, size_t at);

/* option_policies.c */
/* Keeps a value of an option of a policy, chosen or not, at *out_index. PW_USER_ERROR: no policy has such an option. */
enum pw_status pw_options_keep_own(struct pw_options *o, const char *name, const char *value, size_t *out_index,
                                   struct pw_error *err);
/* Resolves the options of the policies that are chosen, and adds those that nobody has set. */
enum pw_status pw_options_finish_own(struct pw_options *o, struct pw_error *err);

#endif
