/* What lies in the L2 before a kernel reads it (mem/l2_contents.c, system/contents.c): what the host has copied, in the
 * order in which it has, what was set on the device, and what else was there. The L2 is one set, so that its ways say
 * all. */
#include "gpu/gpu_internal.h"
#include "mem/memory_internal.h"
#include "timed.h"

enum { WAYS = 16, ARRAY_LINES = 40, ARRAY_BYTES = ARRAY_LINES * PW_LINE_BYTES };

static struct timed one_set(void (*body)(struct pw_host *, struct timed *), const char *occupied)
{
    return (struct timed){.design = "ideal-tlb",
                          .body = body,
                          .sets = {"dram.channels=1", "l2.slices=1", "l2.bytes=2KB", "l2.ways=16", "l2.copies=on",
                                   "l2.sectored=on", "l1d.launch_empties=on", occupied}};
}

static void nothing(struct pw_warp *w, struct timed *t)
{
    (void)w;
    (void)t;
}

/* Which lines of the array are in the L2, bit by bit, when its launches are over. */
static uint64_t lines_in_l2(struct timed *t)
{
    timed_run(t);
    const struct pw_cache *c = &pw_gpu_memory(t->system->nodes[0].gpu)->slices[0].cache;
    uint64_t lines = 0;
    for (uint64_t i = 0; i < ARRAY_LINES; i++)
        lines |= (uint64_t)(pw_cache_find_in(c, timed_line(t, i * PW_LINE_BYTES), 0).at >= 0) << i;
    return lines;
}

static void copied_by_default(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", ARRAY_BYTES, 1);
    timed_launch(h, t);
}

#define LAST (UINT64_C(1) << (ARRAY_LINES - 1))

/* 15 lines stay; the last way is the last one's. */
static void what_is_copied_first_stays_and_the_rest_takes_the_last_way(void **state)
{
    (void)state;
    struct timed t = one_set(copied_by_default, NULL);
    t.kernel = nothing;
    assert_int_equal(lines_in_l2(&t), 0x7fff | LAST);
    assert_int_equal(timed_count(&t, "dram.writes"), 0);
    timed_end(&t);
}

static void what_else_is_there_is_not_replaced_by_copies(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        uint64_t lines;
    } cases[] = {{"l2.occupied=0", 0x7fff | LAST},
                 {"l2.occupied=50", 0x7f | LAST},
                 {"l2.occupied=75", 7 | LAST},
                 {"l2.occupied=100", LAST}};
    for (unsigned i = 0; i < 4; i++) {
        struct timed t = one_set(copied_by_default, cases[i].set);
        t.kernel = nothing;
        assert_int_equal(lines_in_l2(&t), cases[i].lines);
        timed_end(&t);
    }
}

/* As many lines as there are ways, none of which is there: they take the places of copies that nobody has read, and
 * then of what else was there. */
static void reads_further_lines(struct pw_warp *w, struct timed *t)
{
    for (uint64_t line = 10; line < 10 + WAYS; line++)
        timed_fetch(w, t, line * PW_LINE_BYTES);
}

static void what_is_read_replaces_copies_first_and_then_what_else_is_there(void **state)
{
    (void)state;
    struct timed t = one_set(copied_by_default, "l2.occupied=50");
    t.kernel = reads_further_lines;
    assert_int_equal(lines_in_l2(&t), 0xffff << 10);
    assert_int_equal(timed_count(&t, "dram.read_bytes"), WAYS * PW_LINE_BYTES);
    timed_end(&t);
}

static void a_share_is_spread_over_the_sets(void **state)
{
    (void)state;
    struct timed t = one_set(copied_by_default, "l2.occupied=30");
    t.kernel = nothing;
    t.sets[2] = "l2.bytes=20KB"; /* 10 sets: 48 lines of 160 */
    timed_run(&t);
    const struct pw_cache *c = &pw_gpu_memory(t.system->nodes[0].gpu)->slices[0].cache;
    unsigned others = 0;
    for (uint32_t set = 0; set < c->sets.by; set++) {
        unsigned here = 0;
        for (unsigned way = 0; way < WAYS; way++)
            here += c->lines[set * c->stride + way] == PW_OTHER_LINE;
        assert_true(here == 4 || here == 5);
        others += here;
    }
    assert_int_equal(others, 48);
    timed_end(&t);
}

static void says_what_is_copied(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", ARRAY_BYTES, 1);
    pw_filled(h, &t->a, 10 * PW_LINE_BYTES, 2 * PW_LINE_BYTES, PW_CONTENTS_COPIED);
    pw_filled(h, &t->a, 4 * PW_LINE_BYTES + 4, 8, PW_CONTENTS_COPIED); /* a part of line 4 */
    timed_launch(h, t);
}

static void copies_line_1_and_later_line_0(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", ARRAY_BYTES, 1);
    for (uint64_t line = 2; line > 0; line--) {
        pw_filled(h, &t->a, (line - 1) * PW_LINE_BYTES, PW_LINE_BYTES, PW_CONTENTS_COPIED);
        timed_launch(h, t);
    }
}

static void a_program_that_says_what_it_copies_has_that_alone(void **state)
{
    (void)state;
    struct timed t = one_set(says_what_is_copied, NULL);
    t.kernel = nothing;
    assert_int_equal(lines_in_l2(&t), 3 << 10 | 1 << 4);
    timed_end(&t);
    t = one_set(copies_line_1_and_later_line_0, NULL);
    t.kernel = nothing;
    assert_int_equal(lines_in_l2(&t), 3);
    timed_end(&t);
}

/* Until all that is on its way to DRAM is there. */
static void stay(struct pw_warp *w, struct timed *t)
{
    (void)t;
    pw_compute(w, 10000);
}

static void sets_all(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", ARRAY_BYTES, 1);
    pw_filled(h, &t->a, 0, ARRAY_BYTES, PW_CONTENTS_SET);
    timed_launch(h, t);
}

/* As if a kernel had stored it: the last lines are there and dirty, and those before have been written to DRAM. */
static void what_is_set_on_the_device_is_written_there(void **state)
{
    (void)state;
    struct timed t = one_set(sets_all, "l2.occupied=100");
    t.kernel = stay;
    assert_int_equal(lines_in_l2(&t), UINT64_C(0xffff) << 24);
    assert_int_equal(timed_count(&t, "dram.write_bytes"), 24 * PW_LINE_BYTES);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_copied_first_stays_and_the_rest_takes_the_last_way),
        cmocka_unit_test(what_else_is_there_is_not_replaced_by_copies),
        cmocka_unit_test(what_is_read_replaces_copies_first_and_then_what_else_is_there),
        cmocka_unit_test(a_share_is_spread_over_the_sets),
        cmocka_unit_test(a_program_that_says_what_it_copies_has_that_alone),
        cmocka_unit_test(what_is_set_on_the_device_is_written_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
