/* The reader of a kernel's trace by Accel-Sim's tracer 6 as .tracez (tracez_format.h and warp_trace_stream.h of
 * accel-sim-framework 2.0): the lines of the text, warp by warp in chunks of zstd. All numbers are little-endian.
 *
 *     head, as in the text | 0
 *     u32 bytes of the dictionary | u32 instructions of a chunk | dictionary
 *     for each warp:  u32 instructions | u32 chunks | for each chunk: u32 bytes | a zstd frame
 *     index:          u32 thread blocks | for each: u32 place x, y, z | 7 × u32 of its cluster | u32 warps | for each:
 *                     u32 instructions | u32 chunks | u64 offset of the warp | for each chunk: u32 instructions
 *     u64 offset of the index
 *
 * The file is read with two windows, one on the index and one on the warps, which have to lie in the index's order and
 * without gaps, as the tracer writes them: so no two warps can share bytes, every byte of the file is read once, and
 * memory is bounded whatever the numbers in it say. A chunk is decompressed piece by piece into a buffer of lines. */
#include "trace/import_kernel.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    HEAD_BYTES = 1 << 16, /* a head is shorter */
    WINDOW_BYTES = 1 << 16,
    DICTIONARY_BYTES = 1 << 20, /* the tracer's have 64 KiB at most */
    FRAME_WINDOW_LOG = 24,      /* of what a chunk is when unpacked the decoder keeps 16 MiB; the tracer needs 2 */
    TRAILER_BYTES = 8,
};

/* A part of the file that is read from its beginning to its end. */
struct window {
    uint64_t at, end; /* of what is not in the buffer */
    size_t next, filled;
    uint8_t buffer[WINDOW_BYTES];
};

struct tracez {
    struct pw_import_kernel kernel;
    const char *path;
    int file;
    struct window index, warps;
    ZSTD_DCtx *unpacker;
    ZSTD_DDict *dictionary;
    uint32_t place[3];
    uint32_t instruction; /* of the warp, from 1 */
    size_t filled;        /* of the text */
    char text[PW_LINES_BYTES + PW_LINES_SLACK];
};

static enum pw_status damaged(const struct tracez *t, const char *what, struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR, "%s: is a damaged .tracez: %s", t->path, what);
}

/* Refuses what a warp's lines say. */
static enum pw_status refuse(const struct tracez *t, const char *what, struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR, "%s: thread block %u,%u,%u, warp %u, instruction %u: %s", t->path, t->place[0],
                   t->place[1], t->place[2], t->kernel.warp, t->instruction, what);
}

static enum pw_status read_at(struct tracez *t, uint64_t offset, void *to, size_t bytes, struct pw_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(t->file, (char *)to + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pw_fail(err, PW_USER_ERROR, "%s: cannot read: %s", t->path, strerror(errno));
        if (!got)
            return damaged(t, "it has become shorter", err);
        done += (size_t)got;
    }
    return pw_lines_tell(&t->kernel.import->progress, t->path, bytes, 0, err);
}

/* More of a window whose buffer is used up. */
static enum pw_status refill(struct tracez *t, struct window *w, struct pw_error *err)
{
    size_t bytes = w->end - w->at < WINDOW_BYTES ? (size_t)(w->end - w->at) : WINDOW_BYTES;
    enum pw_status status = read_at(t, w->at, w->buffer, bytes, err);
    w->at += bytes;
    w->next = 0;
    w->filled = status == PW_OK ? bytes : 0;
    return status;
}

static uint64_t left(const struct window *w)
{
    return w->end - w->at + w->filled - w->next;
}

static enum pw_status take(struct tracez *t, struct window *w, void *to, size_t bytes, struct pw_error *err)
{
    if (left(w) < bytes)
        return damaged(t, w == &t->index ? "its index ends too early" : "its warps end too early", err);
    for (size_t done = 0; done < bytes;) {
        enum pw_status status = w->next == w->filled ? refill(t, w, err) : PW_OK;
        if (status != PW_OK)
            return status;
        size_t part = w->filled - w->next < bytes - done ? w->filled - w->next : bytes - done;
        memcpy((char *)to + done, w->buffer + w->next, part);
        w->next += part;
        done += part;
    }
    return PW_OK;
}

