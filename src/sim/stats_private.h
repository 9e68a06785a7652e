/* The registry's tables, shared by stats.c (counters, metrics, snapshots) and stats_identity.c. */
#ifndef PW_SIM_STATS_PRIVATE_H
#define PW_SIM_STATS_PRIVATE_H

#include "sim/stats.h"

struct counter {
    const char *name, *unit, *help;
    uint32_t first_place, outer_place; /* in `places`, set by pw_stats_seal */
    bool common;                       /* one value for all applications, not a sum over them */
    bool level;                        /* what it is, not how much it grew */
};

/* Where a counter's values lie: application i's at base + i * stride. */
struct place {
    const char *base;
    size_t stride;
    uint32_t counter;
};

/* What is shown: a counter (denominator == numerator, is_ratio false) or a quotient. */
struct metric {
    const char *name, *unit, *help;
    uint32_t numerator, denominator;
    double scale;
    bool is_ratio;
};

/* factor * counter, on the right of an identity. */
struct term {
    uint64_t factor;
    uint32_t counter;
};

/* left = sum of terms [first_term, outer_term), or a function. */
struct identity {
    char *name;
    uint32_t left, first_term, outer_term;
    pw_identity_fn *check;
    void *object;
};

/* An array that grows during registration. */
struct table {
    void *items;
    size_t count, capacity;
};

struct pw_stats {
    unsigned apps;
    bool sealed;
    struct table counters, places, metrics, identities, terms;
    uint32_t next; /* where the next repeated registration is expected: units of one kind register in one order */
    struct pw_error error;
};

static inline struct counter *counter_at(const struct pw_stats *s, size_t index)
{
    return (struct counter *)s->counters.items + index;
}

static inline struct identity *identity_at(const struct pw_stats *s, size_t index)
{
    return (struct identity *)s->identities.items + index;
}

/* Room for one more item of `size` bytes, or NULL after noting the failure. */
void *pw_stats_append(struct pw_stats *s, struct table *t, size_t size);

/* Index of a counter, or -1. */
int pw_stats_find_counter(struct pw_stats *s, const char *name);

/* The present value of a counter, summed over its places. */
uint64_t pw_stats_read(const struct pw_stats *s, uint32_t counter, unsigned app);

/* Resolves the names of all identities, once every counter is known. */
void pw_stats_resolve_identities(struct pw_stats *s);

/* Notes the first failure; pw_stats_seal reports it. */
#define pw_stats_note(s, ...)                                                                                          \
    ((s)->error.status == PW_OK ? (void)pw_fail(&(s)->error, PW_FAILED, __VA_ARGS__) : (void)0)

#endif
