/* Memory advice: how it is written, which advice overrides which, and what residency makes of copies. */
#include "managed.h"

#include "uvm/advice.h"

#include <stdio.h>

static void every_word_is_known_and_words_about_one_name_add_up(void **state)
{
    (void)state;
    struct pw_advice_list l;
    struct pw_error err;
    assert_int_equal(pw_advice_parse("a:read-mostly+b:host+c:device+d:accessed-by+b:accessed-by", &l, &err), PW_OK);
    assert_int_equal(l.count, 4);
    assert_int_equal(pw_advice_take(&l, "a"), PW_ADVICE_READ_MOSTLY);
    assert_int_equal(pw_advice_take(&l, "b"), PW_ADVICE_PREFER_HOST | PW_ADVICE_ACCESSED_BY);
    assert_int_equal(pw_advice_take(&l, "c"), PW_ADVICE_PREFER_DEVICE);
    assert_int_equal(pw_advice_take(&l, "e"), 0);
    assert_string_equal(pw_advice_unused(&l), "d");
    assert_int_equal(pw_advice_take(&l, "d"), PW_ADVICE_ACCESSED_BY);
    assert_null(pw_advice_unused(&l));
    assert_int_equal(pw_advice_parse("", &l, &err), PW_OK);
    assert_int_equal(l.count, 0);
}

static void commas_separate_too_and_all_stands_for_every_name(void **state)
{
    (void)state;
    struct pw_advice_list l;
    struct pw_error err;
    assert_int_equal(pw_advice_parse("a:host,b:prefetch+all:accessed-by,", &l, &err), PW_OK);
    assert_int_equal(l.count, 3);
    assert_int_equal(pw_advice_take(&l, "a"), PW_ADVICE_PREFER_HOST | PW_ADVICE_ACCESSED_BY);
    assert_string_equal(pw_advice_unused(&l), "b");
    assert_int_equal(pw_advice_take(&l, "other"), PW_ADVICE_ACCESSED_BY);
    assert_int_equal(pw_advice_take(&l, "b"), PW_ADVICE_PREFETCH | PW_ADVICE_ACCESSED_BY);
    assert_null(pw_advice_unused(&l));
    assert_int_equal(pw_advice_parse("all:host", &l, &err), PW_OK);
    assert_string_equal(pw_advice_unused(&l), "all"); /* there was no allocation */
}

/* Those of recorded programs: places in a source, groups of allocations, C++. */
static void names_may_have_colons_and_separators(void **state)
{
    (void)state;
    static const char *const names[] = {"step.cu:42", "weights+3", "step.cu:42+3", "a,b", "at::empty+2", "x: y+1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pw_advice_list l;
        struct pw_error err;
        char text[128];
        snprintf(text, sizeof text, "%s:host,%s:accessed-by+b:prefetch", names[i], names[i]);
        assert_int_equal(pw_advice_parse(text, &l, &err), PW_OK);
        assert_int_equal(l.count, 2);
        assert_int_equal(pw_advice_take(&l, names[i]), PW_ADVICE_PREFER_HOST | PW_ADVICE_ACCESSED_BY);
        assert_int_equal(pw_advice_take(&l, "b"), PW_ADVICE_PREFETCH);
    }
}

/* Allocations keep 31 characters of their names. */
static void long_names_are_compared_as_far_as_allocations_keep_them(void **state)
{
    (void)state;
    struct pw_advice_list l;
    struct pw_error err;
    assert_int_equal(pw_advice_parse("abcdefghijklmnopqrstuvwxyz0123456789:host", &l, &err), PW_OK);
    assert_int_equal(pw_advice_take(&l, "abcdefghijklmnopqrstuvwxyz01234"), PW_ADVICE_PREFER_HOST);
    assert_int_equal(pw_advice_take(&l, "abcdefghijklmnopqrstuvwxyz0123"), 0);
}

