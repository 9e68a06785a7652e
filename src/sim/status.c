/* Error messages: formatted once, where the mistake is known, and given a place (FILE:LINE) by whoever knows that.
 *
 * A message often quotes what the user or a file has, which may be any bytes: what is no UTF-8, and control characters,
 * become '?', so that a terminal shows them all and a user error stays one line. A failed run's message may have
 * several. */
#include "sim/status.h"

#include "sim/c_locale.h"
#include "sim/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_printable(struct pw_error *err)
{
    for (char *c = err->message; *c;) {
        size_t length = pw_utf8_printable_length(c);
        bool kept = length || (*c == '\n' && err->status != PW_USER_ERROR);
        if (!kept)
            *c = '?';
        c += length ? length : 1;
    }
}

void pw_error_set(struct pw_error *err, enum pw_status status, const char *format, ...)
{
    if (!err)
        return;
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(err->message, sizeof(err->message), format, arguments);
    va_end(arguments);
    err->status = status;
    make_printable(err);
}

void pw_error_prefix(struct pw_error *err, const char *format, ...)
{
    if (!err)
        return;
    char prefix[PW_ERROR_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    int wanted = pw_c_vsnprintf(prefix, sizeof(prefix) - 2, format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return;
    strcat(prefix, ": ");
    size_t length = strlen(prefix);
    size_t kept = strnlen(err->message, sizeof(err->message) - 1 - length);
    memmove(err->message + length, err->message, kept);
    memcpy(err->message, prefix, length);
    err->message[length + kept] = '\0';
    make_printable(err);
}
