/* Finding and adding runs.
 *
 * A run is added in one transaction that takes the right to write before it looks whether the run is there, so of two
 * processes that add the same run the second sees the first's. Durable means: when pw_store_add has returned, the run
 * is on the disk. Kernel and interval rows of a result are not kept: they are many, and no comparison of runs asks for
 * them. */
#include "store_internal.h"

#include "sim/fnv.h"
#include "uvm/allocation.h"

#include <stdlib.h>
#include <string.h>

struct pw_metric_place pw_metric_place(const char *name)
{
    const char *outer = name + strcspn(name, ".");
    struct pw_metric_place place = {.app = name, .component = name, .metric = name};
    if (!*outer) {
        place.component_length = (int)(outer - name);
        return place;
    }
    const char *point = outer + 1 + strcspn(outer + 1, ".");
    if (pw_scope_is_app(name)) {
        place.app_length = (int)(outer - name);
        place.component = outer + 1;
    }
    place.component_length = (int)(point - place.component);
    place.metric = *point ? point + 1 : outer + 1;
    return place;
}

bool pw_option_line_next(const char **at, struct pw_option_line *out)
{
    const char *name = *at, *equals = name + strcspn(name, "=\n");
    const char *end = equals + strcspn(equals, "\n");
    if (*equals != '=' || *end != '\n' || equals == name)
        return false;
    *out = (struct pw_option_line){name, equals + 1, (int)(equals - name), (int)(end - equals - 1)};
    *at = end + 1;
    return true;
}

enum pw_status pw_run_inputs(const char *options, const char *workload, uint64_t seed, struct pw_run_inputs *out,
                             struct pw_error *err)
{
    *out = (struct pw_run_inputs){.options = options, .workload = workload, .seed = seed};
    return pw_run_version(options, workload, out->core, err);
}

uint64_t pw_run_inputs_hash(const struct pw_run_inputs *inputs)
{
    uint64_t hash = pw_fnv_text(PW_FNV_START, inputs->core);
    hash = pw_fnv_text(hash, inputs->options);
    hash = pw_fnv_text(hash, inputs->workload);
    return pw_fnv_number(hash, inputs->seed);
}

static void bind_inputs(struct pw_query *q, const struct pw_run_inputs *inputs)
{
    pw_query_bind_text(q, inputs->core);
    pw_query_bind_text(q, inputs->options);
    pw_query_bind_text(q, inputs->workload);
    pw_query_bind_integer(q, (int64_t)inputs->seed);
}

enum pw_status pw_store_find(struct pw_store *s, const struct pw_run_inputs *inputs, int64_t *out_run,
                             struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_start(s, PW_SQL_FIND_RUN);
    bind_inputs(&q, inputs);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out_run = row ? sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    return status;
}

enum pw_status pw_store_find_breakdown(struct pw_store *s, const struct pw_run_inputs *inputs, int64_t *out_run,
                                       struct pw_error *err)
{
    enum pw_status status = pw_store_find(s, inputs, out_run, err);
    if (status != PW_OK || !*out_run)
        return status;
    bool kept;
    struct pw_query q = pw_query_start(s, PW_SQL_FIND_BREAKDOWN);
    pw_query_bind_integer(&q, *out_run);
    status = pw_query_step(&q, &kept, err);
    pw_query_end(&q);
    if (!kept)
        *out_run = 0;
    return status;
}

enum pw_status pw_store_seconds(struct pw_store *s, const char *workload, double *out_seconds, struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_start(s, PW_SQL_SECONDS);
    pw_query_bind_text(&q, workload);
    enum pw_status status = pw_query_step(&q, &row, err);
    bool known = row && sqlite3_column_type(q.statement, 0) != SQLITE_NULL;
    *out_seconds = known ? sqlite3_column_double(q.statement, 0) : -1;
    pw_query_end(&q);
    return status;
}

enum pw_status pw_store_seeds(struct pw_store *s, uint64_t *out_count, struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_start(s, PW_SQL_SEEDS);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out_count = row ? (uint64_t)sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    return status;
}

static enum pw_status add_options(struct pw_store *s, int64_t configuration, const char *options, struct pw_error *err)
{
    struct pw_option_line line;
    while (pw_option_line_next(&options, &line)) {
        struct pw_query q = pw_query_start(s, PW_SQL_ADD_OPTION);
        pw_query_bind_integer(&q, configuration);
        pw_query_bind_piece(&q, line.name, line.name_length);
        pw_query_bind_piece(&q, line.value, line.value_length);
        enum pw_status status = pw_query_run(&q, err);
        if (status != PW_OK)
            return status;
    }
    return *options ? pw_fail(err, PW_FAILED, "%s: cannot keep a run whose options are not NAME=VALUE lines", s->path)
                    : PW_OK;
}

