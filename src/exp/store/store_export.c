/* The store as CSV and as JSON, run after run.
 *
 * Only one run is in memory at a time, and no statement stays open while its bytes are written: an open one would keep
 * other processes from writing for as long as whoever reads the export takes. Runs never change once they are there,
 * and those added after the export has begun are left out, so it comes out as if it had been made at one moment.
 *
 * CSV begins with the columns of `pagewalk run --csv` (result_csv.c) and repeats in further columns what tells runs
 * apart, since that is what people group by. The run's number behind its name makes it unique: runs that differ only in
 * options have the same name. Options that are numbers are rows of component "option", for the axes of sweeps. JSON
 * objects are those of `pagewalk run --json` (result_json.c) as far as they are stored. */
#include "store_internal.h"

#include "exp/format/result.h"
#include "system/app_sms.h"
#include "uvm/allocation.h"

#include <stdio.h>

struct exporter {
    struct pw_store *store;
    bool json;
    struct pw_text out;  /* the piece under way: one run */
    struct pw_text name; /* CSV: the first field of the run's rows, with its comma */
    struct pw_text tail; /* CSV: the last fields, with their comma and line end */
    size_t listed;       /* JSON: members of the object under way */
};

/* Columns of PW_SQL_LOAD_RUN */
enum {
    ID,
    MACHINE,
    DESIGN,
    WORKLOAD,
    SEED,
    CYCLES,
    NANOSECONDS,
    IPC,
    WALL,
    RSS,
    EVENTS,
    OPERATIONS,
    CORE,
    FINISHED,
    OPTIONS
};

static void csv_start(struct exporter *e, const char *app, const char *component, const char *metric, const char *unit)
{
    pw_text_append(&e->out, e->name.bytes, e->name.length);
    const char *fields[] = {app, component, metric, unit};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        pw_text_csv_field(&e->out, fields[i]);
        pw_text_add(&e->out, ",");
    }
}

static void csv_end(struct exporter *e)
{
    pw_text_append(&e->out, e->tail.bytes, e->tail.length);
}

/* A column's number: an integer in full, a real as the shortest text, nothing or null where there was none. */
static void add_number(struct exporter *e, sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        pw_text_print(&e->out, "%lld", (long long)sqlite3_column_int64(row, column));
        break;
    case SQLITE_NULL:
        pw_text_add(&e->out, "null");
        break;
    default:
        pw_text_real(&e->out, sqlite3_column_double(row, column));
        break;
    }
}

static void csv_row(struct exporter *e, const char *app, const char *component, const char *metric, const char *unit,
                    sqlite3_stmt *row, int column)
{
    csv_start(e, app, component, metric, unit);
    add_number(e, row, column);
    csv_end(e);
}

static void csv_name_run(struct exporter *e, struct pw_query *q)
{
    struct pw_text name = {0};
    unsigned long long seed = (unsigned long long)sqlite3_column_int64(q->statement, SEED);
    static const int columns[] = {MACHINE, DESIGN, WORKLOAD};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *text = pw_query_column_text(q, columns[i]);
        pw_text_print(&name, "%s/", text);
        pw_text_add(&e->tail, ",");
        pw_text_csv_field(&e->tail, text);
    }
    pw_text_print(&name, "%llu#%lld", seed, (long long)sqlite3_column_int64(q->statement, ID));
    pw_text_print(&e->tail, ",%llu\n", seed);
    if (name.failed)
        e->out.failed = true;
    else
        pw_text_csv_field(&e->name, name.bytes);
    pw_text_add(&e->name, ",");
    pw_text_free(&name);
}

static void csv_options(struct exporter *e, const char *options)
{
    struct pw_option_line line;
    double number;
    bool bytes;
    while (pw_option_line_next(&options, &line)) {
        if (!pw_option_line_number(&line, &number, &bytes))
            continue;
        char name[128];
        snprintf(name, sizeof name, "%.*s", line.name_length, line.name);
        csv_start(e, "", "option", name, bytes ? "bytes" : "");
        pw_text_real(&e->out, number);
        csv_end(e);
    }
}

