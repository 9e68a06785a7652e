/* The formats of a result: what a program reads back is what was written, and what people see adds up. */
#include "exp/format/result.h"
#include "exp/format/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result_fixture.h"

static json_t *parse(const struct pw_text *text)
{
    json_error_t problem;
    json_t *root = json_loadb(text->bytes, text->length, JSON_REJECT_DUPLICATES, &problem);
    if (!root)
        fail_msg("line %d: %s", problem.line, problem.text);
    return root;
}

static void json_holds_every_part_of_the_result(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    pw_result_json(&f.result, &text);
    json_t *root = parse(&text);
    int schema;
    json_int_t seed, cycles, instructions, issued, checks, index, events, rss, operations;
    double nanoseconds, ipc, mean, interval_value, wall, hits, latency;
    int launch, kernel_app, kernel_cycles;
    const char *version, *machine, *design, *app, *entries, *origin, *identity, *kernel, *brief, *window_metric;
    int holds;
    assert_int_equal(
        0, json_unpack(root,
                       "{s:i,s:s,s:I,s:s,s:s,s:{s:s},s:{s:s},s:I,s:F,s:[{s:s,s:I,s:I,s:F,s:I}!],s:{s:I,s:F},"
                       "s:[{s:s,s:b}!],s:[s,s!],s:[{s:s,s:s,s:i,s:i,s:i,s:{s:F,s:F}}!],s:[{s:I,s:[F,F!]}!],"
                       "s:{s:F,s:I,s:I,s:I}}",
                       "schema", &schema, "version", &version, "seed", &seed, "machine", &machine, "design", &design,
                       "options", "l1_tlb.entries", &entries, "option_origins", "walk.model", &origin, "cycles",
                       &cycles, "nanoseconds", &nanoseconds, "apps", "name", &app, "warp_instructions", &instructions,
                       "cycles", &issued, "ipc", &ipc, "checks", &checks, "metrics", "gpu0.sm.issued", &issued,
                       "gpu0.dram.data.latency_mean", &mean, "identities", "name", &identity, "holds", &holds,
                       "window_metrics", &window_metric, &window_metric, "kernels", "kernel", &kernel, "short", &brief,
                       "launch", &launch, "app", &kernel_app, "cycles", &kernel_cycles, "metrics", "l1_tlb.hits", &hits,
                       "dram.data.latency_mean", &latency, "intervals", "index", &index, "values", &interval_value,
                       &interval_value, "host", "wall_seconds", &wall, "peak_rss_bytes", &rss, "events", &events,
                       "memory_operations", &operations));
    assert_int_equal(schema, 2);
    assert_string_equal(kernel, "_Z4spotIiEvv");
    assert_string_equal(brief, "spot<…>");
    assert_true(launch == 1 && kernel_app == 0 && kernel_cycles == 100 && hits == 6 && latency == 0.1);
    assert_string_equal(version, pw_version());
    assert_int_equal(seed, 9223372036854775807);
    assert_int_equal(cycles, 10000000000);
    assert_true(nanoseconds == 9803921568.627451);
    assert_string_equal(app, "HS:side=64");
    assert_int_equal(instructions, 5000000000);
    assert_int_equal(issued, 5000000000);
    assert_true(ipc == 0.5 && mean == 0.1 && interval_value == 0.25 && wall == 1.5);
    assert_string_equal(entries, "128");
    assert_string_equal(origin, "--set");
    assert_null(json_object_get(json_object_get(root, "option_origins"), "l1_tlb.entries"));
    assert_true(holds);
    assert_int_equal(index, 3);
    assert_int_equal(events, 77);
    json_decref(root);
    pw_text_free(&text);
}

