/* Frames under random operations, against an array of owners that is searched frame by frame. */
#include "page/frames.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BLOCKS = 70, FRAMES = BLOCKS * 512 };

static const enum pw_page_order ORDERS[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

static bool all_owned_by(const pw_owner *owners, uint32_t at, enum pw_page_order order, pw_owner owner)
{
    for (uint32_t i = 0; i < 1U << order; i++)
        if (owners[at + i] != owner)
            return false;
    return true;
}

static void set_owner(pw_owner *owners, uint32_t at, enum pw_page_order order, pw_owner owner)
{
    for (uint32_t i = 0; i < 1U << order; i++)
        owners[at + i] = owner;
}

/* FRAMES when there is none. */
static uint32_t naive_find(const pw_owner *owners, enum pw_page_order order, uint64_t from)
{
    uint64_t step = 1ULL << order;
    for (uint64_t at = (from + step - 1) / step * step; at < FRAMES; at += step)
        if (all_owned_by(owners, (uint32_t)at, order, PW_OWNER_FREE))
            return (uint32_t)at;
    return FRAMES;
}

struct model {
    struct pw_frames *frames;
    pw_owner owners[FRAMES];
    struct pw_random random;
};

static void step(struct model *m, unsigned release_share)
{
    enum pw_page_order order = ORDERS[(uint64_t[]){0, 0, 0, 1, 1, 2}[pw_random_below(&m->random, 6)]];
    pw_owner owner = (pw_owner)(PW_OWNER_APP + pw_random_below(&m->random, 2));
    uint32_t at = (uint32_t)(pw_random_below(&m->random, (uint64_t)FRAMES >> order) << order);
    if (pw_random_below(&m->random, 100) < release_share) {
        bool owned = all_owned_by(m->owners, at, order, owner);
        assert_int_equal(pw_frames_release(m->frames, order, (pw_pfn){at}, owner), owned);
        if (owned)
            set_owner(m->owners, at, order, PW_OWNER_FREE);
    } else if (pw_random_below(&m->random, 4) == 0) {
        bool is_free = all_owned_by(m->owners, at, order, PW_OWNER_FREE);
        assert_int_equal(pw_frames_take_at(m->frames, order, (pw_pfn){at}, owner), is_free);
        if (is_free)
            set_owner(m->owners, at, order, owner);
    } else {
        uint32_t from = pw_random_below(&m->random, 2) ? 0 : (uint32_t)pw_random_below(&m->random, FRAMES + 600);
        uint32_t expected = naive_find(m->owners, order, from);
        pw_pfn got = {FRAMES};
        assert_int_equal(pw_frames_take(m->frames, order, (pw_pfn){from}, owner, &got), expected < FRAMES);
        assert_int_equal(got.v, expected);
        if (expected < FRAMES)
            set_owner(m->owners, expected, order, owner);
    }
}

static void frames_agree_with_a_search_frame_by_frame(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct model *m = calloc(1, sizeof *m);
        struct pw_error err = {0};
        pw_random_init(&m->random, seed, "frames");
        assert_int_equal(pw_frames_create((uint64_t)FRAMES * PW_PAGE_BYTES, &m->frames, &err), PW_OK);
        /* Fills memory, then gives back more than it takes, then fills it again. */
        for (unsigned i = 0; i < 12000; i++) {
            step(m, i < 4000 ? 10 : i < 8000 ? 90 : 20);
            if (i % 1000 == 0 && pw_frames_check(m->frames, &err))
                fail_msg("%s", err.message);
        }
        uint64_t free_frames = 0, free_blocks = 0;
        for (uint32_t i = 0; i < FRAMES; i++) {
            assert_int_equal(pw_frames_owner(m->frames, (pw_pfn){i}), m->owners[i]);
            free_frames += m->owners[i] == PW_OWNER_FREE;
        }
        for (uint32_t i = 0; i < FRAMES; i += 512)
            free_blocks += all_owned_by(m->owners, i, PW_PAGE_2M, PW_OWNER_FREE);
        assert_int_equal(pw_frames_free(m->frames), free_frames);
        assert_int_equal(pw_frames_free_blocks(m->frames), free_blocks);
        pw_frames_destroy(m->frames);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_agree_with_a_search_frame_by_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
