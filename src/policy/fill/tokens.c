/* TLB-Fill Tokens (MASK, Section 5.2): only warps that hold a token put translations into the shared L2 TLB, those of
 * the others go into the bypass cache; the number of tokens follows the miss rate of each application.
 *
 * Time is divided into epochs. During the first all warps fill. At its end an application gets tokens for `initial`
 * percent of its warps. At the end of a later epoch they are more if its miss rate has fallen by over `band` percentage
 * points since the epoch before, fewer if it has risen by as much: by `step` percent of its warps, at least one, and
 * between one and all. An epoch without lookups of an application changes nothing for it, and the next one is compared
 * with the last that had some; so its first epoch is the first that has lookups.
 *
 * The warps of an application are the slots of its SMs that have had a warp in the epoch (Section 7.4: a bit vector for
 * each core, cleared every epoch, and a counter of its bits). The paper sets a bit when a warp issues for the first
 * time; here it is one that is resident. Each SM gets an equal share of the tokens, the lowest ones what is left over,
 * and in an SM the lowest slots have them: a warp keeps its token until the number falls below its rank. Where all
 * warps have one, so do those that come later in higher slots: then no warp is kept out, as without tokens.
 *
 * The direction register says whether the tokens were raised or lowered the last time they changed. The paper names no
 * use for it, and it has none here. */
#include "policy/fill/fill_policy.h"
#include "sim/cost.h"

struct tokens_options {
    uint32_t initial, step, band, epoch, bypass_entries;
};

static const struct pw_option options[] = {
    {"initial", PW_OPTION_COUNT, offsetof(struct tokens_options, initial), 0, 100, "80", "%", NULL,
     "Warps of an application that get a token after its first epoch; at least one does.", false},
    {"step", PW_OPTION_COUNT, offsetof(struct tokens_options, step), 0, 100, "10", "%", NULL,
     "By how much of an application's warps its tokens change, by one at least; 0: never.", false},
    {"band", PW_OPTION_COUNT, offsetof(struct tokens_options, band), 0, 100, "2", "points", NULL,
     "By how much the miss rate of the L2 TLB must rise or fall for the tokens to change.", false},
    {"epoch", PW_OPTION_CYCLES, offsetof(struct tokens_options, epoch), 1, 1e9, "100000", "cycles", NULL,
     "Length of an epoch.", false},
    {"bypass_entries", PW_OPTION_COUNT, offsetof(struct tokens_options, bypass_entries), 0, 1 << 20, "32", "entries",
     NULL, "Entries of the fully associative cache for translations of warps without a token.", false},
    {0}};

struct tokens_counters {
    uint64_t tokens, direction;
};

static const struct pw_policy_metric metrics[] = {
    {"tokens", "tokens", "Tokens that warps hold at the end; 0 before there are any, while every warp may fill.",
     offsetof(struct tokens_counters, tokens), true},
    {"direction", "bit", "1 if the last change of the tokens raised them.", offsetof(struct tokens_counters, direction),
     true},
    {0}};

struct lookups {
    uint64_t all, misses;
};

struct app {
    struct lookups before;      /* of the last epoch that had any */
    uint64_t so_far, hits;      /* since the beginning of the run, up to the end of the last epoch */
    uint32_t first_sm, sms;     /* its own */
    uint32_t tokens, direction; /* tokens 0: it has had no epoch yet */
    bool everyone;              /* all warps have one */
};

struct tokens {
    const struct tokens_options *options;
    const struct pw_fill_environment *environment;
    struct tokens_counters *counters;
    unsigned apps;
    struct app app[PW_MAX_APPS];
    uint32_t quota[]; /* of each SM: warps in lower slots have a token */
};

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    const struct pw_fill_environment *environment = setup->environment;
    return environment->sms * sizeof(uint32_t);
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct tokens *t = state;
    t->options = setup->options;
    t->environment = setup->environment;
    t->counters = setup->counters;
    t->apps = setup->apps;
    uint32_t next_sm = 0;
    for (unsigned i = 0; i < t->apps; i++) {
        t->app[i].first_sm = next_sm;
        t->app[i].sms = t->environment->app_sms[i];
        next_sm += t->app[i].sms;
    }
    for (uint32_t i = 0; i < t->environment->sms; i++)
        t->quota[i] = UINT32_MAX;
    return PW_OK;
}

static uint32_t count_warps(const struct tokens *t, const struct app *a)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < a->sms; i++)
        warps +=
            (uint32_t)__builtin_popcountll(t->environment->take_active_warps(t->environment->gpu, a->first_sm + i));
    return warps;
}

/* 1 or -1: the miss rate has risen, or fallen, by more than so many percentage points. */
static int compare(struct lookups now, struct lookups before, uint32_t points)
{
    __int128 rise = ((__int128)now.misses * before.all - (__int128)before.misses * now.all) * 100;
    __int128 band = (__int128)points * now.all * before.all;
    return (rise > band) - (rise < -band);
}

