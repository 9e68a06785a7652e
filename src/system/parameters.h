/* A workload's parameters and named sizes as the public interface shows them. */
#ifndef PW_SYSTEM_PARAMETERS_H
#define PW_SYSTEM_PARAMETERS_H

#include "pagewalk/pagewalk.h"
#include "workload/runtime/host.h"

struct pw_parameters {
    size_t parameter_count, size_count;
    struct pw_workload_parameter *parameters;
    struct pw_workload_size *sizes;
};

enum pw_status pw_parameters_describe(const struct pw_program *program, struct pw_parameters *out,
                                      struct pw_error *err);
void pw_parameters_release(struct pw_parameters *p);

#endif
