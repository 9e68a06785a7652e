/* The statements of the store, and what SQLite's answers mean to the user.
 *
 * Every call of SQLite that can fail goes through pw_store_check. Values reach statements only as bound parameters. */
#include "store_internal.h"

#include "uvm/allocation.h"

#include <stdlib.h>
#include <string.h>

#define COUNTER_NAME(member, unit) ", " #member
#define COUNTER_PLACE(member, unit) ", ?"

static const char *const texts[PW_SQL_COUNT] = {
    [PW_SQL_BEGIN] = "BEGIN IMMEDIATE",
    [PW_SQL_COMMIT] = "COMMIT",
    [PW_SQL_FIND_RUN] = "SELECT r.id FROM configuration c JOIN run r ON r.configuration = c.id"
                        " WHERE r.core = ? AND c.options = ? AND r.workload = ? AND r.seed = ?",
    [PW_SQL_FIND_BREAKDOWN] = "SELECT 1 FROM value v JOIN metric m ON m.id = v.metric"
                              " WHERE v.run = ? AND m.name = '" PW_SCOPE_FIRST_GPU ".warp.resident'",
    [PW_SQL_FIND_CONFIGURATION] = "SELECT id FROM configuration WHERE options = ?",
    [PW_SQL_ADD_CONFIGURATION] = "INSERT INTO configuration(options) VALUES (?)",
    [PW_SQL_ADD_OPTION] = "INSERT INTO configuration_option(configuration, name, value) VALUES (?, ?, ?)",
    [PW_SQL_ADD_RUN] = "INSERT INTO run(core, configuration, workload, seed, machine, design, cycles, nanoseconds,"
                       " ipc_throughput, wall_seconds, peak_rss_bytes, events, memory_operations, finished_at)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
    [PW_SQL_ADD_APP] = "INSERT INTO app(run, number, name, warp_instructions, cycles, ipc, sms)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?)",
    [PW_SQL_FIND_METRIC] = "SELECT id FROM metric WHERE name = ? AND unit = ?",
    [PW_SQL_ADD_METRIC] = "INSERT INTO metric(name, unit, app, component, metric) VALUES (?, ?, ?, ?, ?)",
    [PW_SQL_ADD_VALUE] = "INSERT INTO value(run, metric, value) VALUES (?, ?, ?)",
    [PW_SQL_ADD_MISSING_VALUE] = "INSERT INTO value(run, metric, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    [PW_SQL_ADD_ALLOCATION] =
        "INSERT INTO allocation(run, number, app, name, count, bytes, pages" PW_ALLOCATION_COUNTERS(
            COUNTER_NAME) ") VALUES (?, ?, ?, ?, ?, ?, ?" PW_ALLOCATION_COUNTERS(COUNTER_PLACE) ")",
    [PW_SQL_ADD_STOPPED] = "INSERT INTO stopped(core, configuration, workload, seed, cycles) VALUES (?, ?, ?, ?, ?)"
                           " ON CONFLICT DO UPDATE SET cycles = max(cycles, excluded.cycles)",
    [PW_SQL_FIND_STOPPED] = "SELECT s.cycles FROM configuration c JOIN stopped s ON s.configuration = c.id"
                            " WHERE s.core = ? AND c.options = ? AND s.workload = ? AND s.seed = ?",
    [PW_SQL_SECONDS] = "SELECT avg(wall_seconds) FROM (SELECT wall_seconds FROM run WHERE workload = ?1"
                       " ORDER BY wall_seconds"
                       " LIMIT 2 - (SELECT count(*) FROM run WHERE workload = ?1) % 2"
                       " OFFSET ((SELECT count(*) FROM run WHERE workload = ?1) - 1) / 2)",
    [PW_SQL_SEEDS] = "SELECT count(DISTINCT seed) FROM run",
    [PW_SQL_LOAD_RUN] = "SELECT r.id, r.machine, r.design, r.workload, r.seed, r.cycles, r.nanoseconds,"
                        " r.ipc_throughput, r.wall_seconds, r.peak_rss_bytes, r.events, r.memory_operations, r.core,"
                        " r.finished_at, c.options"
                        " FROM run r JOIN configuration c ON c.id = r.configuration WHERE r.id = ?",
    [PW_SQL_LOAD_APPS] = "SELECT name, warp_instructions, cycles, ipc, sms FROM app WHERE run = ? ORDER BY number",
    [PW_SQL_LOAD_VALUES] = "SELECT m.name, v.value, m.unit, m.app, m.component, m.metric"
                           " FROM value v JOIN metric m ON m.id = v.metric WHERE v.run = ? ORDER BY v.metric",
    [PW_SQL_LOAD_ALLOCATIONS] = "SELECT name, app, count, bytes, pages" PW_ALLOCATION_COUNTERS(
        COUNTER_NAME) " FROM allocation WHERE run = ? ORDER BY number",
    [PW_SQL_LAST_RUN] = "SELECT coalesce(max(id), 0) FROM run",
    [PW_SQL_NEXT_RUN] = "SELECT id FROM run WHERE id > ?1 AND id <= ?2 AND (?3 IS NULL OR machine = ?3)"
                        " AND (?4 IS NULL OR design = ?4) AND (?5 IS NULL OR workload = ?5)"
                        " AND (?6 IS NULL OR EXISTS (SELECT 1 FROM configuration_option o"
                        " WHERE o.configuration = run.configuration AND o.name = 'apps.sms' AND o.value = ?6))"
                        " ORDER BY id LIMIT 1",
};

