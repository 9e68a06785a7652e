/* How the library reports what went wrong.
 *
 * A function that can fail returns enum pw_status and takes a struct pw_error to be filled in; nothing in the library
 * prints or exits. */
#ifndef PW_SIM_STATUS_H
#define PW_SIM_STATUS_H

#include "pagewalk/status.h"

/* Fills in err (which may be NULL) and returns status, so that callers write `return pw_fail(err, …);`. */
enum pw_status pw_fail(struct pw_error *err, enum pw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* pw_fail for a failed allocation of what is named. */
enum pw_status pw_fail_memory(struct pw_error *err, const char *what);

/* Puts "prefix: " before the message that is already there (for example FILE:LINE). */
void pw_error_prefix(struct pw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
