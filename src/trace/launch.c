/* The warps of a launch: its table, and cursors that take one segment after the other from its blocks. */
#include "trace/format.h"
#include "trace/trace_internal.h"

#include <stdlib.h>

enum pw_status pw_trace_launch_open(struct pw_trace *t, uint32_t launch, struct pw_trace_launch **out,
                                    struct pw_error *err)
{
    if (launch >= t->index.launch_count)
        return pw_fail(err, PW_USER_ERROR, "%s: has no launch %u", t->path, launch);
    const struct pw_launch_place *place = &t->index.launches[launch];
    const struct pw_trace_event *event = &t->index.events[place->event];
    struct pw_trace_launch *l = calloc(1, sizeof *l);
    uint8_t *raw = malloc(place->table.raw);
    enum pw_status status = PW_OK;
    if (!l || !raw) {
        status = pw_fail_memory(err, "a launch of a trace");
        goto out;
    }
    *l = (struct pw_trace_launch){
        .trace = t, .number = launch, .ctas = pw_recorded_ctas(event), .warps = pw_recorded_warps(event)};
    status = pw_unpack(t->unpacker, &place->table, "a launch's table", raw, &l->checksum, err);
    if (status != PW_OK)
        goto out;
    bool memory;
    if (!pw_table_read(&l->table, raw, place->table.raw, l->ctas, place->blocks, place->table.offset, &memory))
        status = memory ? pw_fail_memory(err, "a launch of a trace")
                        : pw_fail(err, PW_USER_ERROR, "%s: is corrupted: the table of launch %u does not make sense",
                                  t->path, launch);
    else
        status = pw_table_check_idle(t->path, launch + 1, l->ctas - pw_table_ctas(&l->table), l->warps, err);
out:
    free(raw);
    if (status != PW_OK) {
        pw_trace_launch_close(l);
        return status;
    }
    *out = l;
    return PW_OK;
}

void pw_trace_launch_close(struct pw_trace_launch *l)
{
    if (l)
        pw_table_release(&l->table);
    free(l);
}

enum pw_status pw_trace_launch_block(struct pw_trace_launch *l, uint32_t block, struct pw_block **out,
                                     struct pw_error *err)
{
    struct pw_trace *t = l->trace;
    uint64_t key = (uint64_t)l->number << 32 | block;
    *out = pw_block_cache_find(&t->cache, key);
    if (*out)
        return PW_OK;
    struct pw_part part = pw_table_block(&l->table, block);
    return pw_block_cache_read(&t->cache, t->unpacker, key, &part, l->ctas, l->warps, t->path, out, err);
}

enum { NOT_FOUND_YET = UINT32_MAX };

void pw_trace_cursor_start(struct pw_trace_cursor *c, struct pw_trace_launch *l, uint32_t cta, uint32_t warp)
{
    c->launch = l;
    c->piece = pw_table_find(&l->table, cta);
    c->cta = cta;
    c->warp = warp;
    c->segment = NOT_FOUND_YET;
    c->at = c->end = c->bytes;
    c->ended = false;
    pw_op_coder_start(&c->coder, 0);
}

static bool is_of(const struct pw_trace_cursor *c, const struct pw_block *b, uint32_t segment)
{
    return segment < b->count && b->segments[segment].cta == c->cta && b->segments[segment].warp == c->warp;
}

/* Takes a segment, and moves to the next one: the block is not needed to find out that it has no further. */
static void take(struct pw_trace_cursor *c, struct pw_block *b, uint32_t segment)
{
    const struct pw_segment *s = &b->segments[segment];
    memcpy(c->bytes, b->raw + s->at, s->bytes);
    c->at = c->bytes;
    c->end = c->bytes + s->bytes;
    if (s->fresh)
        pw_op_coder_start(&c->coder, s->origin);
    bool further = is_of(c, b, segment + 1);
    c->segment = further ? segment + 1 : NOT_FOUND_YET;
    c->piece += !further;
    pw_block_cache_use(&c->launch->trace->cache, b);
}

/* Copies the next segment; at the end there is none. */
static enum pw_status fill(struct pw_trace_cursor *c, struct pw_error *err)
{
    const struct pw_table *table = &c->launch->table;
    for (; c->piece < table->piece_count && table->pieces[c->piece].cta <= c->cta; c->piece++) {
        struct pw_block *b;
        enum pw_status status = pw_trace_launch_block(c->launch, table->pieces[c->piece].block, &b, err);
        if (status != PW_OK)
            return status;
        bool known = c->segment != NOT_FOUND_YET;
        uint32_t segment = known ? c->segment : pw_directory_find(b->segments, b->count, c->cta, c->warp);
        if (is_of(c, b, segment)) {
            take(c, b, segment);
            return PW_OK;
        }
        c->segment = NOT_FOUND_YET;
    }
    c->ended = true;
    return PW_OK;
}

_Static_assert(PW_SEGMENT_MOST + PW_OP_CODE_SLACK <= PW_TRACE_SEGMENT_BYTES, "decoding may look behind a segment");

enum pw_trace_step pw_trace_cursor_go_on(struct pw_trace_cursor *c, struct pw_error *err)
{
    if (!c->ended && fill(c, err) != PW_OK)
        return PW_TRACE_STEP_FAILED;
    return c->ended ? PW_TRACE_STEP_END : PW_TRACE_STEP_OP;
}

void pw_trace_cursor_refuse(struct pw_trace_cursor *c, struct pw_error *err)
{
    c->at = c->end;
    c->ended = true;
    pw_error_set(err, PW_USER_ERROR, "%s: is corrupted: launch %u, CTA %u, warp %u: not an operation",
                 c->launch->trace->path, c->launch->number, c->cta, c->warp);
}
