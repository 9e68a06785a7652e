/* Profiles of workloads against closed forms, and against a plain count over the list of all addresses. */
#include "workload.h"

#include "pagewalk/pagewalk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct pw_profile *profile(const char *text)
{
    struct pw_profile *p = NULL;
    struct pw_error err = {0};
    const struct pw_profile_spec spec = {.workload = text};
    if (pw_workload_profile(&spec, &p, &err) != PW_OK)
        fail_msg("%s: %s", text, err.message);
    return p;
}

static void assert_reuse(const struct pw_profile *p, size_t bucket, uint64_t touches)
{
    for (size_t i = 0; i < PW_REUSE_BUCKETS; i++)
        assert_int_equal(p->reuse[i], i == bucket ? touches : 0);
}

/* One warp, 1,024 iterations: 32 pages of each array, each page met 32 times with the other two arrays between. */
static void vecadd_has_its_closed_form(void **state)
{
    (void)state;
    struct pw_profile *p = profile("vecadd:n=32768:ctas=1:warps=1");
    assert_string_equal(p->name, "vecadd");
    assert_int_equal(p->seed, 1);
    assert_int_equal(p->allocation_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(p->allocations[i].name, i == 0 ? "a" : i == 1 ? "b" : "c");
        assert_int_equal(p->allocations[i].bytes, 32768 * 4);
        assert_int_equal(p->allocations[i].pages_touched, 32);
        assert_true(p->allocations[i].launches_until_free == UINT64_MAX);
    }
    assert_int_equal(p->allocated_bytes, 3 * 32768 * 4);
    assert_int_equal(p->peak_bytes, p->allocated_bytes);
    assert_int_equal(p->launch_count, 1);
    assert_int_equal(p->launches[0].count, 1);
    assert_int_equal(p->launches[0].grid[0], 1);
    assert_int_equal(p->launches[0].block[0], 32);
    assert_int_equal(p->launches[0].warp_instructions, 5 + 10 * 1024 + 1);
    assert_int_equal(p->launches[0].memory_instructions, 3 * 1024);
    assert_int_equal(p->warp_instructions, 5 + 10 * 1024 + 1);
    assert_int_equal(p->loads, 2 * 1024);
    assert_int_equal(p->stores, 1024);
    assert_int_equal(p->atomics, 0);
    assert_int_equal(p->lanes, 3 * 32768);
    assert_int_equal(p->lines, 3 * 1024);
    assert_int_equal(p->pages, 3 * 1024);
    assert_int_equal(p->distinct_pages, 3 * 32);
    assert_reuse(p, 2, 3 * (1024 - 32));
    assert_int_equal(p->slice_instructions, 256);
    assert_int_equal(p->slice_count, 41);
    pw_profile_free(p);
}

/* A table of one page: the warp's three pages in turn, whatever the indices; a table of 128 bytes is one line. */
static void gather_has_its_closed_form(void **state)
{
    (void)state;
    struct pw_profile *p = profile("gather:n=1024:ctas=1:warps=1:table=4KB");
    assert_int_equal(p->memory_instructions, 3 * 32);
    assert_int_equal(p->pages, 3 * 32);
    assert_int_equal(p->distinct_pages, 3);
    assert_reuse(p, 2, 3 * 31);
    pw_profile_free(p);

    p = profile("gather:n=1024:ctas=1:warps=1:table=128");
    assert_int_equal(p->lines, 3 * 32);
    pw_profile_free(p);

    /* In order, 1,024 lanes meet the 32 lines of the page once each. */
    p = profile("gather:n=1024:ctas=1:warps=1:table=4KB:locality=1");
    assert_int_equal(p->lines, 3 * 32);
    pw_profile_free(p);
}

/* 50 places, a page each, gone through six times: 49 other pages between two touches of one. The result is one more. */
static void pointer_chase_has_its_closed_form(void **state)
{
    (void)state;
    struct pw_profile *p = profile("pointer_chase:bytes=204800:stride=4096:hops=300:order=random");
    assert_int_equal(p->loads, 300);
    assert_int_equal(p->stores, 1);
    assert_int_equal(p->lanes, 301);
    assert_int_equal(p->distinct_pages, 51);
    assert_reuse(p, 6, 250);
    pw_profile_free(p);
}

static void a_program_without_memory_has_a_profile(void **state)
{
    (void)state;
    struct pw_profile *p = profile("alu");
    assert_int_equal(p->allocation_count, 0);
    assert_int_equal(p->memory_instructions, 0);
    assert_int_equal(p->distinct_pages, 0);
    assert_true(p->warp_instructions > 0);
    for (size_t i = 0; i < p->slice_count; i++)
        assert_int_equal(p->slices[i].pages, 0);
    pw_profile_free(p);
}

static void launches_alike_are_one_row(void **state)
{
    (void)state;
    struct pw_profile *p = profile("HS:side=64:pyramid=2:iterations=6");
    assert_int_equal(p->kernel_launches, 3);
    assert_int_equal(p->launch_count, 1);
    assert_int_equal(p->launches[0].count, 3);
    assert_int_equal(p->launches[0].warp_instructions, p->warp_instructions);
    pw_profile_free(p);
}

/* What the program does, as lists: every page touch with its instruction, and counts of lines. */
struct recording {
    struct touch {
        uint64_t page, instruction;
    } touches[1 << 16];
    size_t count;
    uint64_t instructions, lines, kinds[PW_OP_KIND_COUNT];
};

