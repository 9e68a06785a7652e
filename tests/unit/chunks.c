/* Frames in pieces of 2 MiB and 64 KiB (policy/frame/chunks.c): what lies together, in which order pieces come, and
 * what happens when they run out. */
#include "policies.h"
#include "policy/frame/frame_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 512, SMALL = 16, BLOCKS = 32, FRAMES = BLOCKS * PAGES };

struct memory {
    struct pw_frames *frames;
    struct pw_policy_use use;
    const struct pw_frame_policy *policy;
    void *state;
};

/* The first `fragmented` blocks have every second page taken; after that one 64 KiB run in each is given back. */
static struct memory open_with(uint64_t seed, uint32_t fragmented, const char *large, const char *small)
{
    struct memory m = {.policy = pw_frame_policy_of(policy_named(&pw_frame_family, "chunks"))};
    struct pw_policy_choice choice = policy_choice(&pw_frame_family, "chunks");
    struct pw_error err;
    struct pw_random random;
    policy_set(&pw_frame_family, &choice, "large", large);
    policy_set(&pw_frame_family, &choice, "small", small);
    pw_random_init(&random, seed, "frames");
    assert_int_equal(pw_frames_create((uint64_t)FRAMES * PW_PAGE_BYTES, &m.frames, &err), PW_OK);
    for (uint32_t at = 0; at < fragmented * PAGES; at += 2)
        if (at % PAGES / SMALL != 3)
            assert_true(pw_frames_take_at(m.frames, PW_PAGE_4K, (pw_pfn){at}, PW_OWNER_FRAGMENT));
    struct pw_frame_environment environment = {m.frames, &random};
    assert_int_equal(pw_policy_use_init(&m.use, NULL, "frame", &m.policy->head, &choice, PW_MAX_APPS, &err), PW_OK);
    assert_int_equal(pw_policy_use_add(&m.use, &environment, &m.state, &err), PW_OK);
    return m;
}

static struct memory open_memory(uint64_t seed)
{
    return open_with(seed, 0, "2MB", "64KB");
}

static void close_memory(struct memory *m)
{
    struct pw_error err = {0};
    if (pw_frames_check(m->frames, &err) != PW_OK)
        fail_msg("%s", err.message);
    pw_policy_use_release(&m->use);
    pw_frames_destroy(m->frames);
}

static bool ask(struct memory *m, struct pw_frame_request request, uint32_t *out)
{
    pw_pfn at;
    if (!m->policy->allocate(m->state, m->frames, &request, &at))
        return false;
    *out = at.v;
    assert_int_equal(pw_frames_owner(m->frames, at), request.owner);
    return true;
}

static uint32_t take(struct memory *m, pw_owner owner, uint64_t vpn, bool whole_region)
{
    uint32_t at = 0;
    assert_true(ask(m, (struct pw_frame_request){.owner = owner, .vpn = {vpn}, .whole_region = whole_region}, &at));
    return at;
}

static void give_back(struct memory *m, pw_owner owner, uint64_t vpn, uint32_t at)
{
    struct pw_frame_request request = {.owner = owner, .vpn = {vpn}};
    m->policy->release(m->state, m->frames, &request, (pw_pfn){at});
    assert_int_equal(pw_frames_owner(m->frames, (pw_pfn){at}), PW_OWNER_FREE);
}

/* comp-sec53-range-os: whoever hands out frames decides how long runs of consecutive frames are. */
static void consecutive_pages_have_consecutive_frames_within_a_piece(void **state)
{
    (void)state;
    struct memory m = open_memory(1);
    uint32_t first[3] = {0}, small = 0;
    /* Two applications page by page, so that each piece is opened before the other's is full. */
    for (uint32_t i = 0; i < 3 * PAGES; i++) {
        uint32_t at = take(&m, PW_OWNER_APP, i, true),
                 other = take(&m, PW_OWNER_APP + 1, i % 64 + i / 64 * 4096, false);
        if (i % PAGES == 0)
            first[i / PAGES] = at;
        assert_int_equal(at, first[i / PAGES] + i % PAGES);
        assert_int_equal(other % SMALL, i % SMALL);
        if (i % SMALL == 0)
            small = other;
        assert_int_equal(other, small + i % SMALL);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(first[i] % PAGES, 0);
    assert_true(first[1] != first[0] + PAGES || first[2] != first[1] + PAGES);
    /* From the middle outwards, as pages come on demand: the places are the same. */
    uint32_t middle = take(&m, PW_OWNER_APP + 2, 5 * PAGES + 100, true);
    assert_int_equal(middle % PAGES, 100);
    assert_int_equal(take(&m, PW_OWNER_APP + 2, 5 * PAGES + 99, true), middle - 1);
    assert_int_equal(take(&m, PW_OWNER_APP + 2, 5 * PAGES + 511, true), middle + 411);
    assert_int_equal(take(&m, PW_OWNER_APP + 2, 9 * PAGES + 19, false) % SMALL, 3);
    close_memory(&m);
}

static void small_pieces_come_from_blocks_that_are_broken_up_already(void **state)
{
    (void)state;
    struct memory m = open_memory(2);
    uint32_t block = take(&m, PW_OWNER_APP, 0, false) / PAGES, descending = 0, before = 0;
    for (uint32_t i = 1; i < PAGES / SMALL; i++) {
        uint32_t at = take(&m, (pw_owner)(PW_OWNER_APP + i % 3), (uint64_t)i * 7 * SMALL, false);
        assert_int_equal(at / PAGES, block);
        descending += at < before;
        before = at;
    }
    assert_in_range(descending, 5, 26);
    assert_true(take(&m, PW_OWNER_APP, 1 << 20, false) / PAGES != block);
    assert_int_equal(pw_frames_free_blocks(m.frames), BLOCKS - 2);
    close_memory(&m);
    /* Fragmented blocks are broken up: their only whole 64 KiB go first, from any of them. */
    m = open_with(3, 8, "2MB", "64KB");
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t at = take(&m, PW_OWNER_APP, (uint64_t)i * SMALL, false);
        assert_true(at / PAGES < 8 && at % PAGES / SMALL == 3);
        seen |= 1U << at / PAGES;
    }
    assert_int_equal(seen, 0xff);
    assert_true(take(&m, PW_OWNER_APP, 1 << 20, false) / PAGES >= 8);
    close_memory(&m);
}

