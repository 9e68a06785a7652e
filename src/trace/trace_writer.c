/* Events in memory, operations on their way to blocks, and in the end the index. */
#include "trace/trace_writer.h"

#include "sim/grow.h"
#include "trace/format.h"
#include "trace/strays.h"
#include "trace/texts.h"
#include "trace/trace_internal.h"
#include "trace/warps_out.h"

#include <string.h>
#include <unistd.h>

enum { INDEX_LEVEL = 19 };

struct pw_trace_writer {
    struct pw_writer_file file;
    struct pw_blocks_out blocks;
    struct pw_warps_out warps;
    struct pw_strays strays;
    struct pw_texts texts;
    struct pw_index index; /* what is written into it in the end */
    size_t event_capacity, launch_capacity;
    uint32_t allocations;
    uint32_t ctas, cta_warps; /* of the launch that is open; 0: none is */
    struct pw_error err;      /* the first failure */
    const char *about;        /* what the operations are from; NULL: the file itself */
};

static const char *name_of(const struct pw_trace_writer *w)
{
    return w->about ? w->about : w->file.path;
}

static bool sound(const struct pw_trace_writer *w)
{
    return w->err.status == PW_OK;
}

/* Notes a failure unless there was one. */
static void note(struct pw_trace_writer *w, enum pw_status status, const struct pw_error *err)
{
    if (status != PW_OK && sound(w))
        w->err = *err;
}

static void out_of_memory(struct pw_trace_writer *w)
{
    if (sound(w))
        pw_error_set(&w->err, PW_FAILED, "out of memory for a trace");
}

/* A text to keep; "" where memory is out, which is noted. */
static const char *keep(struct pw_trace_writer *w, const char *text)
{
    const struct pw_text *kept = pw_texts_add(&w->texts, text);
    if (kept)
        return kept->text;
    out_of_memory(w);
    return "";
}

enum pw_status pw_trace_writer_open(const char *path, struct pw_trace_writer **out, struct pw_error *err)
{
    struct pw_trace_writer *w = calloc(1, sizeof *w);
    if (!w)
        return pw_fail_memory(err, "a trace");
    w->index.origin = (struct pw_trace_origin){.recorder = "", .program = "", .device = "", .cta_sample = 1};
    enum pw_status status = pw_writer_file_open(&w->file, path, err);
    if (status == PW_OK)
        status = pw_strays_init(&w->strays, err);
    if (status == PW_OK)
        status = pw_texts_init(&w->texts, err);
    if (status == PW_OK)
        status = pw_warps_out_init(&w->warps, err);
    if (status == PW_OK)
        status = pw_blocks_out_init(&w->blocks, &w->file, err);
    uint8_t header[PW_TRACE_HEADER_BYTES];
    pw_trace_put_header(header);
    if (status == PW_OK)
        status = pw_writer_file_write(&w->file, header, sizeof header, err);
    if (status != PW_OK) {
        pw_trace_writer_drop(w);
        return status;
    }
    *out = w;
    return PW_OK;
}

void pw_trace_writer_bound(struct pw_trace_writer *w, size_t under_way, size_t piece, size_t collected)
{
    w->warps.most = under_way;
    w->warps.most_piece = piece;
    w->blocks.most_collected = collected;
}

void pw_trace_writer_drop(struct pw_trace_writer *w)
{
    if (!w)
        return;
    pw_writer_file_drop(&w->file);
    pw_blocks_out_release(&w->blocks);
    pw_warps_out_release(&w->warps);
    pw_strays_release(&w->strays);
    pw_texts_release(&w->texts);
    pw_index_release(&w->index);
    free(w);
}

void pw_trace_writer_name(struct pw_trace_writer *w, const char *name)
{
    w->about = name;
}

void pw_trace_writer_set_origin(struct pw_trace_writer *w, const struct pw_trace_origin *origin)
{
    w->index.origin = (struct pw_trace_origin){.recorder = keep(w, origin->recorder),
                                               .program = keep(w, origin->program),
                                               .device = keep(w, origin->device),
                                               .cta_sample = origin->cta_sample ? origin->cta_sample : 1,
                                               .seed = origin->seed};
}

/* Operations of the launch that was begun last are complete. */
static void end_launch(struct pw_trace_writer *w)
{
    if (!w->ctas || !sound(w))
        return;
    struct pw_error err;
    uint64_t busy;
    enum pw_status status = pw_warps_out_end_all(&w->warps, &w->blocks, &err);
    if (status == PW_OK)
        status = pw_blocks_out_end(&w->blocks, &w->index.launches[w->index.launch_count - 1], &busy, &err);
    if (status == PW_OK)
        status = pw_table_check_idle(name_of(w), w->index.launch_count, w->ctas - busy, w->cta_warps, &err);
    note(w, status, &err);
    w->ctas = 0;
}

