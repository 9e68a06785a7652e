/* Reads Accel-Sim's list of what a program did: copies to the device and kernels, each with a file of its own.
 *
 * A copy's range is memory of the device: an allocation begins with the first copy into it. Nobody recorded
 * allocations, so that ranges that overlap are taken as one allocation, over the whole list. What else a line says
 * (copies to the host, messages of other tools) is ignored, as Accel-Sim ignores it, but for lines that pagewalk's
 * exporter has written (trace/export.c): where these have allocations, copies allocate nothing. */
#include "trace/export.h"
#include "trace/import_private.h"
#include "trace/index.h"
#include "trace/text_scan.h"

#include "sim/grow.h"
#include "sim/utf8.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_COMMANDS = 1 << 18,
    MOST_PATH = 4096,
    MOST_TEXT = 64 << 20, /* bytes of a list: 256 for each command; it is read without a watch, too */
};

struct range {
    uint64_t begin, end;
    bool allocated;
};

struct ranges {
    struct range *item;
    size_t count, capacity;
    bool are_listed; /* as allocations, by the list itself */
};

enum command_kind { COMMAND_NONE, COMMAND_COPY, COMMAND_KERNEL, COMMAND_EVENT, COMMAND_SAMPLE };

struct command {
    enum command_kind kind;
    uint64_t address, bytes;
    char path[MOST_PATH];
    struct pw_trace_event event;
    char name[PW_IMPORT_NAME_BYTES]; /* of the event */
    uint32_t sample;
};

struct list {
    struct pw_lines text;
    uint64_t commands, bytes;
};

/* A copy to the device: `MemcpyHtoD,0xADDRESS,BYTES`. */
static enum pw_status read_copy(struct pw_lines *t, const char *at, struct command *out, struct pw_error *err)
{
    const uint64_t end = PW_TRACE_ADDRESS_END;
    at = pw_scan_hex(at, &out->address);
    if (at)
        at = *at == ',' ? pw_scan_decimal(at + 1, &out->bytes) : NULL;
    if (!at || *pw_scan_blanks(at) != '\n')
        return pw_lines_fail(t, err, "this is not `MemcpyHtoD,0xADDRESS,BYTES`");
    if (out->address >= end || out->bytes > end - out->address)
        return pw_lines_fail(t, err, "the range has addresses of more than %d bits", PW_TRACE_ADDRESS_BITS);
    out->kind = out->bytes ? COMMAND_COPY : COMMAND_NONE;
    return PW_OK;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t bytes = strlen(end);
    return length > bytes && !memcmp(text + length - bytes, end, bytes);
}

bool pw_import_is_kernel_path(const char *line, size_t length)
{
    while (length && pw_scan_is_blank(line[length - 1]))
        length--;
    return memchr(line, '/', length) && !memchr(line, ' ', length) &&
           (ends_with(line, length, ".traceg") || ends_with(line, length, ".traceg.xz") ||
            ends_with(line, length, ".tracez"));
}

/* The file of a kernel; a path that is not absolute begins at the list. */
static enum pw_status read_kernel(struct pw_lines *t, const char *at, struct command *out, struct pw_error *err)
{
    const char *end = memchr(at, '\n', (size_t)(t->end - at));
    while (end > at && pw_scan_is_blank(end[-1]))
        end--;
    for (const char *c = at; c < end;) {
        size_t bytes = pw_utf8_printable_length(c);
        if (!bytes)
            return pw_lines_fail(t, err, "the name of a kernel's file is not printable text");
        c += bytes;
    }
    const char *slash = *at == '/' ? NULL : strrchr(t->path, '/');
    int length = snprintf(out->path, sizeof out->path, "%.*s%.*s", slash ? (int)(slash - t->path) + 1 : 0, t->path,
                          (int)(end - at), at);
    if (length < 0 || (size_t)length >= sizeof out->path)
        return pw_lines_fail(t, err, "the name of a kernel's file is too long");
    out->kind = COMMAND_KERNEL;
    return PW_OK;
}

static bool find_kind(const char *at, const char **out_end, uint8_t *out)
{
    for (unsigned kind = 0; kind < PW_TRACE_LAUNCH; kind++) {
        *out_end = pw_scan_text(at, pw_export_event_name(kind));
        *out = (uint8_t)kind;
        if (*out_end && **out_end == ' ')
            return true;
    }
    return false;
}

