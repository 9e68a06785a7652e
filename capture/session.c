/* A recording: see the header. One lock guards all state; its holder may read the ring. */
#include "session.h"

#include "ring.h"
#include "warps.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 8192, /* records that are read before others get the lock */
    IDLE_NANOSECONDS = 20000,
    BYTES_AFFINE = 4,     /* of a trace at most, docs/trace-format.md */
    BYTES_DIVERGENT = 40, /* likewise */
};

struct pw_capture_session {
    struct pw_capture_settings settings;
    struct pw_capture_calls calls;
    char *output, *kernels, *program, *device_name;
    regex_t regex;
    struct pw_trace_writer *writer;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a launch begins or ends, or the session does */
    pthread_t thread;
    bool open, closing, paused;
    struct pw_capture_ring ring;
    struct pw_capture_gpu *gpu; /* in device memory; NULL: not allocated */
    struct pw_capture_warps *warps;
    struct pw_trace_event *waiting; /* events behind the open launch */
    size_t waiting_count, waiting_room;
    double began;
    uint64_t code_address, ctas; /* of the open launch */
    struct pw_capture_summary sum;
    struct pw_error err; /* the first failure; its status is PW_OK without one */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(struct pw_capture_session *s, const char *what)
{
    if (!s->err.status)
        pw_error_set(&s->err, PW_FAILED, "%s", what);
}

/* Of a call of the session's. */
static void fail_call(struct pw_capture_session *s, const char *what)
{
    const char *why = s->calls.why ? s->calls.why(s->calls.context) : "";
    if (!s->err.status)
        pw_error_set(&s->err, PW_FAILED, "%s%s%s", what, *why ? ": " : "", why);
}

static bool emit(void *context, uint32_t cta, uint32_t warp, const struct pw_op *op, const uint64_t *words)
{
    struct pw_capture_session *s = context;
    if (op)
        return pw_trace_write_op(s->writer, cta, warp, op, words);
    pw_trace_write_cta_end(s->writer, cta);
    return true;
}

/* Reads at most `most` records of the open launch; how many there were. After a failure they are thrown away, so that
 * the kernel ends. */
static uint32_t drain(struct pw_capture_session *s, uint32_t most)
{
    struct pw_capture_cell head;
    uint64_t addresses[PW_WARP_LANES];
    uint64_t before = s->ring.at;
    uint32_t count = 0;
    for (; count < most && pw_capture_ring_next(&s->ring, &head, addresses); count++) {
        struct pw_error err;
        if (!s->err.status && pw_capture_warps_take(s->warps, &head, addresses, &err) &&
            !pw_trace_writer_status(s->writer, &s->err))
            s->err = err;
    }
    s->sum.records += count;
    s->sum.ring_bytes += (s->ring.at - before) * sizeof head;
    return count;
}

static void *drain_while_open(void *context)
{
    struct pw_capture_session *s = context;
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        if (!s->open) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        uint32_t count = drain(s, BATCH);
        pthread_mutex_unlock(&s->lock);
        if (!count)
            nanosleep(&(struct timespec){0, IDLE_NANOSECONDS}, NULL);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void free_session(struct pw_capture_session *s)
{
    if (s->kernels)
        regfree(&s->regex);
    free(s->output);
    free(s->kernels);
    free(s->program);
    free(s->device_name);
    free(s->waiting);
    pw_capture_warps_free(s->warps);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The texts of the settings belong to the caller. */
static bool keep_texts(struct pw_capture_session *s, const char *device)
{
    const struct pw_capture_settings *from = &s->settings;
    s->output = strdup(from->output);
    s->program = strdup(from->program);
    s->device_name = strdup(device);
    if (from->kernels && regcomp(&s->regex, from->kernels, REG_EXTENDED | REG_NOSUB) == 0)
        s->kernels = strdup(from->kernels);
    return s->output && s->program && s->device_name && (!from->kernels || s->kernels);
}

enum pw_status pw_capture_session_open(const struct pw_capture_settings *settings, const struct pw_capture_calls *calls,
                                       const char *device, struct pw_capture_session **out, struct pw_error *err)
{
    struct pw_capture_session *s = calloc(1, sizeof *s);
    if (!s)
        return pw_fail_memory(err, "the recording");
    s->settings = *settings;
    s->calls = *calls;
    s->paused = settings->paused;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    enum pw_status status = keep_texts(s, device) ? PW_OK : pw_fail_memory(err, "the recording");
    if (!status)
        status = pw_trace_writer_open(s->output, &s->writer, err);
    if (!status && pthread_create(&s->thread, NULL, drain_while_open, s) != 0) {
        pw_trace_writer_drop(s->writer);
        status = pw_fail(err, PW_FAILED, "no thread can be started to read the ring");
    }
    if (status) {
        free_session(s);
        return status;
    }
    *out = s;
    return PW_OK;
}

bool pw_capture_session_wants(const struct pw_capture_session *s, const char *kernel)
{
    return !s->kernels || regexec(&s->regex, kernel, 0, NULL, 0) == 0;
}

void pw_capture_session_pause(struct pw_capture_session *s, bool paused)
{
    pthread_mutex_lock(&s->lock);
    s->paused = paused;
    pthread_mutex_unlock(&s->lock);
}

void pw_capture_session_event(struct pw_capture_session *s, const struct pw_trace_event *event)
{
    pthread_mutex_lock(&s->lock);
    struct pw_trace_event copy = *event;
    if (!s->open) {
        pw_trace_write_event(s->writer, &copy);
    } else {
        if (s->waiting_count == s->waiting_room) {
            size_t room = s->waiting_room ? 2 * s->waiting_room : 64;
            struct pw_trace_event *more = realloc(s->waiting, room * sizeof *more);
            if (more) {
                s->waiting = more;
                s->waiting_room = room;
            }
        }
        copy.name = *copy.name ? strdup(copy.name) : ""; /* the caller's does not last */
        if (s->waiting_count < s->waiting_room && copy.name)
            s->waiting[s->waiting_count++] = copy;
        else
            fail(s, "out of memory for events during a launch");
    }
    pthread_mutex_unlock(&s->lock);
}

/* What is allocated once, in the context of the first launch: the ring and what patches are called with. */
static bool allocate(struct pw_capture_session *s, void *launch)
{
    if (s->gpu)
        return true;
    void *cells, *given, *gpu;
    if (!s->calls.allocate_host(s->calls.context, launch, s->settings.ring, &cells) ||
        !s->calls.allocate_host(s->calls.context, launch, sizeof(uint64_t), &given) ||
        !s->calls.allocate_device(s->calls.context, launch, sizeof *s->gpu, &gpu)) {
        fail_call(s, "no memory for the ring between GPU and host; try a smaller --ring");
        return false;
    }
    memset(cells, 0, s->settings.ring);
    memset(given, 0, sizeof(uint64_t));
    s->gpu = gpu;
    s->ring = (struct pw_capture_ring){cells, given, s->settings.ring / sizeof(struct pw_capture_cell), 0};
    return true;
}

static bool prepare_gpu(struct pw_capture_session *s, void *launch)
{
    if (!allocate(s, launch))
        return false;
    struct pw_capture_gpu gpu = {.taken = s->ring.at,
                                 .given_seen = s->ring.at,
                                 .cells = (uint64_t)(uintptr_t)s->ring.cells,
                                 .given = (uint64_t)(uintptr_t)s->ring.given,
                                 .count = s->ring.count,
                                 .sample = s->settings.sample};
    if (s->calls.copy_to_device(s->calls.context, launch, s->gpu, &gpu, sizeof gpu) &&
        s->calls.set_data(s->calls.context, launch, s->gpu))
        return true;
    fail_call(s, "the launch's patches cannot be given the ring's address");
    return false;
}

/* Counts a launch whose copies are missing, and keeps its kernel's name, if it is a further one and there is room. */
static void note_incomplete(struct pw_capture_session *s, const char *kernel)
{
    enum { MOST = 96 /* bytes of a name */ };
    char *names = s->sum.incomplete_kernels, entry[MOST + 8];
    size_t used = strlen(names);
    bool is_long = strlen(kernel) > MOST;
    snprintf(entry, sizeof entry, "%.*s%s", MOST, kernel, is_long ? "..." : "");
    s->sum.incomplete++;
    if (!strstr(names, entry) && used + strlen(entry) + 3 < sizeof s->sum.incomplete_kernels)
        snprintf(names + used, sizeof s->sum.incomplete_kernels - used, "%s%s", used ? ", " : "", entry);
}

static void write_launch(struct pw_capture_session *s, const struct pw_capture_launch *l, uint64_t ctas)
{
    uint32_t sample = s->settings.sample;
    struct pw_trace_event event = {.kind = PW_TRACE_LAUNCH, .name = l->kernel, .grid = l->grid, .block = l->block};
    if (sample > 1) {
        event.grid = (struct pw_dim3){(uint32_t)((ctas + sample - 1) / sample), 1, 1};
        event.sampled_of = ctas;
    }
    event.shared_bytes = l->dynamic_shared + (l->code ? l->code->shared_bytes : 0);
    event.registers = l->code ? l->code->registers : 0;
    pw_trace_write_launch(s->writer, &event);
    if (l->code && l->code->unseen_copies)
        note_incomplete(s, l->kernel);
}

/* Whether filters and limits want the launch; counts it. */
static bool wanted(struct pw_capture_session *s, const struct pw_capture_launch *l)
{
    if (s->paused || !pw_capture_session_wants(s, l->kernel))
        return false;
    uint64_t number = s->sum.launches++;
    if (number < s->settings.skip || number - s->settings.skip >= s->settings.count)
        return false;
    uint64_t bytes = BYTES_AFFINE * (s->sum.operations - s->sum.divergent) + BYTES_DIVERGENT * s->sum.divergent;
    s->sum.limited |= s->settings.limit && bytes >= s->settings.limit;
    return !s->sum.limited && !s->err.status;
}

/* Waits until no launch is open; false: for too long. */
static bool wait_for_turn(struct pw_capture_session *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PW_CAPTURE_PATIENCE_SECONDS;
    while (s->open)
        if (pthread_cond_timedwait(&s->changed, &s->lock, &until) != 0)
            return !s->open;
    return true;
}

static bool begin(struct pw_capture_session *s, const struct pw_capture_launch *l)
{
    uint64_t ctas = (uint64_t)l->grid.x * l->grid.y;
    if (!wanted(s, l))
        return false;
    if (__builtin_mul_overflow(ctas, l->grid.z, &ctas) || ctas > UINT32_MAX) {
        s->sum.too_large++;
        return false;
    }
    if (!wait_for_turn(s)) {
        s->sum.busy++;
        return false;
    }
    struct pw_capture_kernel kernel = {l->block.x * l->block.y * l->block.z, l->code, l->address};
    s->warps = pw_capture_warps_new(&kernel, emit, s);
    if (!s->warps)
        fail(s, "out of memory for the warps of a launch");
    if (!s->warps || !prepare_gpu(s, l->launch)) {
        pw_capture_warps_free(s->warps);
        s->warps = NULL;
        return false;
    }
    write_launch(s, l, ctas);
    s->began = now();
    s->ctas = (ctas + s->settings.sample - 1) / s->settings.sample;
    s->code_address = l->address;
    s->open = true;
    pthread_cond_broadcast(&s->changed);
    return true;
}

bool pw_capture_session_begin(struct pw_capture_session *s, const struct pw_capture_launch *launch)
{
    pthread_mutex_lock(&s->lock);
    bool recorded = begin(s, launch);
    pthread_mutex_unlock(&s->lock);
    if (!recorded)
        s->calls.set_data(s->calls.context, launch->launch, NULL);
    return recorded;
}

static void write_waiting(struct pw_capture_session *s)
{
    for (size_t i = 0; i < s->waiting_count; i++) {
        pw_trace_write_event(s->writer, &s->waiting[i]);
        if (*s->waiting[i].name)
            free((char *)s->waiting[i].name);
    }
    s->waiting_count = 0;
}

void pw_capture_session_end(struct pw_capture_session *s, void *launch)
{
    bool ran = s->calls.wait(s->calls.context, launch); /* the session's thread reads meanwhile */
    pthread_mutex_lock(&s->lock);
    if (!ran)
        fail_call(s, "a recorded kernel did not run to its end");
    while (drain(s, BATCH))
        ;
    pw_trace_write_pace(s->writer, pw_capture_warps_get_pace(s->warps));
    struct pw_capture_warps_counts counts = pw_capture_warps_get_counts(s->warps);
    s->sum.operations += counts.operations;
    s->sum.divergent += counts.divergent;
    if (!s->sum.guessed && counts.guessed) {
        s->sum.guessed_at = counts.guessed_at;
        s->sum.guessed_kernel = s->code_address;
    }
    s->sum.guessed += counts.guessed;
    s->sum.odd_sizes += counts.odd_sizes;
    s->sum.ctas += counts.ctas;
    s->sum.unended += s->ctas - counts.ended;
    s->sum.seconds += now() - s->began;
    s->sum.recorded++;
    pw_capture_warps_free(s->warps);
    s->warps = NULL;
    s->open = false;
    write_waiting(s);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void pw_capture_session_leave(struct pw_capture_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->gpu = NULL;
    pthread_mutex_unlock(&s->lock);
}

void pw_capture_session_settle(struct pw_capture_session *s)
{
    pthread_mutex_lock(&s->lock);
    wait_for_turn(s);
    pthread_mutex_unlock(&s->lock);
}

static void write_origin(struct pw_capture_session *s)
{
    char recorder[128] = "pagewalk-capture " PW_VERSION;
    size_t used = strlen(recorder);
    if (s->sum.incomplete)
        snprintf(recorder + used, sizeof recorder - used, ", without tensor copies of %llu launches",
                 (unsigned long long)s->sum.incomplete);
    pw_trace_writer_set_origin(s->writer, &(struct pw_trace_origin){.recorder = recorder,
                                                                    .program = s->program,
                                                                    .device = s->device_name,
                                                                    .cta_sample = s->settings.sample});
}

enum pw_status pw_capture_session_close(struct pw_capture_session *s, struct pw_capture_summary *out_summary,
                                        struct pw_error *err)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    *out_summary = s->sum;
    enum pw_status status = s->err.status;
    if (s->open)
        status = pw_fail(&s->err, PW_FAILED, "the program ended while a recorded kernel ran");
    if (status) {
        *err = s->err;
        pw_trace_writer_drop(s->writer);
    } else {
        write_origin(s);
        status = pw_trace_writer_finish(s->writer, NULL, err);
    }
    free_session(s);
    return status;
}