/* Members of runs alone stand in a result only when there were any. */
static void json_has_speedup_and_unfairness_of_runs_alone(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_pair(&f);
    pw_result_json(&f.result, &text);
    json_t *root = parse(&text);
    double throughput, speedup, unfairness, alone[2];
    int sms[2], checks[2];
    assert_int_equal(0, json_unpack(root, "{s:F,s:F,s:F,s:[{s:F,s:i,s:i},{s:F,s:i,s:i}!]}", "ipc_throughput",
                                    &throughput, "weighted_speedup", &speedup, "unfairness", &unfairness, "apps",
                                    "ipc_alone", &alone[0], "sms", &sms[0], "checks", &checks[0], "ipc_alone",
                                    &alone[1], "sms", &sms[1], "checks", &checks[1]));
    assert_true(throughput == 0.85 && speedup == 1.3 && unfairness == 2 && alone[0] == 1 && alone[1] == 0.4375);
    assert_true(sms[0] == 20 && sms[1] == 10 && checks[0] == 2 && checks[1] == 0);
    json_decref(root);
    pw_text_free(&text);
    result_fixture_init(&f);
    text = (struct pw_text){0};
    pw_result_json(&f.result, &text);
    assert_non_null(strstr(text.bytes, "\"ipc_throughput\": 0.5"));
    assert_null(strstr(text.bytes, "ipc_alone"));
    assert_null(strstr(text.bytes, "weighted_speedup"));
    assert_null(strstr(text.bytes, "unfairness"));
    pw_text_free(&text);
}

static void json_differs_between_hosts_only_after_host(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text one = {0}, two = {0};
    result_fixture_init(&f);
    pw_result_json(&f.result, &one);
    f.result.wall_seconds = 99;
    f.result.peak_rss_bytes = f.result.events = f.result.memory_operations = 1;
    pw_result_json(&f.result, &two);
    size_t host = (size_t)(strstr(one.bytes, "\"host\"") - one.bytes);
    assert_memory_equal(one.bytes, two.bytes, host);
    assert_string_not_equal(one.bytes, two.bytes);
    pw_text_free(&one);
    pw_text_free(&two);
}

static void json_survives_names_that_are_not_utf8(void **state)
{
    (void)state;
    static const char *const given[] = {"a\"b\\c\n\x01\x7f", "\xff",    "\xc3\xa4", "\xc0\x80", "\xed\xa0\x80",
                                        "\xf0\x9f\x98\x80",  "\xe2\x82"};
    static const char *const read[] = {"a\"b\\c\n\x01\x7f",
                                       "\xef\xbf\xbd",
                                       "\xc3\xa4",
                                       "\xef\xbf\xbd\xef\xbf\xbd",
                                       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
                                       "\xf0\x9f\x98\x80",
                                       "\xef\xbf\xbd\xef\xbf\xbd"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct result_fixture f;
        struct pw_text text = {0};
        result_fixture_init(&f);
        f.result.machine = given[i];
        pw_result_json(&f.result, &text);
        json_t *root = parse(&text);
        assert_string_equal(json_string_value(json_object_get(root, "machine")), read[i]);
        json_decref(root);
        pw_text_free(&text);
    }
}

static void json_of_an_empty_result_is_valid(void **state)
{
    (void)state;
    struct pw_result empty = {.machine = "", .design = "", .nanoseconds = NAN};
    struct pw_text text = {0};
    pw_result_json(&empty, &text);
    json_t *root = parse(&text);
    assert_true(json_is_null(json_object_get(root, "nanoseconds")));
    assert_null(json_object_get(root, "kernels"));
    assert_null(json_object_get(root, "intervals"));
    json_decref(root);
    pw_text_free(&text);
}

static void reals_read_back_as_the_same_double(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        struct pw_text text = {0};
        pw_text_real(&text, value);
        assert_true(strtod(text.bytes, NULL) == value);
        pw_text_free(&text);
    }
    struct pw_text text = {0};
    pw_text_real(&text, 0.1);
    assert_string_equal(text.bytes, "0.1");
    pw_text_free(&text);
}

