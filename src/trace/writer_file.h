/* The file that a trace is written to: one with a name, which appears when it is complete (sim/new_file.h), or one that
 * never has any. */
#ifndef PW_TRACE_WRITER_FILE_H
#define PW_TRACE_WRITER_FILE_H

#include "sim/new_file.h"

#include <stddef.h>
#include <stdint.h>

struct pw_writer_file {
    struct pw_new_file named;
    int fd;
    char *path; /* for messages */
    uint8_t *buffer;
    size_t used;
    uint64_t at; /* bytes written so far, those in the buffer included */
};

/* path NULL: without a name. On failure there is nothing to drop. */
enum pw_status pw_writer_file_open(struct pw_writer_file *f, const char *path, struct pw_error *err);
enum pw_status pw_writer_file_write(struct pw_writer_file *f, const void *bytes, size_t count, struct pw_error *err);

/* Completes it. out_fd, which is the caller's then, is open for reading, or -1 where it is to be opened by its name. */
enum pw_status pw_writer_file_finish(struct pw_writer_file *f, int *out_fd, struct pw_error *err);
void pw_writer_file_drop(struct pw_writer_file *f);

#endif
