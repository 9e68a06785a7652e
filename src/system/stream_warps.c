/* The warps of a stream: queues of operations, the kernel that takes from them, and what becomes of each operation.
 *
 * A feed is what has been pushed to one warp slot. Its warp starts with the first operation and stays resident until it
 * is told to exit; the kernel hands on what is queued, and lets the warp sleep when that is nothing. What has been
 * handed on waits in the warp's buffer, which holds 128 words, two to 33 to an access, so a queue is full only when
 * that is too. Operations issue in their order, so the next one to issue is the first of the records, and a load in
 * flight is found by its number, as the load-store unit finds it. */
#include "system/stream_internal.h"

#include "sim/grow.h"

#include <stdlib.h>
#include <string.h>

/* An access in the buffer of a warp takes two words at least. */
enum { RECORDS = PW_OP_BUFFER_WORDS / 2 };

struct record {
    struct pw_stream_completion done; /* as far as it is known */
    uint64_t where;                   /* the address in the address space */
    bool report;
};

/* An operation that has been pushed and not handed on. */
struct queued {
    struct pw_op op;
    struct record record;
    uint64_t words[PW_WARP_LANES];
};

struct pw_feed {
    struct pw_stream *stream;
    struct pw_stream_place place;
    uint32_t sm; /* of the GPU */
    uint32_t index;
    bool resident, busy, closing;
    uint32_t first, count; /* of the queue, a ring */
    uint32_t first_record, record_count;
    uint32_t loads; /* that the warp has issued */
    struct record records[RECORDS];
    struct record *in_flight; /* loads_per_warp places, by number */
    struct queued queue[];
};

static bool is_followed(enum pw_stream_kind kind)
{
    return kind < PW_STREAM_COMPUTE;
}

static bool is_load(enum pw_stream_kind kind)
{
    return kind == PW_STREAM_LOAD || (kind >= PW_STREAM_ATOMIC_RETURN && kind < PW_STREAM_COMPUTE);
}

static void stop_at(struct pw_stream *s, enum pw_stream_goal goal)
{
    if (s->goal == goal)
        s->system->stop = true;
}

static void maybe_rest(struct pw_stream *s)
{
    if (!s->outstanding)
        stop_at(s, PW_GOAL_LAST_COMPLETION);
    if (!s->outstanding && !s->busy)
        stop_at(s, PW_GOAL_REST);
}

static void rest(struct pw_feed *f)
{
    f->stream->busy -= f->busy;
    f->busy = false;
    maybe_rest(f->stream);
}

static void start(struct pw_feed *f)
{
    struct pw_stream *s = f->stream;
    f->resident = true;
    f->loads = 0;
    pw_gpu_start_warp(s->system->nodes[f->place.gpu].gpu, f->place.app, f->sm, f->place.warp, f->index,
                      s->system->events->now);
}

/* --- The kernel. */

static void hand_on(struct pw_warp *w, struct pw_feed *f, const struct queued *q)
{
    uint32_t words = pw_op_words(q->op);
    if (q->op.loads_in_flight != PW_ANY_IN_FLIGHT)
        pw_use_all_but(w, q->op.loads_in_flight);
    uint64_t *at = pw_emit(w, words, q->op);
    memcpy(at, q->words, (words - 1) * sizeof *at);
    if (is_followed(q->record.done.kind))
        f->records[(f->first_record + f->record_count++) % RECORDS] = q->record;
}

void pw_feed_kernel(struct pw_warp *w, const void *stream)
{
    const struct pw_stream *s = stream;
    struct pw_feed *f = s->feeds[w->cta_index];
    for (;;) {
        while (f->count) {
            const struct queued *q = &f->queue[f->first];
            bool last = q->record.done.kind == PW_STREAM_EXIT;
            if (!last)
                hand_on(w, f, q);
            f->first = f->first + 1 == s->queue ? 0 : f->first + 1;
            f->count--;
            if (last)
                return;
        }
        if (f->closing)
            return;
        if (!w->write)
            rest(f);
        pw_warp_yield(w);
    }
}

/* --- What becomes of operations. */

static struct pw_feed *feed_at(const struct pw_stream *s, struct pw_slot slot)
{
    const struct pw_sm_config *c = &s->config.gpu.sm;
    return s->feeds[((size_t)slot.gpu * c->count + slot.sm) * c->warps + slot.warp];
}

