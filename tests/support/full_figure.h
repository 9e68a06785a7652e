/* A figure at full size. Include it after <cmocka.h>. */
#ifndef PW_TESTS_FULL_FIGURE_H
#define PW_TESTS_FULL_FIGURE_H

#include "exp/figure/figure.h"

static inline struct pw_figure *load_full(const char *name)
{
    struct pw_figure *f = NULL;
    struct pw_error err = {0};
    if (pw_figure_load(name, PW_FULL, &f, &err) != PW_OK)
        fail_msg("%s", err.message);
    return f;
}

#endif
