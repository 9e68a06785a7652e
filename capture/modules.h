/* The modules of the recorded process: which of them are patched, and the machine code of their kernels.
 *
 * A module without a kernel that is wanted is left as it is, which costs nothing. Of the others the image is kept, and
 * a kernel is decoded when it is first launched: libraries have thousands of kernels of which a program launches a
 * few. */
#ifndef PW_CAPTURE_MODULES_H
#define PW_CAPTURE_MODULES_H

#include "session.h"

#include <sanitizer.h>

/* Before all others. `patches` is the file with the functions of patch.cu. */
void pw_capture_modules_start(const char *patches, bool shared, const struct pw_capture_session *s);

/* False: it cannot be patched, pw_capture_why says why; its launches are not to be recorded. */
bool pw_capture_module_loaded(const Sanitizer_ResourceModuleData *data);

void pw_capture_module_unloaded(CUmodule module);

/* The context is about to be destroyed, with all that was loaded into it. */
void pw_capture_modules_leave(CUcontext context);

/* Whether a kernel of the module may be recorded, and its code until the module is unloaded; NULL if it is not known.
 * Should the handle be that of no module, the code is that of another with a kernel of that name. */
bool pw_capture_modules_find(CUmodule module, const char *kernel, const struct pw_code_function **out_code);

#endif
