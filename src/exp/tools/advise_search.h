/* The search for CUDA calls that make a program faster. It measures, and knows nothing of what the calls do.
 *
 * A plan says for each allocation what is called: one advice at most (read-mostly, accessed-by, preferred location
 * host) and a prefetch or none. The search starts from the program as it is. First it tries every single call, and each
 * kind of call on all allocations at once: where several allocations thrash together, one call alone may not help. Then
 * it goes on from the best plan so far, with one call more and with one call less, until no plan that differs by one
 * call is better. The best plan is the one with the fewest calls within 2% of the fastest, so that every call that is
 * recommended is worth 2%, and no call where nothing is. Calls that cost more than 2% on their own are not tried beside
 * others. A try that cannot become the best plan any more is stopped: that of a call more at 2% beyond the best plan so
 * far, that of a call less at 2% beyond the program as it is, for what a call is worth beside the others is reported.
 *
 * A preferred location on the device is not tried: with one GPU it changes nothing (docs/decisions.md). */
#ifndef PW_EXP_ADVISE_SEARCH_H
#define PW_EXP_ADVISE_SEARCH_H

#include "sim/status.h"
#include "uvm/advice.h"

#include <stdint.h>

/* What a call has to gain to be recommended, and what it has to cost to be warned of. */
#define PW_WORTH_A_CALL 1.02

enum { PW_CALL_KINDS = 4 };
extern const unsigned pw_call_kinds[PW_CALL_KINDS]; /* flags of enum pw_memory_advice, and PW_ADVICE_PREFETCH */

struct pw_plan {
    uint8_t calls[PW_MOST_ADVISED]; /* flags, by allocation */
};

/* A plan and what became of it: cycles, or how many it takes more than, or why it failed, or nothing when it was not
 * run. */
struct pw_try {
    struct pw_plan plan;
    uint64_t limit; /* cycles after which it may be stopped; 0: none */
    uint64_t cycles, stopped;
    const char *failure;
};

struct pw_search {
    size_t allocation_count; /* at most PW_MOST_ADVISED, the one that matters most first */
    struct pw_plan given;    /* what the program calls already: no part of a plan, and not contradicted */
    struct pw_plan refused;  /* never tried */
    uint64_t baseline;       /* cycles without a call; 0: it fails */
    size_t most;             /* tries, beside those that say what each recommended call does */
    /* Fills in cycles, stopped or failure of new tries. After any status but PW_OK the search ends, and what is known
     * counts. */
    enum pw_status (*run)(void *context, struct pw_try *tries, size_t count, struct pw_error *err);
    void *context;
    /* What is found. */
    struct pw_try *tries; /* the search's, pw_search_free */
    size_t try_count;
    struct pw_plan best; /* without a call: none helps */
    uint64_t best_cycles;
    bool cut; /* `most` kept it from trying more */
};

enum pw_status pw_search_run(struct pw_search *s, struct pw_error *err);
void pw_search_free(struct pw_search *s);

unsigned pw_plan_calls(const struct pw_plan *p);
/* The try of this plan, NULL when there was none, or it was not run. */
const struct pw_try *pw_search_find(const struct pw_search *s, const struct pw_plan *p);
/* Whether a plan was tried and cost more than 2%, or failed where the program as it is does not. */
bool pw_search_harms(const struct pw_search *s, const struct pw_plan *p);
/* The try of one call alone; NULL likewise. */
const struct pw_try *pw_search_alone(const struct pw_search *s, size_t allocation, unsigned kind);

#endif
