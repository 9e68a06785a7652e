/* Reads the trace of one kernel by Accel-Sim as text (versions 3 to 6 of its tracer): its head, and the warps of its
 * thread blocks, which come in any order, each with as many instructions as it says. A block has all its warps and a
 * grid all its blocks, so that a file that was cut is noticed wherever it was.
 *
 * What is lost: constant, texture and surface accesses, local and shared memory and caches' own instructions are
 * instructions and nothing more; nothing waits for predicates and uniform registers; which blocks share a cluster
 * (version 6) is read and dropped. */
#include "trace/import_kernel.h"

#include <stdlib.h>

struct kernel {
    struct pw_import_kernel kernel;
    struct pw_lines text;
    uint32_t warps_seen; /* a bit for each of the block */
    bool in_block, cta_known, warp_known;
};

static enum pw_status read_instructions(struct kernel *k, uint32_t count, struct pw_error *err)
{
    struct pw_lines *t = &k->text;
    struct pw_traceg_reader *r = &k->kernel.reader;
    for (uint32_t left = count; left;) {
        const char *at;
        enum pw_status status = pw_lines_next(t, &at, err);
        if (status != PW_OK)
            return status;
        if (!at)
            return pw_lines_fail(t, err, "the file ends where %u of a warp's %u instructions should follow", left,
                                 count);
        if (__builtin_expect(*at <= ' ', 0) && *pw_scan_blanks(at) == '\n') {
            pw_lines_skip_line(t, at);
            continue;
        }
        if (__builtin_expect(*at == '#' || *at == 'w' || *at == 't', 0))
            return pw_lines_fail(t, err, "this is not an instruction, but `insts = %u` says that %u more follow", count,
                                 left);
        at = pw_traceg_read_instruction(r, at);
        if (!at)
            return pw_lines_fail(t, err, "%s", r->problem);
        if (*at == '\n')
            t->next = at + 1;
        else
            pw_lines_skip_line(t, at);
        left--;
        if (pw_import_kernel_is_due(&k->kernel) && (status = pw_import_kernel_check(&k->kernel, t->path, err)) != PW_OK)
            return status;
    }
    return PW_OK;
}

static enum pw_status read_warp(struct kernel *k, const char *at, struct pw_error *err)
{
    struct pw_lines *t = &k->text;
    uint32_t count;
    if (!k->warp_known)
        return pw_lines_fail(t, err, "`insts` without a `warp` before it");
    k->warp_known = false;
    at = pw_scan_number(at, &count);
    if (!at || *pw_scan_blanks(at) != '\n')
        return pw_lines_fail(t, err, "`insts` is not a number of 32 bits");
    pw_lines_skip_line(t, at);
    pw_import_kernel_begin_warp(&k->kernel);
    enum pw_status status = read_instructions(k, count, err);
    return status == PW_OK ? pw_import_kernel_end_warp(&k->kernel, err) : status;
}

static enum pw_status begin_block(struct kernel *k, struct pw_error *err)
{
    if (k->in_block)
        return pw_lines_fail(&k->text, err, "#BEGIN_TB before the #END_TB of the block before");
    k->in_block = true;
    k->cta_known = k->warp_known = false;
    k->warps_seen = 0;
    return PW_OK;
}

static enum pw_status place_block(struct kernel *k, const char *at, struct pw_error *err)
{
    uint32_t v[3];
    const struct pw_dim3 *grid = &k->kernel.head.grid;
    if (!k->in_block || k->cta_known)
        return pw_lines_fail(&k->text, err, "`thread block` without a #BEGIN_TB of its own");
    at = pw_scan_triple(at, v);
    if (!at || *pw_scan_blanks(at) != '\n')
        return pw_lines_fail(&k->text, err, "this is not a thread block of the grid of (%u,%u,%u)", grid->x, grid->y,
                             grid->z);
    if (!pw_import_kernel_place(&k->kernel, v))
        return pw_lines_fail(&k->text, err, "%s", k->kernel.problem);
    k->cta_known = true;
    return PW_OK;
}

/* What a line of version 6 says of the block's cluster: three numbers, or its rank in it. */
static enum pw_status read_cluster(struct kernel *k, const char *at, struct pw_error *err)
{
    uint32_t v[3];
    const char *value = pw_scan_text(at, "id = ");
    value = value ? value : pw_scan_text(at, "cta = ");
    if (value)
        value = pw_scan_triple(value, v);
    else if ((value = pw_scan_text(at, "rank = ")))
        value = pw_scan_number(value, v);
    if (!value || *pw_scan_blanks(value) != '\n')
        return pw_lines_fail(&k->text, err, "this is not `cluster id`, `cluster cta` or `cluster rank`");
    if (!k->in_block || !k->cta_known)
        return pw_lines_fail(&k->text, err, "`cluster` without a `thread block` before it");
    return PW_OK;
}

