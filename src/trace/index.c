/* Events as varints and back. What is read has been under a checksum, but the file's maker may have made that,
 * too: allocations that are alive must not overlap, and what is copied, advised on or freed lies in one. */
#include "trace/index.h"

#include "sim/grow.h"
#include "sim/memory_advice.h"
#include "sim/types.h"
#include "sim/utf8.h"
#include "trace/format.h"
#include "trace/ranges.h"
#include "trace/texts.h"

#include <stdio.h>

uint32_t pw_recorded_ctas(const struct pw_trace_event *launch)
{
    uint64_t ctas = (uint64_t)launch->grid.x * launch->grid.y;
    const struct pw_dim3 *b = &launch->block;
    if (ctas > UINT32_MAX || ctas * launch->grid.z > UINT32_MAX || b->x > PW_CTA_THREADS || b->y > PW_CTA_THREADS ||
        b->z > PW_CTA_THREADS)
        return 0;
    uint64_t threads = (uint64_t)b->x * b->y * b->z;
    return threads && threads <= PW_CTA_THREADS ? (uint32_t)(ctas * launch->grid.z) : 0;
}

uint32_t pw_recorded_warps(const struct pw_trace_event *launch)
{
    return (launch->block.x * launch->block.y * launch->block.z + PW_WARP_LANES - 1) / PW_WARP_LANES;
}

bool pw_event_flags_are_known(const struct pw_trace_event *event)
{
    enum { ADVICE = PW_ADVICE_READ_MOSTLY | PW_ADVICE_PREFER_HOST | PW_ADVICE_PREFER_DEVICE | PW_ADVICE_ACCESSED_BY };
    switch (event->kind) {
    case PW_TRACE_COPY:
        return event->flags < PW_TRACE_COPY_COUNT;
    case PW_TRACE_ADVISE:
        return !(event->flags & ~ADVICE);
    case PW_TRACE_PROTECT:
        return !(event->flags & ~PW_MAY_ALL);
    default:
        return !event->flags;
    }
}

/* An index that is being written: what refers to texts, which come before it. */
struct writing {
    struct pw_texts texts;
    struct pw_bytes_out out;
};

static void add_text(struct writing *w, const char *text)
{
    const struct pw_text *kept = pw_texts_add(&w->texts, text);
    w->out.failed |= !kept;
    pw_add_varint(&w->out, kept ? kept->number : 0);
}

