/* The list of workloads, from workloads.def. */
#include "workload/runtime/host.h"

#include <string.h>

#define PW_WORKLOAD(name) extern const struct pw_workload pw_workload_##name;
#include "workload/workloads.def"
#undef PW_WORKLOAD

const struct pw_workload *const pw_workloads[] = {
#define PW_WORKLOAD(name) &pw_workload_##name,
#include "workload/workloads.def"
#undef PW_WORKLOAD
    NULL,
};

const struct pw_workload *pw_workload_find(const char *name)
{
    for (const struct pw_workload *const *w = pw_workloads; *w; w++)
        if (!strcmp((*w)->name, name))
            return *w;
    return NULL;
}
