/* The inside of the result store, for its own files: the connection, its statements, and one way to run them.
 *
 * A query is a statement with its bindings and whatever has gone wrong with it so far, so that its users need not
 * check after every binding and every column: the next step reports it. */
#ifndef PW_EXP_STORE_INTERNAL_H
#define PW_EXP_STORE_INTERNAL_H

#include "exp/store/store.h"
#include "sim/scope.h"

#include <sqlite3.h>

enum { PW_STORE_APPLICATION_ID = 0x70776c6b }; /* "pwlk", in the file's header */

/* One table, index or view: SQLite keeps the text of its creation as it was given, so a store is known by these. */
struct pw_store_object {
    const char *name, *sql;
    int since, until; /* the first schema that has it, and the last; 0: the present one */
};
extern const struct pw_store_object pw_store_objects[]; /* ends with NULL */

enum pw_store_sql {
    PW_SQL_BEGIN,
    PW_SQL_COMMIT,
    PW_SQL_FIND_RUN,
    PW_SQL_FIND_BREAKDOWN,
    PW_SQL_FIND_CONFIGURATION,
    PW_SQL_ADD_CONFIGURATION,
    PW_SQL_ADD_OPTION,
    PW_SQL_ADD_RUN,
    PW_SQL_ADD_APP,
    PW_SQL_FIND_METRIC,
    PW_SQL_ADD_METRIC,
    PW_SQL_ADD_VALUE,
    PW_SQL_ADD_MISSING_VALUE,
    PW_SQL_ADD_ALLOCATION,
    PW_SQL_ADD_STOPPED,
    PW_SQL_FIND_STOPPED,
    PW_SQL_SECONDS,
    PW_SQL_SEEDS,
    PW_SQL_LOAD_RUN,
    PW_SQL_LOAD_APPS,
    PW_SQL_LOAD_VALUES,
    PW_SQL_LOAD_ALLOCATIONS,
    PW_SQL_LAST_RUN,
    PW_SQL_NEXT_RUN,
    PW_SQL_COUNT
};

struct pw_store {
    sqlite3 *db;
    char *path;     /* as the user gave it, for messages */
    int64_t schema; /* of the file: below PW_STORE_SCHEMA only where it was opened to be read */
    uint64_t old_runs;
    bool read_only;
    sqlite3_stmt *statements[PW_SQL_COUNT];
};

/* PW_OK for SQLITE_OK, SQLITE_ROW and SQLITE_DONE; every other code becomes a message that names the file. What is in
 * the file, or may not be done to it, is the user's; what the host has run out of is a failure. */
enum pw_status pw_store_check(const struct pw_store *s, int code, struct pw_error *err);
enum pw_status pw_store_damaged(const struct pw_store *s, const char *what, struct pw_error *err);

struct pw_query {
    struct pw_store *store;
    sqlite3_stmt *statement;
    int code, bound;
    bool cached; /* belongs to the store */
};

/* A statement of the table above, compiled once; or any text. */
struct pw_query pw_query_start(struct pw_store *s, enum pw_store_sql which);
struct pw_query pw_query_compile(struct pw_store *s, const char *sql);
/* Parameters in order. Texts must live until the query ends. */
void pw_query_bind_text(struct pw_query *q, const char *text); /* NULL: SQL's NULL */
void pw_query_bind_piece(struct pw_query *q, const char *text, int length);
void pw_query_bind_integer(struct pw_query *q, int64_t value);
void pw_query_bind_count(struct pw_query *q, uint64_t value); /* above INT64_MAX: as the nearest real number */
void pw_query_bind_real(struct pw_query *q, double value);
enum pw_status pw_query_step(struct pw_query *q, bool *out_row, struct pw_error *err);
/* The text of a column that is never NULL in a good store; valid until the next step. */
const char *pw_query_column_text(struct pw_query *q, int column);
/* Gives up the locks that the query holds. */
void pw_query_end(struct pw_query *q);
/* Steps a query that returns no rows and ends it. */
enum pw_status pw_query_run(struct pw_query *q, struct pw_error *err);

/* The next row of PW_SQL_LOAD_ALLOCATIONS. Its name is the statement's, until the next step. */
struct pw_allocation_result pw_store_read_allocation(struct pw_query *q);

/* Where a metric's name puts it in the long form: "app0.l1_tlb.hits" is app "app0", component "l1_tlb", metric "hits";
 * "gpu0.l1_tlb.hits" is no app's, component "gpu0.l1_tlb" (scopes: sim/scope.h). Lengths are of pieces of `name`. */
struct pw_metric_place {
    const char *app, *component, *metric;
    int app_length, component_length;
};
struct pw_metric_place pw_metric_place(const char *name);

/* Walks "name=value\n" lines. False at the end; a line that is none ends the walk with *at not at the text's end. */
struct pw_option_line {
    const char *name, *value;
    int name_length, value_length;
};
bool pw_option_line_next(const char **at, struct pw_option_line *out);
/* The number that a canonical option value stands for: sizes in bytes, on and off as 1 and 0. */
bool pw_option_line_number(const struct pw_option_line *line, double *out, bool *out_bytes);

#endif