static void csv_begin(struct exporter *e, struct pw_query *q)
{
    csv_name_run(e, q);
    csv_row(e, "", "run", "cycles", "cycles", q->statement, CYCLES);
    csv_row(e, "", "run", "nanoseconds", "ns", q->statement, NANOSECONDS);
    csv_row(e, "", "run", "ipc_throughput", "instructions/cycle", q->statement, IPC);
    csv_options(e, pw_query_column_text(q, OPTIONS));
}

static void csv_finish(struct exporter *e, struct pw_query *q)
{
    csv_row(e, "", "host", "wall_seconds", "s", q->statement, WALL);
    csv_row(e, "", "host", "peak_rss_bytes", "bytes", q->statement, RSS);
    csv_row(e, "", "host", "events", "events", q->statement, EVENTS);
    csv_row(e, "", "host", "memory_operations", "operations", q->statement, OPERATIONS);
}

static void csv_app(struct exporter *e, struct pw_query *q, size_t number)
{
    char app[32];
    snprintf(app, sizeof app, "app%zu", number);
    csv_row(e, app, "run", "warp_instructions", "instructions", q->statement, 1);
    csv_row(e, app, "run", "cycles", "cycles", q->statement, 2);
    csv_row(e, app, "run", "ipc", "instructions/cycle", q->statement, 3);
    csv_row(e, app, "run", "sms", "SMs", q->statement, 4);
}

static void csv_value(struct exporter *e, struct pw_query *q)
{
    csv_row(e, pw_query_column_text(q, 3), pw_query_column_text(q, 4), pw_query_column_text(q, 5),
            pw_query_column_text(q, 2), q->statement, 1);
}

static void csv_allocation(struct exporter *e, const struct pw_allocation_result *a)
{
    char app[32], component[160];
    snprintf(app, sizeof app, "app%u", a->app);
    snprintf(component, sizeof component, "allocation.%s", a->name);
    const struct {
        const char *metric, *unit;
        uint64_t value;
    } rows[] = {{"count", "", a->count},
                {"bytes", "bytes", a->bytes},
                {"pages", "pages", a->pages},
#define ROW(member, unit) {#member, unit, a->member},
                PW_ALLOCATION_COUNTERS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        csv_start(e, app, component, rows[i].metric, rows[i].unit);
        pw_text_print(&e->out, "%llu", (unsigned long long)rows[i].value);
        csv_end(e);
    }
}

static void json_text(struct exporter *e, struct pw_query *q, const char *member, int column)
{
    pw_text_print(&e->out, "  \"%s\": ", member);
    pw_text_json_string(&e->out, pw_query_column_text(q, column));
    pw_text_add(&e->out, ",\n");
}

static void json_number(struct exporter *e, struct pw_query *q, const char *before, const char *member, int column)
{
    pw_text_print(&e->out, "%s\"%s\": ", before, member);
    add_number(e, q->statement, column);
}

static void json_options(struct exporter *e, const char *options)
{
    struct pw_option_line line;
    size_t listed = 0;
    pw_text_add(&e->out, "  \"options\": {");
    while (pw_option_line_next(&options, &line)) {
        char name[128], value[1024];
        snprintf(name, sizeof name, "%.*s", line.name_length, line.name);
        snprintf(value, sizeof value, "%.*s", line.value_length, line.value);
        pw_text_add(&e->out, listed++ ? ",\n    " : "\n    ");
        pw_text_json_string(&e->out, name);
        pw_text_add(&e->out, ": ");
        pw_text_json_string(&e->out, value);
    }
    pw_text_add(&e->out, "\n  },\n");
}

