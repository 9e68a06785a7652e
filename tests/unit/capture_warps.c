/* From records to operations: what lies between accesses, loads in flight at their first use, kinds, ends of warps and
 * CTAs, and CTAs in any order in bounded memory. */
#include "capture/warps.h"
#include "machine_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { BASE = 0x7f0000, MAX_TEXT = 4096 };

/* What was emitted, as text: "c3/1 " three instructions with at most one load in flight, "L4", "S4", "A", "R", "B",
 * "X", and "end0 " for CTA 0. */
struct listener {
    char text[MAX_TEXT];
    size_t used;
    uint64_t words[32];
    uint64_t ends, instructions;
    bool quiet;
};

static bool listen(void *context, uint32_t cta, uint32_t warp, const struct pw_op *op, const uint64_t *words)
{
    struct listener *l = context;
    static const char letters[] = {'c', 'L', 'S', 'A', 'R', 'B', 'X'};
    l->ends += !op;
    l->instructions += op ? pw_op_instructions(*op) : 0;
    if (l->quiet)
        return true;
    (void)warp;
    char flight[8] = "";
    if (op && op->loads_in_flight != PW_ANY_IN_FLIGHT)
        snprintf(flight, sizeof flight, "/%u", op->loads_in_flight);
    int length;
    if (!op)
        length = snprintf(l->text + l->used, MAX_TEXT - l->used, "end%u ", cta);
    else if (op->kind == PW_OP_COMPUTE)
        length = snprintf(l->text + l->used, MAX_TEXT - l->used, "c%u%s ", op->count_or_mask, flight);
    else
        length = snprintf(l->text + l->used, MAX_TEXT - l->used, "%c%s ", letters[op->kind], flight);
    l->used += (size_t)length;
    if (op && pw_op_is_access(*op))
        memcpy(l->words, words, (pw_op_words(*op) - 1) * sizeof *words);
    return true;
}

struct fixture {
    struct listener l;
    struct pw_code_function code;
    struct pw_code_instruction instructions[64];
    struct pw_capture_warps *w;
    struct pw_error err;
};

static void start(struct fixture *f, uint32_t threads, const struct instruction *code, uint32_t count)
{
    uint8_t bytes[64 * 16];
    memset(f, 0, sizeof *f);
    struct pw_capture_kernel kernel = {.threads = threads, .address = BASE};
    if (code) {
        encode(bytes, code, count, 1);
        pw_code_decode(bytes, count + 1, f->instructions);
        f->code = (struct pw_code_function){.instructions = f->instructions, .count = count + 1};
        kernel.code = &f->code;
    }
    f->w = pw_capture_warps_new(&kernel, listen, &f->l);
    assert_non_null(f->w);
}

static enum pw_status put(struct fixture *f, uint32_t cta, uint32_t warp, uint32_t at, struct pw_capture_cell head)
{
    static const uint64_t addresses[32] = {5, 6, 7};
    head.valid = 1;
    head.mask = head.mask ? head.mask : PW_ALL_LANES;
    head.cta = cta;
    head.place = (BASE + 16ULL * at) | (uint64_t)warp << PW_CAPTURE_WARP_SHIFT;
    return pw_capture_warps_take(f->w, &head, addresses, &f->err);
}

static void record(struct fixture *f, uint32_t at, enum pw_capture_kind kind)
{
    assert_int_equal(put(f, 0, 0, at, (struct pw_capture_cell){.kind = (uint8_t)kind, .bytes = 4, .stride = 4}), PW_OK);
}

static void expect(struct fixture *f, const char *text)
{
    assert_string_equal(f->l.text, text);
    f->l.used = 0;
    f->l.text[0] = 0;
}

/* 0 other, 1 load (SB0), 2 load (SB1), 3 other, 4 uses SB0, 5 other, 6 store uses SB1, 7 back to 1, 8 exit. */
static const struct instruction code[] = {
    {OTHER, ALWAYS, 0, 0, 0}, {OTHER, ALWAYS, 0, 1, 0}, {OTHER, ALWAYS, 0, 2, 0},
    {OTHER, ALWAYS, 0, 0, 0}, {OTHER, ALWAYS, 0, 0, 1}, {OTHER, ALWAYS, 0, 0, 0},
    {OTHER, ALWAYS, 0, 0, 2}, {BRANCH, 0, 1, 0, 0},     {EXIT_CODE, ALWAYS, 0, 0, 0},
};
enum { CODE = sizeof code / sizeof code[0] };

