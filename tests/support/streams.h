/* Streams for tests: what must go well, and what to look at. Include it after <cmocka.h>. */
#ifndef PW_TESTS_STREAMS_H
#define PW_TESTS_STREAMS_H

#include "pagewalk/stream.h"

#include <string.h>

/* A call that must succeed. */
#define STREAM_OK(call)                                                                                                \
    do {                                                                                                               \
        struct pw_error err_;                                                                                          \
        struct pw_error *err = &err_;                                                                                  \
        if ((call) != PW_OK)                                                                                           \
            fail_msg("%s: %s", #call, err->message);                                                                   \
    } while (0)

static inline struct pw_stream *stream_open(struct pw_stream_spec spec)
{
    struct pw_stream *s = NULL;
    STREAM_OK(pw_stream_open(&spec, &s, err));
    return s;
}

/* Checks every identity. */
static inline void stream_end(struct pw_stream *s)
{
    STREAM_OK(pw_stream_finish(s, NULL, err));
    pw_stream_close(s);
}

static inline uint64_t stream_count(struct pw_stream *s, const char *name)
{
    struct pw_metric m = {0};
    STREAM_OK(pw_stream_metric(s, name, &m, err));
    assert_true(m.is_integer);
    return m.integer;
}

/* One access of one lane from the first warp, to its end. */
static inline struct pw_stream_completion stream_do(struct pw_stream *s, struct pw_stream_place place,
                                                    enum pw_stream_kind kind, uint64_t address)
{
    struct pw_stream_completion done;
    STREAM_OK(pw_stream_access(s, place, kind, address, 4, 7, err));
    STREAM_OK(pw_stream_drain(s, err));
    assert_true(pw_stream_next(s, &done));
    assert_int_equal(done.tag, 7);
    return done;
}

#endif
