/* The result store: finished runs in one SQLite file that many processes may use at once.
 *
 * A run is identified by its exact inputs: the versions of what it depends on (system/version.h), the effective
 * options, the workload and the seed. What machine and design were called is kept for people and is no part of the
 * identity: a design under another name that sets the same options is the same run. A run is added in one
 * transaction, so it is there whole or not at all whatever happens to the process. Results of a run that is added
 * twice are the same bits; the second changes nothing. */
#ifndef PW_EXP_STORE_H
#define PW_EXP_STORE_H

#include "exp/format/text.h"
#include "pagewalk/pagewalk.h"
#include "system/version.h"

enum { PW_STORE_SCHEMA = 4 };

/* PW_STORE_CREATE makes the file when it is missing or empty; the others want one that exists. PW_STORE_USE is
 * PW_STORE_CREATE, but takes a file with something in it that may not be written as PW_STORE_READ does. A file that is
 * no result store, is damaged, or was written by a newer schema is a user error that names it; it is never changed. One
 * of an older schema is brought to this one in place when it is opened to be written, and read as it is otherwise. */
enum pw_store_access { PW_STORE_READ, PW_STORE_CREATE, PW_STORE_USE };

struct pw_store;
enum pw_status pw_store_open(const char *path, enum pw_store_access access, struct pw_store **out,
                             struct pw_error *err);
void pw_store_close(struct pw_store *s);

/* How many runs there were in a file that was of a schema before 3 when it was opened: they can be exported, but
 * nothing that is asked for now is one of them. */
uint64_t pw_store_old_runs(const struct pw_store *s);

/* PW_OK when runs can be added; else the reason why not. */
enum pw_status pw_store_writable(const struct pw_store *s, struct pw_error *err);

struct pw_run_inputs {
    char core[PW_RUN_VERSION_CAPACITY]; /* pw_run_version: the sources that it depends on */
    const char *options;                /* the effective options, "name=value\n" in table order */
    const char *workload;
    uint64_t seed;
};

/* Everything that identifies a run. */
enum pw_status pw_run_inputs(const char *options, const char *workload, uint64_t seed, struct pw_run_inputs *out,
                             struct pw_error *err);
uint64_t pw_run_inputs_hash(const struct pw_run_inputs *inputs);

/* *out_run is the run's number, or 0 when it is not there. */
enum pw_status pw_store_find(struct pw_store *s, const struct pw_run_inputs *inputs, int64_t *out_run,
                             struct pw_error *err);

/* The same for a run that was done with a breakdown: *out_run is 0 for one that is there without. */
enum pw_status pw_store_find_breakdown(struct pw_store *s, const struct pw_run_inputs *inputs, int64_t *out_run,
                                       struct pw_error *err);

/* Adds a finished run. Waits for other writers. A run that is there without a breakdown gets that of the result. */
enum pw_status pw_store_add(struct pw_store *s, const struct pw_run_inputs *inputs, const struct pw_result *r,
                            int64_t *out_run, struct pw_error *err);

/* A run that was stopped has no result, but is known to take more than so many cycles: the most that was found. 0:
 * nothing is known. */
enum pw_status pw_store_add_stopped(struct pw_store *s, const struct pw_run_inputs *inputs, uint64_t cycles,
                                    struct pw_error *err);
enum pw_status pw_store_find_stopped(struct pw_store *s, const struct pw_run_inputs *inputs, uint64_t *out_cycles,
                                     struct pw_error *err);

/* What a stored run has to say, for expressions and reports. Texts and arrays are the run's own. */
struct pw_stored_app {
    char *name;
    uint64_t warp_instructions, cycles;
    double ipc;
    unsigned sms;
};

struct pw_stored_metric {
    char *name; /* "gpu0.l1_tlb.hits"; an option is "option.l2.bytes" where its value is a number */
    double value;
};

struct pw_stored_run {
    int64_t id;
    char *machine, *design, *workload;
    uint64_t seed, cycles;
    double nanoseconds, ipc_throughput, wall_seconds;
    size_t app_count, metric_count, allocation_count;
    struct pw_stored_app *apps;
    struct pw_allocation_result *allocations;
    struct pw_stored_metric *metrics; /* sorted by name */
};

enum pw_status pw_store_load(struct pw_store *s, int64_t run, struct pw_stored_run **out, struct pw_error *err);
void pw_stored_run_free(struct pw_stored_run *r);
/* A metric's value; false when the run has none of that name. */
bool pw_stored_run_metric(const struct pw_stored_run *r, const char *name, double *out);

/* A measure is a metric without a scope, "walk.count", which is that of all GPUs of the run: the sum, or the ratio
 * of sums. With the scope of a GPU it is that GPU's. Its full name, and its value; false when the run has none. */
enum { PW_STORED_NAME_CAPACITY = 160 };
void pw_stored_run_measure_name(const struct pw_stored_run *r, const char *measure, char out[PW_STORED_NAME_CAPACITY]);
bool pw_stored_run_measure(const struct pw_stored_run *r, const char *measure, double *out);

/* Seconds that a run of this workload took before, any design, the median; negative when there is none. */
enum pw_status pw_store_seconds(struct pw_store *s, const char *workload, double *out_seconds, struct pw_error *err);

/* How many different seeds its runs have. */
enum pw_status pw_store_seeds(struct pw_store *s, uint64_t *out_count, struct pw_error *err);

/* Exports, a piece at a time: a store may be larger than memory. `write` gets the bytes; a status other than PW_OK
 * stops. CSV: the long form of `pagewalk run --csv`, run,app,component,metric,unit,value, and then
 * machine,design,workload,seed. JSON: an array of run objects. Runs are left out that differ from what the filter
 * names; NULL: any. */
struct pw_store_filter {
    const char *machine, *design, *workload;
};
typedef enum pw_status pw_store_write(void *context, const char *bytes, size_t length, struct pw_error *err);
enum pw_status pw_store_export_csv(struct pw_store *s, const struct pw_store_filter *filter, pw_store_write *write,
                                   void *context, struct pw_error *err);
enum pw_status pw_store_export_json(struct pw_store *s, const struct pw_store_filter *filter, pw_store_write *write,
                                    void *context, struct pw_error *err);

#endif
