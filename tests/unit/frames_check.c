/* The recount of all frames finds whatever is wrong with them: every structure is spoiled in turn, in blocks that are
 * in use, that were, and that never were. */
#include "page/frames.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BLOCKS = 70, IN_USE = 3, GIVEN_BACK = 65, NEVER_USED = 68, OWNER = PW_OWNER_APP };

static struct pw_frames *frames_in_every_state(void)
{
    struct pw_frames *f = NULL;
    struct pw_error err;
    pw_pfn back = {GIVEN_BACK << BLOCK_SHIFT};
    assert_int_equal(pw_frames_create((uint64_t)BLOCKS << (BLOCK_SHIFT + PW_PAGE_SHIFT), &f, &err), PW_OK);
    for (uint32_t i = 0; i < 20; i++)
        assert_true(pw_frames_take_at(f, PW_PAGE_4K, (pw_pfn){(IN_USE << BLOCK_SHIFT) + i}, OWNER));
    assert_true(pw_frames_take_at(f, PW_PAGE_2M, back, OWNER));
    assert_true(pw_frames_release(f, PW_PAGE_2M, back, OWNER));
    return f;
}

static void flip_summary(struct pw_frames *f, unsigned size, uint32_t block)
{
    f->exhausted[size].words[0][block / 64] ^= 1ULL << (block % 64);
}

static void lose_an_owner(struct pw_frames *f)
{
    f->owners[IN_USE << BLOCK_SHIFT] = PW_OWNER_FREE;
}

static void own_a_free_frame(struct pw_frames *f)
{
    f->owners[(IN_USE << BLOCK_SHIFT) + 100] = OWNER;
}

static void keep_an_owner(struct pw_frames *f)
{
    f->owners[(GIVEN_BACK << BLOCK_SHIFT) + 511] = OWNER;
}

static void take_one_more(struct pw_frames *f)
{
    f->taken[(GIVEN_BACK << BLOCK_SHIFT) / 64] = 1;
    f->owners[GIVEN_BACK << BLOCK_SHIFT] = OWNER;
}

static void exhaust_in_use(struct pw_frames *f)
{
    flip_summary(f, 0, IN_USE);
}

static void free_in_use(struct pw_frames *f)
{
    flip_summary(f, 2, IN_USE);
}

static void exhaust_never_used(struct pw_frames *f)
{
    flip_summary(f, 1, NEVER_USED);
}

static void fill_an_upper_level(struct pw_frames *f)
{
    f->exhausted[1].words[1][0] |= 1;
}

static void count_one_free_less(struct pw_frames *f)
{
    f->free--;
}

static void count_one_free_block_more(struct pw_frames *f)
{
    f->free_blocks++;
}

static void whatever_is_wrong_is_found(void **state)
{
    (void)state;
    void (*const spoil[])(struct pw_frames *) = {
        lose_an_owner, own_a_free_frame,   keep_an_owner,       take_one_more,       exhaust_in_use,
        free_in_use,   exhaust_never_used, fill_an_upper_level, count_one_free_less, count_one_free_block_more,
    };
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        struct pw_error err = {0};
        struct pw_frames *f = frames_in_every_state();
        assert_int_equal(pw_frames_check(f, &err), PW_OK);
        spoil[i](f);
        assert_int_equal(pw_frames_check(f, &err), PW_FAILED);
        pw_frames_destroy(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_wrong_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
