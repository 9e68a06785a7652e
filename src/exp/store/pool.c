/* Forks workers, waits for them and for other processes, and keeps count. The rules are in pool.h. */
#include "exp/store/pool.h"

#include "exp/store/lease.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec pause_between_looks = {.tv_nsec = 10 * 1000 * 1000};
enum { LOOKS_PER_REPORT = 10, LOOKS_PER_STORE_LOOK = 20 };

/* Shared with a worker, who writes it. */
struct report {
    volatile double fraction;
    enum pw_status status;
    bool not_stored; /* the run is good, but its result could not be kept */
    int64_t run;
    uint64_t stopped; /* as of a job */
    char message[sizeof(((struct pw_pool_job *)0)->message)];
};

struct worker {
    pid_t pid; /* 0: idle */
    size_t job;
    struct report *report;
};

struct state {
    struct pw_pool *pool;
    struct worker *workers;
    struct report *reports;
    size_t *waiting; /* jobs that have no run yet and no worker, in order */
    size_t waiting_count, elsewhere;
    size_t done;
    bool store_failed;
    char store_message[sizeof(((struct pw_pool_job *)0)->message)];
    double cost_total, cost_done, cost_begun; /* begun: done when the pool started */
    struct timespec begun;
};

static double seconds_since(const struct timespec *begun)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec);
}

static void report_fraction(void *context, const struct pw_progress *p)
{
    struct report *report = context;
    report->fraction = p->fraction < 0 ? 0 : p->fraction;
}

/* A worker's whole life. It opens the store again: a connection may not be used on both sides of a fork, and this
 * process has none of the parent's locks, since the parent forks between transactions only. */
static void work(struct pw_pool *pool, const struct pw_pool_job *job, struct report *report)
{
    struct pw_error err = {0};
    struct pw_result *result = NULL;
    struct pw_store *store = NULL;
    struct pw_run_spec spec = job->spec;
    spec.progress = report_fraction;
    spec.progress_context = report;
    spec.interrupted = pool->interrupted;
    enum pw_status status = pw_run(&spec, &result, &err);
    bool stopped = status == PW_STOPPED, finished = stopped || status == PW_OK;
    if (finished)
        status = pw_store_open(pool->store_path, PW_STORE_CREATE, &store, &err);
    if (status == PW_OK && stopped)
        status = pw_store_add_stopped(store, &job->inputs, spec.limit_cycles, &err);
    else if (status == PW_OK)
        status = pw_store_add(store, &job->inputs, result, &report->run, &err);
    report->stopped = stopped ? spec.limit_cycles : 0;
    report->not_stored = finished && status != PW_OK;
    pw_store_close(store);
    pw_result_free(result);
    memcpy(report->message, err.message, sizeof report->message);
    report->status = status;
}

static bool start(struct state *s, struct worker *w, size_t job, struct pw_lease *lease)
{
    *w->report = (struct report){.status = PW_FAILED, .message = "the run ended without a word"};
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            work(s->pool, &s->pool->jobs[job], w->report);
        _exit(0);
    }
    pw_lease_drop(lease); /* the worker has it now */
    if (pid < 0)
        return false;
    w->pid = pid;
    w->job = job;
    return true;
}

static void settle(struct state *s, size_t job, int64_t run, const char *failure)
{
    struct pw_pool *pool = s->pool;
    struct pw_pool_job *j = &pool->jobs[job];
    j->run = run;
    j->failed = failure != NULL;
    if (failure)
        snprintf(j->message, sizeof j->message, "%s", failure);
    s->done++;
    s->cost_done += j->cost;
    if (pool->finished)
        pool->finished(pool->context, job);
}

static void note_store_failure(struct state *s, const char *message)
{
    if (!s->store_failed)
        memcpy(s->store_message, message, sizeof s->store_message);
    s->store_failed = true;
}

static void reap(struct state *s, struct worker *w, int wait_status)
{
    const struct report *r = w->report;
    char killed[128];
    w->pid = 0;
    if (WIFSIGNALED(wait_status)) {
        int number = WTERMSIG(wait_status);
        snprintf(killed, sizeof killed, "the run was ended by signal %d (%s)%s", number, strsignal(number),
                 number == SIGKILL ? "; perhaps memory ran out" : "");
        settle(s, w->job, 0, killed);
    } else if (r->not_stored) {
        note_store_failure(s, r->message);
    } else if (r->status == PW_INTERRUPTED) {
        s->waiting[s->waiting_count++] = w->job;
    } else {
        s->pool->jobs[w->job].stopped = r->status == PW_OK ? r->stopped : 0;
        settle(s, w->job, r->status == PW_OK ? r->run : 0, r->status == PW_OK ? NULL : r->message);
    }
}

static void reap_all(struct state *s, int flags)
{
    for (unsigned i = 0; i < s->pool->workers; i++) {
        struct worker *w = &s->workers[i];
        int wait_status;
        pid_t pid = w->pid;
        while (pid && (pid = waitpid(w->pid, &wait_status, flags)) < 0 && errno == EINTR)
            ;
        if (pid > 0)
            reap(s, w, wait_status);
    }
}

enum pw_status pw_pool_look_up(struct pw_store *store, struct pw_pool_job *job, struct pw_error *err)
{
    uint64_t cycles;
    enum pw_status status =
        (job->spec.breakdown ? pw_store_find_breakdown : pw_store_find)(store, &job->inputs, &job->run, err);
    if (status != PW_OK || job->run || !job->spec.limit_cycles)
        return status;
    status = pw_store_find_stopped(store, &job->inputs, &cycles, err);
    job->stopped = cycles >= job->spec.limit_cycles ? cycles : 0;
    return status;
}

