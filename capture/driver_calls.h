/* What is learnt from calls of the CUDA driver's interface, beside the callbacks for what they do. */
#ifndef PW_CAPTURE_DRIVER_CALLS_H
#define PW_CAPTURE_DRIVER_CALLS_H

#include "session.h"

/* Numbers of the calls that are to be reported; 0 ends them. */
extern const uint32_t pw_capture_driver_calls[];

/* One of them; data as the callback gets it. A launch's dynamic shared memory goes to out_dynamic_shared. */
void pw_capture_driver_call(struct pw_capture_session *s, uint32_t id, const void *data, uint32_t *out_dynamic_shared);

#endif
