/* Address-translation-aware L2 bypass (MASK, Section 5.3): page-table reads of a level go past the L2 while that level
 * hits there less often than data does.
 *
 * Hits and accesses of data and of each level are counted for all SMs, applications and slices together: the ten
 * counters of Section 7.4. When an epoch ends, a level whose hit rate is below that of data is bypassed until the next
 * one ends; then all counters are halved, so that recent epochs count most. Everything uses the L2 in the first epoch,
 * as it fills the TLB then (Section 5.2, footnote 6), and a level that was not read has no hit rate to be below
 * anything.
 *
 * The paper is silent on how the hit rate of a level stays known while it is bypassed. Here one of its reads in 64 uses
 * the L2 as data does; it also brings its line in, since a level that leaves nothing there could never hit again.
 * Data is every lookup that is not a page-table read, stores included. */
#include "policy/l2_walks/l2_walks_policy.h"
#include "sim/cost.h"

enum { SAMPLED = 64, KINDS = PW_TABLE_LEVELS + 1, COUNTER_BITS = 64 };

struct by_level_options {
    uint32_t epoch;
};

static const struct pw_option options[] = {
    {"epoch", PW_OPTION_CYCLES, offsetof(struct by_level_options, epoch), 1, 4e9, "100000", "cycles", NULL,
     "Cycles after which it is decided anew which levels of the page table bypass the L2 cache.", false},
    {0}};

struct rate {
    uint64_t hits, accesses;
};

struct by_level {
    const struct by_level_options *options;
    struct rate rates[KINDS]; /* of data, then of each level */
    bool bypassed[KINDS];
    uint32_t passed[KINDS]; /* reads that went past the L2 since the last one that used it */
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    ((struct by_level *)state)->options = setup->options;
    return PW_OK;
}

static enum pw_l2_use use(void *state, unsigned app, unsigned level)
{
    (void)app;
    const struct by_level *b = state;
    return b->bypassed[level] && b->passed[level] < SAMPLED - 1 ? PW_L2_BYPASS : PW_L2_PROBE_AND_FILL;
}

static void happened(void *state, unsigned app, unsigned level, enum pw_l2_outcome outcome)
{
    (void)app;
    struct by_level *b = state;
    if (outcome == PW_L2_BYPASSED) {
        b->passed[level]++;
        return;
    }
    b->passed[level] = 0;
    b->rates[level].accesses++;
    b->rates[level].hits += outcome == PW_L2_HIT;
}

static bool is_below(struct rate a, struct rate b)
{
    return (unsigned __int128)a.hits * b.accesses < (unsigned __int128)b.hits * a.accesses;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct by_level *b = state;
    for (unsigned level = 1; level < KINDS; level++)
        b->bypassed[level] = is_below(b->rates[level], b->rates[0]);
    for (unsigned kind = 0; kind < KINDS; kind++)
        b->rates[kind] = (struct rate){b->rates[kind].hits / 2, b->rates[kind].accesses / 2};
    return pw_epoch_end(now, b->options->epoch);
}

/* Counts are 0 once they have been halved as often as they have bits. */
static void rest(void *state, uint64_t calls)
{
    for (uint64_t i = 0; i < calls && i < 64; i++)
        epoch(state, 0);
}

/* Section 7.4. "Per core" is read as in all: 80 bytes in each of 30 cores would be more than the 0.1% of the L2 that it
 * speaks of. */
static const struct pw_policy_cost cost[] = {
    {"counters", "L2 hits and accesses of data and of each level of the page table.", PW_COST_L2,
     2 * KINDS *COUNTER_BITS, NULL},
    {"depth_tag", "The level of the page table that a request reads.", PW_COST_REQUEST, 3, NULL},
    {0}};

extern const struct pw_l2_walks_policy pw_l2_walks_policy_by_level;
const struct pw_l2_walks_policy pw_l2_walks_policy_by_level = {
    .head = {.name = "by-level",
             .summary = "page-table reads of a level that hits less often than data bypass the L2",
             .options = options,
             .options_bytes = sizeof(struct by_level_options),
             .state_bytes = sizeof(struct by_level),
             .init = init,
             .epoch = epoch,
             .rest = rest,
             .cost = cost},
    .use = use,
    .happened = happened,
};
