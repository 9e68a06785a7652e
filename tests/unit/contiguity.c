/* Contiguity-conserving allocation (Mosaic, Sections 4.1, 4.2 and 4.4): what each list holds, and what is given from
 * which. */
#include "policies.h"
#include "policy/frame/frame_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAGES = 512, A = PW_OWNER_APP, B = PW_OWNER_APP + 1, TABLE_A = PW_OWNER_TABLE };

struct memory {
    const struct pw_frame_policy *policy;
    struct pw_frames *frames;
    void *state;
    struct pw_policy_use use;
};

/* With pre-fragmented data in the first page of each of the first `fragmented` blocks. */
static struct memory open_memory(uint32_t blocks, uint32_t fragmented)
{
    struct memory m = {0};
    struct pw_error err;
    struct pw_random random;
    m.policy = pw_frame_policy_of(policy_named(&pw_frame_family, "contiguity"));
    assert_int_equal(pw_frames_create((uint64_t)blocks * PAGES * PW_PAGE_BYTES, &m.frames, &err), PW_OK);
    for (uint32_t b = 0; b < fragmented; b++)
        assert_true(pw_frames_take_at(m.frames, PW_PAGE_4K, (pw_pfn){b * PAGES}, PW_OWNER_FRAGMENT));
    pw_random_init(&random, 1, "frames");
    struct pw_frame_environment environment = {m.frames, &random};
    m.state = policy_instance(&m.use, &pw_frame_family, &m.policy->head, &environment);
    return m;
}

static void close_memory(struct memory *m)
{
    struct pw_error err = {0};
    if (pw_frames_check(m->frames, &err))
        fail_msg("%s", err.message);
    pw_frames_destroy(m->frames);
    pw_policy_use_release(&m->use);
}

static bool ask(struct memory *m, struct pw_frame_request request, uint32_t *out)
{
    pw_pfn at = {UINT32_MAX};
    bool given = m->policy->allocate(m->state, m->frames, &request, &at);
    *out = at.v;
    return given;
}

/* A page of a region that its allocation fills; any other page; the same as a last resort. */
static uint32_t take_whole(struct memory *m, pw_owner owner, uint64_t vpn)
{
    uint32_t at;
    assert_true(ask(m, (struct pw_frame_request){.owner = owner, .vpn = {vpn}, .whole_region = true}, &at));
    return at;
}

static bool can_take_whole(struct memory *m, pw_owner owner, uint64_t vpn)
{
    uint32_t at;
    return ask(m, (struct pw_frame_request){.owner = owner, .vpn = {vpn}, .whole_region = true}, &at);
}

static uint32_t take_any(struct memory *m, pw_owner owner)
{
    uint32_t at;
    assert_true(ask(m, (struct pw_frame_request){.owner = owner}, &at));
    return at;
}

static bool can_take_any(struct memory *m, pw_owner owner)
{
    uint32_t at;
    return ask(m, (struct pw_frame_request){.owner = owner}, &at);
}

static uint32_t take_last(struct memory *m, pw_owner owner)
{
    uint32_t at;
    assert_true(ask(m, (struct pw_frame_request){.owner = owner, .last_resort = true}, &at));
    return at;
}

static bool can_take_last(struct memory *m, pw_owner owner)
{
    uint32_t at;
    return ask(m, (struct pw_frame_request){.owner = owner, .last_resort = true}, &at);
}

static void give_back(struct memory *m, pw_owner owner, uint32_t at)
{
    m->policy->release(m->state, m->frames, &(struct pw_frame_request){.owner = owner}, (pw_pfn){at});
}

static void fill_region(struct memory *m, pw_owner owner, uint64_t region)
{
    for (uint32_t i = 0; i < PAGES; i++)
        take_whole(m, owner, region * PAGES + i);
}

static void coalesce(struct memory *m, uint32_t block, bool on)
{
    m->policy->blocks->coalesced(m->state, m->frames, (pw_pfn){block * PAGES}, on);
}

static uint64_t held(const struct memory *m, pw_owner owner)
{
    return m->policy->blocks->held(m->state, m->frames, owner);
}

static uint64_t violations(const struct memory *m)
{
    return m->policy->blocks->violations(m->state);
}

/* Decides mosaic-fig01b-single-app-frame, mosaic-sec42-split-into-2m, mosaic-sec42-aligned-alloc and
 * mosaic-sec1-large-page-frame: requests that come in turn, and in an order that is not that of the addresses, still
 * fill one aligned large frame for each aligned region, in virtual order. */
