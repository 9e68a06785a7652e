/* The insides of a comparison, common to the files that make one. */
#ifndef PW_EXP_COMPARE_INTERNAL_H
#define PW_EXP_COMPARE_INTERNAL_H

#include "exp/format/table.h"
#include "exp/tools/compare.h"

/* A place of options is one of machine, design and values: (machine * design_count + design) * values_count +
 * values. */
struct pw_compare_private {
    char **pairs;                   /* [values * setting_count + setting]: "key=value" */
    const char **sets;              /* [place of options * setting_count + i]: the pairs that go with the design, */
    size_t *set_counts;             /* [place of options]: so many, */
    bool *own;                      /* [setting]: an option of a policy, which not every run has */
    bool *lacks;                    /* [place of options * setting_count + setting]: and whether this one does not */
    char **options;                 /* [place of options]: effective, the same text once */
    size_t *number;                 /* [place of options]: of these options among the different ones */
    size_t place_count;             /* of options */
    size_t different;               /* options */
    char **workloads;               /* as they identify a run */
    struct pw_compare_alone *alone; /* or NULL */
    char **job_options; /* by job, of workloads that give their applications SMs; NULL: those of the job's place */
};

static inline enum pw_status pw_compare_no_memory(struct pw_error *err)
{
    return pw_fail_memory(err, "a comparison");
}

size_t pw_compare_options_place(const struct pw_compare *c, const struct pw_compare_place *p);
/* Which of the values of a setting a combination has. */
size_t pw_compare_value_number(const struct pw_compare *c, size_t values, size_t setting);

/* compare_options.c */
/* Finds the effective options of every place, and which are the same. */
enum pw_status pw_compare_resolve(struct pw_compare *c, struct pw_error *err);
/* Finds the settings of a combination that go with the machine and design of `spec`, and their effective options, which
 * are the caller's to free. The sets become those of `spec`. */
enum pw_status pw_compare_take(const struct pw_compare *c, struct pw_run_spec *spec, size_t values,
                               const char **out_sets, bool *out_lacks, char **out_options, struct pw_error *err);
/* The run of a place, once its options are known. */
struct pw_run_spec pw_compare_spec_at(const struct pw_compare *c, const struct pw_compare_place *p);
/* Says which combination a mistake is in. One that a machine or design makes by itself is not the combination's. */
enum pw_status pw_compare_blame(const struct pw_run_spec *spec, bool workload, enum pw_status status,
                                struct pw_error *err);

/* compare_alone.c */
/* Adds the jobs of each application alone. The jobs of the grid are the first; no runs are there yet. */
enum pw_status pw_compare_plan_alone(struct pw_compare *c, struct pw_error *err);
void pw_compare_alone_destroy(struct pw_compare_alone *a);
double pw_compare_weighted_speedup(const struct pw_compare *c, size_t row);
double pw_compare_unfairness(const struct pw_compare *c, size_t row);

/* compare_rows.c */
/* In front of numbers whose difference from others may be chance. */
#define PW_COMPARE_LIKE_REFERENCE "~"
#define PW_COMPARE_LIKE_LAST "="
const char *pw_compare_mark(const struct pw_compare *c, size_t row, struct pw_compare_column column);
/* Whether a design is not only there as a reference. */
bool pw_compare_is_asked_for(const struct pw_compare *c, size_t design);
/* Appends a table of these columns. */
void pw_compare_rows(const struct pw_compare *c, const struct pw_compare_column *columns, size_t count,
                     struct pw_text *out);

#endif
