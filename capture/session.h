/* A recording: from what happens in the recorded process to a trace.
 *
 * Launches are recorded one at a time. From its beginning to its end a launch is open; a thread of the session then
 * reads the ring while the kernel runs, and the thread that ends the launch reads the rest. What other threads of the
 * program do meanwhile is written behind the launch. A launch that begins while another is open waits for its end;
 * after PW_CAPTURE_PATIENCE_SECONDS it goes unrecorded, as does one on another GPU context (the caller's to say), in a
 * CUDA graph, or with more CTAs than 32 bits number.
 *
 * What the session needs of the GPU it asks for through `struct pw_capture_calls`, so that a test can be the GPU. All
 * functions may be called from any thread, but begin and end of a launch from the same. */
#ifndef PW_CAPTURE_SESSION_H
#define PW_CAPTURE_SESSION_H

#include "code.h"
#include "settings.h"
#include "trace/trace_writer.h"

enum { PW_CAPTURE_PATIENCE_SECONDS = 10 };

/* Each returns whether it worked. `launch` is what the caller gave for the launch. */
struct pw_capture_calls {
    void *context;
    bool (*allocate_device)(void *context, void *launch, size_t bytes, void **out);
    bool (*allocate_host)(void *context, void *launch, size_t bytes, void **out); /* pinned, seen by the GPU */
    bool (*copy_to_device)(void *context, void *launch, void *to, const void *from, size_t bytes);
    bool (*set_data)(void *context, void *launch, void *device); /* what patches are called with; NULL: not recorded */
    bool (*wait)(void *context, void *launch);                   /* until the kernel has run */
    const char *(*why)(void *context); /* this thread's last call did not work; NULL: not known */
};

struct pw_capture_launch {
    const char *kernel;
    struct pw_dim3 grid, block;
    uint32_t dynamic_shared;
    const struct pw_code_function *code; /* NULL: not known; until the launch ends */
    uint64_t address;                    /* of the code */
    void *launch;                        /* for the calls */
};

struct pw_capture_summary {
    uint64_t launches, recorded;             /* with a kernel that matches; of them */
    uint64_t busy, too_large;                /* not recorded although they were wanted */
    uint64_t records, operations, divergent; /* from the GPU; accesses to global memory; with an address per lane */
    uint64_t guessed;                        /* ways between two records that the code did not tell */
    uint64_t guessed_at, guessed_kernel;     /* the first of them: program counter, and address of the kernel's code */
    uint64_t ctas, unended;                  /* that wrote a record; whose end was not seen */
    uint64_t ring_bytes;                     /* through the ring */
    uint64_t odd_sizes;                      /* accesses that are not 1, 2, 4, 8 or 16 bytes a lane; left out */
    uint64_t incomplete;                     /* recorded launches whose code has copies that are not recorded */
    char incomplete_kernels[1024];           /* names of their kernels, the first of them */
    double seconds;                          /* from begin to end of the recorded launches */
    bool limited;                            /* --limit was reached */
};

struct pw_capture_session;

enum pw_status pw_capture_session_open(const struct pw_capture_settings *settings, const struct pw_capture_calls *calls,
                                       const char *device, struct pw_capture_session **out, struct pw_error *err);

/* Whether a kernel of that name is to be recorded at all. */
bool pw_capture_session_wants(const struct pw_capture_session *s, const char *kernel);

/* While it is paused, launches are neither recorded nor counted; --paused begins so. */
void pw_capture_session_pause(struct pw_capture_session *s, bool paused);

/* An event other than a launch; its name is copied. */
void pw_capture_session_event(struct pw_capture_session *s, const struct pw_trace_event *event);

/* True: the launch is recorded, and has to be ended. */
bool pw_capture_session_begin(struct pw_capture_session *s, const struct pw_capture_launch *launch);
void pw_capture_session_end(struct pw_capture_session *s, void *launch);

/* What was allocated on the GPU is gone; the next launch allocates again. */
void pw_capture_session_leave(struct pw_capture_session *s);

/* Waits until no launch is open, as long as a launch would wait for its turn. */
void pw_capture_session_settle(struct pw_capture_session *s);

/* Completes the trace; no launch may be open. Frees the session whatever comes of it. */
enum pw_status pw_capture_session_close(struct pw_capture_session *s, struct pw_capture_summary *out_summary,
                                        struct pw_error *err);

#endif
