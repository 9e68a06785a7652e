/* Names of scopes: what a number in a result is of. A metric's name is its scope's, a point, and its own.
 *
 * "gpu0" is one GPU, "gpus" are all of a system that has several, and "app0" is one application, wherever it runs. A
 * system with one GPU has no "gpus": all of its GPUs are "gpu0". */
#ifndef PW_SIM_SCOPE_H
#define PW_SIM_SCOPE_H

#include <stdbool.h>

#define PW_SCOPE_FIRST_GPU "gpu0"
#define PW_SCOPE_GPUS "gpus"

enum { PW_SCOPE_CAPACITY = 16 };

void pw_scope_gpu(unsigned gpu, char out[PW_SCOPE_CAPACITY]);
void pw_scope_app(unsigned app, char out[PW_SCOPE_CAPACITY]);
/* All of so many GPUs. */
const char *pw_scope_all_gpus(unsigned gpus);

/* Whether a metric's name begins with the scope of a GPU, of an application. */
bool pw_scope_is_gpu(const char *name);
bool pw_scope_is_app(const char *name);

#endif
