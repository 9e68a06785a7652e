/* A metric of a result by its whole name. Include it after <cmocka.h>. */
#ifndef PW_TESTS_METRIC_H
#define PW_TESTS_METRIC_H

#include "pagewalk/pagewalk.h"

#include <string.h>

static inline double metric(const struct pw_result *r, const char *name)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (!strcmp(r->metrics[i].name, name))
            return r->metrics[i].real;
    fail_msg("there is no metric %s", name);
    return 0;
}

#endif
