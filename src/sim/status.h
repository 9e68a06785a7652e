/* How the library reports what went wrong.
 *
 * A function that can fail returns enum pw_status and takes a struct pw_error to be filled in; nothing in the library
 * prints or exits. */
#ifndef PW_SIM_STATUS_H
#define PW_SIM_STATUS_H

#include "pagewalk/status.h"

/* Fills in err, which may be NULL. */
void pw_error_set(struct pw_error *err, enum pw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline enum pw_status pw_status_passed(enum pw_status status)
{
    return status;
}

/* Fills in err and returns status, so that callers write `return pw_fail(err, …);`. A macro, so that compilers and
 * static checks see that what is returned is a failure. */
#define pw_fail(err, status, ...) pw_status_passed((pw_error_set((err), (status), __VA_ARGS__), (status)))

/* pw_fail for a failed allocation of what is named. */
#define pw_fail_memory(err, what) pw_fail((err), PW_FAILED, "out of memory for %s", (what))

/* Puts "prefix: " before the message that is already there (for example FILE:LINE). */
void pw_error_prefix(struct pw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
