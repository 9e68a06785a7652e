/* Opening a result store: what a file is, decided before anything could change it.
 *
 * SQLite touches a file it has opened only when the first statement runs: then it may undo the transaction of a writer
 * that was killed, which changes the file. So the header is looked at first, through SQLite's own file handle (a second
 * handle of ours would drop SQLite's locks when it is closed, as POSIX locks do), and a file that does not say it is
 * ours is left alone. Then come SQLite's check of the whole file and a comparison of tables and views with what they
 * should be.
 *
 * The rollback journal is used and not write-ahead logging: that keeps a store in one file and works where processes on
 * several hosts share a file system. A reader that finds the journal of a killed writer has to undo its half
 * transaction, which only a connection that may write can do; it opens the file again as one. */
#include "store_internal.h"

#include "exp/format/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FIRST_OF_PARTS = 3, /* schema from which on a run is known by the parts it depends on */
    BUSY_MILLISECONDS = 60000,
    LONGEST_VALUE = 64 << 20, /* that a file may claim: no text of ours comes near it */
    HEADER_BYTES = 100,       /* SQLite's file format, section 1.3 */
    HEADER_WRITE_VERSION = 18,
    HEADER_READ_VERSION = 19,
    HEADER_USER_VERSION = 60,
    HEADER_APPLICATION_ID = 68,
};

#define NO_STORE "%s: is no result store; name another file with --db"

static const char magic[16] = "SQLite format 3";

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum pw_status fail_empty(const struct pw_store *s, struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR, "%s: is empty; `pagewalk reproduce` fills it", s->path);
}

static enum pw_status judge_header(const struct pw_store *s, const unsigned char *header, struct pw_error *err)
{
    uint32_t version = big_endian(header + HEADER_USER_VERSION);
    unsigned write = header[HEADER_WRITE_VERSION], read = header[HEADER_READ_VERSION];
    if (memcmp(header, magic, sizeof magic) != 0)
        return pw_fail(err, PW_USER_ERROR, NO_STORE, s->path);
    if (big_endian(header + HEADER_APPLICATION_ID) != PW_STORE_APPLICATION_ID)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: is a database of another program, not a result store; name another file with --db",
                       s->path);
    if (version > PW_STORE_SCHEMA)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: was written by a newer pagewalk (schema %u; this one knows %d); use that one, or another "
                       "file with --db",
                       s->path, version, PW_STORE_SCHEMA);
    if (version < 1 || write < 1 || write > 2 || read < 1 || read > 2)
        return pw_store_damaged(s, "its header makes no sense", err);
    if (write != 1 || read != 1)
        return pw_fail(err, PW_USER_ERROR,
                       "%s: was switched to write-ahead logging; switch it back with `sqlite3 FILE 'PRAGMA "
                       "journal_mode=delete'`",
                       s->path);
    return PW_OK;
}

/* Reads the header without a lock: the fields looked at never change once they are there. */
static enum pw_status check_header(struct pw_store *s, bool *out_empty, struct pw_error *err)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    unsigned char header[HEADER_BYTES] = {0};
    int code = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code == SQLITE_OK && (!file || !file->pMethods))
        code = SQLITE_CANTOPEN;
    if (code == SQLITE_OK)
        code = file->pMethods->xFileSize(file, &size);
    *out_empty = code == SQLITE_OK && size == 0;
    if (code == SQLITE_OK && size > 0)
        code = file->pMethods->xRead(file, header, (int)sizeof header, 0);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) /* what was not read is zero */
        return pw_store_check(s, code, err);
    return size == 0 ? PW_OK : judge_header(s, header, err);
}

static enum pw_status execute(struct pw_store *s, const char *sql, struct pw_error *err)
{
    struct pw_query q = pw_query_compile(s, sql);
    return pw_query_run(&q, err);
}

