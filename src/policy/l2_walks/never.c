/* No page-table read uses the L2: all of its capacity and all of its ports are for data, and every step of a walk is a
 * DRAM access. It is the far end of what a policy that bypasses some levels can do, for better and for worse. */
#include "policy/l2_walks/l2_walks_policy.h"

struct counters {
    uint64_t bypassed;
};

struct state {
    struct counters *counters; /* by application */
};

static const struct pw_policy_metric metrics[] = {{.name = "bypassed",
                                                   .unit = "reads",
                                                   .help = "Page-table reads that went past the L2 cache.",
                                                   .offset = offsetof(struct counters, bypassed)},
                                                  {0}};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    ((struct state *)state)->counters = setup->counters;
    return PW_OK;
}

static enum pw_l2_use use(void *state, unsigned app, unsigned level)
{
    (void)state, (void)app, (void)level;
    return PW_L2_BYPASS;
}

static void happened(void *state, unsigned app, unsigned level, enum pw_l2_outcome outcome)
{
    (void)level;
    ((struct state *)state)->counters[app].bypassed += outcome == PW_L2_BYPASSED;
}

extern const struct pw_l2_walks_policy pw_l2_walks_policy_never;
const struct pw_l2_walks_policy pw_l2_walks_policy_never = {
    .head = {.name = "never",
             .summary = "page-table reads bypass the L2",
             .metrics = metrics,
             .counters_bytes = sizeof(struct counters),
             .state_bytes = sizeof(struct state),
             .init = init},
    .use = use,
    .happened = happened,
};
