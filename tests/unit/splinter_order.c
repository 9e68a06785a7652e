/* The order in which the bits of a large page are cleared and written, and its entry leaves the TLBs. All of it takes
 * place in one cycle, so only the calls themselves tell: the compactor is built into this test with its calls noted. */
#define pw_splinter noted_splinter
#define pw_compact_region noted_compact_region
#define pw_compact_make_room noted_compact_make_room
#define pw_pause_sms noted_pause_sms

#include "mosaic.h"

static char steps[256];

static void note(const char *step)
{
    strcat(steps, step);
    strcat(steps, " ");
}

static void noted_set_disabled(struct pw_page_table *t, pw_vpn vpn, unsigned count, bool on)
{
    note(on ? "disabled-on" : count == MOSAIC_PAGES ? "all-disabled-off" : "some-disabled-off");
    pw_page_table_set_disabled(t, vpn, count, on);
}

static void noted_set_large(struct pw_page_table *t, pw_vpn vpn, bool on)
{
    note(on ? "large-on" : "large-off");
    pw_page_table_set_large(t, vpn, on);
}

static void noted_write_entries(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned count, unsigned level,
                                pw_entries_taken *taken)
{
    note(level == 3 ? "write-level3" : count == MOSAIC_PAGES ? "write-level4" : "write-some-level4");
    pw_write_entries(m, asid, vpn, count, level, taken);
}

#define pw_page_table_set_disabled noted_set_disabled
#define pw_page_table_set_large noted_set_large
#define pw_write_entries noted_write_entries
#include "vm/compactor.c"

static void note_flush(struct mosaic *w, const struct mosaic_shootdown *s)
{
    (void)w;
    (void)s;
    note("flush");
}

/* mosaic-sec44-splinter-order, mosaic-sec44-splinter-flush, mosaic-sec43-splinter-removes-large. */
static void disabled_bits_are_cleared_before_the_large_bit_and_tlbs_are_flushed_after_it(void **state)
{
    (void)state;
    struct mosaic w = {.blocks = 8, .on_shootdown = note_flush};
    mosaic_open(&w);
    pw_vpn a = mosaic_allocate(&w, 0, MOSAIC_PAGES);
    mosaic_translate(&w, 0, 0, a);
    noted_splinter(w.manager, 0, (pw_vpn){a.v + 77});
    assert_string_equal(steps, "all-disabled-off write-level4 large-off write-level3 flush ");
    assert_false(mosaic_has_large(&w, 0, 0, a));
    steps[0] = 0;
    noted_splinter(w.manager, 0, a);
    assert_string_equal(steps, "");
    mosaic_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disabled_bits_are_cleared_before_the_large_bit_and_tlbs_are_flushed_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
