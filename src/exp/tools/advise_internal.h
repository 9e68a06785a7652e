/* The inside of advice, for its own files:
 *   advise.c         what is asked for, the policies at every size, and what follows from them
 *   advise_runs.c    batches of runs
 *   advise_calls.c   tries of CUDA calls at a size
 *   advise_search.c  which calls to try next
 *   advise_uses.c    what allocations are, and what accesses them
 *   advise_report.c, advise_call_report.c, advise_table.c  for people
 *   advise_json.c    for programs */
#ifndef PW_EXP_ADVISE_INTERNAL_H
#define PW_EXP_ADVISE_INTERNAL_H

#include "exp/tools/advise.h"

enum { PW_ADVICE_PAGE_BYTES = 4096 };

/* Runs that are done at the same time; they live as long as the advice. */
struct pw_advice_batch {
    struct pw_advice_batch *next;
    size_t count, capacity;
    struct pw_pool_job *jobs;
    struct pw_stored_run **runs; /* NULL: failed, stopped, or not done */
    uint64_t *bytes;             /* of memory; 0: all there is */
    struct pw_run_inputs *whole; /* where it is not all: the same with all memory */
};

/* A size as it was asked for. */
struct pw_advice_wish {
    bool is_share;
    double share;
    uint64_t bytes;
};

struct pw_advice_private {
    char *workload; /* as it identifies a run */
    struct pw_advice_wish *wishes;
    struct pw_advice_batch *batches;
    char **texts; /* that jobs and points refer to */
    size_t text_count;
    const char ***set_lists;
    size_t set_list_count;
    double cost; /* estimated seconds of a run */
    /* For the progress over all batches: */
    const struct pw_pool *pool;
    size_t done, ahead; /* runs before this batch, and about how many after it */
    size_t batch_count; /* runs in this batch */
};

/* advise_runs.c */

struct pw_advice_batch *pw_advice_batch_create(struct pw_advice *a, size_t capacity, struct pw_error *err);
/* A run with so much memory (0: all there is) and so much advice (NULL: what the options say). */
enum pw_status pw_advice_batch_add(struct pw_advice *a, struct pw_advice_batch *b, size_t design, uint64_t bytes,
                                   const char *advice, struct pw_error *err);
/* Looks runs up in the store, does the others, loads them all. After PW_INTERRUPTED those that are done are there. */
enum pw_status pw_advice_batch_run(struct pw_advice *a, const struct pw_pool *pool, struct pw_advice_batch *b,
                                   struct pw_error *err);
void pw_advice_release_runs(struct pw_advice_private *p);
/* Whether a run with all memory is what a run with so much would be: nothing had to leave, and all that came fits. */
bool pw_advice_is_enough(const struct pw_stored_run *r, uint64_t bytes);
/* Keeps a text until the advice is destroyed; NULL stays NULL. */
char *pw_advice_keep(struct pw_advice_private *p, char *text);

/* advise_uses.c: what an allocation is, and what accesses it; from a profile of each program. */

enum { PW_ADVICE_KERNELS = 3 };

/* All allocations of one name together. */
struct pw_advice_use {
    const char *memory; /* "managed"; NULL: nothing is known of it */
    const char *name;   /* of the first, in full */
    bool has_name, written;
    uint32_t order, members;
    uint64_t bytes; /* of the largest */
    uint64_t launches, first_launch, last_launch;
    size_t kernel_count;
    const char *kernels[PW_ADVICE_KERNELS]; /* with the most accesses */
};

enum pw_status pw_advice_find_uses(struct pw_advice *a, const volatile bool *interrupted, struct pw_error *err);
void pw_advice_release_uses(struct pw_advice *a);
struct pw_advice_use pw_advice_use_of(const struct pw_advice *a, const char *name);
/* An allocation's name, or what stands for one in calls: "device_3", the third cudaMalloc. */
enum { PW_ADVICE_NAME_CAPACITY = 64 };
const char *pw_advice_name(const struct pw_advice *a, const char *name, char out[PW_ADVICE_NAME_CAPACITY]);
/* "managed, 4.01 MiB, read by launches 1 to 511 (needle_1, needle_2)"; nothing where nothing is known. */
void pw_advice_say_use(const struct pw_advice_use *u, struct pw_text *out);
bool pw_advice_is_from_malloc(const struct pw_advice_use *u);

/* advise_calls.c: `ahead` runs come after the trials. */
enum pw_status pw_advice_try_calls(struct pw_advice *a, const struct pw_pool *pool, size_t ahead, struct pw_error *err);
void pw_advice_release_trials(struct pw_advice *a);
/* The value of an option in "name=value\n", "" when it has none. */
void pw_advice_option(const char *options, const char *name, char *out, size_t capacity);

/* advise_report.c */

enum { PW_ADVICE_TEXT_CAPACITY = 160 };

/* "4.00 MiB (50%)"; "all memory" behind the last size */
const char *pw_advice_size_text(const struct pw_advice *a, size_t memory, char out[PW_ADVICE_TEXT_CAPACITY]);
/* "1.50", "15.0", "150" */
const char *pw_advice_times_text(double times, char out[PW_NUMBER_CAPACITY]);

/* The sentences, one per line however long, for programs, and for tables that break lines themselves. */
void pw_advice_lines(const struct pw_advice *a, struct pw_text *out);

/* advise_call_report.c: the calls that help, those that harm, and what was tried. */
void pw_advice_say_calls(const struct pw_advice *a, struct pw_text *out);

#endif
