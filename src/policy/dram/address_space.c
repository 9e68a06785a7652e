/* The address-space-aware DRAM scheduler of MASK (Section 5.4): three queues, served in this order.
 *
 * Golden holds page-table reads and nothing else, first in, first out. The oldest goes before everything: its column
 * access, and its row commands too, which may close a row that data still wait for. Those behind it have their rows
 * opened in clocks that it cannot use, but are not transferred before it, whether their row is open or not; data use
 * the clocks that are left. What goes in such a clock may hold up a page-table read by the distance between two
 * commands, which no schedule that looks at one clock can avoid. A page-table read also ends a turn of writes.
 *
 * Silver holds data reads of one application at a time, Normal those of all others. An application's turn lasts for
 * as many reads as its quota (Equation 1), then the next one has its turn: silver_max times the share that its
 * concurrent walks times its warps stalled per miss have in the sum over all applications. A quota is fixed when the
 * turn begins, rounded down, but at least 1; an application without walks has none and is passed over; where nobody has
 * walks, all have equal shares. So a single application is always Silver. A channel keeps its own turns. Both counters
 * have 6 bits. That of warps is the largest of the epoch, after which all channels start it over; that of walks stands
 * as it is: a walk under way does not end with an epoch.
 *
 * Within Silver, and within Normal, it is FR-FCFS, or the turns of applications of fr_rr.c. Silver goes before Normal
 * with row commands as well, also where that closes a row for which Normal reads wait.
 *
 * The paper says nothing on three points. Write-backs have the channel's write queue, no quota, and FR-FCFS among
 * themselves. An application that sends nothing for a whole epoch loses its turn, since it would never use it up. And
 * of two reads of a bank for one row only the first is known, so that data behind a page-table read of the same row,
 * which has to wait for another, wait with it. */
#include "policy/dram/first_ready.h"
#include "sim/cost.h"

enum rank { GOLDEN, SILVER, NORMAL, RANKS };
enum { GOLDEN_ENTRIES = 16, SILVER_ENTRIES = 64, NORMAL_ENTRIES = 192 }; /* Section 7.4 */
enum { COUNTER_MAX = 63 };                                               /* 6 bits: Section 5.4 */

enum within { BY_AGE, IN_TURN };
static const char *const within_names[] = {"fr-fcfs", "fr-rr", NULL}; /* enum within */

struct own_options {
    uint32_t silver_max, epoch, within;
};

static const struct pw_option options[] = {
    {"silver_max", PW_OPTION_COUNT, offsetof(struct own_options, silver_max), 0, 1e6, "500", "reads", NULL,
     "Reads that the turns of all applications in the Silver queue would have together (MASK, Equation 1); 0: no "
     "Silver.",
     false},
    {"epoch", PW_OPTION_CYCLES, offsetof(struct own_options, epoch), 1, 1e9, "100000", "cycles", NULL,
     "Cycles after which the largest number of warps stalled per miss is counted anew.", false},
    {"within", PW_OPTION_CHOICE, offsetof(struct own_options, within), 0, 0, "fr-fcfs", "", within_names,
     "Which request goes first within Silver and within Normal.", false},
    {0}};

struct counters {
    uint64_t arrivals[RANKS], golden_cycles, turns, quotas;
};

#define METRIC(name, unit, field, help)                                                                                \
    {                                                                                                                  \
        name, unit, help, offsetof(struct counters, field), false                                                      \
    }
static const struct pw_policy_metric metrics[] = {
    METRIC("golden_arrivals", "requests", arrivals[GOLDEN], "Page-table reads sent to a Golden queue."),
    METRIC("silver_arrivals", "requests", arrivals[SILVER], "Data reads sent to a Silver queue."),
    METRIC("normal_arrivals", "requests", arrivals[NORMAL], "Data reads sent to a Normal queue."),
    METRIC("golden_cycles", "cycles", golden_cycles,
           "Cycles that reads have spent in Golden queues; divided by cycles and channels, how many are there."),
    METRIC("silver_turns", "turns", turns, "Turns in a Silver queue that have begun, over all channels."),
    METRIC("silver_quota", "requests", quotas, "Sum of the quotas of these turns."),
    {0}};

