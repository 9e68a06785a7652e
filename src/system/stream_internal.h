/* The insides of a stream (pagewalk/stream.h), common to its files.
 *
 * A stream is a system (system.h) whose programs launch one kernel each, an open launch: its warps are started where
 * operations are pushed, and their kernel hands on what has been pushed. So a machine does with a stream what it does
 * with a program. */
#ifndef PW_SYSTEM_STREAM_INTERNAL_H
#define PW_SYSTEM_STREAM_INTERNAL_H

#include "pagewalk/stream.h"
#include "system/system.h"

enum {
    PW_SEGMENT_SHIFT = 30,
    PW_STREAM_ADDRESS_BITS = 48,
    PW_STREAM_SEGMENTS = 1 << (PW_STREAM_ADDRESS_BITS - PW_SEGMENT_SHIFT),
};

/* What one call has mapped, in the caller's addresses: bytes up to `end`, whole pages up to `outer`. */
struct pw_mapping {
    uint64_t first, end, outer;
};

/* The caller's addresses in one application, and where they are in its address space (stream_memory.c). */
struct pw_stream_space {
    struct pw_mapping *maps; /* in order of address */
    size_t count, capacity, last;
    uint16_t *segments; /* 1 + the number of the 1 GiB of the address space that stands for this one; 0: none yet */
    uint16_t used;
    bool open; /* its launch is */
};

struct pw_feed;

/* When the events stop, beside a failure: by time alone, with a completion that is reported, with the last one of all,
 * or when nothing is left to issue either. */
enum pw_stream_goal { PW_GOAL_TIME, PW_GOAL_COMPLETION, PW_GOAL_LAST_COMPLETION, PW_GOAL_REST };

struct pw_stream {
    struct pw_run_spec spec; /* its names are not looked at after opening */
    char *machine;           /* as given */
    char design[256];
    struct pw_config config;
    struct pw_options *options;
    struct pw_workload workload;
    struct pw_program programs[PW_MAX_APPS];
    struct pw_open hooks;
    struct pw_system *system;
    struct pw_error failure; /* that has ended it */
    bool begun, finished, map_on_touch;
    bool unbacked; /* memory has been mapped since time last went on */
    unsigned apps;
    struct pw_stream_space *spaces; /* by application */
    /* By GPU, SM and slot; NULL where nothing has ever been pushed (stream_warps.c). */
    struct pw_feed **feeds;
    uint32_t queue, feed_count;
    uint64_t outstanding; /* operations that are followed and not complete */
    uint64_t busy;        /* feeds that have something to issue, and launches that are not open */
    enum pw_stream_goal goal;
    struct pw_stream_completion *completions;
    size_t completion_count, completion_capacity, taken;
};

/* stream_memory.c */
enum pw_status pw_stream_space_init(struct pw_stream_space *space, struct pw_error *err);
void pw_stream_space_release(struct pw_stream_space *space);
/* Where accesses of `bytes` bytes, a power of two, at multiples of it are; maps them first, if that is asked for. Has
 * mapped nothing if it fails. */
enum pw_status pw_stream_locate(struct pw_stream *s, unsigned app, const uint64_t *addresses, uint32_t count,
                                uint64_t bytes, uint64_t *out, struct pw_error *err);

/* stream_warps.c: the kernel of all warps, and who hears what becomes of their operations. */
void pw_feed_kernel(struct pw_warp *w, const void *stream);
struct pw_open pw_feed_hooks(struct pw_stream *s);
/* All warps that are asleep exit. */
void pw_feeds_close(struct pw_stream *s);
void pw_feeds_release(struct pw_stream *s);

/* stream.c: PW_OK while calls may be made. */
enum pw_status pw_stream_check(const struct pw_stream *s, struct pw_error *err);
/* Nothing of an application is under way. */
bool pw_stream_rests(const struct pw_stream *s, unsigned app);
/* Ends the stream if the call has failed for more than its arguments. */
enum pw_status pw_stream_keep(struct pw_stream *s, enum pw_status status, const struct pw_error *err);

/* SMs of an application on each GPU, from this one on. */
static inline uint32_t pw_stream_first_sm(const struct pw_stream *s, unsigned app)
{
    uint32_t first = 0;
    for (unsigned i = 0; i < app; i++)
        first += s->system->config.gpu.app_sms[i];
    return first;
}

#endif
