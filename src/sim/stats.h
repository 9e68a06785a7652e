/* The statistics registry: a counter is a plain uint64_t field that its unit increments; it is registered once.
 *
 * Counters are kept per application. A unit has an array of counter structs, one per application, and registers each
 * field by its offset. The registry then knows how to read, sum and snapshot all of them: per run, per kernel launch
 * and per interval. A metric is either a counter or the quotient of two counters (a mean latency is a sum of cycles
 * divided by a count). */
#ifndef PW_SIM_STATS_H
#define PW_SIM_STATS_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_stats;

enum { PW_METRIC_NAME_CAPACITY = 64 };

struct pw_metric_info {
    const char *name; /* without gpu0. or app0. */
    const char *unit;
    const char *help;
    bool is_ratio;
};

struct pw_stats *pw_stats_create(unsigned apps, struct pw_error *err);
void pw_stats_destroy(struct pw_stats *s);

/* Registers counter `name`; application i's value lies at (char *)base + i * stride + offset. A stride of 0 means a value
 * that is common to all applications (cycles), which is theirs together too and not a sum over them. Registering the same name
 * again adds a further place that is summed. Strings must outlive the registry. Failure (no memory, a name too long)
 * is remembered and reported by pw_stats_seal. */
void pw_stats_counter(struct pw_stats *s, const char *name, const char *unit, const char *help, const void *base,
                      size_t stride, size_t offset);

/* A counter registered before is a level, which may fall: of a window, what it is at the end counts. */
void pw_stats_level(struct pw_stats *s, const char *name);

/* Registers metric `name` = scale * numerator / denominator, both counters registered before; 0 when the denominator
 * is 0. A counter whose help is NULL is not shown by itself (a sum that only feeds a mean). */
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

/* The value of a metric between two snapshots (`from` NULL: since the start). app < 0 means the sum over all
 * applications, which for a ratio is the ratio of the sums. Counters are exact in the returned double up to 2^53;
 * pw_stats_exact gives the integer of a counter. */
double pw_stats_value(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to);
uint64_t pw_stats_exact(const struct pw_stats *s, size_t index, int app, const uint64_t *from, const uint64_t *to);

/* Index of a shown metric by name, or -1. */
int pw_stats_find(const struct pw_stats *s, const char *name);

/* Identities, checked on every number that a run reports: "left = sum of right". Names of counters (shown or not),
 * right side separated by " + ", each with a factor where there is one, "4096 * pages". Of a level, what it has grown
 * by counts. */
void pw_stats_identity(struct pw_stats *s, const char *left, const char *right);

/* Identities that need code: returns PW_OK, or PW_FAILED with the reason. */
typedef enum pw_status pw_identity_fn(void *object, struct pw_error *err);
void pw_stats_identity_check(struct pw_stats *s, const char *name, pw_identity_fn *check, void *object);

size_t pw_stats_identity_count(const struct pw_stats *s);
const char *pw_stats_identity_name(const struct pw_stats *s, size_t index);
/* Checks it on the counters as they are now, for every application. */
enum pw_status pw_stats_identity_run(struct pw_stats *s, size_t index, struct pw_error *err);
/* Checks it for one application between two snapshots (`from` NULL: since the start). PW_OK for one that needs code. */
enum pw_status pw_stats_identity_between(const struct pw_stats *s, size_t index, unsigned app, const uint64_t *from,
                                         const uint64_t *to, struct pw_error *err);

#endif
