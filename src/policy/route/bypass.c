/* GMMU Bypass (Section 4): the share of local pages among the requests of one epoch decides where those of the next go.
 *
 * Two counters of 8 bits tally the requests answered in an epoch, by whether their page was local or remote. At the end
 * of the epoch L/T = local / (local + remote) is compared with two thresholds:
 * above t1         bypass is off: requests go to the GMMU first, as in the distributed design.
 * below t2         bypass is on: requests go to the IOMMU only, as in the centralized design.
 * in between       neither kind can be predicted: requests go to both at once. Equality belongs here.
 * The decision holds for the next epoch, which begins with empty counters. The comparison is one of integers, with
 * thresholds in millionths.
 *
 * The paper says nothing on three points. When a counter reaches 255, its largest number, both are halved, so that they
 * never overflow and their ratio stays, but for rounding. In the first epoch bypass is off. An epoch without requests
 * changes nothing: the last decision goes on.
 *
 * The unit is one for all applications of a GPU. Beside its two counters exact numbers of requests are kept by
 * application; they are measures and decide nothing. The accuracy of an epoch is the share of its requests that were of
 * the predicted kind: local while bypass is off, remote while it is on, and while requests go to both, the kind that
 * was more frequent in the epoch before the decision (local, where neither was): what one would have predicted. An
 * epoch counts once it is over, and a request belongs to the one in which it is answered. Epochs before the first
 * decision have no accuracy, since nothing was predicted. */
#include "policy/route/route_policy.h"
#include "sim/cost.h"

enum { COUNTER_BITS = 8, COUNTER_MAX = (1 << COUNTER_BITS) - 1 }; /* Section 6.3 */
enum { MILLION = 1000000 };
enum { EXACT_BINS = 256, BINS }; /* by requests of an epoch: 0 to 255, and more */

enum mode { OFF, ON, BOTH, MODES, AUTO = MODES };
static const char *const mode_names[] = {"off", "on", "both", "auto", NULL}; /* enum mode */
static const unsigned ways[MODES] = {PW_ROUTE_GMMU, PW_ROUTE_IOMMU, PW_ROUTE_BOTH};

struct bypass_options {
    double t1, t2;
    uint32_t epoch, mode;
};

static const struct pw_option options[] = {
    {"epoch", PW_OPTION_CYCLES, offsetof(struct bypass_options, epoch), 1, 1e9, "10us", "cycles", NULL,
     "Length of an epoch, after which the route of the next one is decided.", false},
    {"t1", PW_OPTION_NUMBER, offsetof(struct bypass_options, t1), 0, 1, "0.85", "", NULL,
     "Share of requests for local pages above which requests go to the GMMU first; to a millionth.", false},
    {"t2", PW_OPTION_NUMBER, offsetof(struct bypass_options, t2), 0, 1, "0.15", "", NULL,
     "Share of requests for local pages below which they go to the IOMMU only; at most t1.", false},
    {"mode", PW_OPTION_CHOICE, offsetof(struct bypass_options, mode), 0, 0, "auto", "", mode_names,
     "Whether the GMMU is bypassed: decided at each epoch (auto), or fixed, for comparisons.", false},
    {0}};

/* Epochs that have ended, and the sum of their accuracies in millionths. */
struct accuracy {
    uint64_t epochs, sum;
};

struct counters {
    uint64_t requests[MODES];
    struct accuracy mode[MODES];
    struct accuracy bins[BINS]; /* of modes off and on, by requests of the epoch */
    struct accuracy few, many;  /* of these: those with fewer requests than the median epoch, and the others */
};

#define COUNTER(name, unit, field, help)                                                                               \
    {                                                                                                                  \
        name, unit, help, offsetof(struct counters, field), false                                                      \
    }
#define LEVEL(name, unit, field)                                                                                       \
    {                                                                                                                  \
        name, unit, NULL, offsetof(struct counters, field), true                                                       \
    }
static const struct pw_policy_metric metrics[] = {
    COUNTER("epochs_off", "epochs", mode[OFF].epochs,
            "Epochs with requests of the application that were decided to send them to the GMMU first."),
    COUNTER("epochs_on", "epochs", mode[ON].epochs,
            "Epochs with requests of the application that were decided to send them to the IOMMU only."),
    COUNTER("epochs_both", "epochs", mode[BOTH].epochs,
            "Epochs with requests of the application that were decided to send them to both."),
    COUNTER("requests_off", "requests", requests[OFF], "Requests answered while requests went to the GMMU first."),
    COUNTER("requests_on", "requests", requests[ON], "Requests answered while requests went to the IOMMU only."),
    COUNTER("requests_both", "requests", requests[BOTH], "Requests answered while requests went to both."),
    COUNTER("accuracy_off_sum", "ppm", mode[OFF].sum, NULL),
    COUNTER("accuracy_on_sum", "ppm", mode[ON].sum, NULL),
    COUNTER("accuracy_both_sum", "ppm", mode[BOTH].sum, NULL),
    LEVEL("few_epochs", "epochs", few.epochs),
    LEVEL("few_sum", "ppm", few.sum),
    LEVEL("many_epochs", "epochs", many.epochs),
    LEVEL("many_sum", "ppm", many.sum),
    {0}};

