/* Frames numbered over the memories of several GPUs, and address spaces that lie on all of them: where pages are put,
 * where they go without room, and that they move without losing anything. */
#include "memories.h"
#include "vm/address_space.h"

#include "system/config.h"

enum { MB = 1 << 20, PAGES_A_MB = MB / PW_PAGE_BYTES, KEPT = 4 * PAGES_A_MB / 64 };

struct world {
    struct memories m;
    struct pw_placement placement;
    struct pw_policy_use use;
    struct pw_address_space space;
    struct pw_page_counters counters;
    struct pw_touched touched;
    struct pw_error err;
};

static void set_up(struct world *w, uint64_t bytes, const char *place)
{
    memset(w, 0, sizeof *w);
    struct pw_page_config config = memories_config("first-free", 8);
    const struct pw_policy *policy = policy_named(&pw_place_family, place);
    memories_open(&w->m, bytes, &config);
    w->placement =
        (struct pw_placement){pw_place_policy_of(policy), policy_instance(&w->use, &pw_place_family, policy, NULL)};
    assert_int_equal(pw_address_space_init(&w->space, 0, &config, &w->m.each[0], &w->counters, &w->touched, &w->err),
                     PW_OK);
    w->space.placement = &w->placement;
}

static void tear_down(struct world *w)
{
    pw_vpn first, outer;
    assert_int_equal(pw_address_spaces_check(&w->space, 1, &w->err), PW_OK);
    pw_address_space_reset(&w->space, &first, &outer);
    pw_address_space_release(&w->space);
    pw_policy_use_release(&w->use);
    memories_close(&w->m);
}

static enum pw_status back(struct world *w)
{
    unsigned failed;
    return pw_address_spaces_back(&w->space, 1, &failed, &w->err);
}

static pw_vpn allocate(struct world *w, uint64_t bytes)
{
    pw_vaddr base;
    if (pw_address_space_allocate(&w->space, "a", bytes, false, &base, &w->err) != PW_OK)
        fail_msg("%s", w->err.message);
    return pw_vpn_of(base);
}

static int gpu_of(const struct world *w, uint64_t vpn)
{
    struct pw_translation t = pw_page_table_lookup(w->space.table, (pw_vpn){vpn});
    return t.present ? (int)pw_frame_gpu(&w->m.each[0], t.frame) : -1;
}

/* Three of 24 MB: the numbers of each begin at a multiple of 32 MB. */
static void the_number_of_a_frame_says_whose_it_is(void **state)
{
    (void)state;
    struct memories m;
    struct pw_page_config config = memories_config("first-free", 8);
    struct pw_frame_request request = {.owner = PW_OWNER_APP, .order = PW_PAGE_4K};
    memories_open(&m, 24 * MB, &config);
    for (unsigned gpu = 0; gpu < MEMORIES; gpu++) {
        struct pw_physical_memory *p = m.all[gpu];
        for (uint32_t i = 0; i < 24 * PAGES_A_MB; i++) {
            pw_pfn frame;
            assert_true(pw_physical_allocate(p, &request, &frame));
            assert_int_equal(frame.v, gpu * 32 * PAGES_A_MB + i);
            for (unsigned other = 0; other < MEMORIES; other++) {
                assert_int_equal(pw_frame_gpu(m.all[other], frame), gpu);
                assert_int_equal(pw_physical_memory_has(m.all[other], frame), other == gpu);
            }
            assert_int_equal(pw_physical_owner(p, frame), PW_OWNER_APP);
        }
        pw_pfn none, behind = {gpu * 32 * PAGES_A_MB + 24 * PAGES_A_MB};
        assert_false(pw_physical_allocate(p, &request, &none));
        assert_false(pw_physical_memory_has(p, behind));
        for (uint32_t i = 0; i < 24 * PAGES_A_MB; i++)
            pw_physical_give_back(p, &request, (pw_pfn){p->first_frame + i});
    }
    memories_close(&m);
}

static void numbers_have_as_many_bits_as_a_memory_needs(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        unsigned shift;
    } rows[] = {{2 * MB, 9},   {4 * MB, 10},     {24 * MB, 13},   {32 * MB, 13},
                {34 * MB, 14}, {4ULL << 30, 20}, {6ULL << 30, 21}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pw_config config = {.gpu.dram.bytes = rows[i].bytes};
        assert_int_equal(pw_config_frame_shift(&config), rows[i].shift);
    }
}