static enum pw_status take_numbers(struct tracez *t, struct window *w, uint32_t *out, size_t count,
                                   struct pw_error *err)
{
    enum pw_status status = take(t, w, out, count * sizeof *out, err);
    for (size_t i = 0; status == PW_OK && i < count; i++)
        out[i] = le32toh(out[i]);
    return status;
}

/* The instructions of the whole lines in the text, at most `most`; what is no whole line stays. */
static enum pw_status read_lines(struct tracez *t, uint32_t most, uint32_t *out_lines, struct pw_error *err)
{
    struct pw_traceg_reader *r = &t->kernel.reader;
    const char *last = memrchr(t->text, '\n', t->filled), *end = last ? last + 1 : t->text;
    enum pw_status status = PW_OK;
    memset(t->text + t->filled, 0, PW_LINES_SLACK - 1);
    for (const char *at = t->text; at < end; (*out_lines)++) {
        t->instruction++;
        if (*out_lines == most)
            return refuse(t, "its chunk has more lines than the index says", err);
        const char *rest = pw_traceg_read_instruction(r, at);
        if (!rest)
            return refuse(t, r->problem, err);
        at = (const char *)memchr(rest, '\n', (size_t)(end - rest)) + 1;
        if (pw_import_kernel_is_due(&t->kernel) && (status = pw_import_kernel_check(&t->kernel, t->path, err)) != PW_OK)
            return status;
    }
    t->filled -= (size_t)(end - t->text);
    memmove(t->text, end, t->filled);
    return t->filled < PW_LINES_BYTES ? PW_OK : refuse(t, "its line is longer than 1 MiB", err);
}

/* Unpacks as much as there is room for; `in` ends with the chunk or the window. */
static enum pw_status unpack(struct tracez *t, ZSTD_inBuffer *in, bool *out_ended, struct pw_error *err)
{
    ZSTD_outBuffer out = {.dst = t->text, .size = PW_LINES_BYTES, .pos = t->filled};
    size_t result = ZSTD_decompressStream(t->unpacker, &out, in);
    if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return pw_fail_memory(err, "decompressing a trace");
    if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
        return refuse(t, "its chunk needs a window of more than 16 MiB to be decompressed", err);
    if (ZSTD_isError(result))
        return refuse(t, "its chunk is no frame of zstd with the file's dictionary", err);
    enum pw_status status = pw_lines_tell(&t->kernel.import->progress, t->path, 0, out.pos - t->filled, err);
    t->filled = out.pos;
    *out_ended = !result;
    return status;
}

/* The lines of a chunk, of which there are `count`. */
static enum pw_status read_chunk(struct tracez *t, uint32_t count, uint32_t bytes, struct pw_error *err)
{
    struct window *w = &t->warps;
    uint32_t lines = 0;
    bool ended = false;
    if (left(w) < bytes)
        return damaged(t, "its warps end too early", err);
    ZSTD_DCtx_reset(t->unpacker, ZSTD_reset_session_only);
    t->filled = 0;
    while (!ended) {
        enum pw_status status = bytes && w->next == w->filled ? refill(t, w, err) : PW_OK;
        size_t part = w->filled - w->next < bytes ? w->filled - w->next : bytes, before = t->filled;
        ZSTD_inBuffer in = {.src = w->buffer + w->next, .size = part};
        if (status == PW_OK)
            status = unpack(t, &in, &ended, err);
        if (status != PW_OK)
            return status;
        bytes -= (uint32_t)in.pos;
        w->next += in.pos;
        if (!ended && !in.pos && t->filled == before)
            return refuse(t, "its chunk ends in the middle of a frame", err);
        if (ended && t->filled && t->text[t->filled - 1] != '\n')
            t->text[t->filled++] = '\n';
        if ((status = read_lines(t, count, &lines, err)) != PW_OK)
            return status;
    }
    if (bytes)
        return refuse(t, "its chunk is more than one frame of zstd", err);
    return lines == count ? PW_OK : refuse(t, "its chunk has fewer lines than the index says", err);
}

