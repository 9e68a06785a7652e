/* The statistics registry: a counter is a plain uint64_t field that its unit increments; it is registered once.
 *
 * Counters are kept per application. A unit has an array of counter structs, one per application, and registers each
 * field by its offset. The registry then knows how to read, sum and snapshot all of them: per run, per kernel launch
 * and per interval. A metric is either a counter or the quotient of two counters (a mean latency is a sum of cycles
 * divided by a count).
 *
 * Counters are also kept per scope. A scope is one GPU of the system; units of the same kind register the same
 * names, each in its GPU's scope, and what is registered in none belongs to the system as a whole. Without a scope,
 * a counter is the sum over them and what the system has, and a ratio the ratio of such sums. Two kinds of counters
 * are not summed: one that is common to all scopes (pw_stats_common) counts once, and of maxima (pw_stats_maximum)
 * the largest counts, since what peaked at different times never was there together. A level (pw_stats_level) is
 * summed as other counters are: pages that are there on two GPUs are there on both. */
#ifndef PW_SIM_STATS_H
#define PW_SIM_STATS_H

#include "sim/scope.h"
#include "sim/status.h"
#include "sim/types.h"

struct pw_stats;

enum {
    PW_METRIC_NAME_CAPACITY = 64,
    PW_MAX_SCOPES = 64, /* as many as a system may have GPUs */
    PW_ALL_SCOPES = -1, /* the sum */
};

struct pw_metric_info {
    const char *name; /* without a scope or an application */
    const char *unit;
    const char *help;
    bool is_ratio;
};

struct pw_stats *pw_stats_create(unsigned apps, struct pw_error *err);
void pw_stats_destroy(struct pw_stats *s);

/* What is registered from now on is this scope's, such as "gpu0"; NULL: the system's, as it is at first. Scopes are
 * numbered from 0 as they are first named. */
void pw_stats_scope(struct pw_stats *s, const char *name);

/* Registers counter `name`; application i's value lies at (char *)base + i * stride + offset. A stride of 0 means a
 * value that is common to all applications (cycles), which is theirs together too and not a sum over them. Strings
 * must outlive the registry. Failure (no memory, a name too long, the same name twice in a scope) is remembered and
 * reported by pw_stats_seal. */
void pw_stats_counter(struct pw_stats *s, const char *name, const char *unit, const char *help, const void *base,
                      size_t stride, size_t offset);

/* Another place of a counter that this scope has already: the counter is the sum of all its places. Its stride is 0
 * where that of the first is. */
void pw_stats_further_place(struct pw_stats *s, const char *name, const void *base, size_t stride, size_t offset);

/* A counter registered before is a level, which may fall: of a window, what it is at the end counts. */
void pw_stats_level(struct pw_stats *s, const char *name);
/* It is the most of something there has been so far: a level of which, over scopes, the largest counts. */
void pw_stats_maximum(struct pw_stats *s, const char *name);
/* Every scope has the same value (time), which is that of all of them together. */
void pw_stats_common(struct pw_stats *s, const char *name);

/* Registers metric `name` = scale * numerator / denominator, both counters registered before; 0 when the denominator
 * is 0. A counter whose help is NULL is not shown by itself (a sum that only feeds a mean). The same ratio may be
 * registered once in each scope. */
void pw_stats_ratio(struct pw_stats *s, const char *name, const char *unit, const char *help, const char *numerator,
                    const char *denominator, double scale);

/* Ends registration. */
enum pw_status pw_stats_seal(struct pw_stats *s, struct pw_error *err);

/* A snapshot is the raw counters of all applications: pw_stats_raw_count() numbers. */
size_t pw_stats_raw_count(const struct pw_stats *s);
void pw_stats_snapshot(const struct pw_stats *s, uint64_t *out);

/* Shown metrics, in order of registration. */
size_t pw_stats_count(const struct pw_stats *s);
struct pw_metric_info pw_stats_info(const struct pw_stats *s, size_t index);

/* The value of a metric between two snapshots (`from` NULL: since the start), over all scopes. app < 0 means the sum
 * over all applications, which for a ratio is the ratio of the sums. Counters are exact in the returned double up to
 * 2^53; pw_stats_exact gives the integer of a counter. */
double pw_stats_value(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to);
uint64_t pw_stats_exact(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to);

/* The same in one scope, or in PW_ALL_SCOPES; 0 where the scope has no such metric. */
double pw_stats_value_in(const struct pw_stats *s, size_t index, int scope, int app, const uint64_t *from,
                         const uint64_t *to);
uint64_t pw_stats_exact_in(const struct pw_stats *s, size_t index, int scope, int app, const uint64_t *from,
                           const uint64_t *to);
bool pw_stats_has(const struct pw_stats *s, size_t index, int scope);

/* What a result shows of each metric: the value of each GPU and that of all of them, then that of each application.
 * One GPU is all of them, and what belongs to the system counts as its. */
struct pw_stats_view {
    char prefix
        [PW_SCOPE_CAPACITY]; /* "gpu0", "gpus", "app0" (sim/scope.h); a metric's name in it is "gpu0.l1_tlb.hits" */
    int scope, app;          /* for pw_stats_value_in; a scope has the metrics that pw_stats_has says */
};
size_t pw_stats_view_count(const struct pw_stats *s);
struct pw_stats_view pw_stats_view(const struct pw_stats *s, size_t index);

/* Index of a shown metric by name, or -1. */
int pw_stats_find(const struct pw_stats *s, const char *name);

/* Identities, checked on every number that a run reports: "left = sum of right". Names of counters (shown or not),
 * right side separated by " + ", each with a factor where there is one, "4096 * pages". Of a level, what it has grown
 * by counts. It must hold in each scope that registers it, which must have all its counters, and over all scopes. */
void pw_stats_identity(struct pw_stats *s, const char *left, const char *right);

/* Identities that need code: returns PW_OK, or PW_FAILED with the reason. Where there are several scopes, each has
 * its own ("gpu1: every request has come back"). */
typedef enum pw_status pw_identity_fn(void *object, struct pw_error *err);
void pw_stats_identity_check(struct pw_stats *s, const char *name, pw_identity_fn *check, void *object);

size_t pw_stats_identity_count(const struct pw_stats *s);
const char *pw_stats_identity_name(const struct pw_stats *s, size_t index);
/* Checks it on the counters as they are now, for every application, in each of its scopes and over all. */
enum pw_status pw_stats_identity_run(struct pw_stats *s, size_t index, struct pw_error *err);
/* Checks it for one application between two snapshots (`from` NULL: since the start). PW_OK for one that needs code. */
enum pw_status pw_stats_identity_between(const struct pw_stats *s, size_t index, unsigned app, const uint64_t *from,
                                         const uint64_t *to, struct pw_error *err);

#endif
