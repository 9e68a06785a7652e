/* Reads texts, plain and compressed (line_input.h).
 *
 * What xz needs is bounded too: a file whose dictionary is larger than that of `xz -9` is refused, so that a small file
 * cannot ask for much memory, and however much text it stands for comes through the same buffer. How much that is has
 * no bound, as it costs time alone and the watch can end it: the trace of a kernel that only computes is packed as
 * tightly as anything can be (187 MB into 28 KB, where xz reaches 7,000 to 1 at most). */
#include "trace/line_input.h"

#include "sim/c_locale.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    XZ_MEMORY = 80 << 20, /* `xz -9` needs 65 MiB */
    XZ_INPUT_BYTES = 1 << 16,
    TELL_BYTES = 4 << 20, /* between two calls of the watch */
};

static const unsigned char xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};

struct pw_lines_xz {
    lzma_stream stream;
    bool ended;
    uint8_t input[XZ_INPUT_BYTES];
};

void pw_lines_refuse(const struct pw_lines *t, struct pw_error *err, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    pw_error_set(err, PW_USER_ERROR, "%s:%llu: %s", t->path, (unsigned long long)t->line, what);
}

enum pw_status pw_lines_open_file(const char *path, int *out_file, uint64_t *out_bytes, struct pw_error *err)
{
    /* Without O_NONBLOCK a FIFO would wait for a writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot open: %s", path, strerror(errno));
    struct stat st;
    if (fstat(file, &st)) {
        close(file);
        return pw_fail(err, PW_USER_ERROR, "%s: cannot open: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        close(file);
        return pw_fail(err, PW_USER_ERROR, "%s: a trace must be a regular file", path);
    }
    *out_file = file;
    if (out_bytes)
        *out_bytes = (uint64_t)st.st_size;
    return PW_OK;
}

enum pw_status pw_lines_tell(struct pw_lines_progress *p, const char *path, uint64_t bytes, uint64_t text,
                             struct pw_error *err)
{
    if (!p)
        return PW_OK;
    p->done += bytes;
    p->work += bytes + text;
    if (p->work - p->told < TELL_BYTES || !p->watch || !p->watch->progress)
        return PW_OK;
    p->told = p->work;
    if (p->watch->progress(p->watch->context, p->done, p->all))
        return pw_fail(err, PW_INTERRUPTED, "%s: reading was interrupted", path);
    return PW_OK;
}

static enum pw_status read_file(struct pw_lines *t, void *to, size_t capacity, size_t *out_got, struct pw_error *err)
{
    ssize_t got;
    do
        got = read(t->file, to, capacity);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot read: %s", t->path, strerror(errno));
    *out_got = (size_t)got;
    return pw_lines_tell(t->progress, t->path, (uint64_t)got, 0, err);
}

static const char *xz_problem(lzma_ret result)
{
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
        return "needs too much memory to be decompressed; compress it with `xz -9` or less";
    case LZMA_MEM_ERROR:
        return "there is no memory to decompress it";
    case LZMA_BUF_ERROR:
        return "the compressed file ends too early";
    case LZMA_OPTIONS_ERROR:
        return "is compressed in a way that this liblzma does not know";
    default:
        return "the compressed file is damaged";
    }
}

static enum pw_status read_xz(struct pw_lines *t, char *to, size_t capacity, size_t *out_got, struct pw_error *err)
{
    struct pw_lines_xz *xz = t->xz;
    xz->stream.next_out = (uint8_t *)to;
    xz->stream.avail_out = capacity;
    lzma_ret result = xz->ended ? LZMA_STREAM_END : LZMA_OK;
    while (result == LZMA_OK && xz->stream.avail_out == capacity) {
        lzma_action action = LZMA_RUN;
        if (!xz->stream.avail_in) {
            size_t got;
            enum pw_status status = read_file(t, xz->input, sizeof xz->input, &got, err);
            if (status != PW_OK)
                return status;
            xz->stream.next_in = xz->input;
            xz->stream.avail_in = got;
            if (!got)
                action = LZMA_FINISH;
        }
        result = lzma_code(&xz->stream, action);
    }
    xz->ended = result == LZMA_STREAM_END;
    *out_got = capacity - xz->stream.avail_out;
    if (result == LZMA_OK || result == LZMA_STREAM_END)
        return pw_lines_tell(t->progress, t->path, 0, *out_got, err);
    return pw_fail(err, result == LZMA_MEM_ERROR ? PW_FAILED : PW_USER_ERROR, "%s: %s", t->path, xz_problem(result));
}

static enum pw_status begin_xz(struct pw_lines *t, struct pw_error *err)
{
    struct pw_lines_xz *xz = calloc(1, sizeof *xz);
    if (!xz)
        return pw_fail_memory(err, "decompressing a trace");
    xz->stream = (lzma_stream)LZMA_STREAM_INIT;
    t->xz = xz;
    lzma_ret result = lzma_stream_decoder(&xz->stream, XZ_MEMORY, LZMA_CONCATENATED);
    if (result != LZMA_OK)
        return pw_fail(err, PW_FAILED, "%s: %s", t->path, xz_problem(result));
    return PW_OK;
}

enum pw_status pw_lines_open(struct pw_lines *t, const char *path, struct pw_lines_progress *progress,
                             struct pw_error *err)
{
    *t = (struct pw_lines){.path = path, .file = -1, .progress = progress};
    enum pw_status status = pw_lines_open_file(path, &t->file, NULL, err);
    if (status != PW_OK)
        return status;
    t->buffer = malloc(PW_LINES_BYTES + PW_LINES_SLACK);
    if (!t->buffer) {
        pw_lines_close(t);
        return pw_fail_memory(err, "reading a trace");
    }
    t->next = t->end = t->buffer;
    unsigned char magic[sizeof xz_magic];
    if (pread(t->file, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, xz_magic, sizeof magic))
        status = begin_xz(t, err);
    if (status != PW_OK)
        pw_lines_close(t);
    return status;
}

void pw_lines_close(struct pw_lines *t)
{
    if (!t->path)
        return;
    if (t->file >= 0)
        close(t->file);
    if (t->xz) {
        lzma_end(&t->xz->stream);
        free(t->xz);
    }
    free(t->buffer);
    *t = (struct pw_lines){0};
}

/* The whole lines in the buffer; at the end of the file whatever there is. */
static enum pw_status find_lines(struct pw_lines *t, struct pw_error *err)
{
    if (t->ended && t->filled && t->buffer[t->filled - 1] != '\n')
        t->buffer[t->filled++] = '\n';
    const char *last = memrchr(t->buffer, '\n', t->filled);
    t->next = t->buffer;
    t->end = last ? last + 1 : t->buffer;
    memset(t->buffer + t->filled, 0, PW_LINES_SLACK - 1);
    if (last || t->filled < PW_LINES_BYTES)
        return PW_OK;
    t->line++;
    return pw_lines_fail(t, err, "a line is longer than %d bytes", PW_LINES_BYTES);
}

enum pw_status pw_lines_fill(struct pw_lines *t, struct pw_error *err)
{
    size_t rest = (size_t)(t->buffer + t->filled - t->end);
    memmove(t->buffer, t->end, rest);
    t->filled = rest;
    t->next = t->end = t->buffer;
    while (!t->ended && t->filled < PW_LINES_BYTES) {
        size_t got = 0, room = PW_LINES_BYTES - t->filled;
        enum pw_status status = t->xz ? read_xz(t, t->buffer + t->filled, room, &got, err)
                                      : read_file(t, t->buffer + t->filled, room, &got, err);
        if (status != PW_OK)
            return status;
        t->filled += got;
        t->ended = !got;
    }
    return find_lines(t, err);
}

const char *pw_lines_skip_line(struct pw_lines *t, const char *at)
{
    const char *newline = memchr(at, '\n', (size_t)(t->end - at));
    t->next = newline + 1;
    return t->next;
}