static void json_begin(struct exporter *e, struct pw_query *q)
{
    unsigned long long seed = (unsigned long long)sqlite3_column_int64(q->statement, SEED);
    pw_text_print(&e->out, "{\n  \"schema\": %d,\n", PW_RESULT_SCHEMA);
    json_text(e, q, "version", CORE);
    json_number(e, q, "  ", "run", ID);
    pw_text_print(&e->out, ",\n  \"seed\": %llu,\n", seed);
    json_text(e, q, "machine", MACHINE);
    json_text(e, q, "design", DESIGN);
    json_text(e, q, "workload", WORKLOAD);
    json_options(e, pw_query_column_text(q, OPTIONS));
    json_number(e, q, "  ", "cycles", CYCLES);
    json_number(e, q, ",\n  ", "nanoseconds", NANOSECONDS);
    json_number(e, q, ",\n  ", "ipc_throughput", IPC);
    pw_text_add(&e->out, ",\n  \"apps\": [");
}

static void json_app(struct exporter *e, struct pw_query *q, size_t number)
{
    pw_text_print(&e->out, "%s    {\"name\": ", number ? ",\n" : "\n");
    pw_text_json_string(&e->out, pw_query_column_text(q, 0));
    json_number(e, q, ", ", "warp_instructions", 1);
    json_number(e, q, ", ", "cycles", 2);
    json_number(e, q, ", ", "ipc", 3);
    json_number(e, q, ", ", "sms", 4);
    pw_text_add(&e->out, "}");
}

static void json_value(struct exporter *e, struct pw_query *q)
{
    pw_text_add(&e->out, e->listed++ ? ",\n    " : "\n    ");
    pw_text_json_string(&e->out, pw_query_column_text(q, 0));
    pw_text_add(&e->out, ": ");
    add_number(e, q->statement, 1);
}

static void json_finish(struct exporter *e, struct pw_query *q)
{
    /* A run with a broken identity fails and is never stored, so there is none to tell of. */
    pw_text_add(&e->out, "\n  },\n  \"identities\": [],\n");
    json_text(e, q, "finished_at", FINISHED);
    pw_text_add(&e->out, "  \"host\": {");
    json_number(e, q, "\n    ", "wall_seconds", WALL);
    json_number(e, q, ",\n    ", "peak_rss_bytes", RSS);
    json_number(e, q, ",\n    ", "events", EVENTS);
    json_number(e, q, ",\n    ", "memory_operations", OPERATIONS);
    pw_text_add(&e->out, "\n  }\n}");
}

static enum pw_status add_apps(struct exporter *e, int64_t run, struct pw_error *err)
{
    bool row;
    size_t number = 0;
    enum pw_status status;
    struct pw_query q = pw_query_start(e->store, PW_SQL_LOAD_APPS);
    pw_query_bind_integer(&q, run);
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row)
        (e->json ? json_app : csv_app)(e, &q, number++);
    pw_query_end(&q);
    if (e->json)
        pw_text_add(&e->out, "\n  ],\n");
    return status;
}

static enum pw_status add_allocations(struct exporter *e, int64_t run, struct pw_error *err)
{
    bool row;
    size_t listed = 0;
    enum pw_status status = PW_OK;
    if (e->store->schema < 2)
        return PW_OK;
    struct pw_query q = pw_query_start(e->store, PW_SQL_LOAD_ALLOCATIONS);
    pw_query_bind_integer(&q, run);
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row) {
        struct pw_allocation_result a = pw_store_read_allocation(&q);
        if (!e->json) {
            csv_allocation(e, &a);
            continue;
        }
        pw_text_add(&e->out, listed++ ? ",\n    " : "  \"allocations\": [\n    ");
        pw_allocation_json(&a, &e->out);
    }
    pw_query_end(&q);
    if (listed)
        pw_text_add(&e->out, "\n  ],\n");
    return status;
}

static enum pw_status add_values(struct exporter *e, int64_t run, struct pw_error *err)
{
    bool row;
    enum pw_status status;
    struct pw_query q = pw_query_start(e->store, PW_SQL_LOAD_VALUES);
    pw_query_bind_integer(&q, run);
    e->listed = 0;
    if (e->json)
        pw_text_add(&e->out, "  \"metrics\": {");
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row)
        (e->json ? json_value : csv_value)(e, &q);
    pw_query_end(&q);
    return status;
}

