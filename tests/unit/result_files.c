/* Files of results: written whole or not at all, and compared without trust in what they hold. */
#include "exp/format/output.h"
#include "exp/format/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result_fixture.h"

struct folder {
    char path[64], file[96], other[96];
};

static int enter(void **state)
{
    struct folder *f = calloc(1, sizeof *f);
    strcpy(f->path, "result_files.XXXXXX");
    if (!mkdtemp(f->path))
        return -1;
    snprintf(f->file, sizeof f->file, "%s/a", f->path);
    snprintf(f->other, sizeof f->other, "%s/b", f->path);
    *state = f;
    return 0;
}

static int leave(void **state)
{
    struct folder *f = *state;
    unlink(f->file);
    unlink(f->other);
    int left = rmdir(f->path);
    free(f);
    return left;
}

static unsigned files_in(const char *path)
{
    unsigned count = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static void put(const char *path, const char *bytes)
{
    struct pw_text t = {0};
    pw_text_add(&t, bytes);
    assert_int_equal(pw_output_write(path, &t, NULL), PW_OK);
    pw_text_free(&t);
}

static void expect_content(const char *path, const char *bytes)
{
    char read[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    read[fread(read, 1, sizeof read - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(read, bytes);
}

static void a_write_replaces_the_file_and_keeps_its_mode(void **state)
{
    struct folder *f = *state;
    struct stat info;
    put(f->file, "one");
    assert_int_equal(chmod(f->file, 0640), 0);
    put(f->file, "two");
    expect_content(f->file, "two");
    assert_int_equal(stat(f->file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(files_in(f->path), 1);
}

static void a_write_through_a_link_keeps_the_link(void **state)
{
    struct folder *f = *state;
    struct stat info;
    put(f->file, "one");
    assert_int_equal(symlink("a", f->other), 0);
    put(f->other, "two");
    expect_content(f->file, "two");
    assert_int_equal(lstat(f->other, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

/* A limit on file sizes stands in for a full disk. */
static void a_write_that_fails_leaves_the_old_file_and_nothing_else(void **state)
{
    struct folder *f = *state;
    struct rlimit old, small;
    struct pw_error err = {0};
    struct pw_text t = {0};
    put(f->file, "old");
    pw_text_fill(&t, 'x', 1 << 20);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum pw_status status = pw_output_write(f->file, &t, &err);
    enum pw_status fresh = pw_output_write(f->other, &t, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    pw_text_free(&t);
    assert_int_equal(status, PW_FAILED);
    assert_int_equal(fresh, PW_FAILED);
    assert_non_null(strstr(err.message, f->file));
    expect_content(f->file, "old");
    assert_int_equal(files_in(f->path), 1);
}

static void a_path_that_cannot_be_written_is_the_users_mistake(void **state)
{
    struct folder *f = *state;
    char missing[128];
    snprintf(missing, sizeof missing, "%s/none/a", f->path);
    assert_int_equal(pw_output_check(missing, NULL), PW_USER_ERROR);
    assert_int_equal(pw_output_check(f->path, NULL), PW_USER_ERROR);
    assert_int_equal(pw_output_check("", NULL), PW_USER_ERROR);
    put(f->file, "x");
    snprintf(missing, sizeof missing, "%s/below", f->file);
    assert_int_equal(pw_output_check(missing, NULL), PW_USER_ERROR);
    assert_int_equal(pw_output_check(f->other, NULL), PW_OK);
    assert_int_equal(pw_output_check("-", NULL), PW_OK);
    assert_int_equal(pw_output_check("/dev/null", NULL), PW_OK);
    assert_int_equal(files_in(f->path), 1);
}

/* A pipe in the test's own folder, not a device: code that is wrong and runs as root would replace the system's. */
static void a_pipe_is_written_not_replaced(void **state)
{
    struct folder *f = *state;
    struct pw_text t = {0};
    struct stat info;
    char read_back[8] = "";
    assert_int_equal(mkfifo(f->file, 0600), 0);
    int reader = open(f->file, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    pw_text_add(&t, "x");
    assert_int_equal(pw_output_write(f->file, &t, NULL), PW_OK);
    pw_text_free(&t);
    assert_int_equal(read(reader, read_back, sizeof read_back), 1);
    close(reader);
    assert_string_equal(read_back, "x");
    assert_int_equal(stat(f->file, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

static void put_result(const char *path, const struct pw_result *r)
{
    struct pw_text t = {0};
    pw_result_json(r, &t);
    assert_int_equal(pw_output_write(path, &t, NULL), PW_OK);
    pw_text_free(&t);
}

static bool differ(const struct folder *f, struct pw_text *out)
{
    bool result = false;
    struct pw_error err = {0};
    if (pw_result_diff((const char *const[]){f->file, f->other}, 2, out, &result, &err) != PW_OK)
        fail_msg("%s", err.message);
    return result;
}

static void results_of_different_hosts_are_the_same(void **state)
{
    struct folder *f = *state;
    struct result_fixture r;
    struct pw_text out = {0};
    result_fixture_init(&r);
    put_result(f->file, &r.result);
    r.result.wall_seconds = 7;
    r.result.events++;
    put_result(f->other, &r.result);
    assert_false(differ(f, &out));
    pw_text_free(&out);
}

static void every_kind_of_difference_is_found(void **state)
{
    struct folder *f = *state;
    for (int change = 0; change < 9; change++) {
        struct result_fixture r;
        struct pw_text out = {0};
        result_fixture_init(&r);
        put_result(f->file, &r.result);
        static const char *const shown[] = {"gpu0.l1_tlb.hits",
                                            "l1_tlb.ways",
                                            "cycles",
                                            "design",
                                            "app0.ipc",
                                            "gpu0.zeta.odd",
                                            "kernel spot<…>, 1 of 1 launch: cycles",
                                            "identity0.",
                                            "nanoseconds"};
        switch (change) {
        case 0:
            r.metrics[2].integer = 7;
            break;
        case 1:
            r.options[1].value = "4";
            break;
        case 2:
            r.result.cycles++;
            break;
        case 3:
            r.result.design = "mosaic";
            break;
        case 4:
            r.apps[0].ipc = 0.6;
            break;
        case 5:
            r.metrics[9].name = "gpu0.zeta.other";
            break;
        case 6:
            r.values[0] = 1;
            break;
        case 7:
            r.identities[0].holds = false;
            break;
        case 8:
            r.result.nanoseconds *= 2;
            break;
        }
        put_result(f->other, &r.result);
        assert_true(differ(f, &out));
        assert_non_null(strstr(out.bytes, shown[change]));
        if (change == 0)
            assert_non_null(strstr(out.bytes, "+16.67%"));
        if (change == 5)
            assert_non_null(strstr(out.bytes, "gpu0.zeta.other"));
        pw_text_free(&out);
    }
}

static struct pw_text diff_of(const char *const *paths, size_t count, bool *out_differ)
{
    struct pw_text out = {0};
    struct pw_error err = {0};
    if (pw_result_diff(paths, count, &out, out_differ, &err) != PW_OK)
        fail_msg("%s", err.message);
    return out;
}

static void how_a_result_was_made_is_a_difference_and_version_and_command_are_not(void **state)
{
    struct folder *f = *state;
    const char *const paths[] = {f->file, f->other};
    struct result_fixture r;
    struct pw_text out;
    bool different;
    result_fixture_init(&r);
    r.result.made = (struct pw_made){.core_version = "1.2.3+abc", .command = "pagewalk run -w a"};
    put_result(f->file, &r.result);
    r.result.made.command = "pagewalk run -w b";
    r.result.made.core_version = "1.2.3+def";
    put_result(f->other, &r.result);
    out = diff_of(paths, 2, &different);
    assert_false(different);
    assert_non_null(strstr(out.bytes, "/a: pagewalk run -w a\n"));
    assert_non_null(strstr(out.bytes, "/b: pagewalk run -w b\n"));
    assert_non_null(strstr(out.bytes, "  core_version  1.2.3+abc  1.2.3+def\n"));
    assert_non_null(strstr(out.bytes, "\n0 different"));
    pw_text_free(&out);
    static const char *const shown[] = {"  warmup ", "  kernels ",   "  interval ",
                                        "  alone ",  "  breakdown ", "  workload "};
    for (int change = 0; change < 6; change++) {
        result_fixture_init(&r);
        struct pw_made *made = &r.result.made;
        *made = (struct pw_made){.warmup = change == 0 ? 30000 : 0,
                                 .kernels = change == 1 ? "2-3" : NULL,
                                 .interval = change == 2 ? 1000 : 0,
                                 .alone = change == 3,
                                 .breakdown = change == 4};
        r.apps[0].name = change == 5 ? "HS:side=65" : "HS:side=64";
        put_result(f->other, &r.result);
        out = diff_of(paths, 2, &different);
        assert_true(different);
        assert_non_null(strstr(out.bytes, shown[change]));
        assert_non_null(strstr(out.bytes, "\n1 different"));
        pw_text_free(&out);
    }
}

/* Writes the result as an older version did: without "made". */
static void put_old_result(const char *path, const struct pw_result *r)
{
    struct pw_text t = {0};
    pw_result_json(r, &t);
    char *made = strstr(t.bytes, "  \"made\""), *host = strstr(t.bytes, "  \"host\"");
    memmove(made, host, strlen(host) + 1);
    t.length = strlen(t.bytes);
    assert_int_equal(pw_output_write(path, &t, NULL), PW_OK);
    pw_text_free(&t);
}

static void what_an_older_version_did_not_record_is_no_difference(void **state)
{
    struct folder *f = *state;
    const char *const paths[] = {f->file, f->other};
    struct result_fixture r;
    bool different;
    result_fixture_init(&r);
    put_old_result(f->file, &r.result);
    put_result(f->other, &r.result);
    struct pw_text out = diff_of(paths, 2, &different);
    assert_false(different);
    assert_null(strstr(out.bytes, "warmup"));
    pw_text_free(&out);
    r.result.made.warmup = 30000;
    put_result(f->other, &r.result);
    out = diff_of(paths, 2, &different);
    assert_false(different);
    assert_non_null(strstr(out.bytes, "  warmup  "));
    pw_text_free(&out);
}

/* Makes every run of blanks one, so that widths do not matter. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != ' ' || from[1] != ' ')
            *to++ = *from;
    *to = '\0';
}

/* Schema 1 had the metrics of launches as arrays beside one list of names. */
static void a_result_of_schema_1_is_read_as_one_of_today(void **state)
{
    struct folder *f = *state;
    static const char
        row[] = "{\"kernel\": ",
        old[] = "{\"name\": \"_Z4spotIiEvv\", \"app\": 0, \"index\": 1, \"first_cycle\": 0, \"outer_cycle\": 100, "
                "\"values\": [6, 0.1]}\n  ],\n";
    struct result_fixture r;
    struct pw_text now = {0}, before = {0}, out = {0};
    struct pw_error err = {0};
    result_fixture_init(&r);
    pw_result_json(&r.result, &now);
    char *schema = strstr(now.bytes, "\"schema\": 2"), *kernel = strstr(now.bytes, row);
    char *end = strstr(kernel, "  ],\n") + strlen("  ],\n");
    assert_true(schema && kernel);
    schema[strlen("\"schema\": ")] = '1';
    pw_text_append(&before, now.bytes, (size_t)(kernel - now.bytes));
    pw_text_add(&before, old);
    pw_text_add(&before, end);
    assert_int_equal(PW_OK, pw_output_write(f->other, &before, &err));
    put_result(f->file, &r.result);
    bool different = differ(f, &out);
    if (different)
        fail_msg("%s", out.bytes);
    pw_text_free(&out);
    r.values[0] = 1;
    put_result(f->file, &r.result);
    out = (struct pw_text){0};
    assert_true(differ(f, &out));
    assert_non_null(strstr(out.bytes, "kernel spot<…>, 1 of 1 launch: cycles"));
    assert_null(strstr(out.bytes, "rows differ"));
    pw_text_free(&out);
    r.kernels[0].name = "other"; /* one that the second file has not */
    put_result(f->file, &r.result);
    out = (struct pw_text){0};
    assert_true(differ(f, &out));
    squeeze(out.bytes);
    assert_non_null(strstr(out.bytes, "kernel other, 1 of 1 launch: cycles 100 -"));
    pw_text_free(&out);
    pw_text_free(&now);
    pw_text_free(&before);
}

static void many_results_have_a_column_each_and_changes_against_the_first(void **state)
{
    struct folder *f = *state;
    struct result_fixture r;
    bool different;
    result_fixture_init(&r);
    put_result(f->file, &r.result);
    r.result.cycles = 15000000000;
    r.metrics[8].real = 0.1 + 1e-9;
    put_result(f->other, &r.result);
    const char *paths[64];
    for (size_t i = 0; i < 64; i++)
        paths[i] = i % 2 ? f->other : f->file;
    struct pw_text out = diff_of(paths, 3, &different);
    assert_true(different);
    squeeze(out.bytes);
    assert_non_null(strstr(out.bytes, " A B change C change\n"));
    assert_non_null(strstr(out.bytes, " cycles 10,000,000,000 15,000,000,000 +50.00% 10,000,000,000 =\n"));
    /* Six digits would look alike. */
    assert_non_null(strstr(out.bytes, "0.100000001"));
    pw_text_free(&out);
    out = diff_of(paths, 48, &different);
    assert_non_null(strstr(out.bytes, "\nAV "));
    pw_text_free(&out);
    struct pw_error err;
    assert_int_equal(pw_result_diff(paths, 49, &out, &different, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "at most 48 results can be compared at once, not 49");
}

static void a_file_that_is_no_result_is_refused_by_name(void **state)
{
    struct folder *f = *state;
    static const char *const garbage[] = {
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        "\xff\xfe",
        "{\"schema\": 2}",
        "{\"schema\": 3}",
        "{\"schema\": \"1\"}",
        "{\"schema\": 1}",
        "{\"schema\":1,\"schema\":1}",
        "{\"schema\":1,\"version\":1}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{\"a\":1},\"metrics\":{},\"apps\":[],\"identities\":[]}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{},\"metrics\":{\"a\":[]},\"apps\":[],\"identities\":[]}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{},\"metrics\":{},\"apps\":[1],\"identities\":[]}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{},\"metrics\":{},\"apps\":[],\"identities\":[],\"made\":[]}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{},\"metrics\":{},\"apps\":[],\"identities\":[],\"made\":{\"warmup\":[]}}",
        "{\"schema\":1,\"version\":\"\",\"machine\":\"\",\"design\":\"\",\"seed\":1,\"cycles\":1,\"nanoseconds\":1,"
        "\"options\":{},\"metrics\":{},\"apps\":[],\"identities\":[],\"host\":{\"command\":3}}",
        "{\"schema\":99999999999999999999999999}",
    };
    struct result_fixture r;
    result_fixture_init(&r);
    put_result(f->file, &r.result);
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct pw_error err = {0};
        struct pw_text out = {0};
        bool result;
        put(f->other, garbage[i]);
        assert_int_equal(pw_result_diff((const char *const[]){f->file, f->other}, 2, &out, &result, &err),
                         PW_USER_ERROR);
        assert_memory_equal(err.message, f->other, strlen(f->other));
        pw_text_free(&out);
    }
}

static void deep_nesting_is_refused_instead_of_overflowing_the_stack(void **state)
{
    struct folder *f = *state;
    struct pw_error err = {0};
    struct pw_text deep = {0}, out = {0};
    bool result;
    pw_text_fill(&deep, '[', 1 << 20);
    assert_int_equal(pw_output_write(f->file, &deep, NULL), PW_OK);
    assert_int_equal(pw_result_diff((const char *const[]){f->file, f->file}, 2, &out, &result, &err), PW_USER_ERROR);
    pw_text_free(&deep);
    pw_text_free(&out);
}

static void control_characters_of_a_file_do_not_reach_the_terminal(void **state)
{
    struct folder *f = *state;
    struct result_fixture r;
    struct pw_text out = {0};
    result_fixture_init(&r);
    put_result(f->file, &r.result);
    r.options[1].value = "\x1b[2J\xc2\x9b";
    r.metrics[9].name = "gpu0.\x1b]0;x\x07";
    put_result(f->other, &r.result);
    assert_true(differ(f, &out));
    assert_null(strchr(out.bytes, '\x1b'));
    assert_null(strchr(out.bytes, '\x07'));
    assert_null(strstr(out.bytes, "\xc2\x9b"));
    pw_text_free(&out);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_write_replaces_the_file_and_keeps_its_mode),
        IN_FOLDER(a_write_through_a_link_keeps_the_link),
        IN_FOLDER(a_write_that_fails_leaves_the_old_file_and_nothing_else),
        IN_FOLDER(a_path_that_cannot_be_written_is_the_users_mistake),
        IN_FOLDER(a_pipe_is_written_not_replaced),
        IN_FOLDER(results_of_different_hosts_are_the_same),
        IN_FOLDER(every_kind_of_difference_is_found),
        IN_FOLDER(how_a_result_was_made_is_a_difference_and_version_and_command_are_not),
        IN_FOLDER(what_an_older_version_did_not_record_is_no_difference),
        IN_FOLDER(a_result_of_schema_1_is_read_as_one_of_today),
        IN_FOLDER(many_results_have_a_column_each_and_changes_against_the_first),
        IN_FOLDER(a_file_that_is_no_result_is_refused_by_name),
        IN_FOLDER(deep_nesting_is_refused_instead_of_overflowing_the_stack),
        IN_FOLDER(control_characters_of_a_file_do_not_reach_the_terminal),
    };
    return cmocka_run_group_tests_name("result_files", tests, NULL, NULL);
}