static struct record *load_at(const struct pw_stream *s, struct pw_slot slot, uint16_t number)
{
    return &feed_at(s, slot)->in_flight[number & (s->config.gpu.sm.loads_per_warp - 1)];
}

static void complete(struct pw_stream *s, struct record *r, pw_cycle now)
{
    s->outstanding--;
    r->done.completed = now;
    if (r->report) {
        struct pw_stream_completion *grown =
            pw_grow(s->completions, s->completion_count, &s->completion_capacity, sizeof *grown);
        if (!grown) {
            pw_events_out_of_memory(s->system->events);
            return;
        }
        struct pw_translation t =
            pw_page_table_lookup(s->system->spaces[r->done.place.app].table, pw_vpn_of((pw_vaddr){r->where}));
        r->done.physical = t.present ? pw_paddr_in(t.frame, (pw_vaddr){r->where}).v : UINT64_MAX;
        s->completions = grown;
        grown[s->completion_count++] = r->done;
        stop_at(s, PW_GOAL_COMPLETION);
        stop_at(s, PW_GOAL_LAST_COMPLETION);
    }
    maybe_rest(s);
}

static enum pw_heard issued(void *stream, struct pw_slot slot, pw_cycle now)
{
    struct pw_stream *s = stream;
    struct pw_feed *f = feed_at(s, slot);
    struct record *r = &f->records[f->first_record];
    f->first_record = (f->first_record + 1) % RECORDS;
    f->record_count--;
    r->done.issued = r->done.translated = now;
    if (!is_load(r->done.kind)) {
        complete(s, r, now);
        return PW_HEARD_ACCESS;
    }
    f->in_flight[f->loads++ & (s->config.gpu.sm.loads_per_warp - 1)] = *r;
    return r->done.kind == PW_STREAM_TRANSLATE         ? PW_HEARD_TRANSLATE
           : r->done.kind == PW_STREAM_TRANSLATE_WRITE ? PW_HEARD_TRANSLATE_WRITE
                                                       : PW_HEARD_ACCESS;
}

static void missed(void *stream, struct pw_slot slot, uint16_t number, enum pw_miss_stage stage)
{
    static const uint8_t levels[] = {[PW_MISS_L2_TLB] = PW_STREAM_L2_TLB,
                                     [PW_MISS_WALK_QUEUE] = PW_STREAM_WALK,
                                     [PW_MISS_WALK] = PW_STREAM_WALK,
                                     [PW_MISS_FAR_FAULT] = PW_STREAM_FAR_FAULT};
    struct record *r = load_at(stream, slot, number);
    if (levels[stage] > r->done.level)
        r->done.level = (enum pw_stream_level)levels[stage];
}

static void translated(void *stream, struct pw_slot slot, uint16_t number, pw_cycle at)
{
    struct record *r = load_at(stream, slot, number);
    if (at > r->done.translated)
        r->done.translated = at;
}

static void loaded(void *stream, struct pw_slot slot, uint16_t number, pw_cycle now)
{
    complete(stream, load_at(stream, slot, number), now);
}

static void exited(void *stream, struct pw_slot slot, pw_cycle now)
{
    (void)now;
    struct pw_feed *f = feed_at(stream, slot);
    f->resident = false;
    if (f->count)
        start(f);
    else
        rest(f);
}

static void opened(void *stream, unsigned app, pw_cycle now)
{
    (void)now;
    struct pw_stream *s = stream;
    s->spaces[app].open = true;
    for (uint32_t i = 0; i < s->feed_count; i++)
        if (s->feeds[i] && s->feeds[i]->place.app == app && s->feeds[i]->count && !s->feeds[i]->resident)
            start(s->feeds[i]);
    s->busy--;
    maybe_rest(s);
}

struct pw_open pw_feed_hooks(struct pw_stream *s)
{
    return (struct pw_open){{s, issued, missed, translated, loaded, exited}, opened};
}

void pw_feeds_close(struct pw_stream *s)
{
    for (uint32_t i = 0; i < s->feed_count; i++) {
        struct pw_feed *f = s->feeds[i];
        if (!f || !f->resident)
            continue;
        f->closing = f->busy = true;
        s->busy++;
        pw_gpu_wake_warp(s->system->nodes[f->place.gpu].gpu, f->sm, f->place.warp, s->system->events->now);
    }
}

