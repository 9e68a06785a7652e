/* The log of page accesses: a page once per window and operation, in the allocation that it lies in, the limit, names
 * that need quotes, and nothing left behind by a run that fails. */
#include "log/page_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "mem/request.h"
#include "store_fixture.h"

static int enter(void **state)
{
    *state = store_folder_create("page_log");
    return *state ? 0 : -1;
}

static int leave(void **state)
{
    store_folder_destroy(*state);
    return 0;
}

#define HEADER                                                                                                         \
    "record,app,cycle,done,launch,allocation,name,page,op,faults,blocks,pages_out,bytes,pages,far_faults,pages_in,"    \
    "pages_prefetched,prefetched_used,prefetched_evicted,prefetched_resident,pages_evicted,pages_written,"             \
    "pages_thrashed,left_out\n"

static struct pw_page_log *create(const struct store_folder *folder, uint64_t interval, uint64_t limit)
{
    struct pw_page_log *l;
    struct pw_error err = {0};
    if (pw_page_log_create(folder->other, interval, limit, &l, &err) != PW_OK)
        fail_msg("%s", err.message);
    return l;
}

/* The file without its header, and without the empty cells at the end of rows. */
static void expect(const struct store_folder *folder, struct pw_page_log *l, const char *expected)
{
    struct pw_error err = {0};
    assert_int_equal(pw_page_log_finish(l, &err), PW_OK);
    pw_page_log_destroy(l);
    struct pw_text file = store_bytes(folder->other), rows = {0};
    assert_int_equal(strncmp(file.bytes, HEADER, strlen(HEADER)), 0);
    char *rest = file.bytes + strlen(HEADER);
    pw_text_add(&rows, "");
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        unsigned commas = 0;
        bool quoted = false;
        for (const char *c = line; *c; c++) {
            quoted ^= *c == '"';
            commas += *c == ',' && !quoted;
        }
        assert_int_equal(commas, 23);
        for (size_t length = strlen(line); line[length - 1] == ',';)
            line[--length] = '\0';
        pw_text_print(&rows, "%s\n", line);
    }
    assert_string_equal(rows.bytes, expected);
    pw_text_free(&file);
    pw_text_free(&rows);
}

static void test_a_page_is_recorded_once_per_launch_interval_and_operation(void **state)
{
    struct pw_page_log *l = create(*state, 100, 0);
    pw_page_log_allocated(l, 0, "a", (pw_vpn){512}, 3 * 4096);
    pw_page_log_launched(l, 0, 1);
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_READ, 5);
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_READ, 99);   /* the same window */
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_WRITE, 99);  /* another operation */
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_ATOMIC, 99); /* and another */
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_READ, 100);  /* another interval */
    pw_page_log_launched(l, 0, 2);
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_READ, 150); /* another launch */
    pw_page_log_access(l, 0, (pw_vpn){513}, PW_REQUEST_READ, 199);
    pw_page_log_access(l, 0, (pw_vpn){514}, PW_REQUEST_READ, 199); /* another page */
    pw_page_log_stop(l, 0);
    pw_page_log_access(l, 0, (pw_vpn){512}, PW_REQUEST_READ, 300);
    expect(*state, l,
           "access,0,5,,1,0,a,1,read\n"
           "access,0,99,,1,0,a,1,write\n"
           "access,0,99,,1,0,a,1,atomic\n"
           "access,0,100,,1,0,a,1,read\n"
           "access,0,150,,2,0,a,1,read\n"
           "access,0,199,,2,0,a,2,read\n");
}

static void test_an_access_belongs_to_the_allocation_that_holds_it(void **state)
{
    struct pw_page_log *l = create(*state, 100, 0);
    enum { COUNT = 40 };
    char name[16];
    pw_page_log_access(l, 0, (pw_vpn){512}, PW_REQUEST_READ, 0); /* nothing is allocated yet */
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "n%u", i);
        pw_page_log_allocated(l, 0, name, (pw_vpn){512 * (i + 1)}, 4096 * (1 + i % 7) - i);
        pw_page_log_allocated(l, 1, "other", (pw_vpn){512 * (i + 1)}, 4096);
    }
    pw_page_log_launched(l, 0, 1);
    struct pw_text expected = {0};
    pw_text_add(&expected, "");
    for (unsigned k = 0; k < COUNT; k++) {
        unsigned i = k * 17 % COUNT, last = i % 7;
        pw_page_log_access(l, 0, (pw_vpn){512 * (i + 1) + last}, PW_REQUEST_WRITE, 7);
        pw_page_log_access(l, 0, (pw_vpn){512 * (i + 1) + last + 1}, PW_REQUEST_WRITE, 7); /* lies in none */
        pw_text_print(&expected, "access,0,7,,1,%u,n%u,%u,write\n", i, i, last);
    }
    assert_int_equal(pw_page_log_allocation_count(l, 0), COUNT);
    assert_int_equal(pw_page_log_allocation_first(l, 0, 3).v, 2048);
    expect(*state, l, expected.bytes);
    pw_text_free(&expected);
}

