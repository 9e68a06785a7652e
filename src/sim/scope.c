/* Scopes as texts; scope.h says what they are. */
#include "sim/scope.h"

#include <stdio.h>

void pw_scope_gpu(unsigned gpu, char out[PW_SCOPE_CAPACITY])
{
    snprintf(out, PW_SCOPE_CAPACITY, "gpu%u", gpu);
}

void pw_scope_app(unsigned app, char out[PW_SCOPE_CAPACITY])
{
    snprintf(out, PW_SCOPE_CAPACITY, "app%u", app);
}

const char *pw_scope_all_gpus(unsigned gpus)
{
    return gpus > 1 ? PW_SCOPE_GPUS : PW_SCOPE_FIRST_GPU;
}
