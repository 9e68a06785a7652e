/* Names of allocations: ranges of a thread, functions by address, names of C++ made short; and whatever a program calls
 * its ranges, a name is printable and bounded. */
#include "capture/names.h"
#include "capture/ranges.h"
#include "capture/symbols.h"

#include <gnu/libc-version.h>
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

/* Not the function that hands out memory, but the one that wants it. */
__attribute__((noinline)) static void pool_alloc(char out[PW_CAPTURE_NAME])
{
    pw_capture_name_allocation(out);
    __asm__ volatile("");
}

__attribute__((noinline)) static void make_table(char out[PW_CAPTURE_NAME])
{
    pool_alloc(out);
    __asm__ volatile("");
}

static void pools_are_not_named(void **state)
{
    (void)state;
    char name[PW_CAPTURE_NAME];
    make_table(name);
    assert_non_null(strstr(name, "!make_table+0x"));
}

__attribute__((noinline)) static void ask_here(char out[PW_CAPTURE_NAME])
{
    pw_capture_name_allocation(out);
    __asm__ volatile("nop"); /* neither a tail call nor the same code as above */
}

static void without_a_range_the_place_is_named(void **state)
{
    (void)state;
    char first[PW_CAPTURE_NAME], second[PW_CAPTURE_NAME];
    pw_capture_names_start();
    for (int i = 0; i < 2; i++)
        ask_here(i ? second : first);
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
    assert_int_equal(pw_capture_symbol((const char *)(void *)functions_are_found + 1, name, sizeof name),
                     PW_TELLS_PLACE);
    assert_non_null(strstr(name, "test_unit_capture_names!functions_are_found+0x1"));
    assert_int_equal(pw_capture_symbol((const void *)gnu_get_libc_version, name, sizeof name), PW_TELLS_POOL);
    assert_memory_equal(name, "libc", 4);
    assert_int_equal(pw_capture_symbol(NULL, name, sizeof name), PW_TELLS_NOTHING);
    /* The stack is in no file. */
    assert_int_equal(pw_capture_symbol(name, name, sizeof name), PW_TELLS_NOTHING);
    char small[24];
    assert_true(pw_capture_symbol((const char *)(void *)functions_are_found + 1, small, sizeof small) > 0);
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
    assert_int_equal(pw_capture_symbol((const char *)(void *)cudaMallocOfATest, name, sizeof name), PW_TELLS_NOTHING);
}

static void names_are_made_short(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"main", "main"},
        {"ns::f(int)", "ns::f"},
        {"a::b::c::d::f(int)", "c::d::f"},
        {"void ns::f<int, (Kind)3>(std::vector<int, std::allocator<int> >&)", "ns::f"},
        {"c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(int, unsigned long, CUstream_st*)",
         "Native::DeviceCachingAllocator::malloc"},
        {"at::(anonymous namespace)::Pool<at::Tensor>::take(int)", "at::Pool::take"},
        {"(anonymous namespace)::f(int)", "f"},
        {"array<float>::array(unsigned long)", "array::array"},
        {"operator new(unsigned long)", "operator new"},
        {"T::operator()(int) const", "T::operator()"},
        {"", ""},
        {"a>b<<c", "ab"},
        {"__pyx_f_13cupy_backends_4cuda_3api_7runtime_malloc", "cupy_backends.cuda.api.runtime.malloc"},
        {"__pyx_pw_4cupy_4cuda_6memory_10MemoryPool_5malloc", "cupy.cuda.memory.MemoryPool.malloc"},
        {"__pyx_f_99cupy_f", "cupy_f"},
        {"__pyx_f_4294967297a_f", "a_f"},
        {"__pyx_f_", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s", names[i][0]);
        pw_capture_cut(name);
        pw_capture_drop_namespaces(name);
        assert_string_equal(name, names[i][1]);
    }
}

static void files_of_python_are_made_short(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"runtime.cpython-312-x86_64-linux-gnu.so", "runtime.so"},
                                           {"libcublas.so.13", "libcublas.so.13"},
                                           {"a.cpython-", "a.cpython-"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", names[i][0]);
        pw_capture_shorten_file(name);
        assert_string_equal(name, names[i][1]);
    }
}

static void functions_tell_more_or_less(void **state)
{
    (void)state;
    static const struct {
        const char *file, *function;
        enum pw_capture_telling telling;
    } cases[] = {
        {"libcuda.so.1", "cuMemAlloc_v2", PW_TELLS_NOTHING},
        {"vecadd", "cudaMalloc", PW_TELLS_NOTHING},
        {"libpagewalk-capture.so", NULL, PW_TELLS_NOTHING},
        {"libc10_cuda.so", "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::alloc_block",
         PW_TELLS_POOL},
        {"libc10_cuda.so", "c10::cuda::(anonymous namespace)::initGlobalStreamState", PW_TELLS_POOL},
        {"libtorch_cuda.so", "at::cuda::(anonymous namespace)::CUDACachingHostAllocatorImpl::allocate", PW_TELLS_POOL},
        {"runtime.cpython-312-x86_64-linux-gnu.so", "cupy_backends.cuda.api.runtime.malloc", PW_TELLS_POOL},
        {"memory.cpython-312-x86_64-linux-gnu.so", "cupy.cuda.memory.Memory.__init__", PW_TELLS_POOL},
        {"xla_cuda_plugin.so", "tsl::BFCAllocator::Extend", PW_TELLS_POOL},
        {"python3.12", "_PyEval_EvalFrameDefault", PW_TELLS_POOL},
        {"libc.so.6", NULL, PW_TELLS_POOL},
        {"libtorch_cpu.so", "at::detail::empty_generic", PW_TELLS_TENSOR},
        {"libtorch_cuda.so", "at::native::empty_cuda", PW_TELLS_TENSOR},
        {"libtorch_cuda.so", "at::(anonymous namespace)::wrapper_CUDA_add_Tensor", PW_TELLS_TENSOR},
        {"libtorch_cpu.so", "at::_ops::mul_Tensor::redispatch", PW_TELLS_TENSOR},
        {"libtorch_cuda.so", NULL, PW_TELLS_TENSOR},
        {"core.cpython-312-x86_64-linux-gnu.so", "cupy._core.core._ndarray_base._init", PW_TELLS_TENSOR},
        {"libtorch_cpu.so", "at::native::rand", PW_TELLS_PLACE},
        {"libtorch_python.so", "torch::autograd::THPVariable_empty", PW_TELLS_PLACE},
        {"libcublas.so.13", NULL, PW_TELLS_PLACE},
        {"vecadd", "main", PW_TELLS_PLACE},
        {"mine", "table::resize", PW_TELLS_PLACE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pw_capture_telling(cases[i].file, cases[i].function), cases[i].telling);
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
        cmocka_unit_test(pools_are_not_named),
        cmocka_unit_test(functions_are_found),
        cmocka_unit_test(functions_of_the_runtime_are_none),
        cmocka_unit_test(names_are_made_short),
        cmocka_unit_test(files_of_python_are_made_short),
        cmocka_unit_test(functions_tell_more_or_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