static void first_uses_are_where_the_code_waits(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, code, CODE);
    record(&f, 1, PW_CAPTURE_LOAD);
    record(&f, 2, PW_CAPTURE_LOAD);
    record(&f, 6, PW_CAPTURE_STORE);
    expect(&f, "c1 L L c1 c2/1 S/0 ");
    record(&f, 1, PW_CAPTURE_LOAD); /* around the loop */
    record(&f, 2, PW_CAPTURE_LOAD);
    record(&f, 6, PW_CAPTURE_STORE);
    expect(&f, "c1 L L c1 c2/1 S/0 ");
    record(&f, 8, PW_CAPTURE_EXIT);
    expect(&f, "c1 X end0 ");
    assert_int_equal(pw_capture_warps_get_counts(f.w).guessed, 0);
    pw_capture_warps_free(f.w);
}

/* What waits for an earlier load on the same scoreboard waits for the later one too; what has arrived is not waited for
 * again. */
static void a_scoreboard_counts_all_its_loads(void **state)
{
    (void)state;
    static const struct instruction same[] = {{OTHER, ALWAYS, 0, 1, 0}, {OTHER, ALWAYS, 0, 2, 0},
                                              {OTHER, ALWAYS, 0, 1, 0}, {OTHER, ALWAYS, 0, 0, 1},
                                              {OTHER, ALWAYS, 0, 0, 2}, {OTHER, ALWAYS, 0, 0, 1}};
    struct fixture f;
    start(&f, 32, same, 6);
    for (uint32_t i = 0; i < 3; i++)
        record(&f, i, PW_CAPTURE_LOAD);
    record(&f, 3, PW_CAPTURE_WAYPOINT);
    record(&f, 4, PW_CAPTURE_WAYPOINT);
    record(&f, 5, PW_CAPTURE_BARRIER);
    expect(&f, "L L L c2/0 B ");
    pw_capture_warps_free(f.w);
}

static void an_atomic_returns_if_the_code_says_so(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, code, CODE);
    record(&f, 1, PW_CAPTURE_ATOMIC);
    record(&f, 3, PW_CAPTURE_ATOMIC);
    record(&f, 4, PW_CAPTURE_STORE);
    expect(&f, "c1 R c1 A S/0 ");
    pw_capture_warps_free(f.w);
}

static void without_code_distances_count_and_stores_wait(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, NULL, 0);
    record(&f, 10, PW_CAPTURE_LOAD);
    record(&f, 14, PW_CAPTURE_LOAD);
    record(&f, 15, PW_CAPTURE_STORE);
    record(&f, 10, PW_CAPTURE_LOAD);
    record(&f, 1000000, PW_CAPTURE_BARRIER);
    record(&f, 1000001, PW_CAPTURE_ATOMIC);
    expect(&f, "L c3 L S/0 c1 L c1 B/0 R ");
    assert_int_equal(pw_capture_warps_get_counts(f.w).guessed, 6);
    pw_capture_warps_free(f.w);
}

static void distances_from_the_first_instruction_do_as_well(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, code, CODE);
    struct pw_capture_cell head = {.valid = 1, .kind = PW_CAPTURE_LOAD, .bytes = 4, .mask = 1, .place = 16};
    assert_int_equal(pw_capture_warps_take(f.w, &head, NULL, &f.err), PW_OK);
    head.place = 32;
    assert_int_equal(pw_capture_warps_take(f.w, &head, NULL, &f.err), PW_OK);
    expect(&f, "c1 L L ");
    pw_capture_warps_free(f.w);
}

