/* pagewalk trace cat: a trace as text, a line per event and per operation.
 *
 *   alloc 0 device 0x7f4000000000 1048576 a
 *   launch 1 vecadd grid 2,1,1 block 64,1,1 shared 0 registers 16 pace 2.875
 *   cta 0 warp 1
 *     load 4 mask ffffffff 0x7f4000000000 +4
 *     compute 3 all but 1
 *     store 8 mask 00000003 0x7f4000200000 0x7f4000300000
 *
 * The pace, where it is known, is the mean distance of a warp's instructions in cycles. An access with "+4" is affine:
 * lane i's address is what stands before it plus 4 i. "all but 1": all loads but the youngest one have to be there.
 * Text is written as it is read: a trace can be larger than memory. */
#include "exp/format/output.h"
#include "exp/tools/trace_show.h"

#include <errno.h>
#include <inttypes.h>

static const char *const copy_names[] = {"to-device", "from-device", "on-device"};
static const char *const op_names[] = {"compute", "load", "store", "atomic", "atomic-return", "barrier", "exit"};
_Static_assert(sizeof op_names / sizeof *op_names == PW_OP_KIND_COUNT, "a name for each operation");

static void write_name(const char *name, FILE *out)
{
    struct pw_text text = {0};
    pw_text_printable(&text, name);
    fputs(text.bytes ? text.bytes : "", out);
    pw_text_free(&text);
}

static void write_event(const struct pw_trace_event *e, FILE *out)
{
    switch ((enum pw_trace_event_kind)e->kind) {
    case PW_TRACE_ALLOC:
        fprintf(out, "alloc %u %s 0x%" PRIx64 " %" PRIu64 " ", e->allocation, pw_trace_memory_name(e->memory),
                e->address, e->bytes);
        write_name(e->name, out);
        break;
    case PW_TRACE_FREE:
        fprintf(out, "free %u", e->allocation);
        break;
    case PW_TRACE_COPY:
        fprintf(out, "copy %s 0x%" PRIx64 " %" PRIu64, copy_names[e->flags], e->address, e->bytes);
        break;
    case PW_TRACE_PREFETCH:
        fprintf(out, "prefetch %u 0x%" PRIx64 " %" PRIu64, e->allocation, e->address, e->bytes);
        break;
    case PW_TRACE_ADVISE:
        fprintf(out, "advise %u %u", e->allocation, e->flags);
        break;
    case PW_TRACE_PROTECT:
        fprintf(out, "protect %u %u", e->allocation, e->flags);
        break;
    case PW_TRACE_LAUNCH:
        fprintf(out, "launch %u ", e->allocation + 1);
        write_name(e->name, out);
        fprintf(out, " grid %u,%u,%u block %u,%u,%u shared %u registers %u", e->grid.x, e->grid.y, e->grid.z,
                e->block.x, e->block.y, e->block.z, e->shared_bytes, e->registers);
        if (e->pace)
            fprintf(out, " pace %u.%03u", e->pace / 1000, e->pace % 1000);
        break;
    case PW_TRACE_EVENT_KIND_COUNT:
        break;
    }
    fputc('\n', out);
}

static void write_op(const struct pw_op *op, const uint64_t *words, FILE *out)
{
    fprintf(out, "  %s", op_names[op->kind]);
    if (op->kind == PW_OP_COMPUTE)
        fprintf(out, " %u", op->count_or_mask);
    if (pw_op_is_access(*op)) {
        fprintf(out, " %u mask %08x", op->bytes, op->count_or_mask);
        uint32_t addresses = op->form == PW_FORM_AFFINE ? 1 : pw_lane_count(op->count_or_mask);
        for (uint32_t i = 0; i < addresses; i++)
            fprintf(out, " 0x%" PRIx64, words[i]);
        if (op->form == PW_FORM_AFFINE)
            fprintf(out, " %+" PRId64, (int64_t)words[1]);
    }
    if (op->loads_in_flight != PW_ANY_IN_FLIGHT)
        fprintf(out, " all but %u", op->loads_in_flight);
    fputc('\n', out);
}