static void pieces_come_in_an_order_that_the_seed_draws(void **state)
{
    (void)state;
    uint32_t order[3][BLOCKS], same = 0, ascending = 0;
    const uint64_t seeds[] = {5, 5, 6};
    for (unsigned k = 0; k < 3; k++) {
        struct memory m = open_memory(seeds[k]);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < BLOCKS; i++) {
            order[k][i] = take(&m, PW_OWNER_APP, (uint64_t)i * PAGES, true) / PAGES;
            assert_false(seen >> order[k][i] & 1);
            seen |= 1U << order[k][i];
        }
        close_memory(&m);
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        same += order[0][i] == order[2][i];
        ascending += i && order[0][i] == order[0][i - 1] + 1;
    }
    assert_true(same < 6);
    assert_true(ascending < 6);
}

/* Where no large piece is left its pages take small ones, and then whatever is free. */
static void every_frame_is_used_before_a_request_fails(void **state)
{
    (void)state;
    static const char *const sizes[][2] = {{"2MB", "64KB"}, {"64KB", "64KB"}, {"2MB", "2MB"}, {"64KB", "2MB"}};
    for (unsigned k = 0; k < 4; k++)
        for (uint32_t fragmented = 0; fragmented <= BLOCKS; fragmented += BLOCKS / 2) {
            struct memory m = open_with(7, fragmented, sizes[k][0], sizes[k][1]);
            uint64_t left = pw_frames_free(m.frames);
            uint32_t at;
            /* Every third page, so that each piece has holes when the pieces are used up. */
            for (uint64_t i = 0; i < left; i++)
                take(&m, (pw_owner)(PW_OWNER_APP + i % 2), i * 3, i % 4 != 0);
            assert_int_equal(pw_frames_free(m.frames), 0);
            assert_false(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_APP, .last_resort = true}, &at));
            assert_false(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_TABLE}, &at));
            close_memory(&m);
        }
}

static void single_frames_come_from_outside_the_pieces_first(void **state)
{
    (void)state;
    struct memory m = open_with(8, 1, "2MB", "64KB");
    uint32_t vpn = 0;
    for (; vpn < BLOCKS - 1; vpn++)
        take(&m, PW_OWNER_APP, (uint64_t)vpn * PAGES, true);
    take(&m, PW_OWNER_APP + 1, 0, false); /* the last small piece */
    uint32_t in_fragmented = 0;
    for (uint32_t i = 0; i < 100; i++)
        in_fragmented += take(&m, PW_OWNER_APP + 1, (1 << 20) + i, false) < PAGES;
    assert_true(in_fragmented > 30); /* 248 of 16,000 free frames lie there */
    close_memory(&m);
}

static void a_piece_goes_back_with_its_last_frame(void **state)
{
    (void)state;
    struct memory m = open_memory(9);
    uint32_t large = take(&m, PW_OWNER_APP, 7, true), second = take(&m, PW_OWNER_APP, 9, true);
    uint32_t small = take(&m, PW_OWNER_APP, 1 << 20, false);
    give_back(&m, PW_OWNER_APP, 7, large);
    assert_int_equal(take(&m, PW_OWNER_APP, 7, true), large); /* its place is still kept */
    give_back(&m, PW_OWNER_APP, 7, large);
    give_back(&m, PW_OWNER_APP, 9, second);
    give_back(&m, PW_OWNER_APP, 1 << 20, small);
    assert_int_equal(pw_frames_free_blocks(m.frames), BLOCKS);
    uint32_t at;
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_true(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_APP, .order = PW_PAGE_2M}, &at));
    assert_false(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_APP, .order = PW_PAGE_2M}, &at));
    close_memory(&m);
}

