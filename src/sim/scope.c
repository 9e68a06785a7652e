/* Scopes as texts; scope.h says what they are. */
#include "sim/scope.h"

#include <stdio.h>
#include <string.h>

static bool is_numbered(const char *name, const char *kind)
{
    size_t length = strlen(kind);
    return !strncmp(name, kind, length) && name[length] >= '0' && name[length] <= '9';
}

bool pw_scope_is_gpu(const char *name)
{
    return is_numbered(name, "gpu");
}

bool pw_scope_is_app(const char *name)
{
    return is_numbered(name, "app");
}

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
