/* A new file (sim/new_file.h) that is written through a large buffer, as logs are that grow during a run.
 *
 * Failures to write are remembered by the stream and reported when it is finished. */
#ifndef PW_SIM_NEW_STREAM_H
#define PW_SIM_NEW_STREAM_H

#include "sim/new_file.h"

#include <stdio.h>

struct pw_new_stream {
    struct pw_new_file file;
    FILE *out; /* to be written; NULL: not open */
};

/* On failure the stream is to be dropped. */
enum pw_status pw_new_stream_open(struct pw_new_stream *s, const char *path, struct pw_error *err);

/* Completes the file and gives it its name. */
enum pw_status pw_new_stream_finish(struct pw_new_stream *s, struct pw_error *err);

/* Leaves no file, unless it was finished. */
void pw_new_stream_drop(struct pw_new_stream *s);

#endif