enum pw_status pw_store_damaged(const struct pw_store *s, const char *what, struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR,
                   "%s: is damaged (%.200s); put a copy in its place, or remove it and run `pagewalk reproduce` again",
                   s->path, what);
}

enum pw_status pw_store_check(const struct pw_store *s, int code, struct pw_error *err)
{
    const char *reason = s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code);
    int kind = code & 0xff;
    if (s->db && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR) && sqlite3_system_errno(s->db))
        reason = strerror(sqlite3_system_errno(s->db));
    switch (kind) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return PW_OK;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG: /* a length that the file claims */
        return pw_store_damaged(s, sqlite3_errstr(code), err);
    case SQLITE_ERROR: /* our statements are right: the file has not what they name, or a format unknown to SQLite */
        return pw_store_damaged(s, reason, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pw_fail(err, PW_FAILED, "%s: another process has kept it locked for a minute; try again when it is done",
                       s->path);
    case SQLITE_FULL:
        return pw_fail(err, PW_FAILED, "%s: cannot be written: the disk is full", s->path);
    case SQLITE_READONLY:
        if (code == SQLITE_READONLY_ROLLBACK)
            return pw_fail(err, PW_USER_ERROR,
                           "%s: a process was stopped while it wrote, and you may not write the file to undo that",
                           s->path);
        return pw_fail(err, PW_USER_ERROR, "%s: may not be written by you", s->path);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return pw_fail(err, PW_USER_ERROR, "%s: cannot be opened: %s", s->path, reason);
    case SQLITE_NOMEM:
        return pw_fail_memory(err, "the result store");
    default:
        return pw_fail(err, PW_FAILED, "%s: %s", s->path, reason);
    }
}

struct pw_query pw_query_compile(struct pw_store *s, const char *sql)
{
    struct pw_query q = {.store = s};
    q.code = sqlite3_prepare_v2(s->db, sql, -1, &q.statement, NULL);
    return q;
}

struct pw_query pw_query_start(struct pw_store *s, enum pw_store_sql which)
{
    struct pw_query q = {.store = s, .cached = true};
    sqlite3_stmt **kept = &s->statements[which];
    if (!*kept)
        q.code = sqlite3_prepare_v3(s->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    q.statement = *kept;
    return q;
}

static void note(struct pw_query *q, int code)
{
    if (q->code == SQLITE_OK)
        q->code = code;
}

void pw_query_bind_text(struct pw_query *q, const char *text)
{
    note(q, sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_STATIC));
}

void pw_query_bind_piece(struct pw_query *q, const char *text, int length)
{
    note(q, sqlite3_bind_text(q->statement, ++q->bound, text, length, SQLITE_STATIC));
}

void pw_query_bind_integer(struct pw_query *q, int64_t value)
{
    note(q, sqlite3_bind_int64(q->statement, ++q->bound, value));
}

void pw_query_bind_real(struct pw_query *q, double value)
{
    note(q, sqlite3_bind_double(q->statement, ++q->bound, value));
}

void pw_query_bind_count(struct pw_query *q, uint64_t value)
{
    if (value <= INT64_MAX)
        pw_query_bind_integer(q, (int64_t)value);
    else
        pw_query_bind_real(q, (double)value);
}

enum pw_status pw_query_step(struct pw_query *q, bool *out_row, struct pw_error *err)
{
    *out_row = false;
    if (q->code != SQLITE_OK)
        return pw_store_check(q->store, q->code, err);
    int code = sqlite3_step(q->statement);
    *out_row = code == SQLITE_ROW;
    return pw_store_check(q->store, code, err);
}

const char *pw_query_column_text(struct pw_query *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q->statement, column);
    if (!text)
        note(q, sqlite3_errcode(q->store->db) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_CORRUPT);
    return text ? text : "";
}

void pw_query_end(struct pw_query *q)
{
    /* What went wrong, the step has said already. */
    if (!q->cached) {
        (void)sqlite3_finalize(q->statement);
    } else if (q->statement) {
        (void)sqlite3_reset(q->statement);
        (void)sqlite3_clear_bindings(q->statement);
    }
    q->statement = NULL;
}

enum pw_status pw_query_run(struct pw_query *q, struct pw_error *err)
{
    bool row;
    enum pw_status status = pw_query_step(q, &row, err);
    pw_query_end(q);
    return status;
}
