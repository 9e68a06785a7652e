/* A text that is read once, from its beginning to its end, in a buffer of bounded size: a regular file, plain or
 * compressed with xz, which is recognised by its first bytes and decompressed on the way.
 *
 * The buffer always holds whole lines, each with its newline (a last line without one gets one), and bytes that may be
 * read but mean nothing follow them: who scans a line has no bounds to check. A line that does not fit into the buffer
 * is refused. */
#ifndef PW_TRACE_LINE_INPUT_H
#define PW_TRACE_LINE_INPUT_H

#include "trace/import.h"

#include <stddef.h>

enum { PW_LINES_BYTES = 1 << 20, PW_LINES_SLACK = 64 /* behind the last line */ };

/* How far an import has come, over all its files. */
struct pw_lines_progress {
    const struct pw_import_watch *watch; /* NULL: nobody looks */
    uint64_t done, all;                  /* bytes of files */
    uint64_t work, told;                 /* bytes of files and of the text in them, now and at the last call */
};

/* Notes bytes that were read from a file, and bytes of text that came out of it; calls the watch every few megabytes of
 * either, since a small file can stand for much text. PW_INTERRUPTED: it wants an end. progress NULL is fine. */
enum pw_status pw_lines_tell(struct pw_lines_progress *p, const char *path, uint64_t bytes, uint64_t text,
                             struct pw_error *err);

struct pw_lines_xz;

struct pw_lines {
    const char *path;
    const char *next, *end; /* whole lines that were not read */
    uint64_t line;          /* of the line begun last, from 1 */
    int file;
    char *buffer;
    size_t filled;          /* of the buffer, with what follows the last whole line */
    struct pw_lines_xz *xz; /* NULL: plain */
    struct pw_lines_progress *progress;
    bool ended; /* the file */
};

/* path must stay. progress NULL: nobody looks. */
enum pw_status pw_lines_open(struct pw_lines *t, const char *path, struct pw_lines_progress *progress,
                             struct pw_error *err);
/* All zero is fine. */
void pw_lines_close(struct pw_lines *t);

/* Reads more, where all that is in the buffer was read. At the end of the file there is nothing more. */
enum pw_status pw_lines_fill(struct pw_lines *t, struct pw_error *err);

/* The next line is *out up to its newline; NULL at the end of the file. The caller goes on to `next` itself, or to
 * pw_lines_skip_line. */
static inline enum pw_status pw_lines_next(struct pw_lines *t, const char **out, struct pw_error *err)
{
    if (__builtin_expect(t->next == t->end, 0)) {
        enum pw_status status = pw_lines_fill(t, err);
        if (status != PW_OK)
            return status;
        if (t->next == t->end) {
            *out = NULL;
            return PW_OK;
        }
    }
    t->line++;
    *out = t->next;
    return PW_OK;
}

/* Goes on behind the newline of the line that `at` lies in, and returns where that is. */
const char *pw_lines_skip_line(struct pw_lines *t, const char *at);

/* A regular file, to be read; bytes NULL: not asked for. Nothing but opening is done to what is no regular file. */
enum pw_status pw_lines_open_file(const char *path, int *out_file, uint64_t *out_bytes, struct pw_error *err);

/* Refuses the text for what is wrong in the line begun last. */
#define pw_lines_fail(t, err, ...) pw_status_passed((pw_lines_refuse((t), (err), __VA_ARGS__), PW_USER_ERROR))
void pw_lines_refuse(const struct pw_lines *t, struct pw_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
