/* Names of allocations (pagewalk-capture --names): the range that the program is in (capture/ranges.h), else the place
 * in the program that allocates, and a number that distinguishes those of one name: "attention #2", "vecadd!main+0x1d7
 * #1". */
#ifndef PW_CAPTURE_NAMES_H
#define PW_CAPTURE_NAMES_H

#include <stddef.h>

enum { PW_CAPTURE_NAME = 120 /* bytes of a name with the zero behind it */ };

/* Before all others: what later calls need is loaded, as they may come from within a callback. */
void pw_capture_names_start(void);

/* For an allocation that this thread makes now; from any thread. "" where nothing is known of it. */
void pw_capture_name_allocation(char out[PW_CAPTURE_NAME]);

#endif
