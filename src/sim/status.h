/* How the library reports what went wrong.
 *
 * A function that can fail returns enum pw_status and takes a struct pw_error to be filled in; nothing in the library
 * prints or exits. The values are the exit codes of the command line. */
#ifndef PW_SIM_STATUS_H
#define PW_SIM_STATUS_H

#include <stddef.h>

enum pw_status {
    PW_OK = 0,
    PW_FAILED = 1,        /* the run itself failed: broken identity, no progress, out of memory, disk full */
    PW_USER_ERROR = 2,    /* a mistake in what the user gave us: option, file, trace */
    PW_INTERRUPTED = 130, /* stopped by a signal; what was finished is kept */
};

enum { PW_ERROR_CAPACITY = 4096 };

struct pw_error {
    enum pw_status status;
    char message[PW_ERROR_CAPACITY]; /* one line; a failed run may append further lines that say who waits for whom */
};

/* Fills in err (which may be NULL) and returns status, so that callers write `return pw_fail(err, …);`. */
enum pw_status pw_fail(struct pw_error *err, enum pw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* pw_fail for a failed allocation of what is named. */
enum pw_status pw_fail_memory(struct pw_error *err, const char *what);

/* Puts "prefix: " before the message that is already there (for example FILE:LINE). */
void pw_error_prefix(struct pw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
