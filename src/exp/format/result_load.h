/* Results read back from JSON files. */
#ifndef PW_EXP_RESULT_LOAD_H
#define PW_EXP_RESULT_LOAD_H

#include "sim/status.h"

#include <jansson.h>

/* On PW_OK *out is a result whose members have the types that docs/results.md gives them, the caller's to release; a
 * file that is no result is a user error that names it, and *out may still have to be released. */
enum pw_status pw_result_load(const char *path, json_t **out, struct pw_error *err);

#endif
