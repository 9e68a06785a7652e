/* Several allocations on a real GPU (data/hw/h200-allocations.csv): where each lies, and which touches fault. */
#include "exp/touch/managed_heap.h"
#include "exp/touch/replay.h"
#include "managed.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LINES = 512, MAX_PLACES = 256 };

struct row {
    char name_of_case[32], op[8], name[16];
    unsigned long long value, address;
    bool fault;
};

/* One case: its rows, the touch file that they stand for, and what has come of it so far. */
struct measured {
    char name[32], text[MAX_LINES * 32];
    size_t length, touches, seen, allocations;
    bool faults[MAX_LINES];
    unsigned mismatches;
    struct pw_managed_heap *heap;
    struct {
        char name[16];
        struct pw_managed_place place;
        uint64_t measured;
    } places[MAX_PLACES];
    size_t place_count;
};

struct totals {
    unsigned cases, touches, mismatches, allocations;
};

static void split_row(char *line, struct row *out)
{
    char *fields[7], *rest = line;
    for (unsigned i = 0; i < 7; i++) {
        fields[i] = strsep(&rest, ",\n");
        assert_non_null(fields[i]);
    }
    *out = (struct row){
        .value = strtoull(fields[3], NULL, 10), .address = strtoull(fields[4], NULL, 10), .fault = fields[6][0] == '1'};
    snprintf(out->name_of_case, sizeof out->name_of_case, "%s", fields[0]);
    snprintf(out->op, sizeof out->op, "%s", fields[1]);
    snprintf(out->name, sizeof out->name, "%s", fields[2]);
}

/* Blocks may lie anywhere, but what shares one with the newest allocation shares it on the GPU. */
static void check_neighbours(const struct measured *m, uint64_t measured)
{
    uint64_t block = m->places[m->place_count - 1].place.address / PW_SHARED_BYTES;
    for (size_t i = 0; i < m->place_count; i++)
        if ((m->places[i].place.address / PW_SHARED_BYTES == block) !=
            (m->places[i].measured / PW_SHARED_BYTES == measured / PW_SHARED_BYTES))
            fail_msg("%s: %s and the newest allocation share a block on one side only", m->name, m->places[i].name);
}

static void place(struct measured *m, const struct row *row)
{
    struct pw_error err = {0};
    assert_true(m->place_count < MAX_PLACES);
    struct pw_managed_place *p = &m->places[m->place_count].place;
    m->places[m->place_count].measured = row->address;
    strcpy(m->places[m->place_count++].name, row->name);
    if (pw_managed_heap_allocate(m->heap, row->value, p, &err))
        fail_msg("%s", err.message);
    m->allocations++;
    if (p->address % PW_SHARED_BYTES != row->address % PW_SHARED_BYTES)
        fail_msg("%s: %s lies %llu bytes into its block, on the GPU %llu", m->name, row->name,
                 (unsigned long long)(p->address % PW_SHARED_BYTES), row->address % PW_SHARED_BYTES);
    check_neighbours(m, row->address);
}

static void release(struct measured *m, const char *name)
{
    size_t i = 0;
    while (i < m->place_count && strcmp(m->places[i].name, name) != 0)
        i++;
    assert_true(i < m->place_count);
    pw_managed_heap_free(m->heap, &m->places[i].place);
    m->places[i] = m->places[--m->place_count];
}

static bool compare(void *context, const struct pw_touch *t)
{
    struct measured *m = context;
    assert_true(m->seen < m->touches);
    if (t->fault != m->faults[m->seen++]) {
        m->mismatches++;
        print_message("%s: touch %llu of page %llu of %s: the GPU %s\n", m->name, (unsigned long long)t->step,
                      (unsigned long long)t->page, t->name, t->fault ? "did not fault" : "faulted");
    }
    return true;
}

static void start_case(struct measured *m, const char *name)
{
    struct pw_error err = {0};
    memset(m, 0, sizeof *m);
    strcpy(m->name, name);
    assert_int_equal(pw_managed_heap_create(true, &m->heap, &err), PW_OK);
}

static void finish_case(struct measured *m, struct totals *totals)
{
    struct pw_residency_config config = managed_config("nvidia", "nvidia", 1 << 24);
    struct pw_residency *r = managed_create(&config);
    struct pw_error err = {0};
    if (pw_replay_touches(r, m->text, m->length, m->name, compare, m, &err))
        fail_msg("%s", err.message);
    assert_int_equal(m->seen, m->touches);
    managed_destroy(r);
    pw_managed_heap_destroy(m->heap);
    totals->cases++;
    totals->touches += (unsigned)m->touches;
    totals->mismatches += m->mismatches;
    totals->allocations += (unsigned)m->allocations;
}

static void add_row(struct measured *m, const struct row *row)
{
    bool is_free = strcmp(row->op, "free") == 0;
    m->length += (size_t)snprintf(m->text + m->length, sizeof m->text - m->length, is_free ? "%s %s\n" : "%s %s %llu\n",
                                  row->op, row->name, row->value);
    assert_true(m->length < sizeof m->text && m->touches < MAX_LINES);
    if (is_free)
        release(m, row->name);
    else if (strcmp(row->op, "alloc") == 0)
        place(m, row);
    else
        m->faults[m->touches++] = row->fault;
}

static void allocations_lie_and_touches_fault_as_on_the_gpu(void **state)
{
    (void)state;
    static struct measured m;
    struct totals totals = {0};
    char line[256];
    struct row row;
    FILE *file = fopen(PW_HARDWARE "/h200-allocations.csv", "r");
    if (!file)
        fail_msg("cannot open %s", PW_HARDWARE "/h200-allocations.csv");
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file)) {
        split_row(line, &row);
        if (strcmp(row.name_of_case, m.name) != 0) {
            if (*m.name)
                finish_case(&m, &totals);
            start_case(&m, row.name_of_case);
        }
        add_row(&m, &row);
    }
    finish_case(&m, &totals);
    fclose(file);
    assert_int_equal(totals.cases, 78);
    assert_int_equal(totals.allocations, 504);
    assert_in_range(totals.touches, 5000, 6000);
    assert_int_equal(totals.mismatches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_lie_and_touches_fault_as_on_the_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
