/* The formats of a workload's profile. */
#ifndef PW_EXP_PROFILE_H
#define PW_EXP_PROFILE_H

#include "exp/format/text.h"
#include "pagewalk/pagewalk.h"

enum { PW_PROFILE_SCHEMA = 1 };

/* One JSON object; the same bytes for the same inputs. */
void pw_profile_json(const struct pw_profile *p, struct pw_text *out);

/* Aligned tables with small bars; with full names of kernels or short ones. */
void pw_profile_table(const struct pw_profile *p, bool full_names, struct pw_text *out);

/* Parts of JSON that listings have too: "a b" as ["a", "b"], what accesses an allocation as
 * members of its object, and a parameter as an object. */
void pw_profile_json_words(const char *words, struct pw_text *out);
void pw_profile_json_uses(const struct pw_profile_allocation *a, struct pw_text *out);
void pw_profile_json_parameter(const struct pw_workload_parameter *parameter, struct pw_text *out);

#endif
