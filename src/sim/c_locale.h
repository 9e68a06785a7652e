/* Numbers as text, the same in every locale.
 *
 * A program that links the library may have called setlocale(LC_ALL, ""), and then strtod and printf use the decimal
 * comma of its user. Files, options, messages and results always have a point. These functions switch the calling
 * thread alone, and only for the one conversion, so callbacks see the program's own locale. Whatever in the library
 * reads or prints floating point goes through them. */
#ifndef PW_SIM_C_LOCALE_H
#define PW_SIM_C_LOCALE_H

#include <stdarg.h>
#include <stddef.h>

double pw_c_strtod(const char *text, char **out_end);

int pw_c_snprintf(char *out, size_t capacity, const char *format, ...) __attribute__((format(printf, 3, 4)));
int pw_c_vsnprintf(char *out, size_t capacity, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

#endif
