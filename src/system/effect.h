/* Which options can have an effect in a run at all, given what the others are.
 *
 * Much of a machine is idle under most designs: without demand paging nothing asks how long a far fault takes. A table
 * in effect.c says of each such option what the others must be for it to matter. It is what a user is told who sets an
 * option in vain, what the reference page says, and what a test runs through, both ways. */
#ifndef PW_SYSTEM_EFFECT_H
#define PW_SYSTEM_EFFECT_H

#include "system/config.h"

enum { PW_EFFECT_ALTERNATIVES = 5 };

struct pw_effect_condition {
    const char *key;    /* an option; NULL ends the alternatives */
    const char *values; /* that it may have, "a|b"; with '!' first, those that it may not have */
};

struct pw_effect_rule {
    const char *options; /* full names, or beginnings that end in '*', separated by spaces; NULL ends the table */
    struct pw_effect_condition any[PW_EFFECT_ALTERNATIVES + 1]; /* one of them must hold; none: never */
    const char *hint; /* what to do or to know; NULL only if there are conditions */
    bool of_machine;  /* it is machines that decide this, so a machine's own file should not get it wrong */
};

extern const struct pw_effect_rule pw_effect_rules[];

bool pw_effect_rule_is_about(const struct pw_effect_rule *rule, const char *option);
bool pw_effect_rule_holds(const struct pw_effect_rule *rule, const struct pw_options *o, unsigned apps);

/* The rule because of which an option can change nothing while the others are as they are, with so many applications;
 * NULL where there is none. */
const struct pw_effect_rule *pw_effect_broken_rule(const struct pw_options *o, unsigned apps, const char *name,
                                                   bool of_machine_only);

/* Why: "paging.mode is free (designs uvm-* page on demand)". */
void pw_effect_reason(const struct pw_effect_rule *rule, const struct pw_options *o, unsigned apps, char *out,
                      size_t capacity);

/* What must hold for an option to have an effect: "walk.model = fixed"; "" where it always has. */
void pw_effect_describe(const char *name, char *out, size_t capacity);

#endif
