/* All families of policies. */
#ifndef PW_POLICY_FAMILIES_H
#define PW_POLICY_FAMILIES_H

#include "sim/policy.h"

/* NULL-terminated. */
extern const struct pw_policy_family *const pw_families[];

#endif