#define PERCENT 1e-4 /* of millionths */
static const struct pw_policy_ratio ratios[] = {
    {"accuracy_off", "%",
     "Mean share of local pages among the requests of an epoch in which they went to the GMMU first.",
     "accuracy_off_sum", "epochs_off", PERCENT},
    {"accuracy_on", "%",
     "Mean share of remote pages among the requests of an epoch in which they went to the IOMMU only.",
     "accuracy_on_sum", "epochs_on", PERCENT},
    {"accuracy_both", "%",
     "Mean share of pages of the kind that prevailed in the epoch before the decision, among the requests of an epoch "
     "in which they went to both.",
     "accuracy_both_sum", "epochs_both", PERCENT},
    {"accuracy_few", "%",
     "Mean accuracy of the epochs in mode off or on that had fewer requests than the median of them.", "few_sum",
     "few_epochs", PERCENT},
    {"accuracy_many", "%",
     "Mean accuracy of the epochs in mode off or on that had as many requests as the median of them, or more.",
     "many_sum", "many_epochs", PERCENT},
    {0}};

struct requests {
    uint64_t local, remote;
};

struct bypass {
    const struct bypass_options *options;
    struct counters *counters;
    uint32_t t1, t2;        /* in millionths */
    uint32_t local, remote; /* the two counters */
    enum mode mode;         /* of this epoch */
    bool predicts_local;
    bool undecided; /* no epoch so far had requests to decide by */
    unsigned apps;
    struct requests exact[]; /* of each application in this epoch */
};

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    return setup->apps * sizeof(struct requests);
}

static uint32_t millionths(double share)
{
    return (uint32_t)(share * MILLION + 0.5);
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    struct bypass *b = state;
    const struct bypass_options *o = setup->options;
    b->options = o;
    b->counters = setup->counters;
    b->t1 = millionths(o->t1);
    b->t2 = millionths(o->t2);
    b->mode = o->mode == AUTO ? OFF : (enum mode)o->mode;
    b->predicts_local = b->mode != ON;
    b->undecided = o->mode == AUTO;
    b->apps = setup->apps;
    if (b->t2 > b->t1)
        return pw_fail(err, PW_USER_ERROR, "route.t2 = %g is above route.t1 = %g; give at most that", o->t2, o->t1);
    return PW_OK;
}

static unsigned choose(void *state, pw_asid asid, pw_vpn vpn)
{
    (void)asid, (void)vpn;
    const struct bypass *b = state;
    return ways[b->mode];
}

static void answered(void *state, pw_asid asid, bool local)
{
    struct bypass *b = state;
    uint32_t *counter = local ? &b->local : &b->remote;
    uint64_t *exact = local ? &b->exact[asid].local : &b->exact[asid].remote;
    if (++*counter == COUNTER_MAX) {
        b->local /= 2;
        b->remote /= 2;
    }
    ++*exact;
    b->counters[asid].requests[b->mode]++;
}

static void add(struct accuracy *to, struct accuracy what)
{
    to->epochs += what.epochs;
    to->sum += what.sum;
}

/* The median is the number of requests of the epoch in the middle, or of the upper of two. */
static void divide_by_median(struct counters *c)
{
    uint64_t below = 0, half = (c->mode[OFF].epochs + c->mode[ON].epochs) / 2;
    c->few = c->many = (struct accuracy){0, 0};
    for (unsigned bin = 0; bin < BINS; bin++) {
        below += c->bins[bin].epochs;
        add(below > half ? &c->many : &c->few, c->bins[bin]);
    }
}

static void measure(const struct bypass *b, struct counters *c, struct requests r)
{
    uint64_t all = r.local + r.remote, right = b->predicts_local ? r.local : r.remote;
    struct accuracy epoch = {1, right * MILLION / all};
    add(&c->mode[b->mode], epoch);
    if (b->mode == BOTH)
        return;
    add(&c->bins[all < EXACT_BINS ? all : EXACT_BINS], epoch);
    divide_by_median(c);
}

static enum mode decide(const struct bypass *b)
{
    uint64_t local = (uint64_t)b->local * MILLION, total = b->local + b->remote;
    return local > b->t1 * total ? OFF : local < b->t2 * total ? ON : BOTH;
}

static pw_cycle epoch(void *state, pw_cycle now)
{
    struct bypass *b = state;
    for (unsigned i = 0; i < b->apps; i++) {
        if (!b->undecided && (b->exact[i].local || b->exact[i].remote))
            measure(b, &b->counters[i], b->exact[i]);
        b->exact[i] = (struct requests){0, 0};
    }
    if (b->local || b->remote) {
        b->mode = b->options->mode == AUTO ? decide(b) : (enum mode)b->options->mode;
        b->predicts_local = b->mode == BOTH ? b->local >= b->remote : b->mode == OFF;
        b->local = b->remote = 0;
        b->undecided = false;
    }
    return pw_epoch_end(now, b->options->epoch);
}

static const struct pw_policy_cost cost[] = {
    {"local_counter", "Requests of an epoch for local pages; it stands beside the L2 TLB.", PW_COST_L2_TLB,
     COUNTER_BITS, NULL},
    {"remote_counter", "Requests of an epoch for remote pages; it stands beside the L2 TLB.", PW_COST_L2_TLB,
     COUNTER_BITS, NULL},
    {0}};

extern const struct pw_route_policy pw_route_policy_bypass;
const struct pw_route_policy pw_route_policy_bypass = {
    .head = {.name = "bypass",
             .summary = "the share of local pages in one epoch decides between GMMU, IOMMU and both in the next",
             .options = options,
             .options_bytes = sizeof(struct bypass_options),
             .metrics = metrics,
             .ratios = ratios,
             .counters_bytes = sizeof(struct counters),
             .state_bytes = sizeof(struct bypass),
             .more_bytes = more_bytes,
             .init = init,
             .epoch = epoch,
             .rest = pw_policy_rests,
             .cost = cost},
    .choose = choose,
    .answered = answered,
};