void pw_feeds_release(struct pw_stream *s)
{
    for (uint32_t i = 0; s->feeds && i < s->feed_count; i++) {
        if (s->feeds[i])
            free(s->feeds[i]->in_flight);
        free(s->feeds[i]);
    }
    free(s->feeds);
}

bool pw_stream_rests(const struct pw_stream *s, unsigned app)
{
    for (uint32_t i = 0; i < s->feed_count; i++) {
        const struct pw_feed *f = s->feeds[i];
        if (!f || f->place.app != app)
            continue;
        if (f->busy || f->record_count || s->outstanding)
            return false;
    }
    for (unsigned i = 0; i < s->system->node_count; i++)
        if (pw_gpu_stores_left(s->system->nodes[i].gpu, app))
            return false;
    return true;
}

/* --- Pushing. */

static enum pw_status check_place(const struct pw_stream *s, struct pw_stream_place p, struct pw_error *err)
{
    const struct pw_system *system = s->system;
    const struct pw_gpu_config *c = &system->config.gpu;
    if (p.app < system->app_count && p.gpu < system->node_count && p.sm < c->app_sms[p.app] && p.warp < c->sm.warps)
        return PW_OK;
    return pw_fail(
        err, PW_USER_ERROR,
        "there is no application %u with warp slot %u of SM %u on GPU %u: the stream has %u with %u slots on "
        "each of %u SMs of %u GPUs",
        p.app, p.warp, p.sm, p.gpu, system->app_count, c->sm.warps,
        p.app < system->app_count ? c->app_sms[p.app] : c->app_sms[0], system->node_count);
}

static enum pw_status find_feed(struct pw_stream *s, struct pw_stream_place p, struct pw_feed **out,
                                struct pw_error *err)
{
    const struct pw_sm_config *c = &s->config.gpu.sm;
    uint32_t sm = pw_stream_first_sm(s, p.app) + p.sm, index = (p.gpu * c->count + sm) * c->warps + p.warp;
    struct pw_feed *f = s->feeds[index];
    *out = f;
    if (f)
        return PW_OK;
    f = calloc(1, sizeof *f + s->queue * sizeof *f->queue);
    struct record *in_flight = calloc(c->loads_per_warp, sizeof *in_flight);
    if (!f || !in_flight) {
        free(f);
        free(in_flight);
        return pw_stream_keep(s, pw_fail_memory(err, "the queue of a warp"), err);
    }
    f->stream = s;
    f->place = p;
    f->sm = sm;
    f->index = index;
    f->in_flight = in_flight;
    *out = s->feeds[index] = f;
    return PW_OK;
}

static enum pw_status check_operation(const struct pw_stream_operation *op, struct pw_error *err)
{
    uint32_t bytes = op->bytes ? op->bytes : 4;
    if ((unsigned)op->kind >= PW_STREAM_KIND_COUNT)
        return pw_fail(err, PW_USER_ERROR, "an operation of kind %u: there are those of enum pw_stream_kind",
                       (unsigned)op->kind);
    if (bytes > 16 || (bytes & (bytes - 1)))
        return pw_fail(err, PW_USER_ERROR, "an access of %u bytes a lane: there are 1, 2, 4, 8 and 16", op->bytes);
    if (op->instructions > 1 << 20)
        return pw_fail(err, PW_USER_ERROR, "%u instructions in one operation: at most 2^20", op->instructions);
    return PW_OK;
}

/* Where the lanes access, as an affine access if that is what it is in the address space too. */
static enum pw_status locate_lanes(struct pw_stream *s, unsigned app, const struct pw_stream_operation *op,
                                   struct queued *q, struct pw_error *err)
{
    uint32_t count = 0;
    uint64_t addresses[PW_WARP_LANES];
    for (uint32_t lanes = q->op.count_or_mask; lanes; lanes &= lanes - 1, count++)
        addresses[count] =
            op->addresses ? op->addresses[count] : op->base + (uint64_t)__builtin_ctz(lanes) * (uint64_t)op->stride;
    enum pw_status status = pw_stream_locate(s, app, addresses, count, q->op.bytes, q->words, err);
    if (status != PW_OK)
        return status;
    q->record.done.address = addresses[0];
    q->record.where = q->words[0];
    bool affine = !op->addresses;
    uint64_t moved_by = q->words[0] - addresses[0];
    for (uint32_t i = 1; i < count; i++)
        affine &= q->words[i] - addresses[i] == moved_by;
    q->op.form = affine ? PW_FORM_AFFINE : PW_FORM_LANES;
    if (affine) {
        q->words[0] = op->base + moved_by;
        q->words[1] = (uint64_t)op->stride;
    }
    return PW_OK;
}

