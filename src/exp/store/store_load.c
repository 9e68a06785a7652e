/* A stored run back in memory, for expressions and reports.
 *
 * What expressions work with are real numbers, so every metric comes as one, and every option that is a number as well,
 * under "option.": a size in bytes, a switch as 1 or 0. Names lie in one block of text behind the run; they are kept as
 * offsets until it has stopped growing. */
#include "store_internal.h"

#include "sim/c_locale.h"
#include "sim/grow.h"
#include "uvm/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run and what it points to. */
struct box {
    struct pw_stored_run run;
    struct pw_text names;
    size_t app_capacity, metric_capacity, allocation_capacity;
};

static const struct {
    const char *suffix;
    double factor;
} byte_units[] = {{"B", 1}, {"KB", 1024}, {"MB", 1048576}, {"GB", 1073741824}, {"TB", 1099511627776}};

bool pw_option_line_number(const struct pw_option_line *line, double *out, bool *out_bytes)
{
    char text[64];
    *out_bytes = false;
    if (line->value_length <= 0 || line->value_length >= (int)sizeof text)
        return false;
    memcpy(text, line->value, (size_t)line->value_length);
    text[line->value_length] = '\0';
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
        *out = text[1] == 'n';
        return true;
    }
    /* strtod also reads "inf", "nan" and hexadecimal digits, which are names here. */
    const char *unit = text + strspn(text, "0123456789.eE+-");
    char *end;
    *out = pw_c_strtod(text, &end);
    if (end == text || end != unit)
        return false;
    if (!*unit)
        return true;
    for (size_t i = 0; i < sizeof byte_units / sizeof *byte_units; i++)
        if (strcmp(unit, byte_units[i].suffix) == 0) {
            *out *= byte_units[i].factor;
            *out_bytes = true;
            return true;
        }
    return false;
}

/* Keeps a text; what is returned is its offset in disguise until settle_names. */
static char *keep_name(struct box *b, const char *prefix, const char *text, size_t length)
{
    size_t offset = b->names.length;
    pw_text_add(&b->names, prefix);
    pw_text_append(&b->names, text, length);
    pw_text_append(&b->names, "", 1);
    return (char *)(uintptr_t)offset; /* NOLINT(performance-no-int-to-ptr) */
}

static void settle_name(const struct box *b, char **name)
{
    *name = b->names.bytes + (uintptr_t)*name;
}

static enum pw_status add_metric(struct box *b, char *name, double value, struct pw_error *err)
{
    struct pw_stored_run *r = &b->run;
    struct pw_stored_metric *metrics = pw_grow(r->metrics, r->metric_count, &b->metric_capacity, sizeof *metrics);
    if (!metrics)
        return pw_fail_memory(err, "a stored run");
    r->metrics = metrics;
    r->metrics[r->metric_count++] = (struct pw_stored_metric){name, value};
    return PW_OK;
}

static enum pw_status add_option_numbers(struct box *b, const char *options, struct pw_error *err)
{
    struct pw_option_line line;
    enum pw_status status = PW_OK;
    double number;
    bool bytes;
    while (status == PW_OK && pw_option_line_next(&options, &line))
        if (pw_option_line_number(&line, &number, &bytes))
            status = add_metric(b, keep_name(b, "option.", line.name, (size_t)line.name_length), number, err);
    return status;
}

static char *keep_column(struct box *b, struct pw_query *q, int column)
{
    const char *text = pw_query_column_text(q, column);
    return keep_name(b, "", text, strlen(text));
}

static enum pw_status load_run(struct pw_store *s, int64_t id, struct box *b, struct pw_error *err)
{
    bool row;
    struct pw_stored_run *r = &b->run;
    struct pw_query q = pw_query_start(s, PW_SQL_LOAD_RUN);
    pw_query_bind_integer(&q, id);
    enum pw_status status = pw_query_step(&q, &row, err);
    if (status == PW_OK && !row)
        status = pw_fail(err, PW_FAILED, "%s: has no run %lld", s->path, (long long)id);
    if (status == PW_OK) {
        r->id = id;
        r->machine = keep_column(b, &q, 1);
        r->design = keep_column(b, &q, 2);
        r->workload = keep_column(b, &q, 3);
        r->seed = (uint64_t)sqlite3_column_int64(q.statement, 4);
        r->cycles = (uint64_t)sqlite3_column_int64(q.statement, 5);
        r->nanoseconds = sqlite3_column_double(q.statement, 6);
        r->ipc_throughput = sqlite3_column_double(q.statement, 7);
        r->wall_seconds = sqlite3_column_double(q.statement, 8);
        status = add_option_numbers(b, pw_query_column_text(&q, 14), err);
    }
    if (status == PW_OK)
        status = pw_query_step(&q, &row, err);
    pw_query_end(&q);
    return status;
}

static enum pw_status load_apps(struct pw_store *s, struct box *b, struct pw_error *err)
{
    bool row;
    enum pw_status status;
    struct pw_stored_run *r = &b->run;
    struct pw_query q = pw_query_start(s, PW_SQL_LOAD_APPS);
    pw_query_bind_integer(&q, r->id);
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row) {
        struct pw_stored_app *apps = pw_grow(r->apps, r->app_count, &b->app_capacity, sizeof *apps);
        if (!apps) {
            status = pw_fail_memory(err, "a stored run");
            break;
        }
        r->apps = apps;
        apps[r->app_count++] =
            (struct pw_stored_app){.name = keep_column(b, &q, 0),
                                   .warp_instructions = (uint64_t)sqlite3_column_int64(q.statement, 1),
                                   .cycles = (uint64_t)sqlite3_column_int64(q.statement, 2),
                                   .ipc = sqlite3_column_double(q.statement, 3),
                                   .sms = (unsigned)sqlite3_column_int64(q.statement, 4)};
    }
    pw_query_end(&q);
    return status;
}

