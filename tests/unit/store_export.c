/* Exports of the result store: the rows of `pagewalk run --csv`, JSON that reads back, one run at a time, no lock
 * held. */
#include "exp/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "store_fixture.h"

struct collected {
    struct pw_text text;
    size_t pieces, stop_after;
    struct pw_store *other; /* adds a run at every piece */
    uint64_t seed;
};

static enum pw_status collect(void *context, const char *bytes, size_t length, struct pw_error *err)
{
    struct collected *c = context;
    int64_t run;
    pw_text_append(&c->text, bytes, length);
    c->pieces++;
    if (c->stop_after && c->pieces == c->stop_after)
        return pw_fail(err, PW_FAILED, "stopped");
    return c->other ? store_add_seed(c->other, c->seed++, &run, err) : PW_OK;
}

static int enter(void **state)
{
    *state = store_folder_create("store_export");
    return *state ? 0 : -1;
}

static int leave(void **state)
{
    store_folder_destroy(*state);
    return 0;
}

static struct pw_store *store_of(const struct store_folder *folder, uint64_t runs)
{
    struct pw_store *s;
    struct pw_error err;
    int64_t run;
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &s, &err), PW_OK);
    for (uint64_t seed = 1; seed <= runs; seed++)
        assert_int_equal(store_add_seed(s, seed, &run, &err), PW_OK);
    return s;
}

/* Every row of the result's own CSV is there, with "#1" behind the run and the further columns behind the value. */
static void test_csv_has_the_rows_of_a_run(void **state)
{
    struct pw_store *s = store_of(*state, 0);
    struct result_fixture f;
    result_fixture_pair(&f);
    f.result.weighted_speedup = f.result.unfairness = 0; /* comparisons of runs are no part of one */
    f.apps[0].ipc_alone = f.apps[1].ipc_alone = 0;
    f.result.kernel_count = f.result.interval_count = 0; /* are not kept */
    f.metrics[8].real = 1 / 3.0;
    f.options[2].origin = "default"; /* the store numbers runs instead of naming what was set */
    struct pw_run_inputs inputs = {"core", "l2.bytes=2MB\nwalk.model=memory\n", "HS:side=64,vecadd", f.result.seed};
    struct pw_error err;
    int64_t run;
    assert_int_equal(pw_store_add(s, &inputs, &f.result, &run, &err), PW_OK);
    struct collected c = {0};
    assert_int_equal(pw_store_export_csv(s, NULL, collect, &c, &err), PW_OK);
    struct pw_text expected = {0};
    pw_result_csv(&f.result, &expected);
    size_t rows = 0, exported = 0;
    char *rest = expected.bytes;
    for (char *line; (line = strsep(&rest, "\n")) && *line; rows++) {
        char wanted[512];
        *strrchr(line, ',') = '\0'; /* kernels are not kept, nor is their column */
        const char *values = strstr(line, "9223372036854775807\"");
        if (rows == 0)
            snprintf(wanted, sizeof wanted, "%s,machine,design,workload,seed\n", line);
        else
            snprintf(wanted, sizeof wanted, "%.*s#1%s,mosaic,gpu-mmu,\"HS:side=64,vecadd\",9223372036854775807\n",
                     (int)(values + 19 - line), line, values + 19);
        if (!strstr(c.text.bytes, wanted))
            fail_msg("no row %s", wanted);
    }
    for (const char *at = c.text.bytes; (at = strchr(at, '\n')); at++)
        exported++;
    assert_int_equal(exported, rows + 1);
    assert_non_null(strstr(c.text.bytes, "#1\",,option,l2.bytes,bytes,2097152,mosaic"));
    pw_text_free(&expected);
    pw_text_free(&c.text);
    pw_store_close(s);
}

static void test_json_reads_back_as_the_runs(void **state)
{
    struct pw_store *s = store_of(*state, 3);
    struct pw_error err;
    struct collected c = {0};
    assert_int_equal(pw_store_export_json(s, NULL, collect, &c, &err), PW_OK);
    json_t *runs = json_loadb(c.text.bytes, c.text.length, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(runs), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *r = json_array_get(runs, i), *metrics = json_object_get(r, "metrics");
        assert_int_equal(json_integer_value(json_object_get(r, "run")), i + 1);
        assert_int_equal(json_integer_value(json_object_get(r, "seed")), i + 1);
        assert_int_equal(json_integer_value(json_object_get(r, "cycles")), 10000000000);
        assert_string_equal(json_string_value(json_object_get(r, "workload")), "HS:side=64");
        assert_string_equal(json_string_value(json_object_get(r, "version")), "0.1.0+abc");
        assert_string_equal(json_string_value(json_object_get(json_object_get(r, "options"), "label")), "a=b");
        assert_int_equal(json_object_size(metrics), 12);
        assert_int_equal(json_integer_value(json_object_get(metrics, "gpu0.l1_tlb.lookups")), i + 1);
        assert_true(json_real_value(json_object_get(metrics, "gpu0.dram.data.latency_mean")) == 0.1);
        assert_int_equal(json_array_size(json_object_get(r, "apps")), 1);
        assert_int_equal(json_integer_value(json_object_get(json_object_get(r, "host"), "events")), 77);
    }
    json_decref(runs);
    pw_text_free(&c.text);
    pw_store_close(s);
}

static void test_runs_come_one_by_one_while_others_write(void **state)
{
    struct store_folder *folder = *state;
    struct pw_store *s = store_of(folder, 5);
    struct pw_error err = {0};
    struct collected c = {.seed = 100};
    assert_int_equal(pw_store_open(folder->store, PW_STORE_CREATE, &c.other, &err), PW_OK);
    assert_int_equal(pw_store_export_csv(s, NULL, collect, &c, &err), PW_OK);
    assert_int_equal(c.pieces, 5);
    assert_null(strstr(c.text.bytes, ",100\n")); /* was added on the way */
    pw_text_free(&c.text);
    pw_store_close(c.other);
    struct collected stopped = {.stop_after = 2};
    assert_int_equal(pw_store_export_json(s, NULL, collect, &stopped, &err), PW_FAILED);
    assert_string_equal(err.message, "stopped");
    assert_int_equal(stopped.pieces, 2);
    pw_text_free(&stopped.text);
    pw_store_close(s);
}

static void test_filters_compare_whole_names(void **state)
{
    struct pw_store *s = store_of(*state, 2);
    struct pw_error err;
    static const struct {
        struct pw_store_filter filter;
        size_t runs;
    } cases[] = {{{0}, 2},
                 {{"mosaic", "gpu-mmu", "HS:side=64"}, 2},
                 {{.machine = "mosai"}, 0},
                 {{.design = "gpu"}, 0},
                 {{.workload = "HS"}, 0},
                 {{.design = "' OR 1 --"}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collected c = {0};
        assert_int_equal(pw_store_export_json(s, &cases[i].filter, collect, &c, &err), PW_OK);
        json_t *runs = json_loadb(c.text.bytes, c.text.length, 0, NULL);
        assert_true(json_is_array(runs) && json_array_size(runs) == cases[i].runs);
        json_decref(runs);
        pw_text_free(&c.text);
    }
    pw_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_csv_has_the_rows_of_a_run, enter, leave),
        cmocka_unit_test_setup_teardown(test_json_reads_back_as_the_runs, enter, leave),
        cmocka_unit_test_setup_teardown(test_runs_come_one_by_one_while_others_write, enter, leave),
        cmocka_unit_test_setup_teardown(test_filters_compare_whole_names, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