static void page_tables_fill_small_pieces_and_leave_free_blocks_to_pages_of_2_mib(void **state)
{
    (void)state;
    struct memory m = open_memory(10);
    uint32_t first = take(&m, PW_OWNER_TABLE, 0, false), at;
    for (uint32_t i = 1; i < SMALL; i++)
        assert_int_equal(take(&m, (pw_owner)(PW_OWNER_TABLE + i % 3), 0, false), first + i);
    assert_int_equal(take(&m, PW_OWNER_TABLE, 0, false) / PAGES, first / PAGES);
    close_memory(&m);
    m = open_with(11, 2, "2MB", "64KB");
    assert_true(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_APP, .order = PW_PAGE_2M}, &at));
    for (uint32_t i = 0; i < 2 * (PAGES / 2 + SMALL / 2); i++)
        assert_true(take(&m, PW_OWNER_TABLE, 0, false) < 2 * PAGES);
    assert_true(take(&m, PW_OWNER_TABLE, 0, false) >= 2 * PAGES);
    close_memory(&m);
}

static void the_sizes_of_pieces_can_be_chosen(void **state)
{
    (void)state;
    struct memory m = open_with(12, 0, "64KB", "64KB");
    uint32_t first = take(&m, PW_OWNER_APP, 0, true);
    take(&m, PW_OWNER_APP + 1, 0, false);
    for (uint32_t i = 1; i < SMALL; i++)
        assert_int_equal(take(&m, PW_OWNER_APP, i, true), first + i);
    assert_true(take(&m, PW_OWNER_APP, SMALL, true) != first + SMALL);
    close_memory(&m);
    m = open_with(13, 0, "2MB", "2MB");
    first = take(&m, PW_OWNER_APP, 0, false);
    assert_int_equal(take(&m, PW_OWNER_APP, 511, false), first + 511);
    close_memory(&m);
}

struct run {
    struct pw_frame_request request;
    uint32_t at;
};

/* What is taken and given back at random leaves memory as it was, whatever the order. */
static void memory_comes_back_whole(void **state)
{
    (void)state;
    enum { LIVE = FRAMES };
    static const enum pw_page_order orders[] = {PW_PAGE_4K, PW_PAGE_4K, PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};
    struct run *live = calloc(LIVE, sizeof *live);
    struct memory m = open_with(14, 4, "2MB", "64KB");
    uint64_t left = pw_frames_free(m.frames), free_blocks = pw_frames_free_blocks(m.frames);
    struct pw_random random;
    uint32_t count = 0, at;
    pw_random_init(&random, 14, "test");
    for (uint32_t step = 0; step < 60000; step++) {
        bool grows = pw_random_below(&random, 100) < (step / 15000 % 2 ? 35 : 65);
        struct pw_frame_request r = {
            .owner = (pw_owner)(pw_random_below(&random, 8) ? PW_OWNER_APP + step % 3 : PW_OWNER_TABLE + step % 3),
            .vpn = {pw_random_below(&random, 1 << 16)},
            .order = orders[pw_random_below(&random, 5)]};
        r.vpn.v &= ~((1ULL << r.order) - 1);
        r.whole_region = r.vpn.v / PAGES % 2 && r.order != PW_PAGE_2M;
        if (grows && count < LIVE && ask(&m, r, &at)) {
            live[count++] = (struct run){r, at};
        } else if (grows && r.order == PW_PAGE_4K) {
            assert_int_equal(pw_frames_free(m.frames), 0);
        } else if (count) {
            uint32_t i = (uint32_t)pw_random_below(&random, count);
            m.policy->release(m.state, m.frames, &live[i].request, (pw_pfn){live[i].at});
            live[i] = live[--count];
        }
    }
    while (count--)
        m.policy->release(m.state, m.frames, &live[count].request, (pw_pfn){live[count].at});
    assert_int_equal(pw_frames_free(m.frames), left);
    assert_int_equal(pw_frames_free_blocks(m.frames), free_blocks);
    for (uint64_t i = 0; i < free_blocks; i++)
        assert_true(ask(&m, (struct pw_frame_request){.owner = PW_OWNER_APP, .order = PW_PAGE_2M}, &at));
    for (uint32_t i = 0; i < 4; i++) { /* and the small pieces of the fragmented blocks */
        at = take(&m, PW_OWNER_APP, (uint64_t)i * SMALL, false);
        assert_int_equal(at % PAGES / SMALL, 3);
    }
    free(live);
    close_memory(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consecutive_pages_have_consecutive_frames_within_a_piece),
        cmocka_unit_test(small_pieces_come_from_blocks_that_are_broken_up_already),
        cmocka_unit_test(pieces_come_in_an_order_that_the_seed_draws),
        cmocka_unit_test(every_frame_is_used_before_a_request_fails),
        cmocka_unit_test(single_frames_come_from_outside_the_pieces_first),
        cmocka_unit_test(a_piece_goes_back_with_its_last_frame),
        cmocka_unit_test(page_tables_fill_small_pieces_and_leave_free_blocks_to_pages_of_2_mib),
        cmocka_unit_test(the_sizes_of_pieces_can_be_chosen),
        cmocka_unit_test(memory_comes_back_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