static enum pw_status place_warp(struct kernel *k, const char *at, struct pw_error *err)
{
    if (!k->in_block || !k->cta_known)
        return pw_lines_fail(&k->text, err, "`warp` without a `thread block` before it");
    uint32_t warps = pw_import_kernel_warps(&k->kernel), *warp = &k->kernel.warp;
    at = pw_scan_number(at, warp);
    if (!at || *pw_scan_blanks(at) != '\n' || *warp >= warps)
        return pw_lines_fail(&k->text, err, "this is not one of a block's %u warps", warps);
    if (k->warps_seen & 1U << *warp)
        return pw_lines_fail(&k->text, err, "warp %u comes twice in its block", *warp);
    k->warps_seen |= 1U << *warp;
    k->warp_known = true;
    return PW_OK;
}

static enum pw_status end_block(struct kernel *k, struct pw_error *err)
{
    if (!k->in_block || !k->cta_known)
        return pw_lines_fail(&k->text, err, "#END_TB without a thread block before it");
    uint32_t seen = (uint32_t)__builtin_popcount(k->warps_seen), warps = pw_import_kernel_warps(&k->kernel);
    if (seen != warps)
        return pw_lines_fail(&k->text, err, "the block has %u of its %u warps", seen, warps);
    k->in_block = false;
    pw_trace_write_cta_end(k->kernel.import->out, k->kernel.cta);
    return PW_OK;
}

/* Raw traces, which are not yet sorted by thread block, have the head of sorted ones. Each of their lines begins with
 * the numbers of its thread block and warp. */
static const char *what_is_wrong(const struct kernel *k, const char *at)
{
    if (!*at)
        return "begins with a zero byte; a .tracez must be as the tracer has written it";
    if (!k->in_block && *at >= '0' && *at <= '9')
        return "is not sorted by thread block; run Accel-Sim's post-traces-processing";
    return k->in_block && k->warps_seen ? "this is not understood here; are there more lines than `insts` says?"
                                        : "this is not understood here";
}

/* A line that is no instruction. */
static enum pw_status read_line(struct kernel *k, const char *at, struct pw_error *err)
{
    const char *line = at, *value;
    enum pw_status status = PW_OK;
    at = pw_scan_blanks(at);
    if ((value = pw_scan_text(at, "insts = ")))
        return read_warp(k, value, err);
    if ((value = pw_scan_text(at, "warp = ")))
        status = place_warp(k, value, err);
    else if ((value = pw_scan_text(at, "thread block = ")))
        status = place_block(k, value, err);
    else if ((value = pw_scan_text(at, "cluster ")))
        status = read_cluster(k, value, err);
    else if (pw_scan_text(at, "#BEGIN_TB"))
        status = begin_block(k, err);
    else if (pw_scan_text(at, "#END_TB"))
        status = end_block(k, err);
    else if (*at != '#' && *at != '\n')
        status = pw_lines_fail(&k->text, err, "%s", what_is_wrong(k, at));
    if (status == PW_OK)
        pw_lines_skip_line(&k->text, line);
    return status;
}

static enum pw_status read_blocks(struct kernel *k, struct pw_error *err)
{
    for (;;) {
        const char *at;
        enum pw_status status = pw_lines_next(&k->text, &at, err);
        if (status == PW_OK && !at)
            break;
        if (status == PW_OK)
            status = read_line(k, at, err);
        if (status != PW_OK)
            return status;
    }
    if (k->in_block)
        return pw_lines_fail(&k->text, err, "the file ends before the #END_TB of a thread block");
    if (k->kernel.seen_count < k->kernel.head.ctas)
        return pw_lines_fail(&k->text, err, "the file ends after %u of the grid's %u thread blocks",
                             k->kernel.seen_count, k->kernel.head.ctas);
    return PW_OK;
}

static enum pw_status read_text(struct pw_import *i, const char *path, struct pw_error *err)
{
    struct kernel *k = calloc(1, sizeof *k);
    if (!k)
        return pw_fail_memory(err, "reading a trace");
    k->kernel.import = i;
    enum pw_status status = pw_lines_open(&k->text, path, &i->progress, err);
    if (status == PW_OK)
        status = pw_traceg_read_header(&k->text, &k->kernel.head, err);
    if (status == PW_OK)
        status = pw_import_kernel_begin(&k->kernel, err);
    if (status == PW_OK)
        status = read_blocks(k, err);
    pw_lines_close(&k->text);
    pw_import_kernel_release(&k->kernel);
    free(k);
    return status;
}

enum pw_status pw_import_kernel(struct pw_import *i, const char *path, struct pw_error *err)
{
    return pw_import_is_tracez(path) ? pw_import_tracez(i, path, err) : read_text(i, path, err);
}