/* Reads one CSV field, taking quotes off; returns what follows it. */
static const char *csv_field(const char *at, char *out, size_t capacity)
{
    size_t length = 0;
    bool quoted = *at == '"';
    at += quoted;
    while (quoted ? at[0] != '"' || at[1] == '"' : *at != ',' && *at != '\n') {
        at += quoted && *at == '"';
        assert_true(length + 1 < capacity);
        out[length++] = *at++;
    }
    out[length] = '\0';
    at += quoted;
    return at;
}

static void csv_has_seven_fields_in_every_row(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    f.result.design = "a,\"b\"";
    pw_result_csv(&f.result, &text);
    size_t rows = 0;
    for (const char *at = text.bytes; *at; at++, rows++) {
        for (int field = 0; field < 7; field++) {
            char value[256];
            at = csv_field(at, value, sizeof value);
            assert_int_equal(*at, field == 6 ? '\n' : ',');
            at += field < 6;
            if (rows && field == 0)
                assert_string_equal(value, "mosaic/a,\"b\"/HS:side=64/9223372036854775807/walk.model=memory");
        }
    }
    /* Heading, 3 of the run, 4 of the application, the metrics, 2 windows of 2 + 2, 4 of the host. */
    assert_int_equal(rows, 1 + 3 + 4 + 12 + 2 * 4 + 4);
    pw_text_free(&text);
}

static void csv_splits_names_into_app_component_and_metric(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    pw_result_csv(&f.result, &text);
    assert_non_null(strstr(text.bytes, ",,gpu0.l1_tlb,hits,lookups,6,\n"));
    assert_non_null(strstr(text.bytes, ",app0,l1_tlb,hits,lookups,5,\n"));
    assert_non_null(strstr(text.bytes, ",,gpu0.dram,data.latency_mean,cycles,0.1,\n"));
    assert_non_null(strstr(text.bytes, ",app0,kernel1.l1_tlb,hits,lookups,6,spot<…>\n"));
    assert_non_null(strstr(text.bytes, ",,interval3.dram,data.latency_mean,cycles,0.25,\n"));
    assert_non_null(strstr(text.bytes, ",app0,run,ipc,instructions/cycle,0.5,\n"));
    assert_non_null(strstr(text.bytes, ",app0,run,sms,SMs,20,\n"));
    assert_null(strstr(text.bytes, "alone"));
    pw_text_free(&text);
    text = (struct pw_text){0};
    result_fixture_pair(&f);
    pw_result_csv(&f.result, &text);
    assert_non_null(strstr(text.bytes, ",app1,run,ipc_alone,instructions/cycle,0.4375,\n"));
    assert_non_null(strstr(text.bytes, ",,run,weighted_speedup,,1.3,\n"));
    assert_non_null(strstr(text.bytes, ",,run,unfairness,,2,\n"));
    pw_text_free(&text);
}

static void csv_tells_runs_apart_by_what_was_set(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    f.options[0].origin = "--set";
    f.result.made.warmup = 30000;
    f.result.made.kernels = "2-3";
    pw_result_csv(&f.result, &text);
    assert_non_null(strstr(text.bytes, "\nmosaic/gpu-mmu/HS:side=64/9223372036854775807/l1_tlb.entries=128/"
                                       "walk.model=memory/warmup=30000/kernels=2-3,,run,cycles,"));
    pw_text_free(&text);
}