static enum pw_status add_configuration(struct pw_store *s, const char *options, int64_t *out, struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_start(s, PW_SQL_FIND_CONFIGURATION);
    pw_query_bind_text(&q, options);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out = row ? sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    if (status != PW_OK || row)
        return status;
    q = pw_query_start(s, PW_SQL_ADD_CONFIGURATION);
    pw_query_bind_text(&q, options);
    status = pw_query_run(&q, err);
    *out = sqlite3_last_insert_rowid(s->db);
    return status == PW_OK ? add_options(s, *out, options, err) : status;
}

static enum pw_status add_run(struct pw_store *s, const struct pw_run_inputs *inputs, const struct pw_result *r,
                              int64_t configuration, int64_t *out, struct pw_error *err)
{
    struct pw_query q = pw_query_start(s, PW_SQL_ADD_RUN);
    pw_query_bind_text(&q, inputs->core);
    pw_query_bind_integer(&q, configuration);
    pw_query_bind_text(&q, inputs->workload);
    pw_query_bind_integer(&q, (int64_t)inputs->seed);
    pw_query_bind_text(&q, r->machine);
    pw_query_bind_text(&q, r->design);
    pw_query_bind_count(&q, r->cycles);
    pw_query_bind_real(&q, r->nanoseconds);
    pw_query_bind_real(&q, r->ipc_throughput);
    pw_query_bind_real(&q, r->wall_seconds);
    pw_query_bind_count(&q, r->peak_rss_bytes);
    pw_query_bind_count(&q, r->events);
    pw_query_bind_count(&q, r->memory_operations);
    enum pw_status status = pw_query_run(&q, err);
    *out = sqlite3_last_insert_rowid(s->db);
    return status;
}

static enum pw_status add_app(struct pw_store *s, int64_t run, size_t number, const struct pw_app_result *app,
                              struct pw_error *err)
{
    struct pw_query q = pw_query_start(s, PW_SQL_ADD_APP);
    pw_query_bind_integer(&q, run);
    pw_query_bind_integer(&q, (int64_t)number);
    pw_query_bind_text(&q, app->name);
    pw_query_bind_count(&q, app->warp_instructions);
    pw_query_bind_count(&q, app->cycles);
    pw_query_bind_real(&q, app->ipc);
    pw_query_bind_integer(&q, app->sms);
    return pw_query_run(&q, err);
}

static enum pw_status metric_id(struct pw_store *s, const struct pw_metric *m, int64_t *out, struct pw_error *err)
{
    bool row;
    const char *unit = m->unit ? m->unit : "";
    struct pw_query q = pw_query_start(s, PW_SQL_FIND_METRIC);
    pw_query_bind_text(&q, m->name);
    pw_query_bind_text(&q, unit);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out = row ? sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    if (status != PW_OK || row)
        return status;
    struct pw_metric_place place = pw_metric_place(m->name);
    q = pw_query_start(s, PW_SQL_ADD_METRIC);
    pw_query_bind_text(&q, m->name);
    pw_query_bind_text(&q, unit);
    pw_query_bind_piece(&q, place.app, place.app_length);
    pw_query_bind_piece(&q, place.component, place.component_length);
    pw_query_bind_text(&q, place.metric);
    status = pw_query_run(&q, err);
    *out = sqlite3_last_insert_rowid(s->db);
    return status;
}

static enum pw_status add_value(struct pw_store *s, enum pw_store_sql how, int64_t run, const struct pw_metric *m,
                                struct pw_error *err)
{
    int64_t metric;
    enum pw_status status = metric_id(s, m, &metric, err);
    if (status != PW_OK)
        return status;
    struct pw_query q = pw_query_start(s, how);
    pw_query_bind_integer(&q, run);
    pw_query_bind_integer(&q, metric);
    if (m->is_integer)
        pw_query_bind_count(&q, m->integer);
    else
        pw_query_bind_real(&q, m->real);
    return pw_query_run(&q, err);
}