static enum pw_status write_warp(struct pw_trace_launch *l, uint32_t cta, uint32_t warp, FILE *out,
                                 struct pw_error *err)
{
    struct pw_trace_cursor cursor;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    enum pw_trace_step step;
    bool any = false;
    pw_trace_cursor_start(&cursor, l, cta, warp);
    while ((step = pw_trace_cursor_next(&cursor, &op, words, err)) == PW_TRACE_STEP_OP) {
        if (!any)
            fprintf(out, "cta %u warp %u\n", cta, warp);
        any = true;
        write_op(&op, words, out);
    }
    return step == PW_TRACE_STEP_FAILED ? err->status : PW_OK;
}

static bool is_chosen(uint64_t choice, uint64_t number)
{
    return choice == PW_TRACE_EVERY || choice == number;
}

static uint64_t ctas_of(const struct pw_trace_event *e)
{
    return (uint64_t)e->grid.x * e->grid.y * e->grid.z;
}

static uint64_t warps_of(const struct pw_trace_event *e)
{
    return (e->block.x * e->block.y * e->block.z + PW_WARP_LANES - 1) / PW_WARP_LANES;
}

/* Whether some launch that is chosen has the CTA and the warp. */
static enum pw_status check_choice(const struct pw_trace *t, const struct pw_trace_choice *choice, struct pw_error *err)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    uint64_t ctas = 0, warps = 0;
    if (choice->launch != PW_TRACE_EVERY && choice->launch > pw_trace_launches(t))
        return pw_fail(err, PW_USER_ERROR, "%s: has %u launches, no launch %llu", pw_trace_path(t),
                       pw_trace_launches(t), (unsigned long long)choice->launch);
    for (size_t i = 0; i < count; i++) {
        const struct pw_trace_event *e = &events[i];
        if (e->kind != PW_TRACE_LAUNCH || !is_chosen(choice->launch, (uint64_t)e->allocation + 1))
            continue;
        ctas = ctas_of(e) > ctas ? ctas_of(e) : ctas;
        warps = warps_of(e) > warps ? warps_of(e) : warps;
    }
    if (choice->cta != PW_TRACE_EVERY && choice->cta >= ctas)
        return pw_fail(err, PW_USER_ERROR, "%s: the grids have up to %llu CTAs, no CTA %llu", pw_trace_path(t),
                       (unsigned long long)ctas, (unsigned long long)choice->cta);
    if (choice->warp != PW_TRACE_EVERY && choice->warp >= warps)
        return pw_fail(err, PW_USER_ERROR, "%s: the CTAs have up to %llu warps, no warp %llu", pw_trace_path(t),
                       (unsigned long long)warps, (unsigned long long)choice->warp);
    return PW_OK;
}

static enum pw_status write_launch(struct pw_trace *t, const struct pw_trace_event *e,
                                   const struct pw_trace_choice *choice, FILE *out, struct pw_error *err)
{
    struct pw_trace_launch *l;
    enum pw_status status = pw_trace_launch_open(t, e->allocation, &l, err);
    if (status != PW_OK)
        return status;
    uint32_t ctas = (uint32_t)ctas_of(e), warps = (uint32_t)warps_of(e);
    uint32_t first = choice->cta == PW_TRACE_EVERY ? 0 : choice->cta < ctas ? (uint32_t)choice->cta : ctas;
    uint32_t outer = choice->cta == PW_TRACE_EVERY ? ctas : first + (first < ctas);
    for (uint32_t cta = first; cta < outer && status == PW_OK; cta++) {
        if (choice->interrupted && *choice->interrupted)
            status = pw_fail(err, PW_INTERRUPTED, "interrupted");
        for (uint32_t warp = 0; warp < warps && status == PW_OK; warp++)
            if (is_chosen(choice->warp, warp))
                status = write_warp(l, cta, warp, out, err);
        if (status == PW_OK && ferror(out))
            status = pw_output_failed("standard output", errno, err);
    }
    pw_trace_launch_close(l);
    return status;
}

enum pw_status pw_trace_cat(struct pw_trace *t, const struct pw_trace_choice *choice, FILE *out, struct pw_error *err)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    enum pw_status status = check_choice(t, choice, err);
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        bool is_launch = events[i].kind == PW_TRACE_LAUNCH;
        if (is_launch && !is_chosen(choice->launch, (uint64_t)events[i].allocation + 1))
            continue;
        write_event(&events[i], out);
        if (is_launch)
            status = write_launch(t, &events[i], choice, out, err);
    }
    if (status == PW_OK && fflush(out))
        status = pw_output_failed("standard output", errno, err);
    return status;
}