static void a_region_of_one_allocation_gets_a_large_frame_of_its_own(void **state)
{
    (void)state;
    struct memory m = open_memory(8, 0);
    for (uint32_t i = 0; i < 2 * PAGES; i++) {
        uint32_t page = i * 37 % (2 * PAGES);
        uint32_t a = take_whole(&m, A, 0x800 * PAGES + page), b = take_whole(&m, B, 0x800 * PAGES + page);
        assert_int_equal(a % PAGES, page % PAGES);
        assert_int_equal(b % PAGES, page % PAGES);
        assert_int_equal(pw_frames_free_blocks(m.frames), i * 37 < PAGES ? 6 : 4);
    }
    assert_int_equal(pw_frames_free_blocks(m.frames), 4);
    for (uint32_t f = 0; f < 4 * PAGES; f++)
        assert_int_equal(pw_frames_owner(m.frames, (pw_pfn){f}),
                         pw_frames_owner(m.frames, (pw_pfn){f / PAGES * PAGES}));
    assert_int_equal(held(&m, A), 2 * PAGES);
    assert_int_equal(violations(&m), 0);
    close_memory(&m);
}

/* Decides mosaic-sec42-base-alloc, mosaic-sec42-base-list-refill, mosaic-sec42-free-base-lists and
 * mosaic-sec41-soft-guarantee: an application has its own list; when it is empty one large frame adds its 512 pages. */
static void other_pages_come_from_the_applications_own_frames(void **state)
{
    (void)state;
    struct memory m = open_memory(6, 0);
    for (uint32_t i = 0; i < PAGES; i++) {
        assert_int_equal(take_any(&m, A) / PAGES, 0);
        assert_int_equal(take_any(&m, B) / PAGES, 1);
        assert_int_equal(pw_frames_free_blocks(m.frames), 4);
    }
    assert_int_equal(take_any(&m, A) / PAGES, 2);
    assert_int_equal(pw_frames_free_blocks(m.frames), 3);
    give_back(&m, A, 77);
    give_back(&m, B, PAGES + 99);
    for (uint32_t i = 1; i < PAGES; i++)
        assert_int_equal(take_any(&m, A) / PAGES, 2);
    assert_int_equal(take_any(&m, A), 77);
    assert_int_equal(take_any(&m, B), PAGES + 99);
    assert_int_equal(held(&m, A), 2 * PAGES);
    assert_int_equal(held(&m, B), PAGES);
    close_memory(&m);
}

/* Decides mosaic-sec42-other-pages: what cannot be contiguous does not use up frames that are reserved for regions. */
static void other_pages_keep_out_of_regions(void **state)
{
    (void)state;
    struct memory m = open_memory(4, 0);
    take_whole(&m, A, 5 * PAGES + 3);
    assert_int_equal(take_any(&m, A), PAGES);
    assert_int_equal(take_any(&m, A), PAGES + 1);
    assert_int_equal(take_whole(&m, A, 5 * PAGES + 4), 4);
    assert_int_equal(take_any(&m, TABLE_A), 2 * PAGES);
    close_memory(&m);
}

/* Decides mosaic-sec42-free-frame-list and mosaic-sec44-frame-to-free-list: a frame is on the list exactly while it has
 * no page, and then belongs to nobody. */
static void a_frame_without_pages_is_anybodys(void **state)
{
    (void)state;
    struct memory m = open_memory(3, 0);
    fill_region(&m, A, 9);
    coalesce(&m, 0, true);
    take_any(&m, A);
    take_any(&m, TABLE_A);
    assert_int_equal(pw_frames_free_blocks(m.frames), 0);
    assert_false(can_take_any(&m, B));
    give_back(&m, A, PAGES);
    assert_int_equal(pw_frames_free_blocks(m.frames), 1);
    assert_int_equal(held(&m, A), PAGES);
    assert_int_equal(take_any(&m, B), PAGES);
    for (uint32_t i = 0; i < PAGES; i++)
        give_back(&m, A, i);
    assert_int_equal(held(&m, A), 0);
    assert_int_equal(take_whole(&m, B, 9 * PAGES + 1), 1);
    give_back(&m, TABLE_A, 2 * PAGES);
    assert_int_equal(take_whole(&m, A, 9 * PAGES + 1), 2 * PAGES + 1);
    close_memory(&m);
}

/* Decides mosaic-sec42-frames-exhausted, the allocator's half: without a free frame it gives nothing, neither to a
 * region nor to an application without free base pages, so that room is made first. */
static void without_free_frames_the_answer_is_no(void **state)
{
    (void)state;
    struct memory m = open_memory(2, 0);
    take_any(&m, A);
    take_whole(&m, B, 0);
    assert_false(can_take_whole(&m, A, 4 * PAGES));
    assert_false(can_take_whole(&m, B, 4 * PAGES));
    assert_false(can_take_any(&m, B));
    assert_true(can_take_any(&m, A));
    assert_true(can_take_whole(&m, B, 1));
    assert_int_equal(violations(&m), 0);
    close_memory(&m);
}

/* What breaks no guarantee comes first, then what is nobody's yet, then frames of others, and each of those is
 * counted. */