static void add_event(struct pw_trace_writer *w, const struct pw_trace_event *event)
{
    struct pw_trace_event *grown =
        pw_grow(w->index.events, w->index.event_count, &w->event_capacity, sizeof *w->index.events);
    if (!grown) {
        out_of_memory(w);
        return;
    }
    w->index.events = grown;
    struct pw_trace_event *added = &grown[w->index.event_count++];
    *added = *event;
    added->name = keep(w, event->name);
}

static void add_free(struct pw_trace_writer *w, const struct pw_range *range)
{
    struct pw_trace_event freed = {.kind = PW_TRACE_FREE,
                                   .allocation = range->number,
                                   .address = range->first,
                                   .bytes = range->end - range->first,
                                   .name = ""};
    add_event(w, &freed);
    pw_ranges_remove(&w->strays.live, freed.address);
    pw_strays_change(&w->strays);
}

static void add_alloc(struct pw_trace_writer *w, const struct pw_trace_event *event)
{
    const struct pw_range *next;
    if (event->memory >= PW_TRACE_MEMORY_COUNT || event->address >= PW_TRACE_ADDRESS_END ||
        event->bytes > PW_TRACE_ADDRESS_END - event->address) {
        pw_error_set(&w->err, PW_USER_ERROR, "%s: an allocation of %llu bytes at 0x%llx is none of a GPU", name_of(w),
                     (unsigned long long)event->bytes, (unsigned long long)event->address);
        return;
    }
    struct pw_range range = {.first = event->address, .end = event->address + event->bytes, .number = w->allocations};
    while ((next = pw_ranges_from(&w->strays.live, range.first)) && next->first < range.end)
        add_free(w, next);
    struct pw_trace_event alloc = {.kind = PW_TRACE_ALLOC,
                                   .memory = event->memory,
                                   .allocation = w->allocations++,
                                   .address = event->address,
                                   .bytes = event->bytes,
                                   .name = event->name};
    add_event(w, &alloc);
    if (!pw_ranges_add(&w->strays.live, range))
        out_of_memory(w);
    pw_strays_change(&w->strays);
}

void pw_trace_write_event(struct pw_trace_writer *w, const struct pw_trace_event *event)
{
    end_launch(w);
    if (!sound(w))
        return;
    if (event->kind == PW_TRACE_ALLOC) {
        if (event->bytes)
            add_alloc(w, event);
        return;
    }
    const struct pw_range *range = pw_ranges_find(&w->strays.live, event->address);
    if (event->kind >= PW_TRACE_LAUNCH || !pw_event_flags_are_known(event)) {
        pw_error_set(&w->err, PW_FAILED, "%s: event %u with flags %u cannot be written", name_of(w), event->kind,
                     event->flags);
    } else if (range && event->kind == PW_TRACE_FREE) {
        add_free(w, range);
    } else if (range && event->bytes) {
        uint64_t left = range->end - event->address;
        struct pw_trace_event about = {.kind = event->kind,
                                       .flags = event->flags,
                                       .allocation = range->number,
                                       .address = event->address,
                                       .bytes = event->bytes < left ? event->bytes : left,
                                       .name = ""};
        add_event(w, &about);
    }
}

void pw_trace_write_launch(struct pw_trace_writer *w, const struct pw_trace_event *launch)
{
    end_launch(w);
    if (!sound(w))
        return;
    uint32_t ctas = pw_recorded_ctas(launch);
    if (!ctas) {
        pw_error_set(&w->err, PW_USER_ERROR, "%s: kernel %s has a grid of %u x %u x %u and blocks of %u x %u x %u",
                     name_of(w), launch->name, launch->grid.x, launch->grid.y, launch->grid.z, launch->block.x,
                     launch->block.y, launch->block.z);
        return;
    }
    struct pw_launch_place *grown =
        pw_grow(w->index.launches, w->index.launch_count, &w->launch_capacity, sizeof *w->index.launches);
    if (!grown) {
        out_of_memory(w);
        return;
    }
    w->index.launches = grown;
    struct pw_trace_event event = {.kind = PW_TRACE_LAUNCH,
                                   .allocation = (uint32_t)w->index.launch_count,
                                   .name = launch->name,
                                   .grid = launch->grid,
                                   .block = launch->block,
                                   .shared_bytes = launch->shared_bytes,
                                   .registers = launch->registers,
                                   .sampled_of = launch->sampled_of,
                                   .pace = launch->pace};
    grown[w->index.launch_count++] = (struct pw_launch_place){0};
    add_event(w, &event);
    pw_blocks_out_begin(&w->blocks);
    w->ctas = ctas;
    w->cta_warps = pw_recorded_warps(launch);
    pw_warps_out_begin(&w->warps, w->cta_warps);
}