static enum pw_status load_values(struct pw_store *s, struct box *b, struct pw_error *err)
{
    bool row;
    enum pw_status status;
    struct pw_query q = pw_query_start(s, PW_SQL_LOAD_VALUES);
    pw_query_bind_integer(&q, b->run.id);
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row) {
        if (sqlite3_column_type(q.statement, 1) == SQLITE_NULL)
            continue; /* was not a number */
        status = add_metric(b, keep_column(b, &q, 0), sqlite3_column_double(q.statement, 1), err);
        if (status != PW_OK)
            break;
    }
    pw_query_end(&q);
    return status;
}

struct pw_allocation_result pw_store_read_allocation(struct pw_query *q)
{
    int column = 0;
    struct pw_allocation_result a = {.name = pw_query_column_text(q, column++)};
    a.app = (unsigned)sqlite3_column_int64(q->statement, column++);
    a.count = (uint64_t)sqlite3_column_int64(q->statement, column++);
    a.bytes = (uint64_t)sqlite3_column_int64(q->statement, column++);
    a.pages = (uint64_t)sqlite3_column_int64(q->statement, column++);
#define READ(member, unit) a.member = (uint64_t)sqlite3_column_int64(q->statement, column++);
    PW_ALLOCATION_COUNTERS(READ)
#undef READ
    return a;
}

static enum pw_status load_allocations(struct pw_store *s, struct box *b, struct pw_error *err)
{
    bool row;
    enum pw_status status;
    struct pw_stored_run *r = &b->run;
    if (s->schema < 2)
        return PW_OK;
    struct pw_query q = pw_query_start(s, PW_SQL_LOAD_ALLOCATIONS);
    pw_query_bind_integer(&q, r->id);
    while ((status = pw_query_step(&q, &row, err)) == PW_OK && row) {
        struct pw_allocation_result *list =
            pw_grow(r->allocations, r->allocation_count, &b->allocation_capacity, sizeof *list);
        if (!list) {
            status = pw_fail_memory(err, "a stored run");
            break;
        }
        r->allocations = list;
        list[r->allocation_count] = pw_store_read_allocation(&q);
        list[r->allocation_count++].name = keep_column(b, &q, 0);
    }
    pw_query_end(&q);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pw_stored_metric *)a)->name, ((const struct pw_stored_metric *)b)->name);
}

static void settle_names(struct box *b)
{
    struct pw_stored_run *r = &b->run;
    settle_name(b, &r->machine);
    settle_name(b, &r->design);
    settle_name(b, &r->workload);
    for (size_t i = 0; i < r->app_count; i++)
        settle_name(b, &r->apps[i].name);
    for (size_t i = 0; i < r->allocation_count; i++)
        settle_name(b, (char **)&r->allocations[i].name);
    for (size_t i = 0; i < r->metric_count; i++)
        settle_name(b, &r->metrics[i].name);
    if (r->metric_count)
        qsort(r->metrics, r->metric_count, sizeof *r->metrics, by_name);
}

enum pw_status pw_store_load(struct pw_store *s, int64_t run, struct pw_stored_run **out, struct pw_error *err)
{
    *out = NULL;
    struct box *b = calloc(1, sizeof *b);
    if (!b)
        return pw_fail_memory(err, "a stored run");
    enum pw_status status = load_run(s, run, b, err);
    if (status == PW_OK)
        status = load_apps(s, b, err);
    if (status == PW_OK)
        status = load_values(s, b, err);
    if (status == PW_OK)
        status = load_allocations(s, b, err);
    if (status == PW_OK)
        status = pw_text_finish(&b->names, err);
    if (status != PW_OK) {
        pw_stored_run_free(&b->run);
        return status;
    }
    settle_names(b);
    *out = &b->run;
    return PW_OK;
}

void pw_stored_run_free(struct pw_stored_run *r)
{
    if (!r)
        return;
    struct box *b = (struct box *)r;
    free(r->apps);
    free(r->allocations);
    free(r->metrics);
    pw_text_free(&b->names);
    free(b);
}

bool pw_stored_run_metric(const struct pw_stored_run *r, const char *name, double *out)
{
    struct pw_stored_metric key = {.name = (char *)name};
    const struct pw_stored_metric *found =
        r->metric_count ? bsearch(&key, r->metrics, r->metric_count, sizeof key, by_name) : NULL;
    if (found)
        *out = found->value;
    return found != NULL;
}

void pw_stored_run_measure_name(const struct pw_stored_run *r, const char *measure, char out[PW_STORED_NAME_CAPACITY])
{
    double gpus = 1;
    (void)pw_stored_run_metric(r, "option.gpu.count", &gpus);
    bool has_scope = pw_scope_is_gpu(measure);
    snprintf(out, PW_STORED_NAME_CAPACITY, "%s%s%s", has_scope ? "" : pw_scope_all_gpus((unsigned)gpus),
             has_scope ? "" : ".", measure);
}

bool pw_stored_run_measure(const struct pw_stored_run *r, const char *measure, double *out)
{
    char name[PW_STORED_NAME_CAPACITY];
    pw_stored_run_measure_name(r, measure, name);
    return pw_stored_run_metric(r, name, out);
}
