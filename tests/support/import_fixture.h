/* Texts of other tools, imported, and what became of them as text too.
 *
 * An operation is `c7` (7 instructions), `l4:ffffffff:1000+4` (a load of 4 bytes a lane: mask, then base and stride in
 * hexadecimal and decimal, or `1000,2000` for one address a lane), and so `s` store, `a` atomic, `r` atomic that
 * returns; `b` barrier, `x` exit. `<2` behind it: it waits for all loads but the 2 youngest. */
#ifndef PW_TESTS_IMPORT_FIXTURE_H
#define PW_TESTS_IMPORT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/import.h"

/* Group set-up: a folder of its own, where the tests are then. */
static inline int enter_folder(void **state)
{
    char folder[] = "/tmp/pagewalk-import-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    *state = strdup(folder);
    return *state ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return chdir("/") || system(command);
}

static inline void write_bytes(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static inline struct pw_trace *open_trace(const char *name)
{
    struct pw_trace *t = NULL;
    struct pw_error err = {0};
    if (pw_trace_open_any(name, NULL, &t, &err))
        fail_msg("%s", err.message);
    return t;
}

static inline struct pw_trace *import_text(const char *name, const char *text)
{
    write_text(name, text);
    return open_trace(name);
}

/* The file is a mistake of the user's, and this is said of it, behind its name. */
static inline void expect_refusal(const char *name, const char *what)
{
    struct pw_trace *t = NULL;
    struct pw_error err = {0};
    enum pw_status status = pw_trace_open_any(name, NULL, &t, &err);
    assert_int_equal(status, PW_USER_ERROR);
    size_t length = strlen(name);
    if (strncmp(err.message, name, length) || strcmp(err.message + length, what))
        fail_msg("%s%s was expected, not %s", name, what, err.message);
}

static inline void print_op(FILE *to, const struct pw_op *op, const uint64_t *words)
{
    static const char letter[PW_OP_KIND_COUNT] = "clsarbx";
    fputc(letter[op->kind], to);
    if (op->kind == PW_OP_COMPUTE)
        fprintf(to, "%u", op->count_or_mask);
    if (pw_op_is_access(*op)) {
        fprintf(to, "%u:%x:%llx", op->bytes, op->count_or_mask, (unsigned long long)words[0]);
        if (op->form == PW_FORM_AFFINE)
            fprintf(to, "%+lld", (long long)words[1]);
        else
            for (uint32_t i = 1; i < pw_lane_count(op->count_or_mask); i++)
                fprintf(to, ",%llx", (unsigned long long)words[i]);
    }
    if (op->loads_in_flight != PW_ANY_IN_FLIGHT)
        fprintf(to, "<%u", op->loads_in_flight);
}

/* All operations of a warp, with blanks between them; to be freed. */
static inline char *ops_of(struct pw_trace *t, uint32_t launch, uint32_t cta, uint32_t warp)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    struct pw_trace_launch *l;
    struct pw_error err = {0};
    assert_int_equal(pw_trace_launch_open(t, launch, &l, &err), PW_OK);
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    enum pw_trace_step step;
    pw_trace_cursor_start(&c, l, cta, warp);
    for (bool first = true; (step = pw_trace_cursor_next(&c, &op, words, &err)) == PW_TRACE_STEP_OP; first = false) {
        fputs(first ? "" : " ", to);
        print_op(to, &op, words);
    }
    assert_int_equal(step, PW_TRACE_STEP_END);
    pw_trace_launch_close(l);
    fclose(to);
    return text;
}

static inline void expect_ops(struct pw_trace *t, uint32_t launch, uint32_t cta, uint32_t warp, const char *expected)
{
    char *ops = ops_of(t, launch, cta, warp);
    assert_string_equal(ops, expected);
    free(ops);
}

/* The instructions of all operations of a warp. */
static inline uint64_t instructions_of(struct pw_trace *t, uint32_t launch)
{
    size_t count;
    const struct pw_trace_event *e = pw_trace_events(t, &count);
    for (size_t i = 0; i < count; i++)
        if (e[i].kind == PW_TRACE_LAUNCH && e[i].allocation == launch)
            return e[i].warp_instructions;
    fail_msg("there is no launch %u", launch);
    return 0;
}

/* The head of a kernel's trace by Accel-Sim: grid, block, and the versions of the machine code, NVBit and the
 * tracer. */
#define TRACEG_HEAD(grid, block, binary, nvbit, tracer)                                                                \
    "-kernel name = k\n-kernel id = 1\n-grid dim = " grid "\n-block dim = " block "\n-shmem = 64\n-nregs = 16\n"       \
    "-binary version = " binary "\n-cuda stream id = 0\n-shmem base_addr = 0x00007f3ff0000000\n"                       \
    "-local mem base_addr = 0x00007f3ff2000000\n-nvbit version = " nvbit "\n-accelsim tracer version = " tracer "\n"   \
    "-enable lineinfo = 0\n\n#traces format = [line_num] PC mask …\n\n"
#define KERNEL_HEAD(grid, block) TRACEG_HEAD(grid, block, "70", "1.5.5", "5")
#define SIX_HEAD(grid, block) TRACEG_HEAD(grid, block, "90", "1.7.5", "6")

/* The lines of one warp, of which `lines` are the instructions. */
static inline char *one_warp(const char *head, const char *lines)
{
    char *text = NULL;
    size_t bytes;
    unsigned count = 0;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    fprintf(to, "%s\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = %u\n%s\n#END_TB\n", head, count, lines);
    fclose(to);
    return text;
}

/* Lines of one warp, and the operations that they become. */
struct line_row {
    const char *lines, *ops;
};

#define L4 "l4:ffffffff:10000+4"

static inline void expect_line_rows(const char *head, const struct line_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *text = one_warp(head, rows[i].lines);
        struct pw_trace *t = import_text("kernel.traceg", text);
        char *ops = ops_of(t, 0, 0, 0);
        if (strcmp(ops, rows[i].ops))
            fail_msg("row %zu: %s was expected, not %s, of\n%s", i, rows[i].ops, ops, rows[i].lines);
        free(ops);
        pw_trace_close(t);
        free(text);
    }
}

#define EXPECT_LINES(head, rows) expect_line_rows((head), (rows), sizeof(rows) / sizeof *(rows))

#endif