static enum pw_status encode(struct pw_stream *s, struct pw_stream_place place, const struct pw_stream_operation *op,
                             struct queued *q, struct pw_error *err)
{
    static const uint8_t kinds[] = {
        [PW_STREAM_LOAD] = PW_OP_LOAD,       [PW_STREAM_STORE] = PW_OP_STORE,
        [PW_STREAM_ATOMIC] = PW_OP_ATOMIC,   [PW_STREAM_ATOMIC_RETURN] = PW_OP_ATOMIC_RETURN,
        [PW_STREAM_TRANSLATE] = PW_OP_LOAD,  [PW_STREAM_TRANSLATE_WRITE] = PW_OP_LOAD,
        [PW_STREAM_COMPUTE] = PW_OP_COMPUTE, [PW_STREAM_EXIT] = PW_OP_EXIT};
    enum pw_status status = check_operation(op, err);
    if (status != PW_OK)
        return status;
    q->op = (struct pw_op){.kind = kinds[op->kind],
                           .bytes = (uint8_t)(op->bytes ? op->bytes : 4),
                           .loads_in_flight = op->use ? op->all_but : PW_ANY_IN_FLIGHT,
                           .count_or_mask = op->mask ? op->mask : PW_ALL_LANES};
    q->record = (struct record){.report = op->report};
    q->record.done = (struct pw_stream_completion){
        .tag = op->tag, .place = place, .kind = op->kind, .pushed = s->system->events->now};
    if (is_followed(op->kind))
        return locate_lanes(s, place.app, op, q, err);
    q->op.count_or_mask = op->instructions ? op->instructions : 1;
    return PW_OK;
}

/* The operation behind the last one of the queue is there. */
static void take_in(struct pw_stream *s, struct pw_feed *f, bool followed)
{
    f->count++;
    s->outstanding += followed;
    s->busy += !f->busy;
    f->busy = true;
    if (f->resident)
        pw_gpu_wake_warp(s->system->nodes[f->place.gpu].gpu, f->sm, f->place.warp, s->system->events->now);
    else if (s->spaces[f->place.app].open)
        start(f);
}

enum pw_status pw_stream_push(struct pw_stream *s, struct pw_stream_place place, const struct pw_stream_operation *op,
                              struct pw_error *err)
{
    struct pw_feed *f;
    enum pw_status status = pw_stream_check(s, err);
    if (status == PW_OK)
        status = check_place(s, place, err);
    if (status == PW_OK)
        status = find_feed(s, place, &f, err);
    if (status != PW_OK)
        return status;
    if (f->count == s->queue)
        return PW_BUSY;
    struct queued *q = &f->queue[(f->first + f->count) % s->queue];
    status = encode(s, place, op, q, err);
    if (status == PW_OK)
        take_in(s, f, is_followed(op->kind));
    return status;
}

enum pw_status pw_stream_access(struct pw_stream *s, struct pw_stream_place place, enum pw_stream_kind kind,
                                uint64_t address, uint64_t bytes, uint64_t tag, struct pw_error *err)
{
    uint64_t each = bytes | address | 16;
    each &= -each;
    if (!bytes || bytes / each > PW_WARP_LANES || !is_followed(kind))
        return pw_fail(
            err, PW_USER_ERROR,
            "an access of %llu bytes at 0x%llx: one of at most 32 lanes, of 16 bytes if address and size are "
            "multiples of that, is asked for",
            (unsigned long long)bytes, (unsigned long long)address);
    return pw_stream_push(s, place,
                          &(struct pw_stream_operation){.kind = kind,
                                                        .mask = PW_ALL_LANES >> (PW_WARP_LANES - bytes / each),
                                                        .bytes = (uint32_t)each,
                                                        .base = address,
                                                        .stride = (int64_t)each,
                                                        .tag = tag,
                                                        .report = true},
                          err);
}
