/* Names of kernels as compilers and frameworks make them, and malformed ones: short, whole, bounded, printable. */
#include "exp/format/kernel_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char names[][3][512] = {
    /* as recorded, short, full */
    {"_Z6vecAddPKfS0_Pfi", "vecAdd", "vecAdd(float const*, float const*, float*, int)"},
    {"_ZL4foldPi", "fold", "fold(int*)"},
    {"_Z6linearILi0EE??", "linear<…>", "_Z6linearILi0EE??"}, /* no demangler takes it */
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
     "at::native::vectorized_elementwise_kernel<…>",
     "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
     ">(int, "
     "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"},
    {"_ZN2at6native12_GLOBAL__N_143distribution_elementwise_grid_stride_kernelEPf",
     "at::native::distribution_elementwise_grid_stride_kernel",
     "at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel(float*)"},
    {"_ZN7cutlass7Kernel2I55cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8EEvNT_6ParamsE",
     "cutlass::Kernel2<…>",
     "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8>("
     "cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8::Params)"},
    {"_ZN3cub17CUB_200200_900_NS29DeviceRadixSortOnesweepKernelIiEEvPT_",
     "cub::CUB_200200_900_NS::DeviceRadixSortOnesweepKernel<…>",
     "void cub::CUB_200200_900_NS::DeviceRadixSortOnesweepKernel<int>(int*)"},
    {"_ZN6thrust8cuda_cub4core13_kernel_agentIiEEvPT_", "cuda_cub::core::_kernel_agent<…>",
     "void thrust::cuda_cub::core::_kernel_agent<int>(int*)"},
    {"_ZN5flash4stepB2v1Ei", "flash::step", "flash::step[abi:v1](int)"},
    {"_ZNSt4stepEv", "std::step", "std::step()"},
    {"triton_poi_fused_add_mul_0d1d2d3d", "triton_poi_fused_add_mul_0d1d2d3d", "triton_poi_fused_add_mul_0d1d2d3d"},
    {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"},
    /* demangled by the tool that wrote the trace */
    {"void at::native::(anonymous namespace)::f<(int)4, at::A<float>>(int, at::A<float>)", "at::native::f<…>",
     "void at::native::(anonymous namespace)::f<(int)4, at::A<float>>(int, at::A<float>)"},
    {"at::<unnamed>::g(int)", "at::g", "at::<unnamed>::g(int)"},
    {"unsigned int a::b<int>::c::d(int) [clone .1]", "b::c::d", "unsigned int a::b<int>::c::d(int) [clone .1]"},
    {"void h<int>(int)", "h<…>", "void h<int>(int)"},
    /* no names of functions */
    {"", "", ""},
    {"copy (2 of 3)", "copy (2 of 3)", "copy (2 of 3)"},
    {"a<b", "a<b", "a<b"},
    {"a>b(", "a>b(", "a>b("},
    {"_Z", "_Z", "_Z"},
    {"_Z0", "_Z0", "_Z0"},
    {"_Z5abc", "_Z5abc", "_Z5abc"},
    {"_ZN3abc", "_ZN3abc", "_ZN3abc"},
    {"_Z99999999999999999999999999999999a", "_Z99999999999999999999999999999999a",
     "_Z99999999999999999999999999999999a"},
    {"_ZN12_GLOBAL__N_1E", "_ZN12_GLOBAL__N_1E", "(anonymous namespace)"},
    /* what a terminal would obey */
    {"_Z4\033[1mv", "?[1m", "?[1m()"},
    {"a\nb\377c", "a?b?c", "a?b?c"},
    {"\303\251t\303\251", "été", "été"},
};

static void names_of_compilers_and_frameworks(void **state)
{
    (void)state;
    static char full[PW_KERNEL_NAME_FULL];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char brief[PW_KERNEL_NAME_SHORT];
        pw_kernel_name_short(names[i][0], brief, sizeof brief);
        assert_string_equal(brief, names[i][1]);
        pw_kernel_name_full(names[i][0], full, sizeof full);
        assert_string_equal(full, names[i][2]);
    }
}