static size_t insert(uint64_t *set, size_t count, uint64_t value)
{
    for (size_t i = 0; i < count; i++)
        if (set[i] == value)
            return count;
    set[count] = value;
    return count + 1;
}

static void record(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w;
    struct recording *r = context;
    r->kinds[op->kind]++;
    if (op->kind >= PW_OP_LOAD && op->kind <= PW_OP_ATOMIC_RETURN) {
        uint64_t lines[64], pages[64];
        size_t line_count = 0, page_count = 0;
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
            if (!(op->count_or_mask >> lane & 1))
                continue;
            uint64_t first = op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1];
            for (uint64_t byte = first; byte < first + op->bytes; byte++) {
                line_count = insert(lines, line_count, byte / 128);
                page_count = insert(pages, page_count, byte / 4096);
            }
        }
        r->lines += line_count;
        for (size_t i = 0; i < page_count; i++) {
            assert_true(r->count < sizeof r->touches / sizeof *r->touches);
            r->touches[r->count++] = (struct touch){pages[i], r->instructions};
        }
    }
    r->instructions += op->kind == PW_OP_COMPUTE ? op->count_or_mask : 1;
}

/* Distinct pages touched after touch `first` and before touch `outer`. */
static uint64_t distinct_between(const struct recording *r, size_t first, size_t outer)
{
    uint64_t distinct = 0;
    for (size_t i = first; i < outer; i++) {
        size_t k = first;
        while (k < i && r->touches[k].page != r->touches[i].page)
            k++;
        distinct += k == i;
    }
    return distinct;
}

static void compare_reuse(const struct recording *r, const struct pw_profile *p)
{
    uint64_t reuse[PW_REUSE_BUCKETS] = {0}, first = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t before = i;
        while (before > 0 && r->touches[before - 1].page != r->touches[i].page)
            before--;
        if (before == 0) {
            first++;
            continue;
        }
        uint64_t distance = distinct_between(r, before, i);
        size_t bucket = 0;
        while (distance >> bucket)
            bucket++;
        reuse[bucket]++;
    }
    assert_int_equal(p->distinct_pages, first);
    assert_memory_equal(p->reuse, reuse, sizeof reuse);
}

static void compare_slices(const struct recording *r, const struct pw_profile *p)
{
    size_t first = 0, outer = 0;
    for (size_t slice = 0; slice < p->slice_count; slice++, first = outer) {
        while (outer < r->count && r->touches[outer].instruction / p->slice_instructions == slice)
            outer++;
        assert_int_equal(p->slices[slice].pages, distinct_between(r, first, outer));
        assert_int_equal(p->slices[slice].new_pages, distinct_between(r, 0, outer) - distinct_between(r, 0, first));
    }
    assert_int_equal(outer, r->count);
}

static void profiles_are_what_a_plain_count_finds(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "vecadd:n=5000:ctas=2:warps=3", "gather:n=700:ctas=2:warps=2:table=100KB",
        "HS:side=40:iterations=4",      "BFS2:nodes=400:kind=grid",
        "MM:m=128:n=32:k=16",
    };
    static struct recording r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct pw_program program;
        struct pw_functional_counts counts;
        struct pw_error err;
        memset(&r, 0, sizeof r);
        assert_int_equal(pw_program_parse(texts[i], &program, &err), PW_OK);
        assert_int_equal(pw_functional_run(&program, 1, false, record, &r, &counts, &err), PW_OK);
        pw_program_release(&program);
        struct pw_profile *p = profile(texts[i]);
        assert_int_equal(p->warp_instructions, r.instructions);
        assert_int_equal(p->loads, r.kinds[PW_OP_LOAD]);
        assert_int_equal(p->stores, r.kinds[PW_OP_STORE]);
        assert_int_equal(p->atomics, r.kinds[PW_OP_ATOMIC] + r.kinds[PW_OP_ATOMIC_RETURN]);
        assert_int_equal(p->memory_instructions, p->loads + p->stores + p->atomics);
        assert_int_equal(p->lanes, counts.lane_accesses);
        assert_int_equal(p->lines, r.lines);
        assert_int_equal(p->pages, r.count);
        uint64_t touched = 0, in_launches = 0;
        for (size_t k = 0; k < p->allocation_count; k++)
            touched += p->allocations[k].pages_touched;
        for (size_t k = 0; k < p->launch_count; k++)
            in_launches += p->launches[k].memory_instructions;
        assert_int_equal(touched, p->distinct_pages);
        assert_int_equal(in_launches, p->memory_instructions);
        compare_reuse(&r, p);
        compare_slices(&r, p);
        pw_profile_free(p);
    }
}

static void mistakes_and_interrupts_come_back_as_such(void **state)
{
    (void)state;
    static const volatile bool interrupted = true;
    struct pw_profile *p = NULL;
    struct pw_error err;
    struct pw_profile_spec spec = {.workload = "vecad"};
    assert_int_equal(pw_workload_profile(&spec, &p, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "did you mean vecadd"));
    spec = (struct pw_profile_spec){.workload = "vecadd:ctas=2:iterations=1", .interrupted = &interrupted};
    assert_int_equal(pw_workload_profile(&spec, &p, &err), PW_INTERRUPTED);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vecadd_has_its_closed_form),
        cmocka_unit_test(gather_has_its_closed_form),
        cmocka_unit_test(pointer_chase_has_its_closed_form),
        cmocka_unit_test(a_program_without_memory_has_a_profile),
        cmocka_unit_test(launches_alike_are_one_row),
        cmocka_unit_test(profiles_are_what_a_plain_count_finds),
        cmocka_unit_test(mistakes_and_interrupts_come_back_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
