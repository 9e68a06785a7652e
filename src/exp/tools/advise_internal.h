/* What the parts of advice share:
 *   advise.c         what is asked for, the policies at every size, and what follows from them
 *   advise_runs.c    batches of runs
 *   advise_calls.c   tries of CUDA calls at a size
 *   advise_search.c  which calls to try next
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
    struct pw_stored_run **runs; /* NULL: failed, or not done */
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
/* Keeps a text until the advice is destroyed; NULL stays NULL. */
char *pw_advice_keep(struct pw_advice_private *p, char *text);

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

/* The sentences, one per line however long, for programs and for whoever breaks lines. */
void pw_advice_lines(const struct pw_advice *a, struct pw_text *out);

/* advise_call_report.c: the calls that help, those that harm, and what was tried. */
void pw_advice_say_calls(const struct pw_advice *a, struct pw_text *out);

#endif
