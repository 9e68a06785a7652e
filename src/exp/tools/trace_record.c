/* Records a workload: the functional executor runs the program without time, and what its host and its warps do goes
 * into a trace, in the executor's order (CTA after CTA, warp by warp up to each barrier).
 *
 * Neither operations nor addresses depend on machine or design, so one recording stands for all of them. The recorded
 * addresses are the executor's. Program and seed are kept in the trace; random numbers are those of the program's first
 * instance. */
#include "exp/tools/trace_record.h"

#include "sim/grow.h"
#include "sim/report_clock.h"
#include "trace/export.h"
#include "workload/runtime/functional.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct place {
    uint64_t address, bytes;
    bool untold; /* its program has not said what is in it */
};

struct recorder {
    struct pw_trace_writer *writer;
    const struct pw_trace_record_spec *spec;
    struct place *places; /* of allocations, by number */
    size_t count, capacity;
    struct pw_report_clock clock;
};

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    const struct recorder *r = context;
    pw_trace_write_op(r->writer, w->cta_index, w->index, op, words);
}

static enum pw_status allocated(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    (void)id; /* from 0, in this order */
    struct recorder *r = context;
    struct place *grown = pw_grow(r->places, r->count, &r->capacity, sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "the list of allocations");
    r->places = grown;
    grown[r->count++] = (struct place){base.v, bytes, true};
    pw_trace_write_event(
        r->writer,
        &(struct pw_trace_event){
            .kind = PW_TRACE_ALLOC, .memory = PW_TRACE_DEVICE, .address = base.v, .bytes = bytes, .name = name});
    return PW_OK;
}

static enum pw_status write_about(void *context, enum pw_trace_event_kind kind, uint32_t id, unsigned what)
{
    const struct recorder *r = context;
    pw_trace_write_event(r->writer, &(struct pw_trace_event){.kind = (uint8_t)kind,
                                                             .flags = (uint8_t)what,
                                                             .address = r->places[id].address,
                                                             .bytes = r->places[id].bytes,
                                                             .name = ""});
    return PW_OK;
}

static void write_fill(const struct recorder *r, uint64_t address, uint64_t bytes, enum pw_contents how)
{
    uint8_t flags = how == PW_CONTENTS_SET ? PW_TRACE_ON_DEVICE : PW_TRACE_TO_DEVICE;
    pw_trace_write_event(r->writer,
                         &(struct pw_trace_event){
                             .kind = PW_TRACE_COPY, .flags = flags, .address = address, .bytes = bytes, .name = ""});
}

/* What the program says nothing of has been copied. */
static void write_copy(const struct recorder *r, struct place *p)
{
    if (p->untold)
        write_fill(r, p->address, p->bytes, PW_CONTENTS_COPIED);
    p->untold = false;
}

static enum pw_status filled(void *context, uint32_t id, uint64_t first, uint64_t bytes, enum pw_contents how,
                             struct pw_error *err)
{
    (void)err;
    const struct recorder *r = context;
    r->places[id].untold = false;
    write_fill(r, r->places[id].address + first, bytes, how);
    return PW_OK;
}

static enum pw_status freed(void *context, uint32_t id, struct pw_error *err)
{
    (void)err;
    const struct recorder *r = context;
    r->places[id].untold = false;
    return write_about(context, PW_TRACE_FREE, id, 0);
}

static enum pw_status prefetched(void *context, uint32_t id, struct pw_error *err)
{
    (void)err;
    const struct recorder *r = context;
    write_copy(r, &r->places[id]);
    return write_about(context, PW_TRACE_PREFETCH, id, 0);
}

static enum pw_status advised(void *context, uint32_t id, unsigned advice, struct pw_error *err)
{
    (void)err;
    return write_about(context, PW_TRACE_ADVISE, id, advice);
}

static enum pw_status protected(void *context, uint32_t id, unsigned permissions, struct pw_error *err) {
    (void)err; return write_about(context, PW_TRACE_PROTECT, id, permissions);
}

static enum pw_status launched(void *context, const struct pw_launch *l, struct pw_error *err)
{
    const struct recorder *r = context;
    for (size_t i = 0; i < r->count; i++)
        write_copy(r, &r->places[i]);
    pw_trace_write_launch(r->writer, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                              .name = l->name ? l->name : "",
                                                              .grid = l->grid,
                                                              .block = l->block,
                                                              .shared_bytes = l->shared_bytes,
                                                              .registers = l->registers,
                                                              .pace = l->pace});
    return pw_trace_writer_status(r->writer, err);
}

static enum pw_status advanced(void *context, const struct pw_functional_position *at, struct pw_error *err)
{
    struct recorder *r = context;
    const struct pw_trace_record_spec *spec = r->spec;
    pw_trace_write_cta_end(r->writer, at->ctas - 1);
    if (spec->interrupted && *spec->interrupted)
        return pw_fail(err, PW_INTERRUPTED, "interrupted");
    enum pw_status status = pw_trace_writer_status(r->writer, err);
    double seconds;
    if (status != PW_OK || !spec->progress || !pw_report_due(&r->clock, &seconds))
        return status;
    double done = (double)(at->launches - 1) + (double)at->ctas / (double)pw_launch_ctas(at->launch);
    spec->progress(spec->progress_context,
                   &(struct pw_progress){.fraction = at->planned_launches ? done / at->planned_launches : -1,
                                         .wall_seconds = seconds,
                                         .kernel = at->launch->name});
    return PW_OK;
}

