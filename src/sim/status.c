/* Error messages: formatted once, where the mistake is known, and given a place (FILE:LINE) by whoever knows that.
 *
 * A user error often quotes what the user wrote, which may be any bytes; control characters become '?' so that the
 * message stays one line. A failed run's message is ours and may have several lines. */
#include "sim/status.h"

#include "sim/c_locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void keep_one_line(struct pw_error *err)
{
    if (err->status != PW_USER_ERROR)
        return;
    for (char *c = err->message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
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
    keep_one_line(err);
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
    keep_one_line(err);
}