static bool event_is_possible(const struct pw_trace_event *e)
{
    const uint64_t end = PW_TRACE_ADDRESS_END;
    if (e->address >= end || e->bytes > end - e->address)
        return false;
    return e->kind == PW_TRACE_ALLOC ? e->memory < PW_TRACE_MEMORY_COUNT : pw_event_flags_are_known(e);
}

/* What pagewalk's exporter has written: `pagewalk KIND FLAGS 0xADDRESS BYTES NAME`, or `pagewalk sample CTAS`. */
static enum pw_status read_own(struct pw_lines *t, const char *at, struct command *out, struct pw_error *err)
{
    uint32_t flags = 0;
    struct pw_trace_event *e = &out->event;
    const char *value = pw_scan_text(at, "sample ");
    *e = (struct pw_trace_event){.name = out->name};
    if (value && (value = pw_scan_number(value, &out->sample)) && *pw_scan_blanks(value) == '\n') {
        out->kind = COMMAND_SAMPLE;
        return PW_OK;
    }
    if (find_kind(at, &at, &e->kind) && (at = pw_scan_number(at + 1, &flags)) && *at == ' ' &&
        (at = pw_scan_hex(at + 1, &e->address)) && *at == ' ' && (at = pw_scan_decimal(at + 1, &e->bytes)) &&
        pw_scan_ends(*at) && flags <= UINT8_MAX) {
        e->memory = e->kind == PW_TRACE_ALLOC ? (uint8_t)flags : 0;
        e->flags = e->kind == PW_TRACE_ALLOC ? 0 : (uint8_t)flags;
        pw_import_copy_name(pw_scan_blanks(at), out->name);
        out->kind = COMMAND_EVENT;
        if (event_is_possible(e))
            return PW_OK;
    }
    return pw_lines_fail(t, err, "this is not `pagewalk KIND FLAGS 0xADDRESS BYTES NAME` as `trace export` writes it");
}

/* The next line; *out_more false: there is none. */
static enum pw_status read_command(struct list *l, struct command *out, bool *out_more, struct pw_error *err)
{
    const char *line, *value;
    enum pw_status status = pw_lines_next(&l->text, &line, err);
    *out_more = status == PW_OK && line;
    if (!*out_more)
        return status;
    out->kind = COMMAND_NONE;
    l->bytes += (uint64_t)((const char *)memchr(line, '\n', (size_t)(l->text.end - line)) - line) + 1;
    if (l->bytes > MOST_TEXT)
        return pw_lines_fail(&l->text, err, "a list has at most %d bytes", MOST_TEXT);
    const char *at = pw_scan_blanks(line);
    if ((value = pw_scan_text(at, "MemcpyHtoD,")))
        status = read_copy(&l->text, value, out, err);
    else if ((value = pw_scan_text(at, "pagewalk ")))
        status = read_own(&l->text, value, out, err);
    else if (pw_scan_text(at, "kernel") ||
             pw_import_is_kernel_path(at, (size_t)((const char *)memchr(at, '\n', (size_t)(l->text.end - at)) - at)))
        status = read_kernel(&l->text, at, out, err);
    if (status == PW_OK && out->kind != COMMAND_NONE && l->commands++ >= MOST_COMMANDS)
        status = pw_lines_fail(&l->text, err, "a list has at most %d commands", MOST_COMMANDS);
    if (status == PW_OK)
        pw_lines_skip_line(&l->text, line);
    return status;
}

static int compare(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void merge(struct ranges *r)
{
    size_t kept = 0;
    if (r->count)
        qsort(r->item, r->count, sizeof *r->item, compare);
    for (size_t i = 1; i < r->count; i++) {
        if (r->item[i].begin >= r->item[kept].end)
            r->item[++kept] = r->item[i];
        else if (r->item[i].end > r->item[kept].end)
            r->item[kept].end = r->item[i].end;
    }
    r->count = r->count ? kept + 1 : 0;
}

/* The range that an address of a copy lies in. */
static struct range *find(const struct ranges *r, uint64_t address)
{
    size_t low = 0, high = r->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->item[middle].begin <= address)
            low = middle;
        else
            high = middle;
    }
    return &r->item[low];
}

