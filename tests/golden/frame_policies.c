/* What each frame policy makes of two programs that start together, each with 5 MiB: two whole 2 MiB regions and a
 * half.
 *
 * One row for each policy. The numbers of first-free, contiguity and chunks follow from their rules; that of random
 * is recorded. */
#include "timed.h"

#include <stdio.h>

static const struct {
    const char *name;
    unsigned coalescible; /* regions of the two programs that could become large pages as they are */
    unsigned mixed;       /* large frames with pages of both */
    uint64_t held;        /* bytes of large frames; 0: the policy does not tell them apart */
} rows[] = {
    /* 1280 pages and 6 nodes of page table each, lowest frame first, in turn: 2572 frames in 6 large ones. */
    {"first-free", 0, 6, 0},
    {"random", 0, 473, 0},
    /* Three large frames each; page tables lie elsewhere. */
    {"contiguity", 4, 0, 12 << 20},
    /* The halves take 16 small pieces each and the page tables one: 33, of which 32 fill the first block. */
    {"chunks", 4, 1, 0},
};

static unsigned count_coalescible(const struct timed *t)
{
    unsigned n = 0;
    for (unsigned app = 0; app < 2; app++)
        for (uint64_t region = 0; region < 3; region++) {
            const struct pw_address_space *space = &t->system->spaces[app];
            n += pw_page_table_can_coalesce(space->table, (pw_vpn){space->ranges[0].first + region * 512});
        }
    return n;
}

static unsigned count_mixed(const struct timed *t)
{
    const struct pw_frames *frames = t->system->nodes[0].physical.frames;
    unsigned n = 0;
    for (uint32_t block = 0; block < pw_frames_total(frames) / 512; block++) {
        bool has[2] = {false, false};
        for (uint32_t i = 0; i < 512; i++) {
            pw_owner owner = pw_frames_owner(frames, (pw_pfn){block * 512 + i});
            has[0] |= owner == PW_OWNER_APP;
            has[1] |= owner == PW_OWNER_APP + 1;
        }
        n += has[0] && has[1];
    }
    return n;
}

enum { LOOKED, COALESCIBLE, MIXED };

/* Looks at memory when the first program starts: both have their frames, and none has started over. */
static void look(struct pw_warp *w, struct timed *t)
{
    timed_fetch(w, t, 0);
    if (t->app || t->n[LOOKED]++)
        return;
    t->n[COALESCIBLE] = count_coalescible(t);
    t->n[MIXED] = count_mixed(t);
}

static void policies_place_pages_as_they_always_did(void **state)
{
    (void)state;
    size_t policy = 0;
    for (; pw_frame_family.policies[policy]; policy++) {
        char set[64];
        snprintf(set, sizeof set, "page.frames=%s", pw_frame_family.policies[policy]->name);
        struct timed neighbour = {.bytes = 5 << 20, .kernel = look};
        struct timed t = {.bytes = 5 << 20, .kernel = look, .sets = {set}, .neighbours = {&neighbour}};
        timed_run(&t);
        assert_true(policy < sizeof rows / sizeof *rows);
        assert_string_equal(rows[policy].name, pw_frame_family.policies[policy]->name);
        assert_int_equal(t.n[COALESCIBLE], rows[policy].coalescible);
        assert_int_equal(t.n[MIXED], rows[policy].mixed);
        assert_int_equal(pw_stats_find(t.system->stats, "mem.held_bytes") >= 0, rows[policy].held > 0);
        if (rows[policy].held) {
            assert_int_equal(timed_count(&t, "mem.held_bytes"), rows[policy].held);
            assert_int_equal(timed_count(&t, "page.guarantee_violations"), 0);
        }
        assert_int_equal(timed_count(&t, "mem.mapped_bytes"), 10 << 20);
        timed_end(&t);
    }
    assert_int_equal(policy, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(policies_place_pages_as_they_always_did)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