void pw_trace_write_pace(struct pw_trace_writer *w, uint32_t pace)
{
    if (sound(w) && w->ctas)
        w->index.events[w->index.event_count - 1].pace = pace;
}

/* An access to addresses that a GPU has, noted; false: it failed. */
static bool touch(struct pw_trace_writer *w, uint32_t cta, uint32_t warp, const struct pw_op *op, const uint64_t *words)
{
    uint64_t beyond;
    enum pw_touch touch = pw_strays_note(&w->strays, op, words, &beyond);
    if (touch == PW_TOUCH_MEMORY)
        out_of_memory(w);
    else if (touch == PW_TOUCH_BEYOND)
        pw_error_set(&w->err, PW_USER_ERROR, "%s: CTA %u, warp %u accesses 0x%llx, which no GPU can address",
                     name_of(w), cta, warp, (unsigned long long)beyond);
    return touch == PW_TOUCH_NOTED;
}

bool pw_trace_write_op(struct pw_trace_writer *w, uint32_t cta, uint32_t warp, const struct pw_op *op,
                       const uint64_t *words)
{
    if (!sound(w))
        return false;
    if (cta >= w->ctas || warp >= w->cta_warps || !pw_op_is_sound(op)) {
        pw_error_set(&w->err, PW_USER_ERROR, "%s: CTA %u, warp %u %s", name_of(w), cta, warp,
                     cta < w->ctas && warp < w->cta_warps ? "has what is no operation" : "is not of the launch");
        return false;
    }
    struct pw_trace_event *launch = &w->index.events[w->index.event_count - 1];
    launch->warp_instructions += pw_op_instructions(*op);
    if (pw_op_is_access(*op)) {
        launch->memory_instructions++;
        if (!touch(w, cta, warp, op, words))
            return false;
    }
    if (pw_warps_out_add(&w->warps, &w->blocks, cta, warp, op, words, &w->err) == PW_OK)
        return true;
    return false;
}

void pw_trace_write_cta_end(struct pw_trace_writer *w, uint32_t cta)
{
    if (sound(w) && w->ctas)
        pw_warps_out_end(&w->warps, &w->blocks, cta, &w->err);
}

enum pw_status pw_trace_writer_status(const struct pw_trace_writer *w, struct pw_error *err)
{
    if (err && !sound(w))
        *err = w->err;
    return w->err.status;
}

/* Index and trailer. */
static enum pw_status write_end(struct pw_trace_writer *w, struct pw_error *err)
{
    size_t count;
    struct pw_trace_event *events = pw_strays_events(&w->strays, w->index.events, w->index.event_count, &count);
    if (!events)
        return pw_fail_memory(err, "the index of a trace");
    struct pw_index index = w->index;
    struct pw_bytes_out raw = {0};
    index.events = events;
    index.event_count = count;
    pw_index_write(&index, &raw);
    free(events);
    struct pw_part part;
    size_t bytes;
    const uint8_t *packed =
        raw.failed ? NULL : pw_pack(w->blocks.packer, w->file.at, raw.bytes, raw.used, INDEX_LEVEL, &part, &bytes);
    pw_bytes_free(&raw);
    if (!packed)
        return pw_fail_memory(err, "the index of a trace");
    enum pw_status status = pw_writer_file_write(&w->file, packed, bytes, err);
    uint8_t trailer[PW_TRACE_TRAILER_BYTES];
    pw_trace_put_trailer(trailer, &part);
    return status == PW_OK ? pw_writer_file_write(&w->file, trailer, sizeof trailer, err) : status;
}

static enum pw_status finish(struct pw_trace_writer *w, const char *path, struct pw_trace **out_trace,
                             struct pw_error *err)
{
    int fd;
    end_launch(w);
    enum pw_status status = pw_trace_writer_status(w, err);
    if (status == PW_OK)
        status = write_end(w, err);
    if (status == PW_OK)
        status = pw_writer_file_finish(&w->file, &fd, err);
    if (status != PW_OK)
        return status;
    if (!out_trace) {
        if (fd >= 0)
            close(fd);
        return PW_OK;
    }
    return fd >= 0 ? pw_trace_open_file(fd, path, out_trace, err) : pw_trace_open(path, out_trace, err);
}

enum pw_status pw_trace_writer_finish(struct pw_trace_writer *w, struct pw_trace **out_trace, struct pw_error *err)
{
    return pw_trace_writer_finish_as(w, NULL, out_trace, err);
}

enum pw_status pw_trace_writer_finish_as(struct pw_trace_writer *w, const char *name, struct pw_trace **out_trace,
                                         struct pw_error *err)
{
    char *path = strdup(name ? name : w->file.path);
    enum pw_status status = path ? finish(w, path, out_trace, err) : pw_fail_memory(err, "a trace");
    free(path);
    pw_trace_writer_drop(w);
    return status;
}