static void json_says_how_the_result_was_made(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    const char *core, *kernels, *note, *command;
    json_int_t warmup, interval;
    int alone, breakdown;
    result_fixture_init(&f);
    pw_result_json(&f.result, &text);
    json_t *root = parse(&text);
    assert_string_equal("all", json_string_value(json_object_get(json_object_get(root, "made"), "kernels")));
    assert_null(strstr(text.bytes, "command"));
    assert_null(strstr(text.bytes, "note"));
    json_decref(root);
    pw_text_free(&text);
    f.result.made = (struct pw_made){"1.2.3+abc", "pagewalk run -w 'x'", "Guessed.", "2-3", 30000, 500, true, true};
    pw_result_json(&f.result, &text);
    root = parse(&text);
    assert_int_equal(0, json_unpack(root, "{s:{s:s,s:s,s:s,s:I,s:I,s:b,s:b !},s:{s:s}}", "made", "core_version", &core,
                                    "kernels", &kernels, "note", &note, "warmup", &warmup, "interval", &interval,
                                    "alone", &alone, "breakdown", &breakdown, "host", "command", &command));
    assert_string_equal(core, "1.2.3+abc");
    assert_string_equal(kernels, "2-3");
    assert_string_equal(note, "Guessed.");
    assert_string_equal(command, "pagewalk run -w 'x'");
    assert_true(warmup == 30000 && interval == 500 && alone && breakdown);
    /* It names files, so it stands where results of the same inputs may differ. */
    assert_true(strstr(text.bytes, "\"command\"") > strstr(text.bytes, "\"host\""));
    json_decref(root);
    pw_text_free(&text);
}

static void table_begins_with_how_the_result_was_made(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    f.result.made = (struct pw_made){"1.2.3+abc", "pagewalk run\x1b", "Guessed.", "2-3", 30000, 500, true, true};
    pw_result_table(&f.result, &(struct pw_result_view){.all = true}, &text);
    static const char *const lines[] = {
        "machine mosaic, design gpu-mmu, seed 9223372036854775807, pagewalk 1.2.3+abc\n",
        "command: pagewalk run?\n",
        "note: Guessed.\n",
        "metrics leave out the first 30,000 cycles (--warmup)\n",
        "metrics count only launches 2-3 (--kernels)\n",
    };
    const char *applications = strstr(text.bytes, "Applications");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *line = strstr(text.bytes, lines[i]);
        if (!line || line > applications)
            fail_msg("not at the top: %s", lines[i]);
    }
    pw_text_free(&text);
}

/* The words of the line that starts with `label`, after it, single-spaced. */
static void row_of(const struct pw_text *text, const char *label, char *out, size_t capacity)
{
    const char *line = strstr(text->bytes, label);
    if (!line)
        fail_msg("no row \"%s\"", label);
    size_t length = 0;
    for (const char *c = line + strlen(label); *c && *c != '\n' && length + 2 < capacity; c++)
        if (*c != ' ' || (length && out[length - 1] != ' '))
            out[length++] = *c;
    out[length] = '\0';
}

static void table_shows_rates_that_follow_from_the_metrics(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    char row[128];
    result_fixture_init(&f);
    pw_result_table(&f.result, &(struct pw_result_view){.all = true}, &text);
    row_of(&text, "l1_tlb hit rate", row, sizeof row);
    assert_string_equal(row, "75.00 %");
    row_of(&text, "dram row hit rate", row, sizeof row);
    assert_string_equal(row, "25.00 %");
    row_of(&text, "dram.bytes", row, sizeof row);
    assert_string_equal(row, "3.00 MiB");
    row_of(&text, "sm.issued", row, sizeof row);
    assert_string_equal(row, "5,000,000,000 instructions");
    row_of(&text, "zeta.odd", row, sizeof row);
    assert_string_equal(row, "1");
    assert_null(strstr(text.bytes, "Page walks"));
    assert_null(strstr(text.bytes, "app0"));
    pw_text_free(&text);
}

static void table_gives_each_of_several_applications_a_column(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    char row[128];
    result_fixture_pair(&f);
    pw_result_table(&f.result, &(struct pw_result_view){.all = true}, &text);
    row_of(&text, "HS:side=64", row, sizeof row);
    assert_string_equal(row, "20 5,000,000,000 10,000,000,000 0.500 1.000");
    row_of(&text, "vecadd", row, sizeof row);
    assert_string_equal(row, "10 7 20 0.350 0.438");
    row_of(&text, "weighted speedup", row, sizeof row);
    assert_string_equal(row, "1.300, IPC throughput 0.85, unfairness 2.000");
    row_of(&text, "l1_tlb.hits", row, sizeof row);
    assert_string_equal(row, "6 5 lookups");
    row_of(&text, "l1_tlb hit rate", row, sizeof row);
    assert_string_equal(row, "75.00 100.00 %");
    assert_non_null(strstr(text.bytes, "vecadd"));
    pw_text_free(&text);
}

