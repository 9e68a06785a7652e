/* The ranges that a thread of the recorded program is in: those of NVTX, which says to tools what a program does, and
 * those of pagewalk_capture.push. Ranges of all NVTX domains nest in one stack; ranges that begin in one thread and end
 * in another (nvtxRangeStart) are left out. */
#ifndef PW_CAPTURE_RANGES_H
#define PW_CAPTURE_RANGES_H

#include <stdbool.h>

/* The name is copied; NULL or "": a range without one. Returns how many ranges it lies in. */
int pw_capture_range_push(const char *name);

/* Ends the innermost range; returns how many it lay in, or -1 if there is none. */
int pw_capture_range_pop(void);

/* The name of the innermost range of this thread that has one, "" if there is none; valid until that range ends. */
const char *pw_capture_range(void);

#endif