static void pages_are_put_where_the_placement_says(void **state)
{
    (void)state;
    static const char *const names[] = {"interleaved", "split", "single", "by-array"};
    for (unsigned k = 0; k < 4; k++) {
        struct world w;
        set_up(&w, 16 * MB, names[k]);
        pw_vpn a = allocate(&w, 3 * MB), b = allocate(&w, 3 * MB);
        assert_int_equal(back(&w), PW_OK);
        for (uint64_t i = 0; i < 3 * PAGES_A_MB; i++) {
            unsigned parts[] = {(unsigned)(i % 3), (unsigned)(i / PAGES_A_MB), 0, 0};
            assert_int_equal(gpu_of(&w, a.v + i), parts[k]);
            assert_int_equal(gpu_of(&w, b.v + i), k == 3 ? 1 : parts[k]);
        }
        tear_down(&w);
    }
}

/* 4 MB each: the first has page tables besides and keeps a 64th for more of them, and the last of 4 MB of pages go to
 * the second. */
static void a_full_gpu_is_followed_by_the_next_with_room(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "single");
    pw_vpn a = allocate(&w, 4 * MB);
    assert_int_equal(back(&w), PW_OK);
    uint64_t tables = pw_page_table_node_bytes(w.space.table) / PW_PAGE_BYTES;
    assert_true(tables > 0);
    for (uint64_t i = 0; i < 4 * PAGES_A_MB; i++)
        assert_int_equal(gpu_of(&w, a.v + i), i >= 4 * PAGES_A_MB - tables - KEPT);
    assert_int_equal(pw_frames_free(w.m.each[0].frames), KEPT);
    assert_int_equal(pw_frames_free(w.m.each[1].frames), 4 * PAGES_A_MB - 2 * tables - KEPT);
    tear_down(&w);
}

/* Every GPU has a copy of every node of the page tables, a full one too: what is allocated when the first has no room
 * for pages any more still gets tables there. In the end what was kept goes to pages as well. */
static void a_full_gpu_has_room_for_page_tables(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "single");
    pw_vpn a = allocate(&w, 4 * MB), b = allocate(&w, 6 * MB);
    assert_int_equal(back(&w), PW_OK);
    assert_int_equal(gpu_of(&w, a.v), 0);
    assert_int_equal(gpu_of(&w, b.v), 1);
    assert_int_equal(gpu_of(&w, b.v + 6 * PAGES_A_MB - 1), 2);
    uint64_t left = 0;
    for (unsigned i = 0; i < 3; i++)
        left += pw_frames_free(w.m.each[i].frames);
    allocate(&w, left * PW_PAGE_BYTES - 3 * PW_PAGE_BYTES); /* one node on each */
    assert_int_equal(back(&w), PW_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pw_frames_free(w.m.each[i].frames), 0);
    tear_down(&w);
}

static void no_room_anywhere_is_an_error_that_counts_all_memories(void **state)
{
    (void)state;
    struct world w;
    pw_vaddr base;
    set_up(&w, 4 * MB, "interleaved");
    assert_int_equal(pw_address_space_allocate(&w.space, "big", 13 * MB, false, &base, &w.err), PW_USER_ERROR);
    assert_non_null(strstr(w.err.message, "allocation 'big' of 13MB does not fit"));
    assert_non_null(strstr(w.err.message, "of the 12MB of device memory"));
    allocate(&w, 12 * MB); /* fits but for the page tables */
    assert_int_equal(back(&w), PW_USER_ERROR);
    assert_non_null(strstr(w.err.message, "of the 12MB of device memory are free"));
    tear_down(&w);
}