static void disconnect(struct pw_store *s)
{
    for (size_t i = 0; i < PW_SQL_COUNT; i++) {
        sqlite3_finalize(s->statements[i]);
        s->statements[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
}

/* Opens the file and looks at its header. SQLite gives names such as ":memory:" and "file:…" a meaning; with a folder
 * in front they are files like any other. */
static enum pw_status connect(struct pw_store *s, int flags, bool *out_empty, struct pw_error *err)
{
    size_t capacity = strlen(s->path) + 3;
    char *name = malloc(capacity);
    if (!name)
        return pw_fail_memory(err, "the result store");
    snprintf(name, capacity, "%s%s", s->path[0] == '/' ? "" : "./", s->path);
    int code = sqlite3_open_v2(name, &s->db, flags, NULL);
    free(name);
    if (code != SQLITE_OK)
        return pw_store_check(s, code, err);
    code = sqlite3_extended_result_codes(s->db, 1);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(s->db, BUSY_MILLISECONDS);
    static const int switches[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches && code == SQLITE_OK; i++)
        code = sqlite3_db_config(s->db, switches[i][0], switches[i][1], NULL);
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    enum pw_status status = pw_store_check(s, code, err);
    return status == PW_OK ? check_header(s, out_empty, err) : status;
}

static enum pw_status read_integer(struct pw_store *s, const char *sql, int64_t *out, struct pw_error *err)
{
    bool row;
    struct pw_query q = pw_query_compile(s, sql);
    enum pw_status status = pw_query_step(&q, &row, err);
    *out = row ? sqlite3_column_int64(q.statement, 0) : 0;
    pw_query_end(&q);
    return status;
}

static enum pw_status check_object(struct pw_store *s, const struct pw_store_object *object, struct pw_error *err)
{
    bool row, same = false;
    struct pw_query q = pw_query_compile(s, "SELECT sql FROM sqlite_schema WHERE name = ?");
    pw_query_bind_text(&q, object->name);
    enum pw_status status = pw_query_step(&q, &row, err);
    if (row)
        same = strcmp(pw_query_column_text(&q, 0), object->sql) == 0;
    pw_query_end(&q);
    if (status == PW_OK && !same) {
        char what[80];
        snprintf(what, sizeof what, "%s is missing or changed", object->name);
        status = pw_store_damaged(s, what, err);
    }
    return status;
}

/* The whole file, page by page, with the types of all values; then tables and views. */
static enum pw_status check_contents(struct pw_store *s, struct pw_error *err)
{
    bool row;
    char verdict[160] = "";
    struct pw_query q = pw_query_compile(s, "PRAGMA quick_check(1)");
    enum pw_status status = pw_query_step(&q, &row, err);
    if (row)
        snprintf(verdict, sizeof verdict, "%s", pw_query_column_text(&q, 0));
    pw_query_end(&q);
    if (status == PW_OK && strcmp(verdict, "ok") != 0) {
        /* Its lines are "*** in database main ***" and then what is wrong. */
        char *line = strrchr(verdict, '\n');
        status = pw_store_damaged(s, line ? line + 1 : verdict, err);
    }
    for (const struct pw_store_object *o = pw_store_objects; o->name && status == PW_OK; o++)
        if (o->since <= s->schema && (!o->until || s->schema <= o->until))
            status = check_object(s, o, err);
    return status;
}

/* What a file of schema `from` has not, 0 being an empty one; of what has changed, which are views, the old goes. */
static enum pw_status create_objects(struct pw_store *s, int64_t from, struct pw_error *err)
{
    char pragma[64];
    enum pw_status status = PW_OK;
    for (const struct pw_store_object *o = pw_store_objects; o->name && status == PW_OK; o++) {
        bool there = from >= o->since && (!o->until || from <= o->until);
        snprintf(pragma, sizeof pragma, "DROP VIEW %s", o->name);
        if (o->until && there)
            status = execute(s, pragma, err);
        else if (!o->until && !there)
            status = execute(s, o->sql, err);
    }
    snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", PW_STORE_APPLICATION_ID);
    if (status == PW_OK)
        status = execute(s, pragma, err);
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", PW_STORE_SCHEMA);
    return status == PW_OK ? execute(s, pragma, err) : status;
}

/* Fills an empty file, or adds to one of an older schema what it has not. Another process may have done so since it was
 * looked at. */
static enum pw_status bring_to_schema(struct pw_store *s, struct pw_error *err)
{
    int64_t version = 0;
    enum pw_status status = execute(s, "BEGIN IMMEDIATE", err);
    if (status != PW_OK)
        return status;
    status = read_integer(s, "PRAGMA user_version", &version, err);
    if (status == PW_OK && version < PW_STORE_SCHEMA)
        status = create_objects(s, version, err);
    if (status == PW_OK)
        status = execute(s, "COMMIT", err);
    if (status != PW_OK)
        (void)execute(s, "ROLLBACK", NULL);
    return status;
}

static enum pw_status read_schema(struct pw_store *s, struct pw_error *err)
{
    return read_integer(s, "PRAGMA user_version", &s->schema, err);
}

/* Of a file that is good, before it is changed. */
static enum pw_status count_old_runs(struct pw_store *s, struct pw_error *err)
{
    int64_t count = 0;
    enum pw_status status =
        s->schema < FIRST_OF_PARTS ? read_integer(s, "SELECT count(*) FROM run", &count, err) : PW_OK;
    s->old_runs = (uint64_t)count;
    return status;
}

/* The schema and whether what is there is of it, as of one moment: another process may bring the file to this schema
 * meanwhile, which changes both. */
static enum pw_status look_through(struct pw_store *s, struct pw_error *err)
{
    enum pw_status status = execute(s, "BEGIN", err);
    if (status != PW_OK)
        return status;
    status = read_schema(s, err);
    if (status == PW_OK && s->schema > 0)
        status = check_contents(s, err);
    if (status == PW_OK && s->schema > 0)
        status = count_old_runs(s, err);
    (void)execute(s, "ROLLBACK", NULL); /* nothing was written */
    return status;
}

static enum pw_status open_to_write(struct pw_store *s, struct pw_error *err)
{
    bool empty;
    enum pw_status status = connect(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &empty, err);
    if (status == PW_OK && sqlite3_db_readonly(s->db, "main") != 0)
        status = pw_store_check(s, SQLITE_READONLY, err);
    if (status == PW_OK)
        status = execute(s, "PRAGMA cell_size_check = ON", err);
    if (status == PW_OK)
        status = execute(s, "PRAGMA synchronous = FULL", err);
    if (status == PW_OK)
        status = execute(s, "PRAGMA journal_mode = DELETE", err);
    /* A creation that was killed has now been undone, if there was one. An old file is looked through before it is
     * changed. */
    if (status == PW_OK)
        status = look_through(s, err);
    if (status != PW_OK || s->schema == PW_STORE_SCHEMA)
        return status;
    status = bring_to_schema(s, err);
    if (status == PW_OK)
        status = read_schema(s, err);
    return status == PW_OK ? check_contents(s, err) : status;
}

static enum pw_status open_to_read(struct pw_store *s, struct pw_error *err)
{
    bool empty = false;
    enum pw_status status = connect(s, SQLITE_OPEN_READONLY, &empty, err);
    if (status == PW_OK && !empty)
        status = read_schema(s, err);
    if (status != PW_OK && s->db && sqlite3_extended_errcode(s->db) == SQLITE_READONLY_ROLLBACK) {
        disconnect(s);
        status = connect(s, SQLITE_OPEN_READWRITE, &empty, err);
        if (status == PW_OK && !empty)
            status = read_schema(s, err);
    }
    if (status == PW_OK && s->schema == 0)
        return fail_empty(s, err);
    if (status == PW_OK)
        status = execute(s, "PRAGMA cell_size_check = ON", err);
    return status == PW_OK ? look_through(s, err) : status;
}

/* What can be said before the file is opened; opening a pipe would wait for its other end. */
static enum pw_status check_path(const char *path, enum pw_store_access access, struct pw_error *err)
{
    struct stat info;
    if (!*path)
        return pw_fail(err, PW_USER_ERROR, "the name of the result store is empty; give a file with --db");
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return pw_fail(err, PW_USER_ERROR, "%s: is a folder; name a file in it", path);
        if (!S_ISREG(info.st_mode))
            return pw_fail(err, PW_USER_ERROR, "%s: is no regular file and cannot be a result store", path);
        if (info.st_size > 0 && info.st_size < HEADER_BYTES) /* SQLite takes a file of one byte for an empty one */
            return pw_fail(err, PW_USER_ERROR, NO_STORE, path);
    } else if (access == PW_STORE_READ) {
        return errno == ENOENT ? pw_fail(err, PW_USER_ERROR, "%s: does not exist; `pagewalk reproduce` makes one", path)
                               : pw_fail(err, PW_USER_ERROR, "%s: cannot be opened: %s", path, strerror(errno));
    }
    if (access == PW_STORE_READ || strcmp(path, "-") == 0)
        return PW_OK;
    return pw_output_check(path, err);
}

/* What PW_STORE_USE comes to. */
static enum pw_store_access resolve_access(const char *path, enum pw_store_access access)
{
    struct stat info;
    if (access != PW_STORE_USE)
        return access;
    bool filled = stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
    return filled && pw_output_check(path, NULL) != PW_OK ? PW_STORE_READ : PW_STORE_CREATE;
}

uint64_t pw_store_old_runs(const struct pw_store *s)
{
    return s->old_runs;
}

enum pw_status pw_store_writable(const struct pw_store *s, struct pw_error *err)
{
    if (!s->read_only)
        return PW_OK;
    enum pw_status status = pw_output_check(s->path, err);
    return status != PW_OK ? status : pw_store_check(s, SQLITE_READONLY, err);
}

enum pw_status pw_store_open(const char *path, enum pw_store_access access, struct pw_store **out, struct pw_error *err)
{
    *out = NULL;
    access = resolve_access(path, access);
    enum pw_status status = check_path(path, access, err);
    if (status != PW_OK)
        return status;
    struct pw_store *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return pw_fail_memory(err, "the result store");
    }
    s->read_only = access == PW_STORE_READ;
    status = s->read_only ? open_to_read(s, err) : open_to_write(s, err);
    if (status != PW_OK) {
        pw_store_close(s);
        return status;
    }
    *out = s;
    return PW_OK;
}

void pw_store_close(struct pw_store *s)
{
    if (!s)
        return;
    disconnect(s);
    free(s->path);
    free(s);
}
