/* Copies of a page table in the memory of each GPU: where they lie, and what happens when one has no room. */
#include "memories.h"
#include "sim/random.h"
#include "vm/table_chunks.h"

#include <stdlib.h>

enum { ASID = 3, PAGES = 4000, MB = 1 << 20 };

static enum pw_status create(struct memories *m, uint32_t stride, struct pw_page_table **out, struct pw_error *err)
{
    struct pw_page_table_config config = {.asid = ASID,
                                          .entry_stride = stride,
                                          .frames = m->each[0].frames,
                                          .policy = m->each[0].policy,
                                          .policy_state = m->each[0].policy_state,
                                          .copies = m->all + 1,
                                          .copy_count = MEMORIES - 1};
    return pw_page_table_create(&config, out, err);
}

/* Pages far from one another, so that there are many nodes; any frame will do. */
static pw_vpn page(struct pw_random *random)
{
    return (pw_vpn){0x7f4000000 + (pw_random_below(random, 64) << 18) + (pw_random_below(random, 400) << 9) +
                    pw_random_below(random, 512)};
}

static void check_entry(const struct memories *m, const struct pw_page_table *t, pw_paddr place)
{
    assert_int_equal(pw_page_table_on(t, 0, place).v, place.v);
    for (unsigned gpu = 1; gpu < MEMORIES; gpu++) {
        pw_paddr copy = pw_page_table_on(t, gpu, place);
        pw_pfn frame = {(uint32_t)(copy.v >> PW_PAGE_SHIFT)};
        assert_int_equal(copy.v % PW_PAGE_BYTES, place.v % PW_PAGE_BYTES);
        assert_int_equal(pw_frame_gpu(&m->each[0], frame), gpu);
        assert_true(pw_physical_memory_has(&m->each[gpu], frame));
        assert_int_equal(pw_physical_owner(&m->each[gpu], frame), PW_OWNER_TABLE + ASID);
    }
}

static int by_place(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* As many different places in a copy as in the table. */
static size_t count_different(uint64_t *places, size_t count)
{
    size_t different = 0;
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 0; i < count; i++)
        different += !i || places[i] != places[i - 1];
    return different;
}

static void check_copies(const char *policy, uint32_t stride)
{
    enum { MOST = PAGES * PW_TABLE_LEVELS };
    struct memories m;
    struct pw_page_config config = memories_config(policy, stride);
    struct pw_page_table *t;
    struct pw_error err;
    struct pw_random random;
    uint64_t *places = calloc((size_t)MOST * MEMORIES, sizeof *places);
    size_t count = 0;
    assert_non_null(places);
    memories_open(&m, 384 * MB, &config);
    assert_int_equal(create(&m, stride, &t, &err), PW_OK);
    pw_random_init(&random, 1, policy);
    for (unsigned i = 0; i < PAGES; i++) {
        pw_vpn vpn = page(&random);
        pw_paddr reads[PW_TABLE_LEVELS];
        struct pw_translation found;
        if (!pw_page_table_lookup(t, vpn).present)
            assert_int_equal(pw_page_table_map(t, vpn, (pw_pfn){i}, PW_PAGE_4K, &err), PW_OK);
        unsigned levels = pw_page_table_walk(t, vpn, reads, &found);
        for (unsigned level = 0; level < levels; level++, count++) {
            check_entry(&m, t, reads[level]);
            for (unsigned gpu = 0; gpu < MEMORIES; gpu++)
                places[gpu * MOST + count] = pw_page_table_on(t, gpu, reads[level]).v;
        }
    }
    size_t different = count_different(places, count);
    assert_true(different > PAGES / 2);
    for (unsigned gpu = 1; gpu < MEMORIES; gpu++)
        assert_int_equal(count_different(places + gpu * MOST, count), different);
    free(places);
    pw_page_table_destroy(t);
    memories_close(&m);
}

/* With dense tables and with sparse ones, whose leaves are chunks of 64 KiB; with frames in order and without. */
static void each_gpu_has_every_entry_in_its_own_memory(void **state)
{
    (void)state;
    static const char *const policies[] = {"first-free", "random", "contiguity"};
    for (unsigned i = 0; i < 3; i++) {
        check_copies(policies[i], 8);
        check_copies(policies[i], 128);
    }
}

static uint64_t taken(const struct pw_physical_memory *p)
{
    return pw_frames_total(p->frames) - pw_frames_free(p->frames);
}

/* Nodes need the same room everywhere, so memory is out where there is least; then nothing is left half done. */
static void without_room_for_a_copy_there_is_no_node(void **state)
{
    (void)state;
    for (unsigned full = 0; full < MEMORIES; full++) {
        struct memories m;
        struct pw_page_config config = memories_config("first-free", 8);
        struct pw_page_table *t, *none = NULL;
        struct pw_error err = {0};
        pw_pfn frame;
        memories_open(&m, 8 * MB, &config);
        assert_int_equal(create(&m, 8, &t, &err), PW_OK);
        uint64_t before = taken(&m.each[0]);
        while (pw_frames_take(m.each[full].frames, PW_PAGE_4K, (pw_pfn){0}, PW_OWNER_APP, &frame))
            ;
        assert_int_not_equal(pw_page_table_map(t, (pw_vpn){5}, (pw_pfn){7}, PW_PAGE_4K, &err), PW_OK);
        assert_false(pw_page_table_lookup(t, (pw_vpn){5}).present);
        assert_int_equal(create(&m, 8, &none, &err), PW_USER_ERROR);
        assert_non_null(strstr(err.message, "no memory left for the page table of application 3"));
        for (unsigned i = 0; i < MEMORIES; i++)
            if (i != full)
                assert_int_equal(taken(&m.each[i]), before);
        pw_page_table_destroy(t);
        for (uint32_t i = 0; i < pw_frames_total(m.each[full].frames); i++)
            if (pw_frames_owner(m.each[full].frames, (pw_pfn){i}) == PW_OWNER_APP)
                pw_frames_release(m.each[full].frames, PW_PAGE_4K, (pw_pfn){i}, PW_OWNER_APP);
        memories_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gpu_has_every_entry_in_its_own_memory),
        cmocka_unit_test(without_room_for_a_copy_there_is_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
