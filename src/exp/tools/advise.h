/* Advice on device memory: how much a program needs, what it costs to have less, and which CUDA calls help.
 *
 * The policy in use first runs with all the memory that the machine has. From this run the working set is known, and
 * sizes that are shares of it become bytes; then the policy runs at every size. A size that holds all the pages which
 * came in the run with all memory would give the same run, since nothing ever had to leave: that run stands for it.
 * Then calls are tried (exp/tools/advise_search.h): at each size that was asked for, where none was at the largest one
 * that hurts, and with all memory where faults on cold pages are all there is to save. Last, the other policies run at
 * every size.
 *
 * All runs are kept in the store, so asking again, or for one size more, repeats nothing. Slowdowns are against the
 * fastest run with all memory and without calls, so that they can be compared between policies. */
#ifndef PW_EXP_ADVISE_H
#define PW_EXP_ADVISE_H

#include "exp/store/pool.h"
#include "exp/tools/advise_search.h"

/* What advice will take, as far as that is known after the first run. */
struct pw_advice_outlook {
    size_t runs; /* about, those in the store included */
    double seconds_of_one;
    unsigned workers;
};

struct pw_advice_spec {
    const char *workload, *machine;
    const char *const *designs;  /* that page on demand; the first is the one in use */
    const char *const *memories; /* "8GB"; "80%" of the working set. None: PW_ADVICE_SHARES */
    const char *const *sets;
    size_t design_count, memory_count, set_count;
    size_t tries; /* of CUDA calls, at most, at one size; 0: none */
    uint64_t seed;
    void (*outlook)(void *context, const struct pw_advice_outlook *o); /* called once; or NULL */
    void *outlook_context;
};

/* What is asked for when nothing is said. */
extern const char *const pw_advice_designs[]; /* end with NULL */
extern const char *const pw_advice_shares[];

/* One policy at one size. Neither run nor failure: it was interrupted before. */
struct pw_advice_point {
    const struct pw_stored_run *run; /* NULL: there is none */
    const char *failure;
    uint64_t cycles;
    double slowdown;
    double far_faults, pages_in, prefetched, never_used, evicted, thrashed; /* pages of 4 KiB */
};

struct pw_advice_memory {
    uint64_t bytes;
    double share; /* of the working set */
};

/* All allocations of one name: advice is by name. */
struct pw_advised {
    char name[PW_ADVISED_NAME_CAPACITY];
    uint64_t count; /* how often it was allocated */
    unsigned apps;  /* that have one */
    uint64_t thrashed, far_faults, pages_in;
};

/* What calls do at one size, under the policy in use. */
struct pw_advice_trial {
    size_t memory;                  /* memory_count: with all there is */
    struct pw_advised *allocations; /* those of the search */
    size_t left_out;                /* allocations that were not tried, as they hardly move any pages */
    struct pw_search search;
};

/* More than this, and the program is said not to run at full speed. */
#define PW_FULL_SPEED 1.05

struct pw_advice {
    struct pw_advice_spec spec; /* the caller's */
    double allocated, touched;  /* bytes: allocated at once, and of the pages that were accessed */
    double footprint;           /* what is allocated, in whole pages */
    double working_set;         /* what is touched, at most the footprint: sizes are shares of it */
    bool default_sizes;
    size_t memory_count;
    struct pw_advice_memory *memories;  /* falling */
    struct pw_advice_point *references; /* [design]: with all memory */
    struct pw_advice_point *points;     /* [memory * design_count + design] */
    size_t trial_count;
    struct pw_advice_trial *trials;
    uint64_t *with_calls; /* [memory], the last for all there is: cycles with the calls that help; 0: not run */
    size_t profile_count;
    struct pw_profile **profiles; /* of each application: what its allocations are */
    const char *options;          /* of the policy in use, "name=value\n"; NULL: not known */
    bool known;                   /* all there is to know of the policy in use without calls */
    bool interrupted;
    struct pw_advice_private *private;
};

/* Checks everything that can be known before a run. The spec has to live as long as the advice. */
enum pw_status pw_advice_create(const struct pw_advice_spec *spec, struct pw_advice **out, struct pw_error *err);
void pw_advice_destroy(struct pw_advice *a);

/* Does the runs that the pool's store has not, and fills in the rest of the advice. The pool's jobs and its `finished`
 * are not looked at; its progress is over all runs. A policy that fails with all memory fails the advice. After
 * PW_INTERRUPTED, and if it is `known`, the advice says what can be said. */
enum pw_status pw_advice_run(struct pw_advice *a, const struct pw_pool *pool, struct pw_error *err);

const struct pw_advice_point *pw_advice_at(const struct pw_advice *a, size_t memory, size_t design);
/* The fastest design at a size; design_count when all failed. */
size_t pw_advice_fastest(const struct pw_advice *a, size_t memory);
/* The smallest size from which on a design runs at full speed at all sizes; memory_count when none does. */
size_t pw_advice_full_speed(const struct pw_advice *a, size_t design);
/* Bytes with which a design runs at full speed: the least of those sizes, and of what holds all the pages that come. 0:
 * all the memory of the machine is too little. */
double pw_advice_need(const struct pw_advice *a, size_t design);
/* The size that the advice is about: the smallest that was asked for; of the default ones the largest at which the
 * design in use is not at full speed, or else the smallest. */
size_t pw_advice_size_in_question(const struct pw_advice *a);

/* Whether a design runs at full speed at a size. */
bool pw_advice_at_full_speed(const struct pw_advice *a, size_t memory, size_t design);
/* The trial at the size in question, or with all memory; NULL when there is none. */
const struct pw_advice_trial *pw_advice_trial_of(const struct pw_advice *a, size_t memory);
/* Cycles without calls at the size of a trial; 0: it fails. */
uint64_t pw_advice_baseline(const struct pw_advice *a, const struct pw_advice_trial *t);

/* The CUDA call for an allocation: "cudaMemAdvise(NAME, 4194304, …);", the bytes 0 where they are not known. */
void pw_advice_call(const char *name, uint64_t bytes, unsigned kind, struct pw_text *out);
/* A plan as uvm.advice has it, after what is there already (or NULL). */
void pw_advice_plan(const struct pw_advice_trial *t, const struct pw_plan *p, const char *given, struct pw_text *out);

/* advise_report.c, advise_json.c */
void pw_advice_table(const struct pw_advice *a, struct pw_text *out);
void pw_advice_json(const struct pw_advice *a, struct pw_text *out);
/* Plain sentences, broken at the text's width. */
void pw_advice_sentences(const struct pw_advice *a, struct pw_text *out);

#endif
