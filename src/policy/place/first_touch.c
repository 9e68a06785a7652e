/* Nobody places a page before a GPU accesses it: it goes into the memory of that GPU (GMMU Bypass, Section 2.2). */
#include "policy/place/place_policy.h"

extern const struct pw_place_policy pw_place_policy_first_touch;
const struct pw_place_policy pw_place_policy_first_touch = {
    .head = {.name = "first-touch", .summary = "a page goes to the GPU that accesses it first"},
};
