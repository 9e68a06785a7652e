/* Text into a file (export_text.h). A failure is kept and further text is dropped, so that a line is written without a
 * check after each of its words. */
#include "trace/export_text.h"

#include "sim/c_locale.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    XZ_LEVEL = 1, /* as Accel-Sim's own tools; higher ones take longer for little */
    XZ_BYTES = 1 << 16,
};

struct pw_export_xz {
    lzma_stream stream;
    uint8_t packed[XZ_BYTES];
};

static bool begin_xz(struct pw_export_text *t)
{
    t->xz = calloc(1, sizeof *t->xz);
    if (!t->xz)
        return false;
    t->xz->stream = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_easy_encoder(&t->xz->stream, XZ_LEVEL, LZMA_CHECK_CRC64) == LZMA_OK;
}

enum pw_status pw_export_open(struct pw_export_text *t, int folder, const char *file, const char *shown, bool xz,
                              struct pw_error *err)
{
    *t = (struct pw_export_text){.name = shown, .fd = -1, .buffer = malloc(PW_EXPORT_BUFFER + PW_EXPORT_SLACK)};
    if (!t->buffer || (xz && !begin_xz(t))) {
        pw_export_drop(t);
        return pw_fail_memory(err, "a file of a trace");
    }
    t->fd = openat(folder, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (t->fd >= 0)
        return PW_OK;
    t->cause = errno;
    enum pw_status status = pw_export_status(t, err);
    pw_export_drop(t);
    return status;
}

enum pw_status pw_export_status(const struct pw_export_text *t, struct pw_error *err)
{
    if (!t->cause)
        return PW_OK;
    return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", t->name, strerror(t->cause));
}

void pw_export_drop(struct pw_export_text *t)
{
    if (t->buffer && t->fd >= 0)
        close(t->fd);
    if (t->xz)
        lzma_end(&t->xz->stream);
    free(t->xz);
    free(t->buffer);
    *t = (struct pw_export_text){.fd = -1};
}

static void write_bytes(struct pw_export_text *t, const void *bytes, size_t length)
{
    for (size_t at = 0; at < length && !t->cause;) {
        ssize_t count = write(t->fd, (const char *)bytes + at, length - at);
        if (count < 0 && errno != EINTR)
            t->cause = errno;
        at += count > 0 ? (size_t)count : 0;
    }
}

/* What is in the buffer, and with LZMA_FINISH the end. */
static void pack(struct pw_export_text *t, lzma_action action)
{
    lzma_stream *s = &t->xz->stream;
    s->next_in = (const uint8_t *)t->buffer;
    s->avail_in = t->used;
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && !t->cause && (s->avail_in || action == LZMA_FINISH)) {
        s->next_out = t->xz->packed;
        s->avail_out = XZ_BYTES;
        result = lzma_code(s, action);
        write_bytes(t, t->xz->packed, XZ_BYTES - s->avail_out);
    }
    if (result != LZMA_OK && result != LZMA_STREAM_END && !t->cause)
        t->cause = ENOMEM; /* nothing else can go wrong */
}

void pw_export_flush(struct pw_export_text *t)
{
    if (t->xz)
        pack(t, LZMA_RUN);
    else
        write_bytes(t, t->buffer, t->used);
    t->used = 0;
}

enum pw_status pw_export_close(struct pw_export_text *t, struct pw_error *err)
{
    pw_export_flush(t);
    if (t->xz)
        pack(t, LZMA_FINISH);
    if (!t->cause && fsync(t->fd))
        t->cause = errno;
    if (close(t->fd) && !t->cause)
        t->cause = errno;
    t->fd = -1;
    enum pw_status status = pw_export_status(t, err);
    pw_export_drop(t);
    return status;
}

/* Behind something that was put at the end. */
static void advance(struct pw_export_text *t, size_t bytes)
{
    t->used += bytes;
    if (t->used >= PW_EXPORT_BUFFER)
        pw_export_flush(t);
}

static void add_bytes(struct pw_export_text *t, const char *bytes, size_t count)
{
    while (count) {
        size_t room = PW_EXPORT_BUFFER - t->used, part = count < room ? count : room;
        memcpy(t->buffer + t->used, bytes, part);
        advance(t, part);
        bytes += part;
        count -= part;
    }
}

void pw_export_add(struct pw_export_text *t, const char *text)
{
    add_bytes(t, text, strlen(text));
}

void pw_export_print(struct pw_export_text *t, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pw_export_add(t, text);
}

void pw_export_decimal(struct pw_export_text *t, int64_t number)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *--at = ' ';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    size_t length = (size_t)(digits + sizeof digits - at);
    memcpy(t->buffer + t->used, at, length);
    advance(t, length);
}

void pw_export_hex(struct pw_export_text *t, uint64_t number, unsigned digits)
{
    unsigned needed = number ? (67 - (unsigned)__builtin_clzll(number)) / 4 : 1;
    needed = needed < digits ? digits : needed;
    char *to = t->buffer + t->used;
    for (unsigned i = needed; i-- > 0; number >>= 4)
        to[i] = "0123456789abcdef"[number & 15];
    to[needed] = ' ';
    advance(t, needed + 1);
}
