/* A figure: which runs a figure, table or sentence of a paper stands on, and which numbers come out of them.
 *
 * experiments/PAPER/FIGURE.yaml, compiled in, or a file of the user's (untrusted). Only maps and scalars; lists are
 * words separated by spaces. docs/experiments.md has the reference; in short:
 *
 *     title: What 4 KB and 2 MB pages lose against an ideal TLB
 *     where: Figure 3                  # in the paper
 *     machine: mosaic
 *     set: paging.mode=free            # options of every run; may be left out
 *     seed: 1
 *     variants:
 *       4k:    {design: gpu-mmu}
 *       large: {design: gpu-mmu, set: page.size=2MB, machine: mask}
 *       small: {design: mosaic, sweep: l1_tlb.base_entries 8 16 32}    # small-8, small-16, small-32
 *       other: {design: mosaic, set: uvm.prefetch=tbn, null: 4k}       # its null design is that of 4k (nulls.c)
 *     workloads:
 *       1-app: {each: mosaic, quick: 6}                       # every program of that paper; --quick takes 6 of them
 *       5-app: {each: mosaic, copies: 5, quick: 3}            # five copies of each
 *       pairs: {list: "HS,CONS NW,HISTO@20+10"}               # the second with SMs for each application
 *       split: {list: "HS,CONS", sms: 10+20 15+15 20+10}      # once with each of these
 *       mixes: {random: 25, apps: 3, from: mosaic, seed: 3}   # 25 different mixes of 3 different programs
 *     measures:
 *       speed: ipc
 *     table:                            # a line per workload and the mean per group; a column each
 *       4 KB pages: speed@4k / speed@ideal
 *       Entries *: speed@small-* / speed@ideal    # one for each value of a sweep
 *     mean: arithmetic                  # or geometric, as the paper has it
 *     scope: full                       # it makes no sense at small sizes: --quick leaves it out
 *     claims:
 *       mosaic-fig03-4k-loss: 100 * (1 - mean(speed@4k / speed@ideal))
 *     notes: What the model leaves out here.
 *
 * An expression of a claim of several parts has them separated by ';'. */
#ifndef PW_EXP_FIGURE_H
#define PW_EXP_FIGURE_H

#include "exp/claim/claim.h"
#include "exp/figure/expression.h"

#include <stdint.h>

enum pw_scope { PW_QUICK, PW_FULL };

enum {
    PW_FIGURE_MAX_VARIANTS = 64,
    PW_FIGURE_MAX_WORKLOADS = 1024,
    PW_FIGURE_MAX_NAMES = 64, /* groups, measures, columns, options of a variant */
    PW_FIGURE_MAX_CLAIMS = 256,
    PW_CLAIM_MAX_PARTS = 16,
};

struct pw_figure_variant {
    char *name, *machine, *design;
    char **sets;                   /* the figure's, then its own */
    size_t set_count, common_sets; /* the first common_sets are the figure's */
    int null;                      /* the variant that the file names as its null design; -1: by the rule (nulls.c) */
    bool replaced;                 /* another design runs in the place of the file's: a metric that it lacks is 0 */
};

struct pw_figure_workload {
    char *programs; /* "HS,CONS", without sizes */
    char *label;    /* the programs, with the parameters that the file gives them where a workload has the same ones,
                     * and with the SMs that it gives them */
    char *text;     /* with the sizes of the scope, as `pagewalk run -w` takes it */
    unsigned group, app_count;
};

struct pw_figure_measure {
    char *name;
    bool per_app;
    bool needs_alone; /* weighted_speedup, unfairness, app.speedup: runs alone with the baseline design */
    struct pw_expression *expression;
};

struct pw_figure_column {
    char *heading;
    struct pw_expression *expression;
};

struct pw_figure_claim {
    const struct pw_claim *claim;
    size_t part_count;
    struct pw_expression **parts;
    /* For the null design: by variant of the file, the one whose runs stand for it; NULL: the claim has none. */
    size_t *stand_in;
    char *null_design; /* "gpu-mmu"; "" */
};

struct pw_figure {
    char *name;                  /* "mosaic/fig03", or the file's path */
    char *title, *where, *notes; /* "" where the file says nothing */
    uint64_t seed;
    bool geometric;
    bool full_only; /* its numbers are those of the programs' real sizes: --quick leaves it out */
    enum pw_scope scope;
    unsigned percent; /* of the scope's workloads, those that it has: 100 unless some were drawn */
    size_t variant_count, group_count, workload_count, measure_count, column_count, claim_count;
    size_t null_count;                  /* variants that only stand in for others, as null designs do */
    struct pw_figure_variant *variants; /* the file's, then those */
    char **groups;
    struct pw_figure_workload *workloads; /* of the scope, group by group */
    struct pw_figure_measure *measures;
    struct pw_figure_column *columns;
    struct pw_figure_claim *claims;
};

/* Embedded files, sorted by name; the last one has a NULL name. Generated. */
struct pw_figure_file {
    const char *name, *path, *text; /* "mosaic/fig03", "experiments/mosaic/fig03.yaml" */
    size_t length;
};
extern const struct pw_figure_file pw_figure_files[];

/* `name` is an embedded figure or a file (it has a '/' at its front or a '.' there, or ends in ".yaml"). */
enum pw_status pw_figure_load(const char *name, enum pw_scope scope, struct pw_figure **out, struct pw_error *err);
/* Refuses metrics that `pagewalk list metrics` does not have; of embedded figures a test does. */
enum pw_status pw_figure_read(const char *text, size_t length, const char *file_name, const char *name,
                              enum pw_scope scope, struct pw_figure **out, struct pw_error *err);
/* Keeps so many percent (1 to 100) of each group's workloads, at least one of each, drawn by seed. */
enum pw_status pw_figure_draw(struct pw_figure *f, unsigned percent, struct pw_error *err);
void pw_figure_free(struct pw_figure *f);

/* Whether a column or a claim names the variant. */
bool pw_figure_uses_variant(const struct pw_figure *f, size_t variant);

#endif
