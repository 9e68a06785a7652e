/* What translation costs, and what changes if …: many runs side by side (docs/compare.md).
 *
 * A comparison is a grid: every workload on every machine with every design, every combination of the settings' values
 * and every seed is a row. Designs to compare with, the references, are designs of the grid too, so a row's slowdown is
 * its cycles by those of the row that differs in the design alone: the same machine, workload, settings and seed.
 *
 * Rows that come to the same effective options are one run. Runs are in the store, with their breakdown. */
#ifndef PW_EXP_COMPARE_H
#define PW_EXP_COMPARE_H

#include "exp/store/pool.h"
#include "exp/tools/setting.h"

/* Texts and lists are the caller's and live as long as the comparison. */
struct pw_compare_spec {
    const char *const *machines, *const *designs, *const *references, *const *workloads;
    const char *const *sets; /* "key=v1,v2" */
    const uint64_t *seeds;
    size_t machine_count, design_count, reference_count, workload_count, set_count, seed_count;
};

/* Runs of a comparison at most: more is a typing error or should be an experiment of its own. */
enum { PW_COMPARE_MAX_RUNS = 20000 };

/* The coordinates of a row: numbers in the lists of a comparison. */
struct pw_compare_place {
    size_t workload, machine, design, values, seed;
};

struct pw_compare {
    struct pw_compare_spec spec;
    size_t design_count;
    const char **designs; /* references that are not among the designs, then the designs */
    size_t *references;   /* where they are in designs */
    struct pw_setting *settings;
    size_t setting_count;
    size_t values_count; /* combinations of the settings' values; the last setting changes first */
    size_t row_count;
    size_t job_count;
    struct pw_pool_job *jobs;
    struct pw_stored_run **runs; /* as jobs; NULL: not there */
    struct pw_compare_private *private;
};

/* Checks all names, values and combinations. Everything that can be known before a run is. */
enum pw_status pw_compare_create(const struct pw_compare_spec *spec, struct pw_compare **out, struct pw_error *err);
void pw_compare_destroy(struct pw_compare *c);

/* Does the runs that the pool's store has not and loads them all. The pool's jobs and its `finished` are not looked at.
 * PW_OK also when runs failed. A mistake in one of the missing runs is found before the first of them starts. */
enum pw_status pw_compare_run(struct pw_compare *c, const struct pw_pool *pool, struct pw_error *err);

/* Rows in order: workload by workload, then machines, designs, values and seeds, the last changing first. */
struct pw_compare_place pw_compare_place(const struct pw_compare *c, size_t row);
size_t pw_compare_row(const struct pw_compare *c, const struct pw_compare_place *place);
/* The value of a setting in a combination. */
const char *pw_compare_value(const struct pw_compare *c, size_t values, size_t setting);
/* The run behind a row, in jobs and runs. */
size_t pw_compare_job(const struct pw_compare *c, size_t row);

/* compare_measure.c: what a row says. Numbers that are not known, for want of a run or of lookups, are NAN. */
enum pw_compare_measure {
    PW_COMPARE_L1_HITS,
    PW_COMPARE_L2_HITS,
    PW_COMPARE_WALKS,
    PW_COMPARE_FIRST_SHARE, /* of the time of warps, one for each cause */
    PW_COMPARE_MEASURE_COUNT = PW_COMPARE_FIRST_SHARE + 9
};
/* In files: "l1_tlb_hit_rate", "share.walk". Over a column: two lines. Rates and shares are fractions of 1. */
struct pw_compare_measure_name {
    const char *name, *above, *below;
};
extern const struct pw_compare_measure_name pw_compare_measures[PW_COMPARE_MEASURE_COUNT];
double pw_compare_measure(const struct pw_compare *c, size_t row, enum pw_compare_measure measure);
/* The row's cycles by those of the reference. */
double pw_compare_slowdown(const struct pw_compare *c, size_t row, size_t reference);
/* The geometric mean over all workloads of the slowdowns at this row's place. */
double pw_compare_mean_slowdown(const struct pw_compare *c, size_t row, size_t reference);

/* compare_table.c: for people, at most `columns` wide where that is possible. */
void pw_compare_table(const struct pw_compare *c, struct pw_text *out);
/* compare_notes.c: what follows the table. */
void pw_compare_notes(const struct pw_compare *c, struct pw_text *out);
/* compare_files.c: a row per line; an object with all rows and means. */
void pw_compare_csv(const struct pw_compare *c, struct pw_text *out);
void pw_compare_json(const struct pw_compare *c, struct pw_text *out);

#endif