static enum pw_status run(struct recorder *r, const struct pw_program *program, struct pw_error *err)
{
    const struct pw_functional_observer observer = {.context = r,
                                                    .visit = visit,
                                                    .allocated = allocated,
                                                    .freed = freed,
                                                    .prefetched = prefetched,
                                                    .advised = advised,
                                                    .filled = filled,
                                                    .protected = protected,
                                                    .launched = launched,
                                                    .advanced = advanced,
                                                    .interrupted = r->spec->interrupted};
    uint64_t seed = r->spec->seed ? r->spec->seed : 1;
    struct pw_functional_counts counts;
    enum pw_status status = pw_functional_observe(program, seed, false, &observer, &counts, err);
    if (status == PW_OK && !counts.launches)
        status =
            pw_fail(err, PW_USER_ERROR, "workload %s launches no kernel; there is nothing to record", program->text);
    char recorder[64];
    snprintf(recorder, sizeof recorder, "pagewalk %s", pw_version());
    pw_trace_writer_set_origin(
        r->writer, &(struct pw_trace_origin){
                       .recorder = recorder, .program = program->text, .device = "", .cta_sample = 1, .seed = seed});
    return status;
}

static enum pw_status finish(struct pw_trace_writer *writer, enum pw_status status, struct pw_error *err)
{
    if (status == PW_OK)
        return pw_trace_writer_finish(writer, NULL, err);
    pw_trace_writer_drop(writer);
    return status;
}

/* A file that is read for the trace is not replaced by it. */
static enum pw_status keep_input(void *output, const char *input, struct pw_error *err)
{
    struct stat in, out;
    if (stat(input, &in) || stat(output, &out) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return PW_OK;
    return pw_fail(err, PW_USER_ERROR, "%s: is read to make the trace; name another file to write", input);
}

static enum pw_status keep_inputs(const struct pw_program *program, char *output, struct pw_error *err)
{
    struct pw_option_view view;
    enum pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && pw_program_parameter(program, i, &view); i++)
        if (!strcmp(view.row->unit, "file") && *view.value)
            status = keep_input(output, view.value, err);
    return status;
}

enum pw_status pw_trace_record(const struct pw_trace_record_spec *spec, struct pw_error *err)
{
    struct recorder r = {.spec = spec, .clock = pw_report_clock()};
    struct pw_program program = {0};
    enum pw_status status = pw_program_parse(spec->workload, &program, err);
    if (status == PW_OK)
        status = keep_inputs(&program, (char *)spec->file, err);
    if (status == PW_OK)
        status = pw_trace_writer_open(spec->file, &r.writer, err);
    if (status == PW_OK)
        status = finish(r.writer, run(&r, &program, err), err);
    free(r.places);
    pw_program_release(&program);
    return status;
}

/* Of an import in bytes, of an export in instructions. */
static bool report_share(void *recorder, uint64_t done, uint64_t all)
{
    struct recorder *r = recorder;
    const struct pw_trace_record_spec *spec = r->spec;
    double seconds;
    if (spec->progress && pw_report_due(&r->clock, &seconds))
        spec->progress(spec->progress_context, &(struct pw_progress){.fraction = all ? (double)done / (double)all : -1,
                                                                     .wall_seconds = seconds,
                                                                     .kernel = ""});
    return spec->interrupted && *spec->interrupted;
}

enum pw_status pw_trace_convert(const struct pw_trace_record_spec *spec, struct pw_error *err)
{
    struct recorder r = {.spec = spec, .clock = pw_report_clock()};
    const struct pw_import_watch watch = {report_share, &r};
    enum pw_trace_format format;
    enum pw_status status = pw_trace_sniff(spec->workload, &format, err);
    if (status == PW_OK && format == PW_TRACE_PWT)
        status = pw_fail(err, PW_USER_ERROR, "%s: is pagewalk's own format already", spec->workload);
    if (status == PW_OK)
        status = pw_trace_each_file(spec->workload, keep_input, (char *)spec->file, err);
    if (status == PW_OK)
        status = pw_trace_writer_open(spec->file, &r.writer, err);
    if (status == PW_OK)
        status = finish(r.writer, pw_trace_import(spec->workload, format, &watch, r.writer, err), err);
    return status;
}

enum pw_status pw_trace_export_folder(const struct pw_trace_record_spec *spec, struct pw_error *err)
{
    struct recorder r = {.spec = spec, .clock = pw_report_clock()};
    const struct pw_import_watch watch = {report_share, &r};
    struct pw_trace *trace;
    enum pw_status status = pw_trace_open_any(spec->workload, &watch, &trace, err);
    if (status != PW_OK)
        return status;
    status = pw_trace_export(
        trace, &(struct pw_export_spec){.folder = spec->file, .launch = spec->launch, .xz = spec->xz, .watch = &watch},
        err);
    pw_trace_close(trace);
    return status;
}
