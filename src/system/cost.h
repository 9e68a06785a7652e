/* The storage cost of a run's design, from its effective options (MASK, Section 7.4).
 *
 * Policies say what each of their structures takes (sim/cost.h). Here these are summed where they stand, and compared
 * with what stands there anyway: TLB entries, the L2 cache, the queues of a DRAM channel. A TLB entry is taken to have
 * 128 bits, which is what the paper's 7% for an address space number of 9 bits, and its 3.8% for 316 bytes beside 512
 * entries, both come to; it does not say so, and its 1.6% for 13 bytes beside 64 entries would need 102. An entry for
 * several pages counts as one, an ideal TLB has no size. Address space numbers are in every design here, so they are
 * shown apart from what policies add. An organisation of TLB entries has its costs for each array that there is; how
 * wide its entries are follows from the page and frame numbers of the machine, not from these 128 bits. */
#ifndef PW_SYSTEM_COST_H
#define PW_SYSTEM_COST_H

#include "sim/cost.h"
#include "sim/stats.h"
#include "system/config.h"

/* One metric: a number, or 100 times the quotient of two others. */
struct pw_cost_item {
    char name[PW_METRIC_NAME_CAPACITY];
    const char *unit, *help;
    uint64_t value;
    bool is_structure; /* of a policy; the others are sums, and what they are compared with */
    bool is_ratio;
    unsigned of, to; /* of a ratio: which items */
};

enum { PW_COST_ITEMS = 96 };

struct pw_cost {
    unsigned count;
    bool full; /* and something more was to be put in */
    struct pw_cost_item items[PW_COST_ITEMS];
};

enum pw_status pw_cost_of(const struct pw_config *config, struct pw_cost *out, struct pw_error *err);

/* The cost must outlive the registry. */
void pw_cost_register(const struct pw_cost *c, struct pw_stats *stats);

/* The value of an item, ratios included. */
double pw_cost_value(const struct pw_cost *c, unsigned item);

/* What the rows of policies for this place are counted in. */
const char *pw_cost_unit(enum pw_cost_place place);

/* The metric of a structure of a policy that this option chooses: "cost.fill.bypass_cache". False: it is too long. */
bool pw_cost_name(const char *option, const struct pw_policy_cost *structure, char *out, size_t capacity);

#endif