static void table_is_aligned_and_ends_no_line_with_a_blank(void **state)
{
    (void)state;
    struct result_fixture f;
    struct pw_text text = {0};
    result_fixture_init(&f);
    pw_result_table(&f.result, &(struct pw_result_view){.all = true}, &text);
    assert_null(strstr(text.bytes, " \n"));
    const char *lookups = strstr(text.bytes, "  l1_tlb.lookups"), *hits = strstr(text.bytes, "  l1_tlb.hits");
    assert_int_equal(strcspn(lookups, "8"), strcspn(hits, "6"));
    pw_text_free(&text);
}

static void table_keeps_its_columns_where_a_cell_is_empty(void **state)
{
    (void)state;
    struct pw_table t = {.columns = 3, .align = "llr"};
    struct pw_text text = {0};
    static const char *const cells[] = {"a", "wide", "1", "", "", "22", "b", "", ""};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        pw_table_cell(&t, cells[i]);
    pw_table_finish(&t, &text);
    assert_string_equal(text.bytes, "a  wide   1\n"
                                    "         22\n"
                                    "b\n");
    pw_text_free(&text);
}

static void numbers_for_people_are_grouped_and_rounded(void **state)
{
    (void)state;
    char out[PW_NUMBER_CAPACITY];
    pw_format_integer(out, 0);
    assert_string_equal(out, "0");
    pw_format_integer(out, 999);
    assert_string_equal(out, "999");
    pw_format_integer(out, UINT64_MAX);
    assert_string_equal(out, "18,446,744,073,709,551,615");
    pw_format_real(out, 999999.996);
    assert_string_equal(out, "1,000,000.00");
    pw_format_real(out, -1234.5);
    assert_string_equal(out, "-1,234.50");
    pw_format_real(out, 0);
    assert_string_equal(out, "0.00");
    pw_format_real(out, 0.00123456);
    assert_string_equal(out, "0.00123");
    pw_format_bytes(out, 1023);
    assert_string_equal(out, "1023 B");
    pw_format_bytes(out, 1536);
    assert_string_equal(out, "1.50 KiB");
    pw_format_short(out, 999.6);
    assert_string_equal(out, "1.00k");
    pw_format_short(out, 4575000);
    assert_string_equal(out, "4.58M");
    pw_format_short(out, 123456);
    assert_string_equal(out, "123k");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_holds_every_part_of_the_result),
        cmocka_unit_test(json_has_speedup_and_unfairness_of_runs_alone),
        cmocka_unit_test(json_differs_between_hosts_only_after_host),
        cmocka_unit_test(json_survives_names_that_are_not_utf8),
        cmocka_unit_test(json_of_an_empty_result_is_valid),
        cmocka_unit_test(reals_read_back_as_the_same_double),
        cmocka_unit_test(csv_has_seven_fields_in_every_row),
        cmocka_unit_test(csv_splits_names_into_app_component_and_metric),
        cmocka_unit_test(csv_tells_runs_apart_by_what_was_set),
        cmocka_unit_test(json_says_how_the_result_was_made),
        cmocka_unit_test(table_begins_with_how_the_result_was_made),
        cmocka_unit_test(table_shows_rates_that_follow_from_the_metrics),
        cmocka_unit_test(table_gives_each_of_several_applications_a_column),
        cmocka_unit_test(table_is_aligned_and_ends_no_line_with_a_blank),
        cmocka_unit_test(table_keeps_its_columns_where_a_cell_is_empty),
        cmocka_unit_test(numbers_for_people_are_grouped_and_rounded),
    };
    return cmocka_run_group_tests_name("result_format", tests, NULL, NULL);
}