/* Puts one run into e->out. */
static enum pw_status add_run(struct exporter *e, int64_t run, struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_start(e->store, PW_SQL_LOAD_RUN);
    pw_query_bind_integer(&q, run);
    e->name.length = e->tail.length = 0;
    enum pw_status status = pw_query_step(&q, &row, err);
    if (status == PW_OK && !row)
        status = pw_store_damaged(e->store, "a run is not where its index says", err);
    if (status == PW_OK) {
        (e->json ? json_begin : csv_begin)(e, &q);
        status = add_apps(e, run, err);
    }
    if (status == PW_OK)
        status = add_allocations(e, run, err);
    if (status == PW_OK)
        status = add_values(e, run, err);
    if (status == PW_OK) {
        (e->json ? json_finish : csv_finish)(e, &q);
        status = pw_query_step(&q, &row, err);
    }
    pw_query_end(&q);
    if (e->name.failed || e->tail.failed)
        e->out.failed = true;
    return status;
}

static enum pw_status read_id(struct pw_query *q, int64_t *out, struct pw_error *err)
{
    bool row;
    enum pw_status status = pw_query_step(q, &row, err);
    *out = row ? sqlite3_column_int64(q->statement, 0) : 0;
    pw_query_end(q);
    return status;
}

static enum pw_status next_run(struct pw_store *s, const struct pw_store_filter *f, int64_t last, int64_t *run,
                               struct pw_error *err)
{
    const char *workload = f ? f->workload : NULL;
    char sms[PW_APP_SMS_CAPACITY] = "";
    enum pw_status status = workload ? pw_workload_sms(workload, UINT32_MAX, sms, err) : PW_OK;
    if (status != PW_OK)
        return status;
    struct pw_query q = pw_query_start(s, PW_SQL_NEXT_RUN);
    pw_query_bind_integer(&q, *run);
    pw_query_bind_integer(&q, last);
    pw_query_bind_text(&q, f ? f->machine : NULL);
    pw_query_bind_text(&q, f ? f->design : NULL);
    pw_query_bind_piece(&q, workload, workload ? (int)pw_workload_cut(workload).programs : 0);
    pw_query_bind_text(&q, *sms ? sms : NULL);
    return read_id(&q, run, err);
}

static enum pw_status flush(struct exporter *e, pw_store_write *write, void *context, struct pw_error *err)
{
    enum pw_status status = pw_text_finish(&e->out, err);
    if (status == PW_OK)
        status = write(context, e->out.bytes, e->out.length, err);
    e->out.length = 0;
    return status;
}

static enum pw_status export(struct exporter *e, const struct pw_store_filter *filter, pw_store_write *write,
                             void *context, struct pw_error *err) {
    int64_t last, run = 0; size_t count = 0; struct pw_query q = pw_query_start(e->store, PW_SQL_LAST_RUN);
    enum pw_status status = read_id(&q, &last, err);
    pw_text_add(&e->out, e->json ? "[" : "run,app,component,metric,unit,value,machine,design,workload,seed\n");
    while (status == PW_OK && (status = next_run(e->store, filter, last, &run, err)) == PW_OK &&
           run){if (e->json) pw_text_add(&e->out, count++ ? ",\n" : "\n"); status = add_run(e, run, err);
                if (status == PW_OK) status = flush(e, write, context, err);}
if (e->json) pw_text_add(&e->out, count ? "\n]\n" : "]\n");
if (status == PW_OK && e->out.length)
    status = flush(e, write, context, err);
pw_text_free(&e->out);
pw_text_free(&e->name);
pw_text_free(&e->tail);
return status;
}

enum pw_status pw_store_export_csv(struct pw_store *s, const struct pw_store_filter *filter, pw_store_write *write,
                                   void *context, struct pw_error *err)
{
    struct exporter e = {.store = s};
    return export(&e, filter, write, context, err);
}

enum pw_status pw_store_export_json(struct pw_store *s, const struct pw_store_filter *filter, pw_store_write *write,
                                    void *context, struct pw_error *err)
{
    struct exporter e = {.store = s, .json = true};
    return export(&e, filter, write, context, err);
}
