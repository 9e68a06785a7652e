/* What every refusal has to be: a user error of one line of printable text. */
#ifndef PW_TESTS_FUZZ_MESSAGE_H
#define PW_TESTS_FUZZ_MESSAGE_H

#include "sim/status.h"
#include "sim/utf8.h"

#include <stdbool.h>
#include <stdlib.h>

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

static inline void require_refusal(enum pw_status status, const struct pw_error *err)
{
    require(status == PW_USER_ERROR && err->status == status && *err->message);
    for (const char *c = err->message; *c;) {
        size_t length = pw_utf8_printable_length(c);
        require(length);
        c += length;
    }
}

#endif