static void the_last_resort_breaks_the_guarantee_only_when_it_must(void **state)
{
    (void)state;
    struct memory m = open_memory(4, 1);
    take_any(&m, A);
    take_whole(&m, A, 7 * PAGES);
    take_whole(&m, B, 7 * PAGES);
    for (uint32_t i = 1; i < PAGES; i++)
        assert_int_equal(take_last(&m, A), PAGES + i); /* its own free base pages */
    for (uint32_t i = 1; i < PAGES; i++)
        assert_int_equal(take_last(&m, A), i); /* among pre-fragmented data */
    assert_int_equal(violations(&m), 0);
    for (uint32_t i = 1; i < PAGES; i++)
        assert_int_equal(take_last(&m, A), 2 * PAGES + i); /* reserved for a region of its own */
    assert_int_equal(violations(&m), 0);
    assert_int_equal(held(&m, A), 2 * PAGES + PAGES - 1);
    assert_int_equal(take_last(&m, A), 3 * PAGES + 1); /* reserved for a region of another's */
    assert_int_equal(violations(&m), 1);
    assert_int_equal(held(&m, A), 3 * PAGES);
    assert_int_equal(take_whole(&m, B, 7 * PAGES + 2), 3 * PAGES + 2);
    assert_int_equal(violations(&m), 2);
    assert_int_equal(take_whole(&m, B, 7 * PAGES + 1), 3 * PAGES + 3); /* its place is taken */
    assert_int_equal(violations(&m), 3);
    for (uint32_t i = 4; i < PAGES; i++)
        take_last(&m, B);
    assert_false(can_take_last(&m, A) || can_take_last(&m, B));
    close_memory(&m);
}

static void applications_do_not_meet_in_fragmented_frames_while_there_are_enough(void **state)
{
    (void)state;
    struct memory m = open_memory(3, 3);
    assert_int_equal(take_last(&m, A), 1);
    assert_int_equal(take_last(&m, B), PAGES + 1);
    assert_int_equal(take_last(&m, A), 2);
    assert_int_equal(take_last(&m, B), PAGES + 2);
    assert_int_equal(take_any(&m, TABLE_A), 3);
    assert_int_equal(violations(&m), 0);
    assert_int_equal(take_last(&m, PW_OWNER_APP + 2), 2 * PAGES + 1);
    assert_int_equal(take_last(&m, PW_OWNER_APP + 3), 4);
    assert_int_equal(violations(&m), 1);
    close_memory(&m);
}

/* Decides mosaic-sec44-dealloc-frag: no page of a coalesced frame is given to another address, not even as a last
 * resort. */
static void what_is_free_in_a_coalesced_frame_is_nobodys(void **state)
{
    (void)state;
    struct memory m = open_memory(1, 0);
    fill_region(&m, A, 3);
    coalesce(&m, 0, true);
    for (uint32_t i = 0; i < 100; i++)
        give_back(&m, A, i);
    assert_false(can_take_any(&m, A) || can_take_last(&m, A) || can_take_last(&m, B) || can_take_any(&m, TABLE_A));
    assert_false(can_take_whole(&m, A, 3 * PAGES));
    coalesce(&m, 0, false);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(take_any(&m, A), i);
    close_memory(&m);
}

/* Decides mosaic-sec44-emergency-add: such frames are kept, in the order in which they came, until they are splintered
 * or empty. An application has its own splintered before those of others, and those only when nothing else is free. */
static void coalesced_frames_with_free_pages_are_kept_for_an_emergency(void **state)
{
    (void)state;
    struct memory m = open_memory(5, 0);
    const struct pw_frame_blocks *blocks = m.policy->blocks;
    pw_pfn kept;
    for (uint32_t b = 0; b < 4; b++) {
        fill_region(&m, b == 2 ? B : A, 20 + b);
        coalesce(&m, b, true);
    }
    assert_false(blocks->emergency(m.state, A, &kept));
    static const uint32_t order[] = {2, 3, 0};
    for (unsigned i = 0; i < 3; i++) {
        give_back(&m, i ? A : B, order[i] * PAGES + 5);
        blocks->keep_for_emergency(m.state, (pw_pfn){order[i] * PAGES});
    }
    blocks->keep_for_emergency(m.state, (pw_pfn){3 * PAGES});
    uint32_t odd = take_any(&m, A);
    assert_true(blocks->emergency(m.state, A, &kept));
    assert_true(blocks->emergency(m.state, A, &kept));
    assert_int_equal(kept.v, 3 * PAGES);
    coalesce(&m, 3, false);
    assert_true(blocks->emergency(m.state, A, &kept));
    assert_int_equal(kept.v, 0);
    for (uint32_t i = 0; i < PAGES; i++)
        if (i != 5)
            give_back(&m, A, i);
    assert_false(blocks->emergency(m.state, A, &kept)); /* others have, but there is something free */
    assert_true(blocks->emergency(m.state, B, &kept));
    assert_int_equal(kept.v, 2 * PAGES);
    for (uint32_t i = 1; i < 2 * PAGES + 1; i++)
        take_any(&m, A);
    assert_false(can_take_any(&m, A));
    assert_true(blocks->emergency(m.state, A, &kept));
    assert_int_equal(kept.v, 2 * PAGES);
    coalesce(&m, 2, false);
    assert_false(blocks->emergency(m.state, A, &kept) || blocks->emergency(m.state, B, &kept));
    assert_int_equal(take_last(&m, A), 2 * PAGES + 5);
    assert_int_equal(violations(&m), 1);
    give_back(&m, A, odd);
    close_memory(&m);
}