static void what_cannot_be_meant_is_refused_in_one_line(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"wall", "uvm.advice: 'wall' is not ALLOCATION:ADVICE, for example wall:read-mostly"},
        {":host", "uvm.advice: ':host' is not ALLOCATION:ADVICE, for example wall:read-mostly"},
        {"wall:", "uvm.advice: there is no advice ''; choose read-mostly, host, device, accessed-by or prefetch"},
        {"wall:hots",
         "uvm.advice: there is no advice 'hots'; choose read-mostly, host, device, accessed-by or prefetch"},
        {"wall:hots,b:host",
         "uvm.advice: there is no advice 'hots'; choose read-mostly, host, device, accessed-by or prefetch"},
        {"w:host+w:device", "memory advice for w names two preferred locations; choose host or device"},
    };
    struct pw_advice_list l;
    struct pw_error err;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(pw_advice_parse(texts[i][0], &l, &err), PW_USER_ERROR);
        assert_string_equal(err.message, texts[i][1]);
    }
    char many[512] = "";
    for (int i = 0; i <= PW_MOST_ADVISED; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%sn%d:host", i ? "+" : "", i);
    assert_int_equal(pw_advice_parse(many, &l, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "uvm.advice: more than 32 allocations");
    *strrchr(many, '+') = '\0';
    assert_int_equal(pw_advice_parse(many, &l, &err), PW_OK);
}

static void read_mostly_overrides_places_and_the_gpu_as_a_place_overrides_accessed_by(void **state)
{
    (void)state;
    unsigned copy = PW_ADVICE_READ_MOSTLY, host = PW_ADVICE_PREFER_HOST, device = PW_ADVICE_PREFER_DEVICE;
    unsigned by = PW_ADVICE_ACCESSED_BY;
    assert_true(pw_advice_maps_on_fault(host) && !pw_advice_maps_on_fault(host | copy));
    assert_true(pw_advice_maps_on_fault(host | by) && pw_advice_maps_always(host | by));
    assert_true(pw_advice_maps_always(by) && !pw_advice_maps_always(by | copy) && !pw_advice_maps_always(by | device));
    assert_false(pw_advice_maps_on_fault(device) || pw_advice_maps_on_fault(by) || pw_advice_maps_always(host));
    assert_true(pw_advice_copies(copy | host | by) && !pw_advice_copies(host | by));
}

static struct pw_residency *with_advice(unsigned advice)
{
    struct pw_residency_config config = managed_config("none", "sl", 512);
    struct pw_residency *r = managed_create(&config);
    managed_add(r, "a", 0, 2 << 20);
    pw_residency_advise(r, managed_page(r, 0), advice);
    return r;
}

/* The policy sl writes clean pages back with the dirty ones: 16 pages leave together. */
static unsigned written(struct pw_residency *r)
{
    struct pw_eviction e;
    assert_true(pw_residency_evict(r, &e));
    unsigned pages = pw_mask_count(&e.written);
    managed_destroy(r);
    return pages;
}

static void copies_are_not_written_back_unless_they_are_the_only_ones(void **state)
{
    (void)state;
    for (int read_mostly = 0; read_mostly < 2; read_mostly++) {
        struct pw_residency *r = with_advice(read_mostly ? PW_ADVICE_READ_MOSTLY : 0);
        for (uint64_t vpn = 0; vpn < 16; vpn++)
            managed_read(r, vpn);
        assert_int_equal(pw_residency_touch(r, managed_page(r, 3), true), !read_mostly);
        pw_residency_collapse(r, managed_page(r, 3), true);
        assert_true(pw_residency_touch(r, managed_page(r, 3), true));
        pw_residency_collapse(r, managed_page(r, 3), true);
        assert_int_equal(pw_residency_counters(r)->pages_collapsed, read_mostly);
        assert_int_equal(written(r), read_mostly ? 1 : 16);
    }
}

static void a_page_that_returns_is_a_copy_again(void **state)
{
    (void)state;
    struct pw_residency *r = with_advice(PW_ADVICE_READ_MOSTLY);
    struct pw_eviction e;
    managed_read(r, 0);
    pw_residency_collapse(r, managed_page(r, 0), true);
    assert_true(pw_residency_touch(r, managed_page(r, 0), true));
    assert_true(pw_residency_evict(r, &e));
    managed_read(r, 0);
    assert_false(pw_residency_touch(r, managed_page(r, 0), true));
    assert_int_equal(written(r), 0);
}

static void count_page(void *context, pw_asid asid, pw_vpn vpn)
{
    assert_int_equal(asid, 0);
    assert_int_equal(vpn.v, 7);
    ++*(unsigned *)context;
}

static void a_remote_page_takes_no_room_and_is_named_by_a_free(void **state)
{
    (void)state;
    struct pw_residency *r = with_advice(PW_ADVICE_PREFER_HOST);
    struct pw_error err;
    unsigned named = 0;
    pw_residency_set_remote(r, managed_page(r, 7), true);
    assert_true(pw_residency_touch(r, managed_page(r, 7), true));
    assert_int_equal(pw_residency_room(r), 512);
    assert_int_equal(pw_residency_state(r, managed_page(r, 7)), PW_PAGE_ABSENT);
    assert_int_equal(pw_residency_counters(r)->pages_remote, 1);
    managed_check(r);
    assert_int_equal(pw_residency_remove(r, 0, (pw_vpn){0}, count_page, &named, &err), PW_OK);
    assert_int_equal(named, 1);
    managed_add(r, "b", 0, 2 << 20);
    assert_false(pw_residency_is_remote(r, managed_page(r, 7)));
    assert_int_equal(pw_residency_advice(r, managed_page(r, 7)), 0);
    managed_destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_is_known_and_words_about_one_name_add_up),
        cmocka_unit_test(commas_separate_too_and_all_stands_for_every_name),
        cmocka_unit_test(names_may_have_colons_and_separators),
        cmocka_unit_test(long_names_are_compared_as_far_as_allocations_keep_them),
        cmocka_unit_test(what_cannot_be_meant_is_refused_in_one_line),
        cmocka_unit_test(read_mostly_overrides_places_and_the_gpu_as_a_place_overrides_accessed_by),
        cmocka_unit_test(copies_are_not_written_back_unless_they_are_the_only_ones),
        cmocka_unit_test(a_page_that_returns_is_a_copy_again),
        cmocka_unit_test(a_remote_page_takes_no_room_and_is_named_by_a_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