static void addresses_are_handed_on(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, NULL, 0);
    put(&f, 0, 0, 1, (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .bytes = 8, .base = 1000, .stride = -8});
    assert_int_equal(f.l.words[0], 1000);
    assert_true(f.l.words[1] == (uint64_t)-8);
    put(&f, 0, 0, 1,
        (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .form = PW_CAPTURE_LANES, .bytes = 8, .mask = 7});
    assert_int_equal(f.l.words[2], 7);
    struct pw_capture_warps_counts counts = pw_capture_warps_get_counts(f.w);
    assert_int_equal(counts.operations, 2);
    assert_int_equal(counts.divergent, 1);
    pw_capture_warps_free(f.w);
}

/* Two groups of copies, then a wait for all but the youngest group, then for all. */
static void a_wait_is_for_groups_of_copies(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, code, CODE);
    record(&f, 0, PW_CAPTURE_COPY);
    record(&f, 0, PW_CAPTURE_COPY);
    record(&f, 3, PW_CAPTURE_COMMIT);
    f.l.used = 0;
    record(&f, 3, PW_CAPTURE_COPY);
    record(&f, 3, PW_CAPTURE_COMMIT);
    f.l.used = 0;
    put(&f, 0, 0, 3, (struct pw_capture_cell){.kind = PW_CAPTURE_WAIT, .stride = 1});
    record(&f, 4, PW_CAPTURE_BARRIER);
    assert_non_null(strstr(f.l.text, "c1/1 B "));
    f.l.used = 0;
    put(&f, 0, 0, 3, (struct pw_capture_cell){.kind = PW_CAPTURE_WAIT, .stride = 0});
    record(&f, 4, PW_CAPTURE_BARRIER);
    assert_non_null(strstr(f.l.text, "c1/0 B "));
    pw_capture_warps_free(f.w);
}

static void a_bulk_copy_is_loads_of_512_bytes(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, NULL, 0);
    put(&f, 0, 0, 1, (struct pw_capture_cell){.kind = PW_CAPTURE_BULK, .bytes = 16, .stride = 70, .base = 4096});
    expect(&f, "L L L ");
    assert_int_equal(f.l.words[0], 4096 + 1024);
    pw_capture_warps_free(f.w);
}

static void a_cta_ends_when_all_lanes_of_all_warps_have(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 40, code, CODE); /* a warp of 32 threads and one of 8 */
    struct pw_capture_cell end = {.kind = PW_CAPTURE_EXIT, .mask = 0xffff};
    put(&f, 3, 0, 8, end);
    expect(&f, ""); /* half a warp */
    end.mask = 0xff;
    put(&f, 3, 1, 8, end);
    assert_int_equal(f.l.ends, 0);
    end.mask = 0xffff0000U;
    put(&f, 3, 0, 8, end);
    assert_int_equal(f.l.ends, 1);
    assert_non_null(strstr(f.l.text, "X end3 "));
    struct pw_capture_warps_counts counts = pw_capture_warps_get_counts(f.w);
    assert_int_equal(counts.ctas, 1);
    assert_int_equal(counts.ended, 1);
    pw_capture_warps_free(f.w);
}

/* 0 jumps to 2 under a predicate, 1 other, 2 joins, 3 other, 4 back to 0 under a predicate, 5 ends. */
static const struct instruction parting[] = {
    {BRANCH, 0, 2, 0, 0},     {OTHER, ALWAYS, 0, 0, 0}, {JOIN_CODE, ALWAYS, 0, 0, 0},
    {OTHER, ALWAYS, 0, 0, 0}, {BRANCH, 0, 0, 0, 0},     {EXIT_CODE, ALWAYS, 0, 0, 0},
};

static void put_lanes(struct fixture *f, uint32_t at, enum pw_capture_kind kind, uint32_t lanes)
{
    assert_int_equal(put(f, 0, 0, at, (struct pw_capture_cell){.kind = (uint8_t)kind, .mask = lanes}), PW_OK);
}