static void test_the_end_of_a_run_has_launches_batches_and_allocations(void **state)
{
    struct pw_page_log *l = create(*state, 0, 0);
    const struct pw_uvm_counters counters = {.far_faults = 1,
                                             .merged_faults = 99,
                                             .pages_in = 2,
                                             .pages_prefetched = 3,
                                             .prefetched_used = 4,
                                             .prefetched_evicted = 5,
                                             .prefetched_resident = 6,
                                             .pages_evicted = 7,
                                             .pages_written = 8,
                                             .pages_thrashed = 9};
    pw_page_log_allocated(l, 2, "x, \"y\"", (pw_vpn){512}, 4097);
    pw_page_log_allocated(l, 2, "plain", (pw_vpn){1024}, 1);
    pw_page_log_launch(l, 2, 4, "k<float, 2>", 10, 20);
    pw_page_log_batch(l, &(struct pw_fault_batch){30, 40, 5, 6, 7, 8});
    pw_page_log_counters(l, 2, 0, &counters);
    pw_page_log_counters(l, 2, 1, NULL);
    pw_page_log_allocations(l, 2);
    expect(*state, l,
           "launch,2,10,20,4,,\"k<float, 2>\"\n"
           "batch,,30,40,,,,,,5,6,8,,,,7\n"
           "allocation,2,,,,0,\"x, \"\"y\"\"\",,,,,,4097,2,1,2,3,4,5,6,7,8,9\n"
           "allocation,2,,,,1,plain,,,,,,1,1\n");
}

static void test_the_limit_is_said_in_the_file(void **state)
{
    struct pw_page_log *l = create(*state, 10, 2);
    pw_page_log_allocated(l, 0, "a", (pw_vpn){0}, 1 << 20);
    pw_page_log_launched(l, 0, 1);
    for (unsigned i = 0; i < 7; i++) {
        pw_page_log_access(l, 0, (pw_vpn){i / 2}, PW_REQUEST_READ, 10 * i);
        pw_page_log_access(l, 0, (pw_vpn){i / 2}, PW_REQUEST_READ, 10 * i + 9);
        pw_page_log_batch(l, &(struct pw_fault_batch){100 + i, 200 + i, 1, 1, 1, 0});
    }
    expect(*state, l,
           "access,0,0,,1,0,a,0,read\n"
           "batch,,100,200,,,,,,1,1,0,,,,1\n"
           "access,0,10,,1,0,a,0,read\n"
           "batch,,101,201,,,,,,1,1,0,,,,1\n"
           "truncated,,20,,,,access,,,,,,,,,,,,,,,,,5\n"
           "truncated,,102,,,,batch,,,,,,,,,,,,,,,,,5\n");
}

static void test_a_log_that_is_not_finished_leaves_nothing(void **state)
{
    struct store_folder *folder = *state;
    struct pw_page_log *l = create(folder, 0, 0);
    pw_page_log_allocated(l, 0, "a", (pw_vpn){0}, 4096);
    pw_page_log_destroy(l);
    assert_int_not_equal(access(folder->other, F_OK), 0);
    DIR *d = opendir(folder->path);
    for (struct dirent *e; (e = readdir(d));)
        assert_int_equal(e->d_name[0], '.');
    closedir(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_page_is_recorded_once_per_launch_interval_and_operation, enter, leave),
        cmocka_unit_test_setup_teardown(test_an_access_belongs_to_the_allocation_that_holds_it, enter, leave),
        cmocka_unit_test_setup_teardown(test_the_end_of_a_run_has_launches_batches_and_allocations, enter, leave),
        cmocka_unit_test_setup_teardown(test_the_limit_is_said_in_the_file, enter, leave),
        cmocka_unit_test_setup_teardown(test_a_log_that_is_not_finished_leaves_nothing, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