static enum pw_status read_warp(struct tracez *t, struct pw_error *err)
{
    uint32_t counts[2], again[2];
    uint64_t offset, place = t->warps.at - t->warps.filled + t->warps.next;
    enum pw_status status = take_numbers(t, &t->index, counts, 2, err);
    if (status == PW_OK)
        status = take(t, &t->index, &offset, sizeof offset, err);
    if (status == PW_OK && le64toh(offset) != place)
        status = damaged(t, "its warps do not lie one behind the other", err);
    if (status == PW_OK)
        status = take_numbers(t, &t->warps, again, 2, err);
    if (status == PW_OK && (counts[0] != again[0] || counts[1] != again[1]))
        status = damaged(t, "its index and a warp differ in their numbers", err);
    pw_import_kernel_begin_warp(&t->kernel);
    t->instruction = 0;
    for (uint32_t i = 0, lines, bytes; status == PW_OK && i < counts[1]; i++) {
        status = take_numbers(t, &t->index, &lines, 1, err);
        if (status == PW_OK)
            status = take_numbers(t, &t->warps, &bytes, 1, err);
        if (status == PW_OK)
            status = read_chunk(t, lines, bytes, err);
    }
    if (status == PW_OK && t->instruction != counts[0])
        status = damaged(t, "the chunks of a warp do not have as many instructions as it", err);
    return status == PW_OK ? pw_import_kernel_end_warp(&t->kernel, err) : status;
}

static enum pw_status read_block(struct tracez *t, struct pw_error *err)
{
    enum { CLUSTER = 7 };
    uint32_t cluster[CLUSTER], count, warps = pw_import_kernel_warps(&t->kernel);
    enum pw_status status = take_numbers(t, &t->index, t->place, 3, err);
    if (status == PW_OK)
        status = take_numbers(t, &t->index, cluster, CLUSTER, err);
    if (status == PW_OK)
        status = take_numbers(t, &t->index, &count, 1, err);
    if (status == PW_OK && !pw_import_kernel_place(&t->kernel, t->place))
        return damaged(t, t->kernel.problem, err);
    if (status == PW_OK && count != warps)
        return pw_fail(err, PW_USER_ERROR, "%s: thread block %u,%u,%u has %u of its %u warps", t->path, t->place[0],
                       t->place[1], t->place[2], count, warps);
    for (t->kernel.warp = 0; status == PW_OK && t->kernel.warp < warps; t->kernel.warp++)
        status = read_warp(t, err);
    if (status == PW_OK)
        pw_trace_write_cta_end(t->kernel.import->out, t->kernel.cta);
    return status;
}

static enum pw_status read_blocks(struct tracez *t, struct pw_error *err)
{
    uint32_t blocks;
    enum pw_status status = take_numbers(t, &t->index, &blocks, 1, err);
    if (status == PW_OK && blocks != t->kernel.head.ctas)
        return pw_fail(err, PW_USER_ERROR, "%s: has %u of the grid's %u thread blocks", t->path, blocks,
                       t->kernel.head.ctas);
    for (uint32_t i = 0; status == PW_OK && i < blocks; i++)
        status = read_block(t, err);
    if (status == PW_OK && (left(&t->index) || left(&t->warps)))
        return damaged(t, "it has bytes that belong to nothing", err);
    return status;
}

static enum pw_status read_dictionary(struct tracez *t, uint64_t offset, uint32_t bytes, struct pw_error *err)
{
    if (bytes > DICTIONARY_BYTES)
        return damaged(t, "its dictionary has more than 1 MiB", err);
    void *dictionary = malloc(bytes);
    if (!dictionary)
        return pw_fail_memory(err, "decompressing a trace");
    enum pw_status status = read_at(t, offset, dictionary, bytes, err);
    if (status == PW_OK) {
        t->dictionary = ZSTD_createDDict(dictionary, bytes);
        if (!t->dictionary)
            status = damaged(t, "its dictionary is none of zstd", err);
    }
    free(dictionary);
    return status;
}

