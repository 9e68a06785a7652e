/* newlocale hands out the "C" locale without allocating anything (it is a constant of the C library), so there is no
 * object to keep and nothing to free. */
#include "sim/c_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double pw_c_strtod(const char *text, char **out_end)
{
    return strtod_l(text, out_end, c_locale());
}

int pw_c_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments)
{
    locale_t before = uselocale(c_locale());
    int length = vsnprintf(out, capacity, format, arguments);
    uselocale(before);
    return length;
}

int pw_c_snprintf(char *out, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = pw_c_vsnprintf(out, capacity, format, arguments);
    va_end(arguments);
    return length;
}
