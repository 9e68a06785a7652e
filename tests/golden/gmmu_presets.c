/* Programs of the paper on bypassing the GMMU at its sizes: the suite, and 64 MB in all, every page of which is
 * touched. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAGE_SHIFT = 12, MAX_PAGES = 1 << 16 };
#define FIRST_ADDRESS UINT64_C(0x7f4000000000)

struct row {
    const char *claim, *program, *suite;
};

static const struct row programs[] = {
    {"gmmu-tab2-rl", "relu", "DNN"},
    {"gmmu-tab2-mp", "maxpool", "DNN"},
    {"gmmu-tab2-fir", "fir", "Hetero-Mark"},
    {"gmmu-tab2-aes", "aes", "Hetero-Mark"},
};

static void mark(bool *pages, uint64_t address)
{
    uint64_t page = (address - FIRST_ADDRESS) >> PAGE_SHIFT;
    if (page >= MAX_PAGES)
        fail_msg("address %#llx lies in no array", (unsigned long long)address);
    pages[page] = true;
}

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w;
    if (op->kind < PW_OP_LOAD || op->kind > PW_OP_ATOMIC_RETURN)
        return;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        if (op->count_or_mask >> lane & 1)
            mark(context, op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1]);
}

static void footprints_are_64_mb_and_all_of_them_is_touched(void **state)
{
    (void)state;
    bool *pages = calloc(MAX_PAGES, sizeof *pages);
    assert_non_null(pages);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        char text[64];
        struct pw_program p;
        struct pw_error err;
        struct pw_functional_counts counts;
        uint64_t touched = 0;
        snprintf(text, sizeof text, "%s:size=gmmu-bypass", programs[i].program);
        memset(pages, 0, MAX_PAGES * sizeof *pages);
        assert_int_equal(pw_program_parse(text, &p, &err), PW_OK);
        assert_string_equal(p.workload->suite, programs[i].suite);
        if (pw_functional_run(&p, 1, false, visit, pages, &counts, &err) != PW_OK)
            fail_msg("%s: %s", text, err.message);
        pw_program_release(&p);
        for (uint32_t page = 0; page < MAX_PAGES; page++)
            touched += pages[page];
        uint64_t megabytes_in_tenths = (counts.allocated_bytes * 10 + (1 << 19)) >> 20;
        if (megabytes_in_tenths != 640 || touched << PAGE_SHIFT < counts.allocated_bytes)
            fail_msg("%s, %s: %llu bytes, %llu pages touched", programs[i].claim, text,
                     (unsigned long long)counts.allocated_bytes, (unsigned long long)touched);
    }
    free(pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(footprints_are_64_mb_and_all_of_them_is_touched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
