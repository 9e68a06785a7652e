/* What the API answers: see the header. */
#include "results.h"

#include <stdio.h>

static __thread char why[256];

bool pw_capture_worked(SanitizerResult result, const char *what)
{
    if (result == SANITIZER_SUCCESS)
        return true;
    const char *text = NULL;
    if (sanitizerGetResultString(result, &text) != SANITIZER_SUCCESS || !text)
        text = "unknown error";
    snprintf(why, sizeof why, "%s: %s (%d)", what, text, (int)result);
    return false;
}

const char *pw_capture_why(void)
{
    return why;
}
