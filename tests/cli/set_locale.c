/* Linked into a copy of pagewalk, which then runs in the user's locale, like a program that links the library and has
 * called setlocale. Without the locale that it is told to use it does not run at all, so a test cannot pass by
 * accident. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void set_locale(void)
{
    const char *wanted = getenv("PW_TEST_DECIMAL");
    if (!setlocale(LC_ALL, "") || !wanted || strcmp(localeconv()->decimal_point, wanted) != 0) {
        fprintf(stderr, "the locale has the decimal point \"%s\", not \"%s\"\n", localeconv()->decimal_point,
                wanted ? wanted : "(PW_TEST_DECIMAL is not set)");
        _Exit(99);
    }
}
