/* The pool of workers, for many runs on all cores: one process per run, so that a run which crashes or eats all memory
 * takes no other with it, and so that the simulator needs no threads.
 *
 * A worker adds its result to the store itself before it ends; whatever happens to this process afterwards, that run is
 * there. Other processes may work on the same store: runs are leased (exp/store/lease.h), what another process does is
 * waited for, and taken over when that process dies. Workers die with this process. */
#ifndef PW_EXP_POOL_H
#define PW_EXP_POOL_H

#include "exp/store/store.h"

struct pw_pool_job {
    struct pw_run_spec spec;
    struct pw_run_inputs inputs;
    double cost; /* estimated seconds, for the time left */
    int64_t run; /* in the store; 0: not yet */
    /* Of one with spec.limit_cycles: it takes more cycles than so many, and was not run to its end. 0: it was, or has
     * not been run. */
    uint64_t stopped;
    bool failed;
    char message[sizeof(((struct pw_error *)0)->message)]; /* why */
};

struct pw_pool_progress {
    size_t total, done, running, elsewhere; /* elsewhere: other processes are at work on them */
    double fraction;                        /* of the estimated work, runs under way included */
    double seconds, seconds_left;           /* seconds_left < 0: not known yet */
};

struct pw_pool {
    const char *store_path;
    struct pw_store *store;
    unsigned workers;
    struct pw_pool_job *jobs; /* those with a run, or stopped, are done */
    size_t count;
    /* Called in this process: when a job has got its run or has failed, and about ten times a second. May be NULL. */
    void (*finished)(void *context, size_t job);
    void (*progress)(void *context, const struct pw_pool_progress *p);
    void *context;
    const volatile bool *interrupted; /* or NULL */
};

/* Looks for a job's run in the store; it has to have a breakdown where the job asks for one. Where it has a limit, it
 * is enough that the run is known to take longer. */
enum pw_status pw_pool_look_up(struct pw_store *store, struct pw_pool_job *job, struct pw_error *err);

/* PW_OK also when runs failed; PW_INTERRUPTED when the flag was raised: workers are made to end, what is done is kept.
 * The same when a result cannot be stored: what else is run would be lost too. */
enum pw_status pw_pool_run(struct pw_pool *pool, struct pw_error *err);

#endif
