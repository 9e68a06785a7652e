/* The inside of the readers of other tools' files, for these files only. */
#ifndef PW_TRACE_IMPORT_PRIVATE_H
#define PW_TRACE_IMPORT_PRIVATE_H

#include "trace/format.h"
#include "trace/line_input.h"

enum {
    PW_IMPORT_NAME_BYTES = 256, /* of a kernel's name, with its end; a longer one is cut */
    PW_IMPORT_CTAS = 1 << 28,   /* of a grid */
};

struct pw_import {
    const char *path; /* as the user named it */
    struct pw_trace_writer *out;
    struct pw_lines_progress progress;
    uint32_t cta_sample; /* of a list that pagewalk has exported; 0: not known */
    bool origin_known;
};

/* Says which tool wrote the trace; once is enough. */
void pw_import_set_recorder(struct pw_import *i, const char *recorder);

/* Threads of a block that a CTA can have, CTAs of a grid that can be distinguished; 0: neither. */
uint32_t pw_import_threads(const struct pw_dim3 *block);
uint32_t pw_import_ctas(const struct pw_dim3 *grid);

/* Lanes that a warp of a CTA with so many threads has. */
static inline uint32_t pw_import_lanes(uint32_t threads, uint32_t warp)
{
    uint32_t left = threads - warp * PW_WARP_LANES;
    return left >= PW_WARP_LANES ? PW_ALL_LANES : (1U << left) - 1;
}

/* The writer's failure, or PW_OK. */
enum pw_status pw_import_check(const struct pw_import *i, struct pw_error *err);

/* A name out of a line, from `at` to the blanks before its newline, cut to fit and without what a terminal obeys. */
void pw_import_copy_name(const char *at, char out[PW_IMPORT_NAME_BYTES]);

enum pw_status pw_import_kernel(struct pw_import *i, const char *path, struct pw_error *err);
enum pw_status pw_import_kernelslist(struct pw_import *i, struct pw_error *err);
enum pw_status pw_import_nvbit(struct pw_import *i, struct pw_error *err);

/* Whether a line of a list is a kernel's file with a path before it, which Accel-Sim would ignore: a word that ends as
 * the tracer's files do. */
bool pw_import_is_kernel_path(const char *line, size_t length);

/* Calls `use` with each kernel's file of a list. */
enum pw_status pw_import_kernel_files(const char *list, pw_trace_file_fn *use, void *context, struct pw_error *err);

#endif