static enum pw_status collect(struct list *l, struct command *c, struct ranges *r, struct pw_error *err)
{
    bool more = true;
    for (;;) {
        enum pw_status status = read_command(l, c, &more, err);
        if (status != PW_OK)
            return status;
        if (!more)
            break;
        r->are_listed |= c->kind == COMMAND_EVENT && c->event.kind == PW_TRACE_ALLOC;
        if (c->kind != COMMAND_COPY)
            continue;
        struct range *grown = pw_grow(r->item, r->count, &r->capacity, sizeof *grown);
        if (!grown)
            return pw_fail_memory(err, "the copies of a list");
        r->item = grown;
        r->item[r->count++] = (struct range){.begin = c->address, .end = c->address + c->bytes};
    }
    merge(r);
    return PW_OK;
}

/* r NULL: it is known what is allocated. */
static void write_copy(struct pw_import *i, const struct command *c, struct range *r)
{
    if (r && !r->allocated)
        pw_trace_write_event(i->out, &(struct pw_trace_event){.kind = PW_TRACE_ALLOC,
                                                              .memory = PW_TRACE_DEVICE,
                                                              .address = r->begin,
                                                              .bytes = r->end - r->begin,
                                                              .name = ""});
    if (r)
        r->allocated = true;
    pw_trace_write_event(
        i->out,
        &(struct pw_trace_event){
            .kind = PW_TRACE_COPY, .flags = PW_TRACE_TO_DEVICE, .address = c->address, .bytes = c->bytes, .name = ""});
}

static enum pw_status perform(struct pw_import *i, struct list *l, struct command *c, struct ranges *r,
                              struct pw_error *err)
{
    bool more = true;
    for (;;) {
        enum pw_status status = read_command(l, c, &more, err);
        if (status != PW_OK || !more)
            return status;
        if (c->kind == COMMAND_COPY)
            write_copy(i, c, r->are_listed ? NULL : find(r, c->address));
        else if (c->kind == COMMAND_EVENT)
            pw_trace_write_event(i->out, &c->event);
        else if (c->kind == COMMAND_SAMPLE)
            i->cta_sample = c->sample;
        else if (c->kind == COMMAND_KERNEL)
            status = pw_import_kernel(i, c->path, err);
        if (status == PW_OK)
            status = pw_import_check(i, err);
        if (status != PW_OK)
            return status;
    }
}

enum pw_status pw_import_kernelslist(struct pw_import *i, struct pw_error *err)
{
    struct list l = {0};
    struct ranges r = {0};
    struct command *c = malloc(sizeof *c);
    if (!c)
        return pw_fail_memory(err, "a list");
    enum pw_status status = pw_lines_open(&l.text, i->path, &i->progress, err);
    if (status == PW_OK)
        status = collect(&l, c, &r, err);
    pw_lines_close(&l.text);
    l = (struct list){0};
    if (status == PW_OK)
        status = pw_lines_open(&l.text, i->path, &i->progress, err);
    if (status == PW_OK)
        status = perform(i, &l, c, &r, err);
    pw_lines_close(&l.text);
    free(r.item);
    free(c);
    if (status == PW_OK)
        pw_import_set_recorder(i, "Accel-Sim tracer");
    return status;
}

enum pw_status pw_import_kernel_files(const char *list, pw_trace_file_fn *use, void *context, struct pw_error *err)
{
    struct list l = {0};
    struct command *c = malloc(sizeof *c);
    if (!c)
        return pw_fail_memory(err, "a list");
    bool more = true;
    enum pw_status status = pw_lines_open(&l.text, list, NULL, err);
    while (status == PW_OK && more) {
        status = read_command(&l, c, &more, err);
        if (status != PW_OK || !more || c->kind != COMMAND_KERNEL)
            continue;
        status = use(context, c->path, err);
        if (status == PW_USER_ERROR)
            pw_error_prefix(err, "%s:%llu", list, (unsigned long long)l.text.line);
    }
    pw_lines_close(&l.text);
    free(c);
    return status;
}
