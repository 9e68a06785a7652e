/* Many processes on one result store, some of them killed: no run that was acknowledged is lost, nothing is torn. */
#include "exp/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "sim/random.h"
#include "store_fixture.h"

enum { ROUNDS = 12, CHILDREN = 3, METRICS = 12 };

static int enter(void **state)
{
    *state = store_folder_create("store_processes");
    return *state ? 0 : -1;
}

static int leave(void **state)
{
    store_folder_destroy(*state);
    return 0;
}

/* Adds runs of growing seeds and writes each seed to `acknowledge` when the store has it. */
static int add_runs(const char *path, uint64_t seed, uint64_t outer, int acknowledge)
{
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run;
    if (pw_store_open(path, PW_STORE_CREATE, &s, &err) != PW_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (; seed < outer; seed++) {
        if (store_add_seed(s, seed, &run, &err) != PW_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 2;
        }
        if (acknowledge >= 0 && write(acknowledge, &seed, sizeof seed) != sizeof seed)
            return 3;
    }
    pw_store_close(s);
    return 0;
}

static pid_t start(const char *path, uint64_t seed, uint64_t outer, int acknowledge)
{
    pid_t child = fork();
    if (child == 0)
        _exit(add_runs(path, seed, outer, acknowledge));
    return child;
}

static uint64_t count_runs(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM run", -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    uint64_t count = (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return count;
}

static void test_processes_that_create_and_add_at_once_all_succeed(void **state)
{
    struct store_folder *folder = *state;
    pid_t children[CHILDREN];
    for (uint64_t i = 0; i < CHILDREN; i++) /* [0, 10), [5, 15), [10, 20) */
        children[i] = start(folder->store, 5 * i, 5 * i + 10, -1);
    for (size_t i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(count_runs(folder->store), 20);
}

/* Every acknowledged run is there with all that belongs to it. */
static void expect_runs(const char *path, const uint64_t *seeds, size_t count)
{
    struct pw_store *s;
    struct pw_error err = {0};
    if (pw_store_open(path, PW_STORE_READ, &s, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < count; i++) {
        int64_t run;
        struct pw_stored_run *r;
        double value;
        struct pw_run_inputs inputs = {"0.1.0+abc", STORE_OPTIONS, "HS:side=64", seeds[i]};
        assert_int_equal(pw_store_find(s, &inputs, &run, &err), PW_OK);
        assert_true(run > 0);
        assert_int_equal(pw_store_load(s, run, &r, &err), PW_OK);
        assert_int_equal(r->metric_count, METRICS + 8);
        assert_int_equal(r->app_count, 1);
        assert_true(pw_stored_run_metric(r, "gpu0.l1_tlb.lookups", &value) && value == (double)seeds[i]);
        pw_stored_run_free(r);
    }
    pw_store_close(s);
}

static size_t collect(int from, uint64_t *seeds, size_t count, size_t capacity)
{
    while (count < capacity && read(from, &seeds[count], sizeof *seeds) == sizeof *seeds)
        count++;
    return count;
}

static void test_kill_loses_no_acknowledged_run(void **state)
{
    struct store_folder *folder = *state;
    static uint64_t seeds[100000];
    size_t count = 0;
    struct pw_random random;
    pw_random_init(&random, 1, "kill");
    for (uint64_t round = 0; round < ROUNDS; round++) {
        int ends[2];
        pid_t children[CHILDREN];
        assert_int_equal(pipe(ends), 0);
        for (uint64_t i = 0; i < CHILDREN; i++) {
            uint64_t first = (round * CHILDREN + i) * 1000000;
            children[i] = start(folder->store, first, first + 1000000, ends[1]);
        }
        close(ends[1]);
        if (round % 2) /* kill at any moment, or at any after a run was acknowledged, however slow the disk is */
            count = collect(ends[0], seeds, count, count + 1);
        for (size_t i = 0; i < CHILDREN; i++) {
            usleep((useconds_t)pw_random_below(&random, 60000));
            kill(children[i], SIGKILL);
        }
        for (size_t i = 0; i < CHILDREN; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        count = collect(ends[0], seeds, count, sizeof seeds / sizeof *seeds);
        close(ends[0]);
        if (count)
            expect_runs(folder->store, seeds, count);
    }
    assert_true(count >= ROUNDS / 2);
    uint64_t kept = count_runs(folder->store);
    assert_true(kept >= count && kept <= count + (uint64_t)ROUNDS * CHILDREN);
}

/* Leaves half a transaction in the file, as a kill between two writes of pages does: a tiny cache makes SQLite write
 * them before the end. */
static int leave_half(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE run SET cycles = 7;"
                     "WITH n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
                     " INSERT INTO metric(name, unit, app, component, metric) SELECT i, '', '', '', '' FROM n;"
                     "DELETE FROM value",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

static void test_a_reader_undoes_half_a_transaction(void **state)
{
    struct store_folder *folder = *state;
    char journal[128];
    uint64_t seed = 5;
    assert_int_equal(add_runs(folder->store, seed, seed + 1, -1), 0);
    struct pw_text before = store_bytes(folder->store);
    pid_t child = fork();
    if (child == 0)
        _exit(leave_half(folder->store));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    snprintf(journal, sizeof journal, "%s-journal", folder->store);
    assert_int_equal(access(journal, F_OK), 0);
    assert_false(store_same_bytes(folder->store, &before));
    expect_runs(folder->store, &seed, 1);
    assert_true(store_same_bytes(folder->store, &before));
    assert_int_not_equal(access(journal, F_OK), 0);
    pw_text_free(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_processes_that_create_and_add_at_once_all_succeed, enter, leave),
        cmocka_unit_test_setup_teardown(test_kill_loses_no_acknowledged_run, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_reader_undoes_half_a_transaction, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
