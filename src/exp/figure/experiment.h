/* Figures with their runs: which are in the store, which are missing, and what comes out.
 *
 * An experiment is some figures in one scope. Preparing it reads the figures and plans their runs; looking up finds
 * those that the store has; running does the others; evaluating computes a figure's numbers from what is there. */
#ifndef PW_EXP_EXPERIMENT_H
#define PW_EXP_EXPERIMENT_H

#include "exp/figure/evaluate.h"
#include "exp/store/pool.h"

struct pw_experiment {
    enum pw_scope scope;
    size_t figure_count;
    struct pw_figure **figures;
    struct pw_plan plan;
    struct pw_pool_job *jobs;    /* as plan.jobs */
    char **workloads;            /* as plan.jobs: with digests of the files that programs read */
    struct pw_stored_run **runs; /* as plan.jobs; NULL: not there */
};

struct pw_experiment_spec {
    const char *const *names; /* "mosaic", "mosaic/fig03", a file; none: all figures that decide claims */
    size_t name_count;
    enum pw_scope scope;
    const char *const *replacements; /* "DESIGN=OTHER": runs OTHER wherever a figure says DESIGN */
    size_t replacement_count;
    unsigned percent; /* of each group's workloads, drawn by seed; 0 is 100 */
    unsigned seeds;   /* of every run: the figure's and those that follow it; 0 is 1 */
};

enum pw_status pw_experiment_create(const struct pw_experiment_spec *spec, struct pw_experiment **out,
                                    struct pw_error *err);
void pw_experiment_destroy(struct pw_experiment *e);

/* Finds and loads the runs that are in the store. */
enum pw_status pw_experiment_look_up(struct pw_experiment *e, struct pw_store *store, struct pw_error *err);

/* Loads the run of a job that the pool has finished. */
enum pw_status pw_experiment_load(struct pw_experiment *e, struct pw_store *store, size_t job, struct pw_error *err);

/* How many jobs there are only for null designs. */
size_t pw_experiment_null_jobs(const struct pw_experiment *e);

/* How many jobs have no run yet, and their estimated CPU seconds. */
size_t pw_experiment_missing(const struct pw_experiment *e, double *out_seconds);

/* Whether all runs of a figure are there, or can no longer come. */
bool pw_experiment_figure_settled(const struct pw_experiment *e, size_t figure);

#endif
