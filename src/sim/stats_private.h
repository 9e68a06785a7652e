/* The registry's tables, shared by stats.c (registration), stats_values.c (snapshots) and stats_identity.c. */
#ifndef PW_SIM_STATS_PRIVATE_H
#define PW_SIM_STATS_PRIVATE_H

#include "sim/stats.h"

/* A bit for each scope, and one for the system. */
typedef unsigned __int128 scope_set;

/* How the values of several scopes make one. */
enum across_scopes { ACROSS_SUM, ACROSS_ONCE, ACROSS_LARGEST };

struct counter {
    const char *name, *unit, *help;
    scope_set scopes;                /* that have it: bits of scope_bit */
    uint32_t first_cell, outer_cell; /* in `cells`, set by pw_stats_seal */
    enum across_scopes across;
    bool common; /* one value for all applications, not a sum over them */
    bool level;  /* what it is, not how much it grew */
};

/* A counter in a scope. Cell k's value of application i is number k * apps + i of a snapshot. */
struct cell {
    uint32_t counter;
    int scope;                         /* or PW_SYSTEM_SCOPE */
    uint32_t first_place, outer_place; /* in `places`, set by pw_stats_seal */
};

/* Where a cell's values lie: application i's at base + i * stride. */
struct place {
    const char *base;
    size_t stride;
    uint32_t cell;
};

/* What is shown: a counter (denominator == numerator, is_ratio false) or a quotient. */
struct metric {
    const char *name, *unit, *help;
    uint32_t numerator, denominator;
    scope_set scopes; /* in which it was registered */
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
    scope_set scopes; /* in which it must hold, beside the sum; of a function, the one it was registered in */
    pw_identity_fn *check;
    void *object;
};

/* An array that grows during registration. */
struct table {
    void *items;
    size_t count, capacity;
};

enum { PW_SYSTEM_SCOPE = -1 };

struct pw_stats {
    unsigned apps, scope_count;
    const char *scopes[PW_MAX_SCOPES];
    int scope; /* the present one, or PW_SYSTEM_SCOPE */
    bool sealed;
    struct table counters, cells, places, metrics, identities, terms;
    uint32_t next; /* where the next repeated registration is expected: units of one kind register in one order */
    struct pw_error error;
};

static inline struct counter *counter_at(const struct pw_stats *s, size_t index)
{
    return (struct counter *)s->counters.items + index;
}

static inline struct cell *cell_at(const struct pw_stats *s, size_t index)
{
    return (struct cell *)s->cells.items + index;
}

static inline struct metric *metric_at(const struct pw_stats *s, size_t index)
{
    return (struct metric *)s->metrics.items + index;
}

static inline scope_set scope_bit(int scope)
{
    return (scope_set)1 << (scope + 1);
}

static inline struct identity *identity_at(const struct pw_stats *s, size_t index)
{
    return (struct identity *)s->identities.items + index;
}

/* Room for one more item of `size` bytes, or NULL after noting the failure. */
void *pw_stats_append(struct pw_stats *s, struct table *t, size_t size);

/* Index of a counter, or -1. */
int pw_stats_find_counter(struct pw_stats *s, const char *name);

/* The applications that are meant, and between which snapshots. */
struct window {
    unsigned first_app, outer_app;
    const uint64_t *from, *to; /* `from` may be NULL */
    bool growth;               /* of a level too */
};

/* What a counter is in a scope, or in PW_ALL_SCOPES. */
uint64_t pw_stats_amount(const struct pw_stats *s, uint32_t counter, int scope, const struct window *w);

/* Resolves the names of all identities, once every counter and every scope is known. */
void pw_stats_resolve_identities(struct pw_stats *s);

/* Notes the first failure; pw_stats_seal reports it. */
#define pw_stats_note(s, ...)                                                                                          \
    ((s)->error.status == PW_OK ? (void)pw_fail(&(s)->error, PW_FAILED, __VA_ARGS__) : (void)0)

#endif
