/* Comparisons of many runs: what translation costs, and what changes if … (docs/compare.md).
 *
 * A comparison is a grid: every workload on every machine with every design, every combination of the settings' values
 * and every seed is a row. Designs to compare with, the references, are designs of the grid too, so a row's slowdown is
 * its cycles by those of the row that differs in the design alone: the same machine, workload, settings and seed.
 *
 * An option of a policy exists only where that policy is chosen. A design that has another one lacks the option: it
 * runs once, without it, and its rows for the option's values are one ("any").
 *
 * Rows that come to the same effective options are one run. Runs are in the store, with their breakdown. */
#ifndef PW_EXP_COMPARE_H
#define PW_EXP_COMPARE_H

#include "exp/format/confidence.h"
#include "exp/store/pool.h"
#include "exp/tools/setting.h"

/* Texts and lists are the caller's and live as long as the comparison. */
struct pw_compare_spec {
    const char *const *machines, *const *designs, *const *references, *const *workloads;
    const char *const *sets; /* "key=v1,v2" */
    const uint64_t *seeds;
    size_t machine_count, design_count, reference_count, workload_count, set_count, seed_count;
    bool alone;     /* run each application alone too */
    bool each_seed; /* a row for each seed; otherwise several are one row, with means and intervals */
};

/* Runs of a comparison at most: more is a typing error or should be an experiment of its own. */
enum { PW_COMPARE_MAX_RUNS = 20000, PW_COMPARE_MAX_SEEDS = 1000 };

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
    struct pw_compare_column *columns; /* of numbers, in the order of files */
    size_t column_count;
    size_t values_count; /* combinations of the settings' values; the last setting changes first */
    size_t row_count;
    size_t job_count, grid_jobs; /* the first are those of the rows, the others of applications alone */
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
/* Whether a setting is an option of a policy that this place does not have: it takes no value then. */
bool pw_compare_lacks(const struct pw_compare *c, const struct pw_compare_place *place, size_t setting);
/* What a row has of a setting: its value, or "any" where the place lacks it. */
const char *pw_compare_shown_value(const struct pw_compare *c, const struct pw_compare_place *place, size_t setting);
/* Whether a row only repeats one before it, with another value of an option that its place lacks. */
bool pw_compare_repeats(const struct pw_compare *c, size_t row);
/* The run behind a row, in jobs and runs. */
size_t pw_compare_job(const struct pw_compare *c, size_t row);

/* compare_measure.c: what a row says. Numbers that are not known, for want of a run or of lookups, are NAN. Rates and
 * shares are fractions of 1. */
enum pw_compare_kind {
    PW_COMPARE_CYCLES,
    PW_COMPARE_NANOSECONDS,
    PW_COMPARE_SLOWDOWN,         /* the row's cycles by those of a reference */
    PW_COMPARE_DUE,              /* the part of its cycles that ideal-tlb, a reference, does not need */
    PW_COMPARE_WEIGHTED_SPEEDUP, /* of applications that were run alone too, */
    PW_COMPARE_UNFAIRNESS,       /* and the largest slowdown of one */
    PW_COMPARE_L1_HITS,
    PW_COMPARE_L2_HITS,
    PW_COMPARE_WALKS,
    PW_COMPARE_MEMORY,  /* with demand paging: device memory for managed data, */
    PW_COMPARE_TOUCHED, /* the data that was accessed, */
    PW_COMPARE_EVICTED, /* and the pages that had to leave */
    PW_COMPARE_SHARE,   /* of the time of warps, by cause: */
    PW_COMPARE_WAIT,    /* one that is a wait for translation */
    PW_COMPARE_KIND_COUNT
};
struct pw_compare_column {
    enum pw_compare_kind kind;
    size_t number; /* of the reference, or of the cause */
};
bool pw_compare_is_share(struct pw_compare_column column);
bool pw_compare_list_columns(struct pw_compare *c);
/* In files: "slowdown", "l1_tlb_hit_rate", "walk". Over a column of a table: two lines. */
const char *pw_compare_column_name(struct pw_compare_column column);
const char *pw_compare_column_above(struct pw_compare_column column);
const char *pw_compare_column_below(const struct pw_compare *c, struct pw_compare_column column);
double pw_compare_number(const struct pw_compare *c, size_t row, struct pw_compare_column column);
/* The geometric mean over all workloads at this row's place, of slowdowns and what is made of them; NAN for others. */
bool pw_compare_has_mean(struct pw_compare_column column);
/* Whether there are means: over several workloads, of something. */
bool pw_compare_has_means(const struct pw_compare *c);
double pw_compare_mean(const struct pw_compare *c, size_t row, struct pw_compare_column column);

/* compare_scatter.c: the numbers over all seeds of a row's place. */
/* Whether people and CSV get these, and not each seed's. */
bool pw_compare_scatters(const struct pw_compare *c);
struct pw_confidence pw_compare_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column);
struct pw_confidence pw_compare_mean_interval(const struct pw_compare *c, size_t row, struct pw_compare_column column);
/* The row's cycles by those of the design before it, with all else the same; no numbers where there is none. */
struct pw_confidence pw_compare_step(const struct pw_compare *c, size_t row);
/* Whether the row is of this reference itself. */
bool pw_compare_is_reference(const struct pw_compare *c, size_t row, size_t reference);
/* Whether no number of the workload's rows depends on the seed. */
bool pw_compare_same_for_all_seeds(const struct pw_compare *c, size_t workload);

/* compare_table.c: for people, at most `columns` wide where that is possible. */
void pw_compare_table(const struct pw_compare *c, struct pw_text *out);
/* compare_notes.c: what follows the table. */
void pw_compare_notes(const struct pw_compare *c, struct pw_text *out);
/* compare_csv.c: a row per line. compare_json.c: an object with all rows and means. */
void pw_compare_csv(const struct pw_compare *c, struct pw_text *out);
void pw_compare_json(const struct pw_compare *c, struct pw_text *out);

#endif
