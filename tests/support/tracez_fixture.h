/* A .tracez, made of the text that Accel-Sim's tracer 6 would have written, as its post-processing makes one. */
#ifndef PW_TESTS_TRACEZ_FIXTURE_H
#define PW_TESTS_TRACEZ_FIXTURE_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zdict.h>
#include <zstd.h>

struct tracez_bytes {
    char *bytes;
    size_t size;
    size_t head, warps, index; /* where the numbers behind the head, the first warp and the index begin */
};

struct tracez_writing {
    FILE *out, *index;
    ZSTD_CDict *dictionary;
    ZSTD_CCtx *packer;
    uint32_t chunk;
};

static inline void tracez_number(FILE *to, uint32_t number)
{
    number = htole32(number);
    fwrite(&number, sizeof number, 1, to);
}

static inline void tracez_offset(FILE *to, uint64_t offset)
{
    offset = htole64(offset);
    fwrite(&offset, sizeof offset, 1, to);
}

/* Behind the first `count` lines, or at the end of the text; *out_lines: how many there are. */
static inline const char *tracez_lines(const char *at, uint32_t count, uint32_t *out_lines)
{
    for (*out_lines = 0; *out_lines < count && strchr(at, '\n'); ++*out_lines)
        at = strchr(at, '\n') + 1;
    return at;
}

static inline void tracez_chunk(struct tracez_writing *w, const char *text, size_t bytes)
{
    size_t room = ZSTD_compressBound(bytes), packed;
    void *to = malloc(room);
    if (w->dictionary)
        packed = ZSTD_compress_usingCDict(w->packer, to, room, text, bytes, w->dictionary);
    else
        packed = ZSTD_compressCCtx(w->packer, to, room, text, bytes, 3);
    tracez_number(w->out, (uint32_t)packed);
    fwrite(to, 1, packed, w->out);
    free(to);
}

/* The instructions of a warp, `count` lines from `at`, which there are. */
static inline void tracez_warp(struct tracez_writing *w, const char *at, uint32_t count)
{
    uint32_t chunks = (count + w->chunk - 1) / w->chunk;
    tracez_number(w->index, count);
    tracez_number(w->index, chunks);
    tracez_offset(w->index, (uint64_t)ftell(w->out));
    tracez_number(w->out, count);
    tracez_number(w->out, chunks);
    for (; count; chunks--) {
        uint32_t lines;
        const char *end = tracez_lines(at, count < w->chunk ? count : w->chunk, &lines);
        tracez_number(w->index, lines);
        tracez_chunk(w, at, (size_t)(end - at) - 1);
        at = end;
        count -= lines;
    }
}

/* What precedes the first warp: lines of version 6 that place a block. */
static inline void tracez_block(struct tracez_writing *w, const char *at, const char *end)
{
    uint32_t v[11] = {0};
    sscanf(at, " thread block = %u,%u,%u cluster id = %u,%u,%u cluster cta = %u,%u,%u cluster rank = %u", &v[0], &v[1],
           &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9]);
    for (const char *warp = at; (warp = strstr(warp, "\ninsts = ")) && warp < end; warp++)
        v[10]++;
    for (unsigned i = 0; i < 11; i++)
        tracez_number(w->index, v[i]);
    while ((at = strstr(at, "\ninsts = ")) && at < end) {
        uint32_t count = 0;
        sscanf(at, " insts = %u", &count);
        if (!strchr(at + 1, '\n'))
            return;
        at = strchr(at + 1, '\n') + 1;
        const char *behind = tracez_lines(at, count, &count);
        tracez_warp(w, at, count);
        at = behind - 1;
    }
}

/* A dictionary out of the lines of a text; 0: it has too few. */
static inline size_t tracez_train(const char *text, void *to, size_t room)
{
    size_t count = 0, sizes[1 << 12];
    for (const char *at = text, *end; count < 1 << 12 && (end = strchr(at, '\n')); at = end + 1)
        sizes[count++] = (size_t)(end - at) + 1;
    size_t bytes = ZDICT_trainFromBuffer(to, room, text, sizes, (unsigned)count);
    return ZDICT_isError(bytes) ? 0 : bytes;
}

/* Of a text with a #BEGIN_TB, in chunks of so many instructions; to be freed. A text that is none as the tracer writes it
 * becomes what it becomes. */
static inline struct tracez_bytes tracez_of(const char *text, uint32_t chunk, bool dictionary)
{
    struct tracez_bytes made = {0};
    char *index = NULL, trained[1 << 12];
    size_t index_bytes;
    uint32_t blocks = 0;
    const char *first = strstr(text, "#BEGIN_TB");
    struct tracez_writing w = {.out = open_memstream(&made.bytes, &made.size), .chunk = chunk};
    w.index = open_memstream(&index, &index_bytes);
    w.packer = ZSTD_createCCtx();
    fwrite(text, 1, (size_t)(first - text), w.out);
    fputc(0, w.out);
    made.head = (size_t)ftell(w.out);
    size_t bytes = dictionary ? tracez_train(text, trained, sizeof trained) : 0;
    tracez_number(w.out, (uint32_t)bytes);
    tracez_number(w.out, chunk);
    fwrite(trained, 1, bytes, w.out);
    w.dictionary = bytes ? ZSTD_createCDict(trained, bytes, 3) : NULL;
    made.warps = (size_t)ftell(w.out);
    for (const char *at = first; (at = strstr(at, "#BEGIN_TB\n")); blocks++) {
        at += strlen("#BEGIN_TB\n");
        const char *end = strstr(at, "#END_TB");
        tracez_block(&w, at, end ? end : strchr(at, '\0'));
    }
    fclose(w.index);
    made.index = (size_t)ftell(w.out);
    tracez_number(w.out, blocks);
    fwrite(index, 1, index_bytes, w.out);
    tracez_offset(w.out, made.index);
    fclose(w.out);
    free(index);
    ZSTD_freeCCtx(w.packer);
    ZSTD_freeCDict(w.dictionary);
    return made;
}

#endif