struct state {
    const struct own_options *options;
    struct counters *counters;
    struct pw_walk_pressure *pressure; /* or NULL */
    unsigned apps;
    unsigned turn;       /* the application that Silver is for */
    uint64_t left;       /* of its quota */
    bool active;         /* its turn has begun, or it has sent something, in this epoch */
    pw_asid last[RANKS]; /* application for which a row was last opened, where they take turns */
    bool in_turn;        /* they do */
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    const struct pw_dram_environment *environment = setup->environment;
    struct state *s = state;
    *s = (struct state){
        .options = setup->options, .counters = setup->counters, .pressure = environment->pressure, .apps = setup->apps};
    s->in_turn = s->options->within == IN_TURN;
    for (unsigned rank = 0; rank < RANKS; rank++)
        s->last[rank] = (pw_asid)~0U; /* the first is the next */
    return PW_OK;
}

static uint64_t saturated(uint32_t count)
{
    return count < COUNTER_MAX ? count : COUNTER_MAX;
}

/* Of Equation 1. */
static uint64_t pressure_of(const struct state *s, unsigned app)
{
    return s->pressure ? saturated(s->pressure[app].walks) * saturated(s->pressure[app].stalled) : 0;
}

/* Gives Silver to the first application from `first` on that has a quota: one has, since silver_max is not 0. */
static void begin_turn(struct state *s, unsigned first)
{
    uint64_t sum = 0;
    for (unsigned app = 0; app < s->apps; app++)
        sum += pressure_of(s, app);
    s->turn = first % s->apps;
    while (sum && !pressure_of(s, s->turn))
        s->turn = (s->turn + 1) % s->apps;
    uint64_t quota = sum ? s->options->silver_max * pressure_of(s, s->turn) / sum : s->options->silver_max / s->apps;
    s->left = quota ? quota : 1;
    s->active = true;
    s->counters[s->turn].turns++;
    s->counters[s->turn].quotas += s->left;
}

static enum rank rank_data(struct state *s, pw_asid app)
{
    if (!s->options->silver_max)
        return NORMAL;
    if (!s->left) /* no application has had a turn yet */
        begin_turn(s, 0);
    if (app != s->turn)
        return NORMAL;
    s->active = true;
    if (!--s->left)
        begin_turn(s, s->turn + 1);
    return SILVER;
}

static unsigned rank(void *state, pw_asid app, unsigned level)
{
    struct state *s = state;
    enum rank its = level ? GOLDEN : rank_data(s, app);
    s->counters[app].arrivals[its]++;
    return its;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct state *s = state;
    for (unsigned app = 0; s->pressure && app < s->apps; app++)
        s->pressure[app].stalled = 0;
    if (s->left && !s->active && s->apps > 1)
        begin_turn(s, s->turn + 1);
    s->active = false;
    return pw_epoch_end(now, s->options->epoch);
}

/* The turns that applications lose one after the other, round and round, with equal quotas. */
static void rest(void *state, uint64_t calls)
{
    struct state *s = state;
    uint64_t rounds = (calls - 1) / s->apps, turns = s->left && s->apps > 1 ? rounds : 0;
    uint64_t quota = s->options->silver_max / s->apps;
    for (unsigned app = 0; app < s->apps; app++) {
        s->counters[app].turns += turns;
        s->counters[app].quotas += turns * (quota ? quota : 1);
    }
    for (uint64_t i = rounds * s->apps; i < calls; i++)
        epoch(s, 0);
}

/* What each rank may do. Where requests of two ranks want different rows of a bank, it is the first of them that
 * decides; where they are of one rank, the open row, but for Golden, where it is the older one. */
static void divide(const struct pw_dram_view *v, struct pw_dram_set out_sets[RANKS])
{
    const struct pw_dram_side *side = v->side;
    for (uint64_t banks = side->hits | side->others; banks; banks &= banks - 1) {
        uint64_t bit = banks & -banks;
        uint32_t bank = (uint32_t)__builtin_ctzll(banks);
        uint64_t hit = side->hits & bit ? side->hit_age[bank] : PW_NEVER;
        uint64_t other = side->others & bit ? side->other_age[bank] : PW_NEVER;
        unsigned hit_rank = pw_dram_rank_of(hit), other_rank = pw_dram_rank_of(other);
        if (other < hit && (other_rank < hit_rank || other_rank == GOLDEN))
            out_sets[other_rank].rows |= bit;
        if (hit != PW_NEVER)
            out_sets[hit_rank].hits |= bit;
    }
}

