/* Names of allocations: ranges of a thread, functions by address, names of C++ made short; and whatever a program calls
 * its ranges, a name is printable and bounded. */
#include "capture/names.h"
#include "capture/ranges.h"
#include "capture/symbols.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void ranges_nest(void **state)
{
    (void)state;
    assert_string_equal(pw_capture_range(), "");
    assert_int_equal(pw_capture_range_push("outer"), 0);
    assert_int_equal(pw_capture_range_push(NULL), 1);
    assert_string_equal(pw_capture_range(), "outer");
    assert_int_equal(pw_capture_range_push("inner"), 2);
    assert_string_equal(pw_capture_range(), "inner");
    assert_int_equal(pw_capture_range_pop(), 2);
    assert_int_equal(pw_capture_range_pop(), 1);
    assert_int_equal(pw_capture_range_pop(), 0);
    assert_int_equal(pw_capture_range_pop(), -1);
    assert_string_equal(pw_capture_range(), "");
}

static void more_ranges_than_are_kept_are_counted(void **state)
{
    (void)state;
    char name[16];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "range %d", i);
        assert_int_equal(pw_capture_range_push(name), i);
    }
    assert_string_equal(pw_capture_range(), "range 63");
    for (int i = 200; i-- > 0;)
        assert_int_equal(pw_capture_range_pop(), i);
    assert_int_equal(pw_capture_range_pop(), -1);
}

static void *see_no_range(void *out)
{
    *(bool *)out = !*pw_capture_range();
    return NULL;
}

static void a_range_is_its_threads(void **state)
{
    (void)state;
    pthread_t thread;
    bool none = false;
    pw_capture_range_push("mine");
    pthread_create(&thread, NULL, see_no_range, &none);
    pthread_join(thread, NULL);
    assert_true(none);
    pw_capture_range_pop();
}

static void allocations_of_a_range_are_numbered(void **state)
{
    (void)state;
    char name[PW_CAPTURE_NAME];
    static const char *const steps[][2] = {{"a", "a #1"}, {"a", "a #2"}, {"b", "b #1"}, {"a", "a #3"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        pw_capture_range_push(steps[i][0]);
        pw_capture_name_allocation(name);
        assert_string_equal(name, steps[i][1]);
        pw_capture_range_pop();
    }
}

static void names_are_printable_and_bounded(void **state)
{
    (void)state;
    char name[PW_CAPTURE_NAME], range[400];
    pw_capture_range_push("\033[2J\xff bad\nworse \xc3\xa4");
    pw_capture_name_allocation(name);
    assert_string_equal(name, "?[2J? bad?worse \xc3\xa4 #1");
    pw_capture_range_pop();
    for (size_t bytes = 90; bytes < 130; bytes++) { /* cut between characters wherever the end falls */
        memset(range, 'x', bytes);
        for (size_t i = bytes; i + 2 < sizeof range; i += 2)
            memcpy(range + i, "\xc3\xa4", 3);
        pw_capture_range_push(range);
        pw_capture_name_allocation(name);
        assert_true(strlen(name) < PW_CAPTURE_NAME);
        const char *number = strrchr(name, ' ');
        assert_int_equal(number[1], '#');
        char before = number[-1];
        assert_true(before == 'x' || before == '\xa4');
        pw_capture_range_pop();
    }
}

__attribute__((noinline)) static void allocate_here(char out[PW_CAPTURE_NAME])
{
    pw_capture_name_allocation(out);
    __asm__ volatile(""); /* no tail call */
}

static void without_a_range_the_place_is_named(void **state)
{
    (void)state;
    char first[PW_CAPTURE_NAME], second[PW_CAPTURE_NAME];
    pw_capture_names_start();
    for (int i = 0; i < 2; i++)
        allocate_here(i ? second : first);
    char *number = strstr(first, " #1");
    assert_non_null(number);
    assert_memory_equal(first, second, (size_t)(number - first));
    assert_string_equal(second + (number - first), " #2");
    assert_non_null(strstr(first, "!"));
    assert_non_null(strstr(first, "+0x"));
}

static void functions_are_found(void **state)
{
    (void)state;
    char name[128];
    assert_true(pw_capture_symbol((const char *)(void *)functions_are_found + 1, name, sizeof name));
    assert_non_null(strstr(name, "test_unit_capture_names!functions_are_found+0x1"));
    assert_true(pw_capture_symbol((const void *)printf, name, sizeof name));
    assert_memory_equal(name, "libc", 4);
    assert_false(pw_capture_symbol(NULL, name, sizeof name));
    assert_false(pw_capture_symbol(name, name, sizeof name)); /* the stack is in no file */
    char small[24];
    assert_true(pw_capture_symbol((const char *)(void *)functions_are_found + 1, small, sizeof small));
    assert_true(strlen(small) < sizeof small);
}

/* What nvcc links into a program is not where a program allocates. */
__attribute__((noinline)) void cudaMallocOfATest(void);
void cudaMallocOfATest(void)
{
    __asm__ volatile("");
}

static void functions_of_the_runtime_are_none(void **state)
{
    (void)state;
    char name[128];
    assert_false(pw_capture_symbol((const char *)(void *)cudaMallocOfATest, name, sizeof name));
}

static void names_of_cpp_are_made_short(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"main", "main"},
        {"ns::f(int)", "ns::f"},
        {"void ns::f<int, (Kind)3>(std::vector<int, std::allocator<int> >&)", "ns::f"},
        {"c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(int, unsigned long, CUstream_st*)",
         "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc"},
        {"at::(anonymous namespace)::Pool<at::Tensor>::take(int)", "at::(anonymous namespace)::Pool::take"},
        {"array<float>::array(unsigned long)", "array::array"},
        {"operator new(unsigned long)", "operator new"},
        {"T::operator()(int) const", "T::operator()"},
        {"", ""},
        {"a>b<<c", "ab"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s", names[i][0]);
        pw_capture_shorten(name);
        assert_string_equal(name, names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_nest),
        cmocka_unit_test(more_ranges_than_are_kept_are_counted),
        cmocka_unit_test(a_range_is_its_threads),
        cmocka_unit_test(allocations_of_a_range_are_numbered),
        cmocka_unit_test(names_are_printable_and_bounded),
        cmocka_unit_test(without_a_range_the_place_is_named),
        cmocka_unit_test(functions_are_found),
        cmocka_unit_test(functions_of_the_runtime_are_none),
        cmocka_unit_test(names_of_cpp_are_made_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