static bool is_known(const struct pw_pool_job *j)
{
    return j->run || j->stopped;
}

/* Whether another process has finished the job meanwhile. */
static enum pw_status look_in_store(struct state *s, size_t job, bool *out_there, struct pw_error *err)
{
    struct pw_pool_job *j = &s->pool->jobs[job];
    enum pw_status status = pw_pool_look_up(s->pool->store, j, err);
    *out_there = status == PW_OK && is_known(j);
    if (*out_there)
        settle(s, job, j->run, NULL);
    return status;
}

/* Gives the idle workers the first jobs that no other process has leased. Leased jobs stay in the queue. */
static enum pw_status hand_out(struct state *s, struct pw_error *err)
{
    size_t kept = 0, next = 0;
    enum pw_status status = PW_OK;
    s->elsewhere = 0;
    for (unsigned i = 0; status == PW_OK && i < s->pool->workers; i++) {
        while (!s->workers[i].pid && next < s->waiting_count && status == PW_OK) {
            size_t job = s->waiting[next++];
            struct pw_lease lease;
            bool there;
            if (!pw_lease_take(s->pool->store_path, pw_run_inputs_hash(&s->pool->jobs[job].inputs), &lease)) {
                s->waiting[kept++] = job;
                s->elsewhere++;
                continue;
            }
            status = look_in_store(s, job, &there, err);
            if (there || status != PW_OK)
                pw_lease_drop(&lease);
            else if (!start(s, &s->workers[i], job, &lease))
                status = pw_fail(err, PW_FAILED, "cannot start a worker process: %s", strerror(errno));
        }
    }
    memmove(s->waiting + kept, s->waiting + next, (s->waiting_count - next) * sizeof *s->waiting);
    s->waiting_count -= next - kept;
    return status;
}

static unsigned running(const struct state *s)
{
    unsigned count = 0;
    for (unsigned i = 0; i < s->pool->workers; i++)
        count += s->workers[i].pid != 0;
    return count;
}

static void report_progress(const struct state *s)
{
    const struct pw_pool *pool = s->pool;
    if (!pool->progress)
        return;
    double done = s->cost_done;
    for (unsigned i = 0; i < pool->workers; i++)
        if (s->workers[i].pid)
            done += s->workers[i].report->fraction * pool->jobs[s->workers[i].job].cost;
    struct pw_pool_progress p = {
        .total = pool->count,
        .done = s->done,
        .running = running(s),
        .elsewhere = s->elsewhere,
        .fraction = s->cost_total > 0 ? done / s->cost_total : 1,
        .seconds = seconds_since(&s->begun),
        .seconds_left = -1,
    };
    double here = done - s->cost_begun;
    if (here > 0)
        p.seconds_left = p.seconds * (s->cost_total - done) / here;
    pool->progress(pool->context, &p);
}

static enum pw_status prepare(struct state *s, struct pw_error *err)
{
    struct pw_pool *pool = s->pool;
    size_t bytes = pool->workers * sizeof *s->reports;
    s->workers = calloc(pool->workers, sizeof *s->workers);
    s->waiting = malloc((pool->count + 1) * sizeof *s->waiting);
    s->reports = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->reports == MAP_FAILED)
        s->reports = NULL;
    if (!s->workers || !s->waiting || !s->reports)
        return pw_fail_memory(err, "workers");
    for (unsigned i = 0; i < pool->workers; i++)
        s->workers[i].report = &s->reports[i];
    for (size_t i = 0; i < pool->count; i++) {
        s->cost_total += pool->jobs[i].cost;
        if (!is_known(&pool->jobs[i])) {
            s->waiting[s->waiting_count++] = i;
        } else {
            s->done++;
            s->cost_done += pool->jobs[i].cost;
        }
    }
    s->cost_begun = s->cost_done;
    clock_gettime(CLOCK_MONOTONIC, &s->begun);
    return PW_OK;
}

/* Tells the workers to end and waits for them. */
static void stop(struct state *s)
{
    for (unsigned i = 0; s->workers && i < s->pool->workers; i++)
        if (s->workers[i].pid)
            kill(s->workers[i].pid, SIGTERM);
    if (s->workers)
        reap_all(s, 0);
}

enum pw_status pw_pool_run(struct pw_pool *pool, struct pw_error *err)
{
    struct state s = {.pool = pool};
    enum pw_status status = prepare(&s, err);
    if (status == PW_OK && s.waiting_count)
        status = pw_store_writable(pool->store, err);
    for (unsigned look = 0; status == PW_OK && s.done < pool->count; look++) {
        if (pool->interrupted && *pool->interrupted) {
            status = pw_fail(err, PW_INTERRUPTED, "interrupted; what is finished is kept");
            break;
        }
        reap_all(&s, WNOHANG);
        if (s.store_failed) {
            status = pw_fail(err, PW_FAILED, "%s; stopped, what is finished is kept", s.store_message);
            break;
        }
        /* Jobs that others are at are looked for now and then only. */
        bool look_elsewhere = look % LOOKS_PER_STORE_LOOK == 0;
        if (running(&s) < pool->workers && (s.waiting_count > s.elsewhere || look_elsewhere))
            status = hand_out(&s, err);
        if (look % LOOKS_PER_REPORT == 0)
            report_progress(&s);
        if (s.done < pool->count)
            nanosleep(&pause_between_looks, NULL);
    }
    stop(&s);
    if (status == PW_OK)
        report_progress(&s);
    pw_lease_tidy(pool->store_path);
    if (s.reports)
        munmap(s.reports, pool->workers * sizeof *s.reports);
    free(s.waiting);
    free(s.workers);
    return status;
}
