/* How large the programs of a figure are in each scope, what a run of them costs, and lists of workloads that several
 * figures share: experiments/sizes.yaml, compiled in.
 *
 *     quick:
 *       default: scale=0.1                 # of programs that are not named
 *       HS: side=512:iterations=2
 *     full:
 *       default: ""
 *     cost:                                # CPU seconds of one run with gpu-mmu on one core: quick, then full
 *       HS: 0.4 12
 *     length:                              # simulated milliseconds of that run, with demand paging
 *       HS: 0.9 9.3
 *     again:                               # of one that finds its pages, as a program does that starts over
 *       HS: 0.2 1.9
 *     lists:                               # `each: NAME` in a figure
 *       pairs: HS,CONS NW,HISTO */
#ifndef PW_EXP_SIZES_H
#define PW_EXP_SIZES_H

#include "exp/figure/figure.h"

struct pw_sizes {
    size_t count;
    struct pw_program_size {
        char *name;
        char *parameters[2];                                       /* by enum pw_scope; NULL: the default */
        double seconds[2], milliseconds[2], again_milliseconds[2]; /* 0: not known */
    } * programs;
    char *fallback[2]; /* parameters of programs that are not named */
    size_t list_count;
    struct pw_workload_list {
        char *name, *workloads;
    } * lists;
};

extern const struct pw_figure_file pw_sizes_file;

enum pw_status pw_sizes_load(struct pw_sizes *out, struct pw_error *err); /* of pw_sizes_file */
enum pw_status pw_sizes_read(const char *text, size_t length, const char *file_name, struct pw_sizes *out,
                             struct pw_error *err);
void pw_sizes_release(struct pw_sizes *s);

/* The workloads of a list, separated by blanks; NULL when there is none of that name. */
const char *pw_sizes_list(const struct pw_sizes *s, const char *name);

/* "" where a program runs as it is. */
const char *pw_sizes_parameters(const struct pw_sizes *s, const char *program, enum pw_scope scope);
/* CPU seconds; 1 when they are not known. */
double pw_sizes_seconds(const struct pw_sizes *s, const char *program, enum pw_scope scope);
/* Simulated time; 0 when it is not known. */
double pw_sizes_milliseconds(const struct pw_sizes *s, const char *program, enum pw_scope scope);
/* Of a run that finds its pages; the same where only the other is known. */
double pw_sizes_again_milliseconds(const struct pw_sizes *s, const char *program, enum pw_scope scope);

#endif
