/* The kind of a file, recognised by its first bytes; its reader is then called (import.h). */
#include "trace/import_private.h"
#include "trace/text_scan.h"

#include "sim/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint32_t pw_import_threads(const struct pw_dim3 *block)
{
    uint64_t threads = (uint64_t)block->x * block->y;
    threads = threads > PW_CTA_THREADS ? 0 : threads * block->z;
    return threads > PW_CTA_THREADS ? 0 : (uint32_t)threads;
}

uint32_t pw_import_ctas(const struct pw_dim3 *grid)
{
    uint64_t ctas = (uint64_t)grid->x * grid->y;
    ctas = ctas > PW_IMPORT_CTAS ? 0 : ctas * grid->z;
    return ctas > PW_IMPORT_CTAS ? 0 : (uint32_t)ctas;
}

enum pw_status pw_import_check(const struct pw_import *i, struct pw_error *err)
{
    return pw_trace_writer_status(i->out, err);
}

void pw_import_copy_name(const char *at, char out[PW_IMPORT_NAME_BYTES])
{
    size_t length = 0, used = strcspn(at, "\n");
    while (used && pw_scan_is_blank(at[used - 1]))
        used--;
    while (used) {
        size_t bytes = pw_utf8_printable_length(at);
        size_t taken = bytes && bytes <= used ? bytes : 1;
        if (length + taken >= PW_IMPORT_NAME_BYTES)
            break;
        if (taken == bytes)
            memcpy(out + length, at, taken);
        else
            out[length] = '?';
        length += taken;
        at += taken;
        used -= taken;
    }
    out[length] = '\0';
}

void pw_import_set_recorder(struct pw_import *i, const char *recorder)
{
    if (i->origin_known)
        return;
    i->origin_known = true;
    const char *slash = strrchr(i->path, '/');
    pw_trace_writer_set_origin(i->out, &(struct pw_trace_origin){.recorder = recorder,
                                                                 .program = slash ? slash + 1 : i->path,
                                                                 .device = "",
                                                                 .cta_sample = i->cta_sample});
}

/* What every file of pagewalk's own begins with. */
static const char own_magic[] = "\x89PWT";

static bool begins(const char *text, size_t bytes, const char *magic, size_t magic_bytes)
{
    return bytes >= magic_bytes && !memcmp(text, magic, magic_bytes);
}

/* Other compressed formats, to be refused by name. */
static const char *compressor(const char *text, size_t bytes)
{
    if (begins(text, bytes, "\x1f\x8b", 2))
        return "gzip";
    if (begins(text, bytes, "\x28\xb5\x2f\xfd", 4))
        return "zstd";
    if (begins(text, bytes, "BZh", 3))
        return "bzip2";
    return NULL;
}

/* Recognises a text by its first line that means something. */
static bool tell_text(const char *text, size_t bytes, enum pw_trace_format *out)
{
    const char *end = text + bytes;
    for (const char *at = text, *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
         at = newline + 1) {
        at = pw_scan_blanks(at);
        size_t length = (size_t)(newline - at);
        if (memmem(at, length, "MEMTRACE: CTX ", strlen("MEMTRACE: CTX ")))
            *out = PW_TRACE_NVBIT;
        else if (pw_scan_text(at, "-kernel name ="))
            *out = PW_TRACE_TRACEG;
        else if (pw_scan_text(at, "Memcpy") || pw_scan_text(at, "pagewalk ") ||
                 (pw_scan_text(at, "kernel-") && memmem(at, length, ".trace", 6)) ||
                 pw_import_is_kernel_path(at, length))
            *out = PW_TRACE_KERNELSLIST;
        else
            continue;
        return true;
    }
    return false;
}

static enum pw_status sniff_text(const char *path, enum pw_trace_format *out, struct pw_error *err)
{
    struct pw_lines t;
    enum pw_status status = pw_lines_open(&t, path, NULL, err);
    if (status != PW_OK)
        return status;
    status = pw_lines_fill(&t, err);
    size_t bytes = (size_t)(t.end - t.next);
    if (status == PW_OK && !tell_text(t.next, bytes, out))
        status = pw_fail(err, PW_USER_ERROR,
                         "%s: is no trace: neither pagewalk's own, nor Accel-Sim's kernelslist.g, .traceg or "
                         ".tracez, nor NVBit's mem_trace",
                         path);
    pw_lines_close(&t);
    return status;
}

enum pw_status pw_trace_sniff(const char *path, enum pw_trace_format *out, struct pw_error *err)
{
    int file;
    enum pw_status status = pw_lines_open_file(path, &file, NULL, err);
    if (status != PW_OK)
        return status;
    char magic[8];
    ssize_t got = pread(file, magic, sizeof magic, 0);
    close(file);
    if (got < 0)
        return pw_fail(err, PW_USER_ERROR, "%s: cannot read", path);
    if (begins(magic, (size_t)got, own_magic, strlen(own_magic))) {
        *out = PW_TRACE_PWT;
        return PW_OK;
    }
    const char *tool = compressor(magic, (size_t)got);
    if (tool)
        return pw_fail(err, PW_USER_ERROR, "%s: is compressed with %s; decompress it, or use xz", path, tool);
    return sniff_text(path, out, err);
}

static enum pw_status file_bytes(void *context, const char *path, struct pw_error *err)
{
    int file;
    uint64_t bytes, *sum = context;
    enum pw_status status = pw_lines_open_file(path, &file, &bytes, err);
    if (status != PW_OK)
        return status;
    close(file);
    *sum += bytes;
    return PW_OK;
}

enum pw_status pw_trace_import(const char *path, enum pw_trace_format format, const struct pw_import_watch *watch,
                               struct pw_trace_writer *out, struct pw_error *err)
{
    struct pw_import i = {.path = path, .out = out, .progress.watch = watch};
    enum pw_status status = file_bytes(&i.progress.all, path, err);
    if (status != PW_OK)
        return status;
    pw_trace_writer_name(out, path);
    switch (format) {
    case PW_TRACE_KERNELSLIST:
        i.progress.all *= 2; /* it is read twice */
        status = pw_import_kernel_files(path, file_bytes, &i.progress.all, err);
        return status == PW_OK ? pw_import_kernelslist(&i, err) : status;
    case PW_TRACE_NVBIT:
        i.progress.all *= 2;
        return pw_import_nvbit(&i, err);
    default:
        return pw_import_kernel(&i, path, err);
    }
}