/* Of Golden reads whose row is open only the oldest of all may go. */
static uint64_t oldest_golden(const struct pw_dram_view *v, struct pw_dram_set golden)
{
    if (!golden.hits)
        return 0;
    uint32_t hit = pw_dram_oldest(golden.hits, v->side->hit_age);
    for (uint64_t banks = golden.rows; banks; banks &= banks - 1)
        if (v->side->other_age[__builtin_ctzll(banks)] < v->side->hit_age[hit])
            return 0;
    return 1ULL << hit;
}

static struct pw_dram_choice choose_at(const struct state *s, const struct pw_dram_view *v,
                                       const struct pw_dram_set sets[RANKS], uint64_t clock)
{
    struct pw_dram_choice choice = {PW_DRAM_WAIT, 0, PW_NEVER};
    for (unsigned rank = GOLDEN; rank < RANKS && choice.action == PW_DRAM_WAIT; rank++)
        if (sets[rank].hits | sets[rank].rows)
            choice = pw_dram_first_ready_at(v, sets[rank], s->in_turn && rank ? &s->last[rank] : NULL, clock);
    return choice;
}

static struct pw_dram_choice choose(void *state, const struct pw_dram_view *v)
{
    const struct state *s = state;
    if (v->write)
        return pw_dram_first_ready(v, s->in_turn ? &s->last[NORMAL] : NULL);
    struct pw_dram_set sets[RANKS] = {{0, 0}}, any = {0, 0};
    divide(v, sets);
    sets[GOLDEN].hits = oldest_golden(v, sets[GOLDEN]);
    for (unsigned rank = GOLDEN; rank < RANKS; rank++) {
        any.hits |= sets[rank].hits;
        any.rows |= sets[rank].rows;
    }
    struct pw_dram_choice choice = choose_at(s, v, sets, v->now);
    return choice.action != PW_DRAM_WAIT ? choice : choose_at(s, v, sets, pw_dram_first_clock(v, any));
}

static void issued(void *state, const struct pw_dram_issued *command)
{
    struct state *s = state;
    enum rank its = command->write ? NORMAL : (enum rank)pw_dram_rank_of(command->age);
    pw_asid app = pw_dram_app_of(command->age);
    if (command->action == PW_DRAM_ROW)
        s->last[its] = app;
    else if (its == GOLDEN)
        s->counters[app].golden_cycles += command->waited;
}

/* Section 7.4: entries beyond those of a channel with one queue. */
static uint64_t further_entries(const void *own, const struct pw_cost_machine *machine)
{
    const uint32_t all = GOLDEN_ENTRIES + SILVER_ENTRIES + NORMAL_ENTRIES;
    (void)own;
    return all > machine->dram_queue ? all - machine->dram_queue : 0;
}

static const struct pw_policy_cost cost[] = {
    {"queues", "Entries of its queues beyond those of a channel without it.", PW_COST_DRAM_QUEUE, 0, further_entries},
    {0}};

extern const struct pw_dram_policy pw_dram_policy_address_space;
const struct pw_dram_policy pw_dram_policy_address_space = {
    .head = {.name = "address-space",
             .summary = "page-table reads, then one application in turn, then the others (MASK)",
             .options = options,
             .options_bytes = sizeof(struct own_options),
             .metrics = metrics,
             .counters_bytes = sizeof(struct counters),
             .state_bytes = sizeof(struct state),
             .init = init,
             .epoch = epoch,
             .rest = rest,
             .cost = cost},
    .entries = {GOLDEN_ENTRIES, SILVER_ENTRIES, NORMAL_ENTRIES},
    .ends_write_turn = 1 << GOLDEN,
    .rank = rank,
    .choose = choose,
    .issued = issued,
};