/* The allocator's half of compaction: the pages of several frames end up in one, and emptied frames are free. */
static void what_leaves_a_frame_that_is_emptied_goes_to_another(void **state)
{
    (void)state;
    struct memory m = open_memory(4, 0);
    const struct pw_frame_blocks *blocks = m.policy->blocks;
    for (uint32_t b = 0; b < 4; b++)
        fill_region(&m, A, b);
    for (uint32_t b = 0; b < 4; b++)
        for (uint32_t i = 120; i < PAGES; i++)
            give_back(&m, A, b * PAGES + i);
    for (uint32_t b = 1; b < 4; b++) {
        blocks->evacuate(m.state, m.frames, (pw_pfn){b * PAGES});
        for (uint32_t i = 0; i < 120; i++) {
            assert_int_equal(take_any(&m, A), b * 120 + i);
            give_back(&m, A, b * PAGES + i);
        }
        assert_int_equal(pw_frames_free_blocks(m.frames), b);
    }
    blocks->evacuate(m.state, m.frames, (pw_pfn){0});
    assert_int_equal(take_any(&m, A), PAGES);
    blocks->restore(m.state, m.frames, (pw_pfn){0});
    for (uint32_t i = 1; i < PAGES; i++)
        assert_int_equal(take_any(&m, A), PAGES + i);
    assert_int_equal(take_any(&m, A), 480);
    close_memory(&m);
}

/* Data is gathered in the fullest frames, so that the emptiest become free; while one is emptied nothing comes to
 * it. */
static void fragmented_frames_can_be_emptied_while_the_others_have_room(void **state)
{
    (void)state;
    struct memory m = open_memory(3, 3);
    const struct pw_frame_blocks *blocks = m.policy->blocks;
    pw_pfn block;
    for (uint32_t i = 1; i < 300; i++)
        assert_int_equal(take_any(&m, PW_OWNER_FRAGMENT), i);
    assert_true(blocks->fragmented(m.state, m.frames, &block));
    assert_int_equal(block.v, PAGES);
    blocks->evacuate(m.state, m.frames, block);
    assert_int_equal(take_any(&m, PW_OWNER_FRAGMENT), 300);
    give_back(&m, PW_OWNER_FRAGMENT, PAGES);
    assert_int_equal(pw_frames_free_blocks(m.frames), 1);
    assert_int_equal(take_whole(&m, A, 0), PAGES);
    assert_true(blocks->fragmented(m.state, m.frames, &block));
    assert_int_equal(block.v, 2 * PAGES);
    /* With one page left beside 301 there is room for all of them in one frame, but not in none. */
    blocks->evacuate(m.state, m.frames, block);
    assert_int_equal(take_any(&m, PW_OWNER_FRAGMENT), 301);
    give_back(&m, PW_OWNER_FRAGMENT, 2 * PAGES);
    assert_false(blocks->fragmented(m.state, m.frames, &block));
    for (uint32_t i = 302; i < PAGES; i++)
        take_any(&m, PW_OWNER_FRAGMENT);
    assert_false(can_take_any(&m, PW_OWNER_FRAGMENT));
    close_memory(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_of_one_allocation_gets_a_large_frame_of_its_own),
        cmocka_unit_test(other_pages_come_from_the_applications_own_frames),
        cmocka_unit_test(other_pages_keep_out_of_regions),
        cmocka_unit_test(a_frame_without_pages_is_anybodys),
        cmocka_unit_test(without_free_frames_the_answer_is_no),
        cmocka_unit_test(the_last_resort_breaks_the_guarantee_only_when_it_must),
        cmocka_unit_test(applications_do_not_meet_in_fragmented_frames_while_there_are_enough),
        cmocka_unit_test(what_is_free_in_a_coalesced_frame_is_nobodys),
        cmocka_unit_test(coalesced_frames_with_free_pages_are_kept_for_an_emergency),
        cmocka_unit_test(what_leaves_a_frame_that_is_emptied_goes_to_another),
        cmocka_unit_test(fragmented_frames_can_be_emptied_while_the_others_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