static void lanes_that_join_have_executed_the_join(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, parting, 6);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xff);
    put_lanes(&f, 3, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "c4 B "); /* 0, 1 and the join, by those that came from 1 and by the rest */
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, PW_ALL_LANES);
    put_lanes(&f, 3, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "c4 B "); /* 4, 0, 1 and the join, by all */
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xff);
    put_lanes(&f, 3, PW_CAPTURE_BARRIER, 0xff);
    expect(&f, "c4 B "); /* the rest has not come */
    pw_capture_warps_free(f.w);

    /* Where a predicate decides which lanes access memory, none has gone another way. */
    struct instruction guarded[6];
    memcpy(guarded, parting, sizeof guarded);
    guarded[1].predicate = 0;
    start(&f, 32, guarded, 6);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xff);
    put_lanes(&f, 3, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "c3 B ");
    pw_capture_warps_free(f.w);
}

/* 0 other, 1 generic load (SB0) after a load's SB1, 2 its use, 3 joins, 4 back to 1 under a predicate, 5 ends. */
static const struct instruction generic[] = {
    {OTHER, ALWAYS, 0, 0, 0}, {GENERIC_LOAD_CODE, ALWAYS, 0, 1, 2},
    {OTHER, ALWAYS, 0, 0, 1}, {JOIN_CODE, ALWAYS, 0, 0, 0},
    {BRANCH, 0, 1, 0, 0},     {EXIT_CODE, ALWAYS, 0, 0, 0},
};

/* As an H200 reports it, the part that reaches shared memory before the other; and the other way round. */
static void a_generic_access_in_two_parts_is_one_instruction(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, generic, 6);
    static const struct pw_capture_cell part = {.kind = PW_CAPTURE_LOAD, .bytes = 4, .stride = 4, .mask = 0x55555555};
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xaaaaaaaa);
    put(&f, 0, 0, 1, part);
    put_lanes(&f, 4, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "c1 L c2/0 B ");
    for (int around = 0; around < 2; around++) { /* all of the warp comes by again */
        put(&f, 0, 0, 1, part);
        put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xaaaaaaaa);
    }
    put_lanes(&f, 4, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "L c3/0 L c2/0 B ");
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, PW_ALL_LANES);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0x0000ffff);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xffff0000); /* shared and local memory */
    put_lanes(&f, 4, PW_CAPTURE_BARRIER, PW_ALL_LANES);
    expect(&f, "c7 B ");
    assert_int_equal(pw_capture_warps_get_counts(f.w).guessed, 0);
    assert_int_equal(pw_capture_warps_get_counts(f.w).operations, 3);
    pw_capture_warps_free(f.w);
}

/* What the generic access waits for is waited for whichever of its parts comes first. */
static void a_generic_access_waits_in_either_part(void **state)
{
    (void)state;
    static const struct instruction behind[] = {
        {OTHER, ALWAYS, 0, 2, 0}, {GENERIC_LOAD_CODE, ALWAYS, 0, 1, 2}, {EXIT_CODE, ALWAYS, 0, 0, 0}};
    struct fixture f;
    start(&f, 32, behind, 3);
    record(&f, 0, PW_CAPTURE_LOAD);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xf0f0f0f0);
    put(&f, 0, 0, 1, (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .bytes = 4, .stride = 4, .mask = 0x0f0f0f0f});
    record(&f, 2, PW_CAPTURE_EXIT);
    expect(&f, "L L/0 X end0 ");
    pw_capture_warps_free(f.w);
}

/* Where lanes come to the same load one part after the other, it is executed twice. */
static void lanes_that_come_later_load_again(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, generic, 6);
    struct pw_capture_cell part = {.kind = PW_CAPTURE_LOAD, .bytes = 4, .stride = 4, .mask = 0x55555555};
    put(&f, 0, 0, 1, part);
    part.mask = ~part.mask;
    put(&f, 0, 0, 1, part);
    assert_int_equal(pw_capture_warps_get_counts(f.w).operations, 2);
    pw_capture_warps_free(f.w);
}

static void lanes_go_on_from_where_others_have_ended(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, parting, 6);
    put_lanes(&f, 3, PW_CAPTURE_WAYPOINT, PW_ALL_LANES);
    put_lanes(&f, 5, PW_CAPTURE_EXIT, 0xff);
    put_lanes(&f, 1, PW_CAPTURE_WAYPOINT, 0xffffff00);
    put_lanes(&f, 3, PW_CAPTURE_BARRIER, 0xffffff00);
    /* 0, 2, 3, and 4 before the end; the end; from 4 on 0, 1 and 2. */
    expect(&f, "c8 B ");
    assert_int_equal(pw_capture_warps_get_counts(f.w).guessed, 0);
    pw_capture_warps_free(f.w);
}

