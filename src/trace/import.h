/* Readers of what other tools write. Each parses a text from its beginning to its end and hands what it finds to a
 * writer (trace/trace_writer.h), so that there is one way to replay.
 *
 * Errors name file and line. Nothing is written on failure; the caller drops the writer. */
#ifndef PW_TRACE_IMPORT_H
#define PW_TRACE_IMPORT_H

#include "trace/trace_writer.h"

enum pw_trace_format {
    PW_TRACE_PWT,         /* pagewalk's own */
    PW_TRACE_KERNELSLIST, /* Accel-Sim: a list of commands and kernels */
    PW_TRACE_TRACEG,      /* Accel-Sim: one kernel alone */
    PW_TRACE_NVBIT,       /* NVBit's mem_trace */
    PW_TRACE_FORMAT_COUNT
};

/* How far an import has come; called now and then, never for a short one. True: stop with PW_INTERRUPTED. */
typedef bool pw_import_progress(void *context, uint64_t bytes_read, uint64_t bytes_in_all);

struct pw_import_watch {
    pw_import_progress *progress; /* NULL: nobody looks */
    void *context;
};

/* What a file is, by its content (xz-compressed text is looked into). A file that is none of them is an error that says
 * what there is; so are .tracez and Accel-Sim's versions other than those understood, by name. */
enum pw_status pw_trace_sniff(const char *path, enum pw_trace_format *out, struct pw_error *err);

/* Any format but PW_TRACE_PWT. */
enum pw_status pw_trace_import(const char *path, enum pw_trace_format format, const struct pw_import_watch *watch,
                               struct pw_trace_writer *out, struct pw_error *err);

/* Calls `use` with each file that an import of this one, or opening it, would read: of a list, every kernel's too. */
typedef enum pw_status pw_trace_file_fn(void *context, const char *path, struct pw_error *err);
enum pw_status pw_trace_each_file(const char *path, pw_trace_file_fn *use, void *context, struct pw_error *err);

/* A digest of everything that an import of the file, or opening it, would read: of a list, every kernel's file. */
enum pw_status pw_trace_digest_file(const char *path, uint64_t *out, struct pw_error *err);

/* Opens any format; what is not pagewalk's own is imported into a file without a name. */
enum pw_status pw_trace_open_any(const char *path, const struct pw_import_watch *watch, struct pw_trace **out,
                                 struct pw_error *err);

#endif
