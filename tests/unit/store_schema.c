/* Stores of older schemas (1 had no allocations, 2 one version for all runs): they are read as they are, and brought to
 * the present schema in place by the first process that opens them to write, once, with all their runs. */
#include "exp/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "store_fixture.h"

static int enter(void **state)
{
    *state = store_folder_create("store_schema");
    return *state ? 0 : -1;
}

static int leave(void **state)
{
    store_folder_destroy(*state);
    return 0;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static int64_t number_of(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

static int64_t user_version(const char *path)
{
    return number_of(path, "PRAGMA user_version");
}

/* As files of schemas 1 and 2 have it. */
#define VALUE "(SELECT v.value FROM value v JOIN metric m ON m.id = v.metric WHERE v.run = r.id AND m.name = 'gpu0."
static const char old_runs_view[] =
    "DROP VIEW runs; CREATE VIEW runs AS SELECT r.id, r.machine, r.design, r.workload,\n"
    "  CASE WHEN r.seed >= 0 THEN r.seed ELSE printf('%u', r.seed) END AS seed,\n"
    "  r.cycles, r.nanoseconds / 1e6 AS ms, r.ipc_throughput AS ipc,\n"
    "  1.0 * " VALUE "l1_tlb.hits') / nullif(" VALUE "l1_tlb.lookups'), 0) AS l1_tlb_hit_rate,\n"
    "  1.0 * " VALUE "l2_tlb.hits') / nullif(" VALUE "l2_tlb.lookups'), 0) AS l2_tlb_hit_rate,\n"
    "  " VALUE "walk.count') AS walks,\n"
    "  r.wall_seconds, r.core, r.finished_at\n"
    "FROM run r";

/* Schema 2 has added a table and a view, schema 3 changed a view, schema 4 added a table. */
static void make_old_store(const char *path, uint64_t runs)
{
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    assert_int_equal(pw_store_open(path, PW_STORE_CREATE, &s, &err), PW_OK);
    for (uint64_t seed = 1; seed <= runs; seed++)
        assert_int_equal(store_add_seed(s, seed, &run, &err), PW_OK);
    pw_store_close(s);
    execute(path, old_runs_view);
    execute(path, "DROP VIEW allocations; DROP TABLE allocation; DROP TABLE stopped; PRAGMA user_version = 1");
}

static struct pw_stored_run *load(const char *path, enum pw_store_access access, int64_t run)
{
    struct pw_store *s;
    struct pw_stored_run *r = NULL;
    struct pw_error err = {0};
    if (pw_store_open(path, access, &s, &err) != PW_OK || pw_store_load(s, run, &r, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_store_close(s);
    return r;
}

static enum pw_status collect(void *context, const char *bytes, size_t length, struct pw_error *err)
{
    (void)err;
    pw_text_append(context, bytes, length);
    return PW_OK;
}

static void test_an_old_store_is_read_and_not_changed(void **state)
{
    struct store_folder *folder = *state;
    make_old_store(folder->store, 2);
    struct pw_text before = store_bytes(folder->store);
    struct pw_stored_run *r = load(folder->store, PW_STORE_READ, 2);
    assert_int_equal(r->seed, 2);
    assert_int_equal(r->allocation_count, 0);
    pw_stored_run_free(r);
    struct pw_store *s;
    struct pw_error err = {0};
    struct pw_text csv = {0}, json = {0};
    assert_int_equal(pw_store_open(folder->store, PW_STORE_READ, &s, &err), PW_OK);
    assert_int_equal(pw_store_export_csv(s, NULL, collect, &csv, &err), PW_OK);
    assert_int_equal(pw_store_export_json(s, NULL, collect, &json, &err), PW_OK);
    pw_store_close(s);
    assert_null(strstr(json.bytes, "allocations"));
    assert_true(store_same_bytes(folder->store, &before));
    pw_text_free(&before);
    pw_text_free(&csv);
    pw_text_free(&json);
}

static void test_a_writer_brings_an_old_store_to_the_present_schema_with_its_runs(void **state)
{
    struct store_folder *folder = *state;
    make_old_store(folder->store, 3);
    struct pw_stored_run *r = load(folder->store, PW_STORE_CREATE, 3);
    assert_int_equal(r->seed, 3);
    pw_stored_run_free(r);
    assert_int_equal(user_version(folder->store), PW_STORE_SCHEMA);
    execute(folder->store, "SELECT parts FROM runs");
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    struct result_fixture f;
    result_fixture_pair(&f);
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    assert_int_equal(store_add_seed(s, 2, &run, &err), PW_OK); /* is there */
    assert_int_equal(run, 2);
    const struct pw_run_inputs inputs = {"core", "a=1\n", "HS", 9};
    assert_int_equal(pw_store_add(s, &inputs, &f.result, &run, &err), PW_OK);
    pw_store_close(s);
    r = load(folder->store, PW_STORE_READ, run);
    assert_int_equal(r->allocation_count, 2);
    assert_int_equal(r->allocations[0].pages_in, 120);
    pw_stored_run_free(r);
}

static void test_the_view_of_runs_shows_the_sum_over_gpus_where_there_are_several(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    assert_int_equal(store_add_seed(s, 1, &run, &err), PW_OK);
    pw_store_close(s);
    execute(folder->store, "DELETE FROM value;"
                           "INSERT INTO metric VALUES(900, 'gpu0.walk.count', 'walks2', '', 'gpu0.walk', 'count'),"
                           "(901, 'gpu1.walk.count', 'walks2', '', 'gpu1.walk', 'count');"
                           "INSERT INTO value VALUES(1, 900, 3), (1, 901, 4)");
    assert_int_equal(number_of(folder->store, "SELECT walks FROM runs"), 3);
    execute(folder->store, "INSERT INTO metric VALUES(902, 'gpus.walk.count', 'walks2', '', 'gpus.walk', 'count');"
                           "INSERT INTO value VALUES(1, 902, 7)");
    assert_int_equal(number_of(folder->store, "SELECT walks FROM runs"), 7);
}

static void test_runs_of_schema_2_are_counted_until_the_store_is_brought_up_to_date(void **state)
{
    struct store_folder *folder = *state;
    static const struct {
        enum pw_store_access access;
        uint64_t old;
    } openings[] = {{PW_STORE_READ, 3}, {PW_STORE_CREATE, 3}, {PW_STORE_CREATE, 0}, {PW_STORE_READ, 0}};
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_int_equal(store_add_seed(s, seed, &run, &err), PW_OK);
    pw_store_close(s);
    execute(folder->store, old_runs_view);
    execute(folder->store, "DROP TABLE stopped; PRAGMA user_version = 2");
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        if (pw_store_open(folder->store, openings[i].access, &s, &err) != PW_OK)
            fail_msg("%s", err.message);
        assert_int_equal(pw_store_old_runs(s), openings[i].old);
        pw_store_close(s);
    }
    pw_stored_run_free(load(folder->store, PW_STORE_READ, 3));
}

/* What was stopped cannot be known there. */
static void test_a_store_of_schema_3_says_of_no_run_that_it_was_stopped(void **state)
{
    struct store_folder *folder = *state;
    const struct pw_run_inputs inputs = {"core", "a=1\n", "HS", 1};
    struct pw_store *s;
    struct pw_error err = {0};
    uint64_t cycles = 7;
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    assert_int_equal(pw_store_add_stopped(s, &inputs, 100, &err), PW_OK);
    pw_store_close(s);
    execute(folder->store, "DROP TABLE stopped; PRAGMA user_version = 3");
    assert_int_equal(pw_store_open(folder->store, PW_STORE_READ, &s, &err), PW_OK);
    assert_int_equal(pw_store_find_stopped(s, &inputs, &cycles, &err), PW_OK);
    assert_int_equal(cycles, 0);
    pw_store_close(s);
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    assert_int_equal(pw_store_add_stopped(s, &inputs, 100, &err), PW_OK);
    assert_int_equal(pw_store_find_stopped(s, &inputs, &cycles, &err), PW_OK);
    assert_int_equal(cycles, 100);
    pw_store_close(s);
}

static void test_a_damaged_old_store_is_refused_and_not_changed(void **state)
{
    struct store_folder *folder = *state;
    static const char *const changes[] = {"DROP VIEW runs", "CREATE TABLE allocation(mine)"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_old_store(folder->store, 1);
        execute(folder->store, changes[i]);
        struct pw_text before = store_bytes(folder->store);
        struct pw_store *s;
        struct pw_error err = {0};
        assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "is damaged"));
        assert_true(store_same_bytes(folder->store, &before));
        pw_text_free(&before);
        assert_int_equal(unlink(folder->store), 0);
    }
}

static void test_many_writers_bring_one_store_to_the_present_schema(void **state)
{
    struct store_folder *folder = *state;
    enum { WRITERS = 8 };
    make_old_store(folder->store, 1);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            struct pw_store *s;
            struct pw_error err = {0};
            int64_t run;
            bool added = pw_store_open(folder->store, PW_STORE_CREATE, &s, &err) == PW_OK &&
                         store_add_seed(s, 100 + (uint64_t)i, &run, &err) == PW_OK;
            _exit(added ? 0 : 1);
        }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_true(wait(&status) > 0 && WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(user_version(folder->store), PW_STORE_SCHEMA);
    pw_stored_run_free(load(folder->store, PW_STORE_READ, 1 + WRITERS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_old_store_is_read_and_not_changed, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_writer_brings_an_old_store_to_the_present_schema_with_its_runs, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(test_the_view_of_runs_shows_the_sum_over_gpus_where_there_are_several, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(test_runs_of_schema_2_are_counted_until_the_store_is_brought_up_to_date, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(test_a_damaged_old_store_is_refused_and_not_changed, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_store_of_schema_3_says_of_no_run_that_it_was_stopped, enter, leave),
        cmocka_unit_test_setup_teardown(test_many_writers_bring_one_store_to_the_present_schema, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
