/* Opens a trace of any format, and lists and digests what that would read (import.h). */
#include "sim/fnv.h"
#include "trace/import_private.h"
#include "trace/trace_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGEST_BYTES = 1 << 18 };

/* Over words of eight bytes, since FNV over bytes would take longer than reading the file. The upper half of the
 * product, which has more of the word in it, is folded into the lower one. */
static uint64_t digest_word(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 32;
}

static uint64_t digest_bytes(uint64_t digest, const char *bytes, size_t count)
{
    uint64_t word = 0;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        digest = digest_word(digest, word);
    }
    word = 0;
    memcpy(&word, bytes, count);
    return count ? digest_word(digest, word) : digest;
}

static enum pw_status read_full(int file, const char *path, char *buffer, size_t *out_got, struct pw_error *err)
{
    size_t filled = 0;
    while (filled < DIGEST_BYTES) {
        ssize_t got = read(file, buffer + filled, DIGEST_BYTES - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pw_fail(err, PW_USER_ERROR, "%s: cannot read: %s", path, strerror(errno));
        if (!got)
            break;
        filled += (size_t)got;
    }
    *out_got = filled;
    return PW_OK;
}

static enum pw_status digest_file(void *context, const char *path, struct pw_error *err)
{
    uint64_t *digest = context, bytes = 0;
    int file;
    enum pw_status status = pw_lines_open_file(path, &file, NULL, err);
    if (status != PW_OK)
        return status;
    char *buffer = malloc(DIGEST_BYTES);
    if (!buffer)
        status = pw_fail_memory(err, "a digest");
    for (size_t got = DIGEST_BYTES; status == PW_OK && got == DIGEST_BYTES;) {
        status = read_full(file, path, buffer, &got, err);
        if (status == PW_OK)
            *digest = digest_bytes(*digest, buffer, got);
        bytes += got;
    }
    *digest = digest_word(*digest, bytes); /* so that no file runs into the next */
    free(buffer);
    close(file);
    return status;
}

static enum pw_status digest_own(const char *path, uint64_t *out, struct pw_error *err)
{
    struct pw_trace *t;
    enum pw_status status = pw_trace_open(path, &t, err);
    if (status != PW_OK)
        return status;
    *out = pw_trace_digest(t);
    pw_trace_close(t);
    return PW_OK;
}

enum pw_status pw_trace_each_file(const char *path, pw_trace_file_fn *use, void *context, struct pw_error *err)
{
    enum pw_trace_format format;
    enum pw_status status = pw_trace_sniff(path, &format, err);
    if (status == PW_OK)
        status = use(context, path, err);
    if (status == PW_OK && format == PW_TRACE_KERNELSLIST)
        status = pw_import_kernel_files(path, use, context, err);
    return status;
}

enum pw_status pw_trace_digest_file(const char *path, uint64_t *out, struct pw_error *err)
{
    enum pw_trace_format format;
    enum pw_status status = pw_trace_sniff(path, &format, err);
    if (status != PW_OK)
        return status;
    if (format == PW_TRACE_PWT)
        return digest_own(path, out, err);
    *out = PW_FNV_START ^ format;
    status = digest_file(out, path, err);
    if (status == PW_OK && format == PW_TRACE_KERNELSLIST)
        status = pw_import_kernel_files(path, digest_file, out, err);
    return status;
}

enum pw_status pw_trace_open_any(const char *path, const struct pw_import_watch *watch, struct pw_trace **out,
                                 struct pw_error *err)
{
    enum pw_trace_format format;
    enum pw_status status = pw_trace_sniff(path, &format, err);
    if (status != PW_OK)
        return status;
    if (format == PW_TRACE_PWT)
        return pw_trace_open(path, out, err);
    struct pw_trace_writer *w;
    status = pw_trace_writer_open(NULL, &w, err);
    if (status != PW_OK)
        return status;
    status = pw_trace_import(path, format, watch, w, err);
    if (status != PW_OK) {
        pw_trace_writer_drop(w);
        return status;
    }
    status = pw_trace_writer_finish_as(w, path, out, err);
    if (status == PW_OK)
        (*out)->imported = true;
    return status;
}