static enum pw_status add_allocation(struct pw_store *s, int64_t run, size_t number,
                                     const struct pw_allocation_result *a, struct pw_error *err)
{
    struct pw_query q = pw_query_start(s, PW_SQL_ADD_ALLOCATION);
    pw_query_bind_integer(&q, run);
    pw_query_bind_integer(&q, (int64_t)number);
    pw_query_bind_integer(&q, a->app);
    pw_query_bind_text(&q, a->name);
    pw_query_bind_count(&q, a->count);
    pw_query_bind_count(&q, a->bytes);
    pw_query_bind_count(&q, a->pages);
#define BIND(member, unit) pw_query_bind_count(&q, a->member);
    PW_ALLOCATION_COUNTERS(BIND)
#undef BIND
    return pw_query_run(&q, err);
}

/* A run is the same with and without a breakdown, which only adds metrics; one that was kept without gets them. */
static enum pw_status add_breakdown(struct pw_store *s, int64_t run, const struct pw_result *r, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t i = 0; r->breakdown_count && i < r->metric_count && status == PW_OK; i++)
        status = add_value(s, PW_SQL_ADD_MISSING_VALUE, run, &r->metrics[i], err);
    return status;
}

static enum pw_status add_all(struct pw_store *s, const struct pw_run_inputs *inputs, const struct pw_result *r,
                              int64_t *out_run, struct pw_error *err)
{
    int64_t configuration;
    enum pw_status status = pw_store_find(s, inputs, out_run, err);
    if (status != PW_OK || *out_run)
        return status == PW_OK ? add_breakdown(s, *out_run, r, err) : status;
    status = add_configuration(s, inputs->options, &configuration, err);
    if (status == PW_OK)
        status = add_run(s, inputs, r, configuration, out_run, err);
    for (size_t i = 0; i < r->app_count && status == PW_OK; i++)
        status = add_app(s, *out_run, i, &r->apps[i], err);
    for (size_t i = 0; i < r->metric_count && status == PW_OK; i++)
        status = add_value(s, PW_SQL_ADD_VALUE, *out_run, &r->metrics[i], err);
    for (size_t i = 0; i < r->allocation_count && status == PW_OK; i++)
        status = add_allocation(s, *out_run, i, &r->allocations[i], err);
    return status;
}

static enum pw_status begin(struct pw_store *s, struct pw_error *err)
{
    struct pw_query q = pw_query_start(s, PW_SQL_BEGIN);
    return pw_query_run(&q, err);
}

/* Commits what has gone well until now. */
static enum pw_status commit(struct pw_store *s, enum pw_status status, struct pw_error *err)
{
    if (status == PW_OK) {
        struct pw_query q = pw_query_start(s, PW_SQL_COMMIT);
        status = pw_query_run(&q, err);
    }
    if (status != PW_OK) /* It may have been rolled back already, and then this fails. */
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum pw_status pw_store_add(struct pw_store *s, const struct pw_run_inputs *inputs, const struct pw_result *r,
                            int64_t *out_run, struct pw_error *err)
{
    *out_run = 0;
    enum pw_status status = begin(s, err);
    if (status != PW_OK)
        return status;
    status = commit(s, add_all(s, inputs, r, out_run, err), err);
    if (status != PW_OK)
        *out_run = 0;
    return status;
}

static enum pw_status add_stopped(struct pw_store *s, const struct pw_run_inputs *inputs, uint64_t cycles,
                                  struct pw_error *err)
{
    int64_t configuration;
    enum pw_status status = add_configuration(s, inputs->options, &configuration, err);
    if (status != PW_OK)
        return status;
    struct pw_query q = pw_query_start(s, PW_SQL_ADD_STOPPED);
    pw_query_bind_text(&q, inputs->core);
    pw_query_bind_integer(&q, configuration);
    pw_query_bind_text(&q, inputs->workload);
    pw_query_bind_integer(&q, (int64_t)inputs->seed);
    pw_query_bind_count(&q, cycles);
    return pw_query_run(&q, err);
}

enum pw_status pw_store_add_stopped(struct pw_store *s, const struct pw_run_inputs *inputs, uint64_t cycles,
                                    struct pw_error *err)
{
    enum pw_status status = begin(s, err);
    return status == PW_OK ? commit(s, add_stopped(s, inputs, cycles, err), err) : status;
}

enum pw_status pw_store_find_stopped(struct pw_store *s, const struct pw_run_inputs *inputs, uint64_t *out_cycles,
                                     struct pw_error *err)
{
    enum { FIRST_OF_STOPPED = 4 };
    bool row;
    *out_cycles = 0;
    if (s->schema < FIRST_OF_STOPPED)
        return PW_OK;
    struct pw_query q = pw_query_start(s, PW_SQL_FIND_STOPPED);
    bind_inputs(&q, inputs);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out_cycles = row ? (uint64_t)sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    return status;
}