static void write_launch(struct writing *w, const struct pw_trace_event *e, const struct pw_launch_place *l)
{
    const uint32_t numbers[] = {e->grid.x,  e->grid.y,       e->grid.z,    e->block.x, e->block.y,
                                e->block.z, e->shared_bytes, e->registers, e->pace};
    add_text(w, e->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pw_add_varint(&w->out, numbers[i]);
    pw_add_varint(&w->out, e->sampled_of);
    pw_add_varint(&w->out, e->warp_instructions);
    pw_add_varint(&w->out, e->memory_instructions);
    pw_add_varint(&w->out, l->table.offset - l->blocks);
    pw_add_varint(&w->out, l->table.stored);
    pw_add_varint(&w->out, l->table.raw);
    pw_add_fixed(&w->out, l->checksum);
}

/* An allocation without a name has its address for one: advice names allocations. */
static void write_alloc(struct writing *w, const struct pw_trace_event *e)
{
    char name[24];
    snprintf(name, sizeof name, "0x%llx", (unsigned long long)e->address);
    pw_add_varint(&w->out, e->memory);
    pw_add_varint(&w->out, e->address);
    pw_add_varint(&w->out, e->bytes);
    add_text(w, *e->name ? e->name : name);
}

static void write_event(struct writing *w, const struct pw_trace_event *e, const struct pw_index *index)
{
    pw_add_varint(&w->out, e->kind);
    if (e->kind == PW_TRACE_LAUNCH) {
        write_launch(w, e, &index->launches[e->allocation]);
    } else if (e->kind == PW_TRACE_ALLOC) {
        write_alloc(w, e);
    } else {
        pw_add_varint(&w->out, e->allocation);
        if (e->kind == PW_TRACE_FREE)
            return;
        pw_add_varint(&w->out, e->flags);
        pw_add_varint(&w->out, e->address);
        pw_add_varint(&w->out, e->bytes);
    }
}

void pw_index_write(const struct pw_index *index, struct pw_bytes_out *out)
{
    const struct pw_trace_origin *o = &index->origin;
    struct writing w = {0};
    if (pw_texts_init(&w.texts, NULL) != PW_OK) {
        out->failed = true;
        return;
    }
    add_text(&w, o->recorder);
    add_text(&w, o->program);
    add_text(&w, o->device);
    pw_add_varint(&w.out, o->cta_sample);
    pw_add_varint(&w.out, o->seed);
    pw_add_varint(&w.out, index->event_count);
    for (size_t i = 0; i < index->event_count; i++)
        write_event(&w, &index->events[i], index);
    pw_add_varint(out, w.texts.map.count);
    for (const struct pw_text *t = w.texts.first; t; t = t->after)
        pw_add_text(out, t->text);
    pw_add_bytes(out, w.out.bytes, w.out.used);
    out->failed |= w.out.failed;
    pw_bytes_free(&w.out);
    pw_texts_release(&w.texts);
}

/* An index that is being read. */
struct reading {
    struct pw_bytes_in in;
    struct pw_index *index;
    struct pw_ranges live;
    uint64_t place; /* of the next launch */
    const char **texts;
    size_t text_count, text_capacity;
    size_t *allocs; /* the event of each allocation */
    size_t alloc_count, alloc_capacity, event_capacity, launch_capacity;
    bool memory;  /* is out */
    bool control; /* characters in a name */
};

static const char *take_text(struct reading *r)
{
    uint64_t number = pw_take_varint(&r->in, UINT32_MAX);
    if (!r->in.bad && number < r->text_count)
        return r->texts[number];
    r->in.bad = true;
    return "";
}

/* A terminal obeys control characters; no writer puts any into a name. */
static bool has_control(const char *text)
{
    for (; *text; text++)
        if (pw_utf8_is_control(text))
            return true;
    return false;
}

static bool read_texts(struct reading *r)
{
    enum { LEAST_TEXT = 2 };
    size_t count = pw_take_varint(&r->in, (uint64_t)(r->in.end - r->in.at) / LEAST_TEXT);
    for (; r->text_count < count && !r->in.bad; r->text_count++) {
        const char **grown = pw_grow(r->texts, r->text_count, &r->text_capacity, sizeof *grown);
        r->memory = !grown;
        if (r->memory)
            return false;
        r->texts = grown;
        r->texts[r->text_count] = pw_take_text(&r->in);
        r->control = has_control(r->texts[r->text_count]);
        r->in.bad |= r->control;
    }
    return !r->in.bad;
}

static bool read_alloc(struct reading *r, struct pw_trace_event *e, size_t number)
{
    e->memory = (uint8_t)pw_take_varint(&r->in, PW_TRACE_MEMORY_COUNT - 1);
    e->address = pw_take_varint(&r->in, PW_TRACE_ADDRESS_END - 1);
    e->bytes = pw_take_varint(&r->in, PW_TRACE_ADDRESS_END - e->address);
    e->name = take_text(r);
    e->allocation = (uint32_t)r->alloc_count;
    if (r->in.bad || !e->bytes)
        return false;
    const struct pw_range *next = pw_ranges_from(&r->live, e->address);
    if (next && next->first < e->address + e->bytes)
        return false;
    r->allocs[r->alloc_count++] = number;
    struct pw_range range = {.first = e->address, .end = e->address + e->bytes, .number = e->allocation};
    r->memory = !pw_ranges_add(&r->live, range);
    return !r->memory;
}

/* An event that is about an allocation: that is alive, and what the event is about lies in it. */
static bool read_other(struct reading *r, struct pw_trace_event *e)
{
    e->allocation = (uint32_t)pw_take_varint(&r->in, UINT32_MAX);
    if (r->in.bad || e->allocation >= r->alloc_count)
        return false;
    const struct pw_trace_event *of = &r->index->events[r->allocs[e->allocation]];
    const struct pw_range *live = pw_ranges_find(&r->live, of->address);
    if (!live || live->number != e->allocation)
        return false;
    if (e->kind == PW_TRACE_FREE) {
        e->address = of->address;
        e->bytes = of->bytes;
        pw_ranges_remove(&r->live, of->address);
        return true;
    }
    e->flags = (uint8_t)pw_take_varint(&r->in, UINT8_MAX);
    e->address = pw_take_varint(&r->in, PW_TRACE_ADDRESS_END - 1);
    e->bytes = pw_take_varint(&r->in, PW_TRACE_ADDRESS_END);
    return !r->in.bad && e->bytes && e->address >= live->first && e->address < live->end &&
           e->bytes <= live->end - e->address && pw_event_flags_are_known(e);
}

static bool read_launch(struct reading *r, struct pw_trace_event *e, size_t number)
{
    uint32_t *const numbers[] = {&e->grid.x,  &e->grid.y,       &e->grid.z,    &e->block.x, &e->block.y,
                                 &e->block.z, &e->shared_bytes, &e->registers, &e->pace};
    e->name = take_text(r);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = (uint32_t)pw_take_varint(&r->in, UINT32_MAX);
    e->sampled_of = pw_take_varint(&r->in, UINT64_MAX);
    e->warp_instructions = pw_take_varint(&r->in, UINT64_MAX);
    e->memory_instructions = pw_take_varint(&r->in, UINT64_MAX);
    e->allocation = (uint32_t)r->index->launch_count;
    struct pw_launch_place l = {.blocks = r->place, .event = number};
    l.table.offset = r->place + pw_take_varint(&r->in, UINT64_C(1) << 48);
    l.table.stored = pw_take_varint(&r->in, UINT64_C(1) << 48);
    l.table.raw = pw_take_varint(&r->in, UINT64_C(1) << 56);
    l.checksum = pw_take_fixed(&r->in);
    r->place = pw_part_end(&l.table);
    r->index->launches[r->index->launch_count++] = l;
    return !r->in.bad && pw_part_is_sound(&l.table) && pw_recorded_ctas(e) && e->pace <= PW_TRACE_MOST_PACE;
}

/* Room for one more of each: there are no more than the bytes that were read, whatever their number is said to be. */
static bool grow(struct reading *r)
{
    struct pw_index *x = r->index;
    void *events = pw_grow(x->events, x->event_count, &r->event_capacity, sizeof *x->events);
    x->events = events ? events : x->events;
    void *launches = pw_grow(x->launches, x->launch_count, &r->launch_capacity, sizeof *x->launches);
    x->launches = launches ? launches : x->launches;
    void *allocs = pw_grow(r->allocs, r->alloc_count, &r->alloc_capacity, sizeof *r->allocs);
    r->allocs = allocs ? allocs : r->allocs;
    r->memory = !events || !launches || !allocs;
    return !r->memory;
}

static bool read_event(struct reading *r, uint64_t end, size_t number)
{
    if (!grow(r))
        return false;
    struct pw_trace_event e = {.name = ""};
    e.kind = (uint8_t)pw_take_varint(&r->in, PW_TRACE_EVENT_KIND_COUNT - 1);
    bool sound = !r->in.bad;
    if (sound && e.kind == PW_TRACE_ALLOC)
        sound = read_alloc(r, &e, number);
    else if (sound && e.kind == PW_TRACE_LAUNCH)
        sound = read_launch(r, &e, number) && r->place <= end;
    else if (sound)
        sound = read_other(r, &e);
    r->index->events[number] = e;
    return sound;
}

static bool read_all(struct reading *r, uint64_t end)
{
    struct pw_index *x = r->index;
    if (!read_texts(r))
        return false;
    x->origin.recorder = take_text(r);
    x->origin.program = take_text(r);
    x->origin.device = take_text(r);
    x->origin.cta_sample = (uint32_t)pw_take_varint(&r->in, UINT32_MAX);
    x->origin.seed = pw_take_varint(&r->in, UINT64_MAX);
    enum { LEAST_EVENT = 2 };
    size_t count = pw_take_varint(&r->in, (uint64_t)(r->in.end - r->in.at) / LEAST_EVENT);
    if (r->in.bad || count > UINT32_MAX || !x->origin.cta_sample)
        return false;
    for (; x->event_count < count; x->event_count++)
        if (!read_event(r, end, x->event_count))
            return false;
    return r->in.at == r->in.end && r->place == end;
}

enum pw_status pw_index_read(struct pw_index *index, uint8_t *raw, size_t bytes, uint64_t end, const char *path,
                             struct pw_error *err)
{
    *index = (struct pw_index){.raw = raw};
    struct reading r = {.in = {.at = raw, .end = raw + bytes}, .index = index, .place = PW_TRACE_HEADER_BYTES};
    bool sound = read_all(&r, end);
    pw_ranges_release(&r.live);
    free(r.allocs);
    free(r.texts);
    if (sound)
        return PW_OK;
    size_t event = index->event_count;
    pw_index_release(index);
    if (r.memory)
        return pw_fail_memory(err, "the index of a trace");
    if (r.control)
        return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: a name in its index has control characters", path);
    return pw_fail(err, PW_USER_ERROR, "%s: is corrupted: its index does not make sense at event %zu", path, event);
}

void pw_index_release(struct pw_index *index)
{
    free(index->raw);
    free(index->events);
    free(index->launches);
    *index = (struct pw_index){0};
}
