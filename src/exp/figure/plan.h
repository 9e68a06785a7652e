/* The runs that figures need: each once, however many figures, variants and metrics ask for it.
 *
 * A run is what the store says it is: effective options, which the SMs that a workload gives are among, workload and
 * seed. So a program that is the only one on the
 * GPU is its own run alone, and a design under another name, or an option set to what it is anyway, adds no run. */
#ifndef PW_EXP_PLAN_H
#define PW_EXP_PLAN_H

#include "exp/figure/figure.h"
#include "exp/figure/plan_options.h"
#include "exp/figure/sizes.h"

#include <stdint.h>

enum { PW_MAX_SEEDS = 16 };

struct pw_job {
    char *machine, *design, *workload;
    char **sets;
    size_t set_count;
    uint64_t seed;
    const char *options; /* effective, as pw_run_options writes them; the plan's, the same text is the same pointer */
    double cost;         /* estimated CPU seconds (experiments/sizes.yaml) */
    bool for_null;       /* only null designs need it */
};

/* Which job stands behind which cell of a figure. -1: none is needed. A cell is a seed, a variant and a workload; the
 * first seed comes first, and the variants of null designs come last (pw_plan_cell). */
struct pw_plan_figure {
    const struct pw_figure *figure;
    unsigned seed_count; /* the figure's seed and those that follow it */
    int *together;       /* [cell] */
    /* [cell * apps + app]: that application alone, on as many SMs and the same machine: */
    unsigned apps; /* the most that a workload of the figure has */
    int *baseline; /* with design gpu-mmu and only the figure's own options */
    int *alone;    /* with the variant's design and options */
    char *refused; /* why runs of a design in another's place cannot be done; NULL: all can */
    /* Of what identifies the runs of its first seed's cells, in order; 0 where that is not known. */
    uint64_t runs_digest;
};

struct pw_plan {
    size_t job_count, job_capacity, figure_count;
    struct pw_job *jobs;
    struct pw_plan_figure *figures;
    void *index; /* jobs by their inputs */
    struct pw_plan_options options;
    struct pw_sizes sizes;
};

/* Adds a figure's runs, each with so many seeds; only those that its measures, columns and claims ask for, the claims
 * with their null designs too. Figures stay the caller's. The plan starts as {0} and is released after a failure
 * too. */
enum pw_status pw_plan_add(struct pw_plan *p, const struct pw_figure *f, unsigned seeds, struct pw_error *err);
void pw_plan_release(struct pw_plan *p);

/* How many cells each seed of a figure has, and the number of one. */
size_t pw_plan_cells(const struct pw_plan_figure *f);
size_t pw_plan_cell(const struct pw_plan_figure *f, unsigned seed, size_t variant, size_t workload);

#endif