/* From the head's zero byte to the warps; the file has `bytes`. */
static enum pw_status open_parts(struct tracez *t, uint64_t head, uint64_t bytes, struct pw_error *err)
{
    uint32_t numbers[2]; /* bytes of the dictionary; instructions of a chunk, not needed */
    uint64_t index, begin = head + sizeof numbers;
    if (bytes < begin + TRAILER_BYTES)
        return damaged(t, "it ends behind its head", err);
    enum pw_status status = read_at(t, head, numbers, sizeof numbers, err);
    if (status == PW_OK)
        status = read_at(t, bytes - TRAILER_BYTES, &index, sizeof index, err);
    if (status != PW_OK)
        return status;
    uint32_t dictionary = le32toh(numbers[0]);
    index = le64toh(index);
    begin += dictionary;
    if (index > bytes - TRAILER_BYTES || begin > index)
        return damaged(t, "its index does not lie behind its dictionary; was it cut?", err);
    t->warps.at = begin;
    t->warps.end = t->index.at = index;
    t->index.end = bytes - TRAILER_BYTES;
    t->unpacker = ZSTD_createDCtx();
    if (!t->unpacker)
        return pw_fail_memory(err, "decompressing a trace");
    ZSTD_DCtx_setParameter(t->unpacker, ZSTD_d_windowLogMax, FRAME_WINDOW_LOG);
    if (!dictionary)
        return PW_OK;
    status = read_dictionary(t, begin - dictionary, dictionary, err);
    if (status == PW_OK)
        ZSTD_DCtx_refDDict(t->unpacker, t->dictionary);
    return status;
}

/* Whether all of [at, end) are lines that a head may have. */
static bool has_lines_of_a_head(const char *at, const char *end)
{
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline || !strchr("-#\r\n", *at))
            return false;
        at = newline + 1;
    }
    return true;
}

/* Bytes of the head with its zero byte; 0: there is none. */
static size_t head_bytes(int file)
{
    char *head = malloc(HEAD_BYTES);
    ssize_t got = head ? pread(file, head, HEAD_BYTES, 0) : 0;
    const char *zero = got > 0 ? memchr(head, '\0', (size_t)got) : NULL;
    size_t bytes = zero && has_lines_of_a_head(head, zero) ? (size_t)(zero + 1 - head) : 0;
    free(head);
    return bytes > 1 ? bytes : 0;
}

bool pw_import_is_tracez(const char *path)
{
    int file;
    struct pw_error err;
    if (pw_lines_open_file(path, &file, NULL, &err) != PW_OK)
        return false; /* opening it to read says why */
    size_t head = head_bytes(file);
    close(file);
    return head > 0;
}

static enum pw_status read_head(struct tracez *t, struct pw_error *err)
{
    struct pw_lines text;
    enum pw_status status = pw_lines_open(&text, t->path, NULL, err);
    if (status == PW_OK)
        status = pw_traceg_read_header(&text, &t->kernel.head, err);
    pw_lines_close(&text);
    return status;
}

enum pw_status pw_import_tracez(struct pw_import *i, const char *path, struct pw_error *err)
{
    uint64_t bytes;
    struct tracez *t = calloc(1, sizeof *t);
    if (!t)
        return pw_fail_memory(err, "reading a trace");
    t->kernel.import = i;
    t->path = path;
    t->file = -1;
    enum pw_status status = pw_lines_open_file(path, &t->file, &bytes, err);
    if (status == PW_OK)
        status = read_head(t, err);
    if (status == PW_OK)
        status = open_parts(t, head_bytes(t->file), bytes, err);
    if (status == PW_OK)
        status = pw_import_kernel_begin(&t->kernel, err);
    if (status == PW_OK)
        status = read_blocks(t, err);
    if (t->file >= 0)
        close(t->file);
    ZSTD_freeDCtx(t->unpacker);
    ZSTD_freeDDict(t->dictionary);
    pw_import_kernel_release(&t->kernel);
    free(t);
    return status;
}
