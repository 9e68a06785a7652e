/* UTF-8 in what comes from outside. */
#ifndef PW_SIM_UTF8_H
#define PW_SIM_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the sequence at `s`, which is not empty; 0 where there is none: overlong forms, surrogates and values past
 * U+10FFFF are refused. */
size_t pw_utf8_length(const char *s);

/* As pw_utf8_length, and 0 for control characters too, those of two bytes included: a terminal obeys them. */
size_t pw_utf8_printable_length(const char *s);

/* Whether a control character begins at `s`, of one byte or of two. */
bool pw_utf8_is_control(const char *s);

#endif