/* Nothing beyond the size is written, and what is cut says so, at every size and for every name. */
static void a_name_that_does_not_fit_is_cut_at_a_character(void **state)
{
    (void)state;
    void (*const functions[])(const char *, char *, size_t) = {pw_kernel_name_short, pw_kernel_name_full};
    for (size_t i = 0; i < 2 * (sizeof names / sizeof *names); i++)
        for (size_t size = 1; size < 300; size++) {
            static char whole[PW_KERNEL_NAME_FULL];
            functions[i % 2](names[i / 2][0], whole, sizeof whole);
            char *cut = malloc(size); /* for the address sanitizer */
            assert_non_null(cut);
            functions[i % 2](names[i / 2][0], cut, size);
            size_t length = strlen(cut);
            assert_true(length < size);
            if (strlen(whole) < size)
                assert_string_equal(cut, whole);
            else if (size >= 4) {
                assert_string_equal(cut + length - 3, "…");
                assert_memory_equal(cut, whole, length - 3);
                assert_true(length + 4 >= size - 3);
            }
            free(cut);
        }
}

/* "S_", "S0_", … "Sa_": what was named before, by number. */
static void add_reference(char *to, unsigned number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (number == 0)
        sprintf(to + strlen(to), "S_");
    else if (number <= 36)
        sprintf(to + strlen(to), "S%c_", digits[number - 1]);
    else
        sprintf(to + strlen(to), "S%c%c_", digits[(number - 1) / 36], digits[(number - 1) % 36]);
}

static void a_name_that_would_fill_all_memory_is_cut(void **state)
{
    (void)state;
    char bomb[1100] = "_Z1f1A1BIS_S_E";
    for (unsigned i = 2; strlen(bomb) < 980; i++) {
        strcat(bomb, "S0_I");
        add_reference(bomb, i);
        add_reference(bomb, i);
        strcat(bomb, "E");
    }
    static char full[PW_KERNEL_NAME_FULL];
    char brief[PW_KERNEL_NAME_SHORT];
    pw_kernel_name_full(bomb, full, sizeof full);
    assert_true(strncmp(full, "f(A, B<A, A>", 12) == 0);
    assert_int_equal(strlen(full), sizeof full - 1);
    pw_kernel_name_short(bomb, brief, sizeof brief);
    assert_string_equal(brief, "f");
}

/* Names of kernels of templates of templates have thousands of bytes; so do those made to exhaust a stack. */
static void very_long_names_have_a_short_one_too(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    static const char *const beginnings[][2] = {{"_ZN7cutlass6KernelI", "cutlass::Kernel<…>"}, {"_Z1f", "f"}};
    char *name = malloc(LENGTH + 1), brief[PW_KERNEL_NAME_SHORT];
    char *full = malloc(PW_KERNEL_NAME_FULL);
    assert_true(name && full);
    for (size_t i = 0; i < 6; i++) {
        memset(name, "PIN"[i / 2], LENGTH);
        name[LENGTH] = '\0';
        memcpy(name, beginnings[i % 2][0], strlen(beginnings[i % 2][0]));
        pw_kernel_name_short(name, brief, sizeof brief);
        if (i != 3) /* "_Z1fI": with template arguments */
            assert_string_equal(brief, beginnings[i % 2][1]);
        pw_kernel_name_full(name, full, PW_KERNEL_NAME_FULL);
        assert_int_equal(strlen(full), PW_KERNEL_NAME_FULL - 1);
        assert_memory_equal(full, name, 1000);
    }
    free(name);
    free(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_compilers_and_frameworks),
        cmocka_unit_test(a_name_that_does_not_fit_is_cut_at_a_character),
        cmocka_unit_test(a_name_that_would_fill_all_memory_is_cut),
        cmocka_unit_test(very_long_names_have_a_short_one_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
