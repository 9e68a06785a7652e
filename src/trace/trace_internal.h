/* An open trace and its launches, for trace.c and launch.c. */
#ifndef PW_TRACE_TRACE_INTERNAL_H
#define PW_TRACE_TRACE_INTERNAL_H

#include "trace/block_cache.h"
#include "trace/index.h"
#include "trace/table.h"
#include "trace/trace.h"

struct pw_trace {
    char *path;
    bool imported;
    int fd;
    uint64_t file_bytes, digest;
    struct pw_index index;
    struct pw_unpacker *unpacker;
    struct pw_block_cache cache;
};

struct pw_trace_launch {
    struct pw_trace *trace;
    struct pw_table table;
    uint64_t checksum; /* of its table */
    uint32_t number, ctas, warps;
};

/* Holds less in memory than a writer does otherwise: bytes of CTAs under way, of one of them, and of pieces that wait
 * to be put into blocks. For tests, so that little is much. */
struct pw_trace_writer;
void pw_trace_writer_bound(struct pw_trace_writer *w, size_t under_way, size_t piece, size_t collected);

/* As pw_trace_writer_finish, of a file without a name: messages about what was written name another one. */
enum pw_status pw_trace_writer_finish_as(struct pw_trace_writer *w, const char *name, struct pw_trace **out_trace,
                                         struct pw_error *err);

/* Opens what is already a file; closes fd whatever comes of it. `path` is for messages. */
enum pw_status pw_trace_open_file(int fd, const char *path, struct pw_trace **out, struct pw_error *err);

/* A block of a launch, checked, from the cache or the file. It stays until the next call. */
enum pw_status pw_trace_launch_block(struct pw_trace_launch *l, uint32_t block, struct pw_block **out,
                                     struct pw_error *err);

#endif
