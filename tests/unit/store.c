/* The result store: what is put in comes out, a run is kept once, and a file that is no good store is refused and left
 * alone. Processes that are killed are in store_processes.c. */
#include "exp/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store_fixture.h"

static int enter(void **state)
{
    *state = store_folder_create("store");
    return *state ? 0 : -1;
}

static int leave(void **state)
{
    store_folder_destroy(*state);
    return 0;
}

static struct pw_store *open_store(const char *path, enum pw_store_access access)
{
    struct pw_store *s;
    struct pw_error err = {0};
    if (pw_store_open(path, access, &s, &err) != PW_OK)
        fail_msg("%s", err.message);
    return s;
}

static int64_t add(struct pw_store *s, const struct pw_run_inputs *inputs, const struct pw_result *r)
{
    int64_t run, found;
    struct pw_error err = {0};
    if (pw_store_add(s, inputs, r, &run, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_store_find(s, inputs, &found, &err), PW_OK);
    assert_int_equal(found, run);
    return run;
}

/* Runs SQL on the file behind the store's back. */
static void execute(const char *path, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static int copy_text(void *context, int columns, char **values, char **names)
{
    (void)names;
    struct pw_text *t = context;
    for (int i = 0; i < columns; i++)
        pw_text_print(t, "%s%s", t->length ? "|" : "", values[i] ? values[i] : "NULL");
    return 0;
}

static void expect_rows(const char *path, const char *sql, const char *expected)
{
    sqlite3 *db;
    char *message = NULL;
    struct pw_text t = {0};
    pw_text_add(&t, "");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, copy_text, &t, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
    assert_string_equal(t.bytes, expected);
    pw_text_free(&t);
}

static const struct pw_run_inputs pair_inputs = {"0.1.0+abc", STORE_OPTIONS, "HS:side=64,vecadd", UINT64_MAX - 1};

static int64_t add_pair(struct pw_store *s)
{
    struct result_fixture f;
    result_fixture_pair(&f);
    f.result.seed = pair_inputs.seed;
    f.metrics[3].integer = UINT64_MAX;
    f.metrics[3].real = (double)UINT64_MAX;
    f.metrics[8].real = 1 / 3.0;
    return add(s, &pair_inputs, &f.result);
}

static void expect_metric(const struct pw_stored_run *r, const char *name, double expected)
{
    double value;
    if (!pw_stored_run_metric(r, name, &value))
        fail_msg("no %s", name);
    assert_true(value == expected);
}

static void test_loaded_run_is_the_added_one(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    int64_t id = add_pair(s);
    pw_store_close(s);
    s = open_store(folder->store, PW_STORE_READ);
    struct pw_stored_run *r;
    struct pw_error err;
    assert_int_equal(pw_store_load(s, id, &r, &err), PW_OK);
    assert_true(r->id == id && r->seed == pair_inputs.seed && r->cycles == 10000000000);
    assert_string_equal(r->machine, "mosaic");
    assert_string_equal(r->design, "gpu-mmu");
    assert_string_equal(r->workload, "HS:side=64,vecadd");
    assert_true(r->nanoseconds == 9803921568.627451 && r->ipc_throughput == 0.85 && r->wall_seconds == 1.5);
    assert_int_equal(r->app_count, 2);
    assert_string_equal(r->apps[0].name, "HS:side=64");
    assert_true(r->apps[0].warp_instructions == 5000000000 && r->apps[0].cycles == 10000000000);
    assert_string_equal(r->apps[1].name, "vecadd");
    assert_true(r->apps[1].ipc == 0.35 && r->apps[1].sms == 10);
    assert_int_equal(r->allocation_count, 2);
    assert_string_equal(r->allocations[0].name, "temp");
    assert_true(r->allocations[0].bytes == 5000000000 && r->allocations[0].prefetched_resident == 9);
    assert_true(r->allocations[0].pages_thrashed == 30 && r->allocations[0].far_faults == 11);
    assert_string_equal(r->allocations[1].name, "a, \"b\"");
    assert_true(r->allocations[1].app == 1 && r->allocations[1].count == 3);
    for (size_t i = 1; i < r->metric_count; i++)
        assert_true(strcmp(r->metrics[i - 1].name, r->metrics[i].name) < 0);
    expect_metric(r, "gpu0.sm.issued", 5000000000);
    expect_metric(r, "gpu0.walk.count", (double)UINT64_MAX);
    expect_metric(r, "gpu0.dram.data.latency_mean", 1 / 3.0);
    expect_metric(r, "app0.l1_tlb.lookups", 5);
    pw_stored_run_free(r);
    assert_int_equal(pw_store_load(s, id + 1, &r, &err), PW_FAILED);
    assert_null(r);
    assert_non_null(strstr(err.message, "has no run 2"));
    pw_store_close(s);
}

static void test_options_that_are_numbers_are_metrics(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_stored_run *r;
    struct pw_error err;
    assert_int_equal(pw_store_load(s, add_pair(s), &r, &err), PW_OK);
    expect_metric(r, "option.clock_mhz", 1020);
    expect_metric(r, "option.l2.bytes", 2 << 20);
    expect_metric(r, "option.line", 128);
    expect_metric(r, "option.uvm.enabled", 1);
    expect_metric(r, "option.l2_tlb.enabled", 0);
    expect_metric(r, "option.threshold", 0.25);
    expect_metric(r, "option.tiny", 1e-5);
    double value;
    static const char *const texts[] = {"walk.model", "apps.sms", "label", "empty"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[64];
        snprintf(name, sizeof name, "option.%s", texts[i]);
        assert_false(pw_stored_run_metric(r, name, &value));
    }
    assert_int_equal(r->metric_count, 12 + 8);
    pw_stored_run_free(r);
    pw_store_close(s);
}

static void test_a_run_is_kept_once_and_known_by_its_inputs(void **state)
{
    struct store_folder *folder = *state;
    struct result_fixture f;
    result_fixture_init(&f);
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_run_inputs inputs = {"0.1.0+abc", STORE_OPTIONS, "HS", 1};
    int64_t first = add(s, &inputs, &f.result), found;
    struct pw_text before = store_bytes(folder->store);
    f.result.machine = "volta";
    f.result.design = "another name";
    f.result.cycles++;
    assert_int_equal(add(s, &inputs, &f.result), first);
    assert_true(store_same_bytes(folder->store, &before));
    pw_text_free(&before);
    struct pw_run_inputs others[] = {inputs, inputs, inputs, inputs};
    strcpy(others[0].core, "0.1.0+abd");
    others[1].options = STORE_OPTIONS "more=1\n";
    others[2].workload = "HS:side=64";
    others[3].seed = 1 + (1ULL << 63);
    for (size_t i = 0; i < 4; i++) {
        struct pw_error err;
        assert_int_equal(pw_store_find(s, &others[i], &found, &err), PW_OK);
        assert_int_equal(found, 0);
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(add(s, &others[i], &f.result), first + 1 + (int64_t)i);
    pw_store_close(s);
    expect_rows(folder->store, "SELECT count(*) FROM run", "5");
    expect_rows(folder->store, "SELECT count(*) FROM configuration", "2");
    expect_rows(folder->store, "SELECT count(*) FROM metric", "12");
}

static void test_the_most_cycles_of_a_stopped_run_are_kept_and_make_no_run(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    const struct pw_run_inputs inputs = {"core", "a=1\n", "HS", 1}, other = {"core", "a=2\n", "HS", 1};
    struct pw_error err;
    uint64_t cycles = 7;
    int64_t run;
    assert_int_equal(pw_store_find_stopped(s, &inputs, &cycles, &err), PW_OK);
    assert_int_equal(cycles, 0);
    static const uint64_t found[][2] = {{100, 100}, {50, 100}, {200, 200}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pw_store_add_stopped(s, &inputs, found[i][0], &err), PW_OK);
        assert_int_equal(pw_store_find_stopped(s, &inputs, &cycles, &err), PW_OK);
        assert_int_equal(cycles, found[i][1]);
    }
    assert_int_equal(pw_store_find(s, &inputs, &run, &err), PW_OK);
    assert_int_equal(run, 0);
    assert_int_equal(pw_store_find_stopped(s, &other, &cycles, &err), PW_OK);
    assert_int_equal(cycles, 0);
    pw_store_close(s);
}

static void test_a_run_kept_without_a_breakdown_gets_it_and_stays_as_it_was(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_run_inputs inputs = {"0.1.0+abc", STORE_OPTIONS, "HS:side=64", 5};
    struct result_fixture f;
    struct pw_breakdown_row breakdown = {0, "data", 11, 100};
    struct pw_stored_run *r;
    struct pw_error err = {0};
    int64_t found;
    result_fixture_init(&f);
    int64_t run = add(s, &inputs, &f.result);
    assert_int_equal(pw_store_find_breakdown(s, &inputs, &found, &err), PW_OK);
    assert_int_equal(found, 0);
    /* The same run again: a metric that is there already keeps its value. */
    f.metrics[f.result.metric_count++] = (struct pw_metric){"gpu0.warp.data", "cycles", true, 11, 11};
    f.metrics[f.result.metric_count++] = (struct pw_metric){"gpu0.warp.resident", "cycles", true, 11, 11};
    f.result.breakdown = &breakdown;
    f.result.breakdown_count = 1;
    f.metrics[1].integer = 1000;
    assert_int_equal(add(s, &inputs, &f.result), run);
    assert_int_equal(pw_store_find_breakdown(s, &inputs, &found, &err), PW_OK);
    assert_int_equal(found, run);
    assert_int_equal(pw_store_load(s, run, &r, &err), PW_OK);
    expect_metric(r, "gpu0.warp.data", 11);
    expect_metric(r, "gpu0.warp.resident", 11);
    expect_metric(r, "gpu0.l1_tlb.lookups", 8);
    pw_stored_run_free(r);
    inputs.seed = 6;
    assert_int_equal(pw_store_find_breakdown(s, &inputs, &found, &err), PW_OK);
    assert_int_equal(found, 0);
    pw_store_close(s);
}

static void test_a_run_that_cannot_be_kept_leaves_nothing(void **state)
{
    struct store_folder *folder = *state;
    struct result_fixture f;
    result_fixture_init(&f);
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_text before = store_bytes(folder->store);
    struct pw_error err;
    int64_t run;
    struct pw_run_inputs inputs = {"0.1.0+abc", "l2.bytes=2MB\nno value\n", "HS", 1};
    assert_int_equal(pw_store_add(s, &inputs, &f.result, &run, &err), PW_FAILED);
    assert_int_equal(run, 0);
    inputs.options = STORE_OPTIONS;
    f.apps[0].ipc = NAN;
    assert_int_equal(pw_store_add(s, &inputs, &f.result, &run, &err), PW_FAILED);
    assert_true(store_same_bytes(folder->store, &before));
    pw_text_free(&before);
    f.apps[0].ipc = 0.5;
    add(s, &inputs, &f.result);
    pw_store_close(s);
}

static void test_views_say_what_the_run_did(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_error err;
    int64_t run;
    add_pair(s);
    assert_int_equal(store_add_seed(s, 8, &run, &err), PW_OK);
    pw_store_close(s);
    const char *path = folder->store;
    expect_rows(path, "SELECT seed, typeof(seed) FROM runs ORDER BY id", "18446744073709551614|text|8|integer");
    expect_rows(path,
                "SELECT machine, design, workload, cycles, ms, ipc, l1_tlb_hit_rate, l2_tlb_hit_rate, walks"
                " FROM runs WHERE seed = 8",
                "mosaic|gpu-mmu|HS:side=64|10000000000|9803.92156862745|0.5|0.75|NULL|0");
    expect_rows(path,
                "SELECT wall_seconds, core, length(finished_at), finished_at GLOB '20*-*-*T*:*:*Z'"
                " FROM runs WHERE seed = 8",
                "1.5|0.1.0+abc|20|1");
    expect_rows(path, "SELECT app, name, design, ipc, sms FROM apps WHERE run = 1 ORDER BY app",
                "0|HS:side=64|gpu-mmu|0.5|20|1|vecadd|gpu-mmu|0.35|10");
    expect_rows(path,
                "SELECT app, component, metric, unit, value, typeof(value) FROM metrics WHERE run = 1"
                " AND name IN ('app0.l1_tlb.hits', 'gpu0.dram.data.latency_mean', 'gpu0.walk.count') ORDER BY name",
                "app0|l1_tlb|hits|lookups|5|integer|"
                "|gpu0.dram|data.latency_mean|cycles|0.333333333333333|real|"
                "|gpu0.walk|count|walks|1.84467440737096e+19|real");
    expect_rows(path,
                "SELECT name, value FROM options WHERE run = 2 AND name IN ('l2.bytes', 'label', 'empty')"
                " ORDER BY name",
                "empty||l2.bytes|2MB|label|a=b");
}

static void test_seconds_are_the_median(void **state)
{
    struct store_folder *folder = *state;
    struct result_fixture f;
    result_fixture_init(&f);
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_error err;
    double seconds;
    assert_int_equal(pw_store_seconds(s, "HS", &seconds, &err), PW_OK);
    assert_true(seconds < 0);
    static const double walls[] = {9, 1, 2, 4}, medians[] = {9, 5, 2, 3};
    for (unsigned i = 0; i < 4; i++) {
        f.result.wall_seconds = walls[i];
        add(s, &(struct pw_run_inputs){"core", "a=1\n", "HS", i}, &f.result);
        add(s, &(struct pw_run_inputs){"core", "a=1\n", "MM", i}, &f.result);
        f.result.wall_seconds = 1000;
        add(s, &(struct pw_run_inputs){"core", "a=1\n", "other", i}, &f.result);
        assert_int_equal(pw_store_seconds(s, "HS", &seconds, &err), PW_OK);
        assert_true(seconds == medians[i]);
    }
    pw_store_close(s);
}

/* Both ways to open the file are refused with a line that has `reason`, and the file is as before. */
static void expect_refused(const char *path, const char *reason)
{
    struct pw_text before = store_bytes(path);
    for (int access = PW_STORE_READ; access <= PW_STORE_CREATE; access++) {
        struct pw_store *s;
        struct pw_error err = {0};
        assert_int_equal(pw_store_open(path, access, &s, &err), PW_USER_ERROR);
        assert_null(s);
        assert_int_equal(strncmp(err.message, path, strlen(path)), 0);
        if (!strstr(err.message, reason) || strchr(err.message, '\n'))
            fail_msg("\"%s\" is not \"%s\"", err.message, reason);
    }
    assert_true(store_same_bytes(path, &before));
    pw_text_free(&before);
}

static void test_what_is_no_store_is_refused_and_left_alone(void **state)
{
    struct store_folder *folder = *state;
    const char *path = folder->store;
    assert_true(store_put(path, "run,app\n", 8));
    expect_refused(path, "is no result store");
    char zeros[8192] = {0};
    assert_true(store_put(path, zeros, sizeof zeros));
    expect_refused(path, "is no result store");
    assert_true(store_put(path, "SQLite format 3", 16));
    expect_refused(path, "is no result store");
    unlink(path);
    execute(path, "CREATE TABLE run(id); INSERT INTO run VALUES (1)");
    expect_refused(path, "another program");
    unlink(path);
    execute(path, "PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE run(id)");
    expect_refused(path, "another program");
    unlink(path);
    execute(path, "PRAGMA application_id = 0x70776c6b; PRAGMA user_version = 1; CREATE TABLE run(id)");
    expect_refused(path, "configuration is missing or changed");
    unlink(path);
    execute(path, "PRAGMA application_id = 0x70776c6b; CREATE TABLE run(id)");
    expect_refused(path, "is damaged");
    expect_refused(folder->path, "is a folder");
    struct pw_store *s;
    struct pw_error err;
    assert_int_equal(mkfifo(folder->other, 0600), 0); /* opening it would wait for its other end */
    assert_int_equal(pw_store_open(folder->other, PW_STORE_READ, &s, &err), PW_USER_ERROR);
    assert_int_equal(pw_store_open(folder->other, PW_STORE_CREATE, &s, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "is no regular file"));
}

static void test_a_store_that_was_changed_or_cut_is_refused(void **state)
{
    struct store_folder *folder = *state;
    const char *path = folder->store;
    struct pw_store *s = open_store(path, PW_STORE_CREATE);
    add_pair(s);
    pw_store_close(s);
    struct pw_text good = store_bytes(path);
    static const struct {
        const char *sql, *reason;
    } changes[] = {
        {"PRAGMA user_version = 5", "newer pagewalk (schema 5; this one knows 4)"},
        {"DROP VIEW allocations", "allocations is missing or changed"},
        {"PRAGMA user_version = -1", "newer pagewalk"},
        {"PRAGMA journal_mode = WAL", "write-ahead logging"},
        {"DROP VIEW runs", "runs is missing or changed"},
        {"DROP VIEW apps; CREATE VIEW apps AS SELECT 1", "apps is missing or changed"},
        {"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'run'", "is damaged"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        execute(path, changes[i].sql);
        expect_refused(path, changes[i].reason);
        assert_true(store_put(path, good.bytes, good.length));
    }
    for (size_t length = 1; length < good.length; length += 3000) {
        assert_true(store_put(path, good.bytes, length));
        expect_refused(path, length < 100 ? "" : "is damaged");
    }
    assert_true(store_put(path, good.bytes, good.length));
    execute(path, "CREATE VIEW mine AS SELECT design, avg(ipc) FROM runs GROUP BY design");
    pw_store_close(open_store(path, PW_STORE_READ)); /* what the user adds is the user's */
    pw_text_free(&good);
}

static void test_missing_and_empty_files_are_only_created_on_demand(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s;
    struct pw_error err;
    assert_int_equal(pw_store_open(folder->store, PW_STORE_READ, &s, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "a.db: does not exist; `pagewalk reproduce` makes one"));
    assert_int_not_equal(access(folder->store, F_OK), 0);
    assert_true(store_put(folder->store, "", 0));
    assert_int_equal(pw_store_open(folder->store, PW_STORE_READ, &s, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "is empty"));
    assert_int_equal(pw_store_open("", PW_STORE_READ, &s, &err), PW_USER_ERROR);
    assert_int_equal(pw_store_open("no/such/folder/a.db", PW_STORE_CREATE, &s, &err), PW_USER_ERROR);
    pw_store_close(open_store(folder->store, PW_STORE_CREATE));
    pw_store_close(open_store(folder->store, PW_STORE_READ));
    expect_rows(folder->store, "PRAGMA application_id", "1886874731");
    expect_rows(folder->store, "PRAGMA journal_mode", "delete");
}

static void test_names_that_mean_something_to_sqlite_are_files(void **state)
{
    struct store_folder *folder = *state;
    static const char *const names[] = {":memory:", "file:x?mode=memory", "-"};
    char *back = getcwd(NULL, 0);
    assert_int_equal(chdir(folder->path), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pw_store_close(open_store(names[i], PW_STORE_CREATE));
        assert_int_equal(access(names[i], F_OK), 0);
    }
    assert_int_equal(chdir(back), 0);
    free(back);
}

/* Runs `body` in a child; it returns the child's exit code. */
static int in_child(int (*body)(const struct store_folder *), const struct store_folder *folder)
{
    pid_t child = fork();
    if (child == 0)
        _exit(body(folder));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool refuses(const char *path, enum pw_store_access access, const char *reason)
{
    struct pw_store *s;
    struct pw_error err = {0};
    enum pw_status status = pw_store_open(path, access, &s, &err);
    pw_store_close(s);
    bool right = status == PW_USER_ERROR && strstr(err.message, reason) && !strncmp(err.message, path, strlen(path));
    if (!right)
        fprintf(stderr, "%d: %s\n", status, err.message);
    return right;
}

static int without_permission(const struct store_folder *folder)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    if (!refuses(folder->store, PW_STORE_READ, "Permission denied"))
        return 1;
    return refuses(folder->store, PW_STORE_CREATE, "Permission denied") ? 0 : 2;
}

static int in_readonly_folder(const struct store_folder *folder)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    struct pw_store *s;
    struct pw_error err;
    if (pw_store_open(folder->store, PW_STORE_READ, &s, &err) != PW_OK)
        return 1;
    pw_store_close(s);
    if (!refuses(folder->store, PW_STORE_CREATE, "Permission denied"))
        return 2;
    return refuses(folder->other, PW_STORE_CREATE, "Permission denied") ? 0 : 3;
}

static void test_missing_permission_is_said_before_anything_runs(void **state)
{
    struct store_folder *folder = *state;
    pw_store_close(open_store(folder->store, PW_STORE_CREATE));
    struct pw_text before = store_bytes(folder->store);
    assert_int_equal(chmod(folder->path, 0755), 0);
    assert_int_equal(chmod(folder->store, 0), 0);
    assert_int_equal(in_child(without_permission, folder), 0);
    assert_int_equal(chmod(folder->store, 0666), 0);
    assert_int_equal(chmod(folder->path, 0555), 0);
    assert_int_equal(in_child(in_readonly_folder, folder), 0);
    assert_int_equal(chmod(folder->path, 0755), 0);
    assert_true(store_same_bytes(folder->store, &before));
    pw_text_free(&before);
}

/* A limit on the size of files stands for a full disk. */
static int on_full_disk(const struct store_folder *folder)
{
    struct stat info;
    struct pw_store *s;
    struct pw_error err = {0};
    int64_t run = 0;
    signal(SIGXFSZ, SIG_IGN);
    if (stat(folder->store, &info) != 0 || pw_store_open(folder->store, PW_STORE_CREATE, &s, &err) != PW_OK)
        return 1;
    struct rlimit limit = {(rlim_t)info.st_size, (rlim_t)info.st_size};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    for (uint64_t seed = 100; seed < 1000; seed++)
        if (store_add_seed(s, seed, &run, &err) != PW_OK) {
            pw_store_close(s);
            return err.status == PW_FAILED && run == 0 && strstr(err.message, folder->store) ? 0 : 3;
        }
    return 4;
}

static void test_a_full_disk_fails_and_keeps_what_was_there(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = open_store(folder->store, PW_STORE_CREATE);
    struct pw_error err;
    int64_t run;
    assert_int_equal(store_add_seed(s, 1, &run, &err), PW_OK);
    pw_store_close(s);
    assert_int_equal(in_child(on_full_disk, folder), 0);
    s = open_store(folder->store, PW_STORE_READ);
    struct pw_stored_run *r;
    assert_int_equal(pw_store_load(s, run, &r, &err), PW_OK);
    pw_stored_run_free(r);
    pw_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_loaded_run_is_the_added_one, enter, leave),
        cmocka_unit_test_setup_teardown(test_options_that_are_numbers_are_metrics, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_run_is_kept_once_and_known_by_its_inputs, enter, leave),
        cmocka_unit_test_setup_teardown(test_the_most_cycles_of_a_stopped_run_are_kept_and_make_no_run, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_run_kept_without_a_breakdown_gets_it_and_stays_as_it_was, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_run_that_cannot_be_kept_leaves_nothing, enter, leave),
        cmocka_unit_test_setup_teardown(test_views_say_what_the_run_did, enter, leave),
        cmocka_unit_test_setup_teardown(test_seconds_are_the_median, enter, leave),
        cmocka_unit_test_setup_teardown(test_what_is_no_store_is_refused_and_left_alone, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_store_that_was_changed_or_cut_is_refused, enter, leave),
        cmocka_unit_test_setup_teardown(test_missing_and_empty_files_are_only_created_on_demand, enter, leave),
        cmocka_unit_test_setup_teardown(test_names_that_mean_something_to_sqlite_are_files, enter, leave),
        cmocka_unit_test_setup_teardown(test_missing_permission_is_said_before_anything_runs, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_full_disk_fails_and_keeps_what_was_there, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
