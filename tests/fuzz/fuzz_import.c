/* Any bytes as a file of another tool, as what they look like and as everything else, and a text packed as .tracez with
 * numbers that do not fit: nothing may crash, a refusal is one line that begins with the file's name, and whatever is
 * accepted is a trace that can be read to its end, whose warps have only the lanes that their block has threads for and
 * leave last. */
#include "fuzz.h"
#include "message.h"
#include "sim/fnv.h"
#include "sim/random.h"
#include "trace/import.h"
#include "tracez_fixture.h"

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

/* What comes of a file, by its path, taken for this format. */
static void import_as(const char *path, enum pw_trace_format format)
{
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err = {0};
    require(pw_trace_writer_open(NULL, &w, &err) == PW_OK);
    err = (struct pw_error){0};
    enum pw_status status = pw_trace_import(path, format, NULL, w, &err);
    if (status == PW_OK)
        status = pw_trace_writer_finish(w, &t, &err);
    else
        pw_trace_writer_drop(w);
    if (status == PW_OK) {
        check_trace(t);
        return;
    }
    require_refusal(status, &err);
    require(!strncmp(err.message, path, strlen(path)) && err.message[strlen(path)] == ':');
}

/* Another number somewhere behind the head: in the dictionary's length, in a warp, in the index. */
static void change_number(struct tracez_bytes *made, struct pw_random *r)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 8, 255, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    uint32_t number = numbers[pw_random_below(r, sizeof numbers / sizeof *numbers)];
    size_t part = pw_random_below(r, 3) ? made->index : pw_random_below(r, 2) ? made->warps : made->head;
    size_t at = part + 4 * pw_random_below(r, 40);
    if (!pw_random_below(r, 4))
        at = made->head + pw_random_below(r, made->size - made->head);
    if (at + sizeof number > made->size)
        return;
    if (pw_random_below(r, 2)) /* near the one that is there */
        number = (uint32_t)((uint8_t)made->bytes[at] + pw_random_below(r, 5)) - 2;
    memcpy(made->bytes + at, &number, sizeof number);
}

/* The text as the tracer would have packed it, with some of the numbers changed. */
static void import_tracez(const uint8_t *data, size_t size)
{
    char path[64], *text = strndup((const char *)data, size);
    require(text);
    if (strstr(text, "#BEGIN_TB\n")) {
        struct pw_random r;
        pw_random_init(&r, pw_fnv_text(PW_FNV_START, text), "tracez");
        struct tracez_bytes made = tracez_of(text, 1 + (uint32_t)pw_random_below(&r, 9), pw_random_below(&r, 2));
        for (uint64_t n = pw_random_below(&r, 4); n; n--)
            change_number(&made, &r);
        int file = memfd_create("trace", 0);
        require(file >= 0 && write(file, made.bytes, made.size) == (ssize_t)made.size);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        import_as(path, PW_TRACE_TRACEG);
        close(file);
        free(made.bytes);
    }
    free(text);
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
    for (unsigned format = PW_TRACE_KERNELSLIST; format < PW_TRACE_FORMAT_COUNT; format++)
        import_as(path, format);
    close(file);
    import_tracez(data, size);
    return 0;
}