static uint32_t share_of(uint32_t warps, uint32_t percent)
{
    uint32_t share = (uint32_t)((uint64_t)warps * percent / 100);
    return share ? share : 1;
}

static void change(struct app *a, int rise, uint32_t warps, uint32_t step)
{
    uint32_t tokens = a->everyone || a->tokens > warps ? warps : a->tokens;
    a->direction = rise < 0;
    if (rise < 0)
        tokens = warps - tokens < step ? warps : tokens + step;
    else
        tokens = tokens > step ? tokens - step : 1;
    a->tokens = tokens;
    a->everyone = tokens == warps;
}

static void deal(struct tokens *t, const struct app *a)
{
    for (uint32_t i = 0; i < a->sms; i++)
        t->quota[a->first_sm + i] = a->everyone ? UINT32_MAX : a->tokens / a->sms + (i < a->tokens % a->sms);
}

static void end_epoch(const struct tokens *t, struct app *a, struct lookups epoch, uint32_t warps)
{
    const struct tokens_options *o = t->options;
    if (!a->tokens) {
        a->tokens = share_of(warps, o->initial);
        a->everyone = a->tokens == warps;
    } else if (o->step) {
        int rise = compare(epoch, a->before, o->band);
        if (rise)
            change(a, rise, warps, share_of(warps, o->step));
    }
    a->before = epoch;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct tokens *t = state;
    for (unsigned i = 0; i < t->apps; i++) {
        struct app *a = &t->app[i];
        uint64_t all, hits;
        uint32_t warps = count_warps(t, a);
        t->environment->l2_tlb_use(t->environment->l2_tlb, i, &all, &hits);
        struct lookups epoch = {all - a->so_far, all - a->so_far - (hits - a->hits)};
        a->so_far = all;
        a->hits = hits;
        if (!epoch.all || !warps) /* without warps there may be lookups of their last stores */
            continue;
        end_epoch(t, a, epoch, warps);
        deal(t, a);
        t->counters[i] = (struct tokens_counters){a->tokens, a->direction};
    }
    return pw_epoch_end(now, t->options->epoch);
}

static unsigned may_fill(void *state, pw_asid app, uint32_t sm, uint32_t warp)
{
    (void)app;
    const struct tokens *t = state;
    return warp < t->quota[sm] ? PW_FILL_BOTH : PW_FILL_L1;
}

static uint32_t bypass_entries(const void *chosen)
{
    return ((const struct tokens_options *)chosen)->bypass_entries;
}

/* Section 7.4, with a bit for each warp that an SM has room for: the 256 that it names would make 37 bytes of its 13.
 * An entry of the bypass cache has 36 bits of page number, 19 of frame number and 9 of address space number. */
enum { HIT_COUNTER_BITS = 16, WARP_COUNTER_BITS = 8, BYPASS_ENTRY_BITS = 64, TOKEN_COUNTER_BITS = 15 };

static uint64_t active_warp_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)own;
    return machine->warps;
}

static uint64_t bypass_cache_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)machine;
    return (uint64_t)BYPASS_ENTRY_BITS * ((const struct tokens_options *)own)->bypass_entries;
}

static uint64_t token_counter_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)own;
    return (uint64_t)TOKEN_COUNTER_BITS * machine->sms;
}

static uint64_t direction_bits(const void *own, const struct pw_cost_machine *machine)
{
    (void)own;
    return machine->sms;
}

static const struct pw_policy_cost cost[] = {
    {"hit_counter", "Hits in the L2 TLB of an SM's warps.", PW_COST_L1_TLB, HIT_COUNTER_BITS, NULL},
    {"miss_counter", "Misses in the L2 TLB of an SM's warps.", PW_COST_L1_TLB, HIT_COUNTER_BITS, NULL},
    {"active_warps", "A bit for each warp: it was there in this epoch.", PW_COST_L1_TLB, 0, active_warp_bits},
    {"warp_counter", "How many of these bits are set.", PW_COST_L1_TLB, WARP_COUNTER_BITS, NULL},
    {"bypass_cache", "Translations of warps without a token.", PW_COST_L2_TLB, 0, bypass_cache_bits},
    {"token_counters", "Tokens of as many applications as there are SMs.", PW_COST_L2_TLB, 0, token_counter_bits},
    {"directions", "Whether each of these rose or fell the last time.", PW_COST_L2_TLB, 0, direction_bits},
    {0}};

extern const struct pw_fill_policy pw_fill_policy_tokens;
const struct pw_fill_policy pw_fill_policy_tokens = {
    .head = {.name = "tokens",
             .summary =
                 "warps with a token fill the L2 TLB, others the bypass cache; miss rates decide how many have one",
             .options = options,
             .options_bytes = sizeof(struct tokens_options),
             .metrics = metrics,
             .counters_bytes = sizeof(struct tokens_counters),
             .state_bytes = sizeof(struct tokens),
             .more_bytes = more_bytes,
             .init = init,
             .epoch = epoch,
             .rest = pw_policy_rests,
             .cost = cost},
    .may_fill = may_fill,
    .bypass_entries = bypass_entries,
};