/* Different for all i that are used, and in no order. */
static uint32_t number(uint32_t i)
{
    return i * i * 12289 + i;
}

/* Every CTA begins before the one a thousand before it ends; none is taken for another. */
static void many_ctas_are_under_way(void **state)
{
    (void)state;
    enum { CTAS = 20000, AT_ONCE = 1000 };
    struct fixture f;
    start(&f, 64, code, CODE);
    f.l.quiet = true;
    for (uint32_t i = 0; i < CTAS + AT_ONCE; i++)
        for (uint32_t warp = 0; warp < 2; warp++) {
            if (i < CTAS)
                put(&f, number(i), warp, 1, (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .bytes = 4});
            if (i >= AT_ONCE)
                put(&f, number(i - AT_ONCE), warp, 8, (struct pw_capture_cell){.kind = PW_CAPTURE_EXIT});
        }
    struct pw_capture_warps_counts counts = pw_capture_warps_get_counts(f.w);
    assert_int_equal(counts.ctas, CTAS);
    assert_int_equal(counts.ended, CTAS);
    assert_int_equal(f.l.ends, CTAS);
    assert_int_equal(f.l.instructions, CTAS * 2 * 9); /* 0 to 6 (the branch at 7 taken or not), branch, exit */
    pw_capture_warps_free(f.w);
}

static void records_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t warp;
        struct pw_capture_cell head;
    } cases[] = {
        {1, {.kind = PW_CAPTURE_LOAD, .bytes = 4}},
        {0, {.kind = PW_CAPTURE_KIND_COUNT, .bytes = 4}},
        {0, {.kind = 0, .bytes = 4}},
        {0, {.kind = PW_CAPTURE_LOAD, .bytes = 4, .form = 2}},
    };
    struct fixture f;
    start(&f, 32, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(put(&f, 0, cases[i].warp, 1, cases[i].head), PW_FAILED);
    pw_capture_warps_free(f.w);
}

/* One instruction that is new to the recorder does not cost the whole trace. */
static void accesses_of_odd_sizes_are_instructions(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 32, NULL, 0);
    put(&f, 0, 0, 1, (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .bytes = 3});
    put(&f, 0, 0, 2, (struct pw_capture_cell){.kind = PW_CAPTURE_STORE, .form = PW_CAPTURE_LANES, .bytes = 32});
    put(&f, 0, 0, 3, (struct pw_capture_cell){.kind = PW_CAPTURE_LOAD, .bytes = 4});
    expect(&f, "c2 L ");
    assert_int_equal(pw_capture_warps_get_counts(f.w).odd_sizes, 2);
    assert_int_equal(pw_capture_warps_get_counts(f.w).operations, 1);
    pw_capture_warps_free(f.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_odd_sizes_are_instructions),
        cmocka_unit_test(first_uses_are_where_the_code_waits),
        cmocka_unit_test(a_scoreboard_counts_all_its_loads),
        cmocka_unit_test(an_atomic_returns_if_the_code_says_so),
        cmocka_unit_test(without_code_distances_count_and_stores_wait),
        cmocka_unit_test(distances_from_the_first_instruction_do_as_well),
        cmocka_unit_test(addresses_are_handed_on),
        cmocka_unit_test(a_wait_is_for_groups_of_copies),
        cmocka_unit_test(a_bulk_copy_is_loads_of_512_bytes),
        cmocka_unit_test(a_cta_ends_when_all_lanes_of_all_warps_have),
        cmocka_unit_test(lanes_that_join_have_executed_the_join),
        cmocka_unit_test(a_generic_access_in_two_parts_is_one_instruction),
        cmocka_unit_test(a_generic_access_waits_in_either_part),
        cmocka_unit_test(lanes_that_come_later_load_again),
        cmocka_unit_test(lanes_go_on_from_where_others_have_ended),
        cmocka_unit_test(many_ctas_are_under_way),
        cmocka_unit_test(records_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