static void a_page_moves_with_what_it_may_not_be_used_for(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "single");
    pw_vpn a = allocate(&w, MB);
    assert_int_equal(back(&w), PW_OK);
    uint64_t mapped = w.counters.mapped, free[MEMORIES];
    for (unsigned i = 0; i < MEMORIES; i++)
        free[i] = pw_frames_free(w.m.each[i].frames);
    pw_pfn was = pw_page_table_lookup(w.space.table, a).frame;
    pw_page_table_unmap(w.space.table, a);
    assert_int_equal(pw_page_table_map(w.space.table, a, pw_frame_word(was, PW_MAY_WRITE), PW_PAGE_4K, &w.err), PW_OK);
    assert_true(pw_address_space_move(&w.space, a, 2));
    assert_int_equal(gpu_of(&w, a.v), 2);
    assert_int_equal(gpu_of(&w, a.v + 1), 0);
    assert_int_equal(pw_page_table_lookup(w.space.table, a).denied, PW_MAY_WRITE);
    assert_int_equal(w.counters.mapped, mapped);
    assert_int_equal(pw_frames_free(w.m.each[0].frames), free[0] + 1);
    assert_int_equal(pw_frames_free(w.m.each[1].frames), free[1]);
    assert_int_equal(pw_frames_free(w.m.each[2].frames), free[2] - 1);
    assert_int_equal(pw_physical_owner(&w.m.each[2], pw_page_table_lookup(w.space.table, a).frame), PW_OWNER_APP);
    tear_down(&w);
}

static void a_page_stays_where_there_is_no_room_for_it(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "split");
    pw_vpn a = allocate(&w, 9 * MB), b = allocate(&w, 2 * MB);
    assert_int_equal(back(&w), PW_OK);
    uint64_t page = a.v;
    for (unsigned moved = 0; pw_frames_free(w.m.each[1].frames); moved++)
        assert_true(pw_address_space_move(&w.space, (pw_vpn){page++}, 1));
    struct pw_translation before = pw_page_table_lookup(w.space.table, (pw_vpn){page});
    assert_false(pw_address_space_move(&w.space, (pw_vpn){page}, 1));
    assert_int_equal(pw_page_table_lookup(w.space.table, (pw_vpn){page}).frame.v, before.frame.v);
    assert_int_not_equal(gpu_of(&w, b.v), -1);
    tear_down(&w);
}

/* Nothing is mapped until it is asked for; then it is where it is told, and never asked for again. */
static void first_touch_maps_page_by_page(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "first-touch");
    pw_vpn a = allocate(&w, MB);
    assert_int_equal(back(&w), PW_OK);
    assert_int_equal(w.counters.mapped, 0);
    for (uint64_t i = 0; i < PAGES_A_MB; i++) {
        pw_vpn page = {a.v + i};
        assert_true(pw_address_space_awaits_touch(&w.space, page));
        assert_true(pw_address_space_map_on(&w.space, page, (unsigned)(i % 3)));
        assert_false(pw_address_space_awaits_touch(&w.space, page));
        assert_int_equal(gpu_of(&w, page.v), i % 3);
    }
    assert_false(pw_address_space_awaits_touch(&w.space, (pw_vpn){a.v + PAGES_A_MB}));
    assert_false(pw_address_space_awaits_touch(&w.space, (pw_vpn){a.v - 1}));
    assert_int_equal(w.counters.mapped, MB);
    tear_down(&w);
}

/* The identity sees a frame that is mapped and not taken, on any GPU. */
static void a_frame_that_is_not_owned_is_found(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 4 * MB, "interleaved");
    pw_vpn a = allocate(&w, MB);
    assert_int_equal(back(&w), PW_OK);
    for (unsigned gpu = 0; gpu < MEMORIES; gpu++) {
        pw_pfn frame = pw_page_table_lookup(w.space.table, (pw_vpn){a.v + gpu}).frame;
        pw_pfn within = pw_frame_within(&w.m.each[gpu], frame);
        pw_frames_release(w.m.each[gpu].frames, PW_PAGE_4K, within, PW_OWNER_APP);
        assert_int_equal(pw_address_spaces_check(&w.space, 1, &w.err), PW_FAILED);
        pw_frames_take_at(w.m.each[gpu].frames, PW_PAGE_4K, within, PW_OWNER_APP);
    }
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_a_frame_says_whose_it_is),
        cmocka_unit_test(numbers_have_as_many_bits_as_a_memory_needs),
        cmocka_unit_test(pages_are_put_where_the_placement_says),
        cmocka_unit_test(a_full_gpu_is_followed_by_the_next_with_room),
        cmocka_unit_test(a_full_gpu_has_room_for_page_tables),
        cmocka_unit_test(no_room_anywhere_is_an_error_that_counts_all_memories),
        cmocka_unit_test(a_page_moves_with_what_it_may_not_be_used_for),
        cmocka_unit_test(a_page_stays_where_there_is_no_room_for_it),
        cmocka_unit_test(first_touch_maps_page_by_page),
        cmocka_unit_test(a_frame_that_is_not_owned_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
