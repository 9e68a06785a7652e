/* Any bytes as a file of another tool, as what they look like and as everything else: nothing may crash, a refusal is
 * one line that begins with the file's name, and whatever is accepted is a trace that can be read to its end, whose
 * warps have only the lanes that their block has threads for and leave last. */
#include "fuzz.h"
#include "message.h"
#include "trace/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t check_warp(struct pw_trace_launch *l, uint32_t cta, uint32_t warp, uint32_t threads)
{
    struct pw_trace_cursor c;
    struct pw_op op = {.kind = PW_OP_EXIT};
    uint64_t words[PW_WARP_LANES], instructions = 0;
    struct pw_error err;
    enum pw_trace_step step;
    uint32_t left = threads - 32 * warp, lanes = left >= 32 ? PW_ALL_LANES : (1U << left) - 1;
    pw_trace_cursor_start(&c, l, cta, warp);
    while ((step = pw_trace_cursor_next(&c, &op, words, &err)) == PW_TRACE_STEP_OP) {
        instructions += pw_op_instructions(op);
        if (!pw_op_is_access(op))
            continue;
        require(op.count_or_mask && !(op.count_or_mask & ~lanes));
        require(op.bytes && op.bytes <= 16 && !(op.bytes & (op.bytes - 1)));
    }
    require(step == PW_TRACE_STEP_END && op.kind == PW_OP_EXIT);
    return instructions;
}

static void check_launch(struct pw_trace *t, const struct pw_trace_event *e)
{
    struct pw_trace_launch *l;
    struct pw_error err;
    uint64_t instructions = 0;
    uint32_t threads = e->block.x * e->block.y * e->block.z, ctas = e->grid.x * e->grid.y * e->grid.z;
    require(pw_trace_launch_open(t, e->allocation, &l, &err) == PW_OK);
    for (uint32_t cta = 0; cta < ctas && cta < 64; cta++)
        for (uint32_t warp = 0; 32 * warp < threads; warp++)
            instructions += check_warp(l, cta, warp, threads);
    require(instructions == e->warp_instructions || ctas > 64);
    pw_trace_launch_close(l);
}

static void check_trace(struct pw_trace *t)
{
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    for (size_t i = 0; i < count; i++)
        if (e[i].kind == PW_TRACE_LAUNCH)
            check_launch(t, &e[i]);
    pw_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("trace", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    enum pw_trace_format looks_like = PW_TRACE_FORMAT_COUNT;
    struct pw_error err = {0};
    uint64_t digest;
    enum pw_status status = pw_trace_sniff(path, &looks_like, &err);
    require(status == PW_OK ? looks_like < PW_TRACE_FORMAT_COUNT : status == PW_USER_ERROR);
    if (looks_like != PW_TRACE_KERNELSLIST && looks_like != PW_TRACE_PWT)
        require(pw_trace_digest_file(path, &digest, &err) == status);
    for (unsigned format = PW_TRACE_KERNELSLIST; format < PW_TRACE_FORMAT_COUNT; format++) {
        struct pw_trace_writer *w;
        struct pw_trace *t;
        require(pw_trace_writer_open(NULL, &w, &err) == PW_OK);
        err = (struct pw_error){0};
        status = pw_trace_import(path, format, NULL, w, &err);
        if (status == PW_OK) {
            require(pw_trace_writer_finish(w, &t, &err) == PW_OK);
            check_trace(t);
            continue;
        }
        pw_trace_writer_drop(w);
        require_refusal(status, &err);
        require(!strncmp(err.message, path, strlen(path)) && err.message[strlen(path)] == ':');
    }
    close(file);
    return 0;
}
