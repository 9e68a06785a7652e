/* What the Compute Sanitizer API answers. */
#ifndef PW_CAPTURE_RESULTS_H
#define PW_CAPTURE_RESULTS_H

#include <sanitizer.h>
#include <stdbool.h>

/* Whether it worked; why it did not is kept for the thread, with `what` before it. */
bool pw_capture_worked(SanitizerResult result, const char *what);

/* Of the thread's last failure; "": there was none. */
const char *pw_capture_why(void);

#endif
