/* What NN, RAY and MUM touch, and how often, against the definitions of their algorithms. */
#include "workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The functional executor puts array k of a program (if none exceeds 2 MiB) k * 2 MiB behind the first. Touches are
 * counted at the first byte of an access. */
enum { ARRAYS = 10, SLOT_SHIFT = 21, BYTES = 1 << SLOT_SHIFT };
#define FIRST_ADDRESS UINT64_C(0x7f4000000000)

struct touches {
    uint32_t loads[ARRAYS][BYTES], stores[ARRAYS][BYTES];
};

static void touch(struct touches *t, const struct pw_op *op, uint64_t address)
{
    uint64_t offset = address - FIRST_ADDRESS, array = offset >> SLOT_SHIFT;
    if (address < FIRST_ADDRESS || array >= ARRAYS || address % op->bytes)
        fail_msg("address %#llx of %u bytes lies in no array", (unsigned long long)address, op->bytes);
    (op->kind == PW_OP_LOAD ? t->loads : t->stores)[array][offset % BYTES]++;
}

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    if (op->kind != PW_OP_LOAD && op->kind != PW_OP_STORE)
        return;
    assert_int_equal(op->count_or_mask & ~w->lanes, 0);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        if (op->count_or_mask >> lane & 1)
            touch(context, op, op->form == PW_FORM_LANES ? *words++ : words[0] + lane * words[1]);
}

static struct pw_functional_counts run(const char *text, struct touches *t)
{
    struct pw_program p;
    struct pw_error err;
    struct pw_functional_counts counts = {0};
    memset(t, 0, sizeof *t);
    if (pw_program_parse(text, &p, &err) || pw_functional_run(&p, 1, p.values, visit, t, &counts, &err))
        fail_msg("%s: %s", text, err.message);
    pw_program_release(&p);
    return counts;
}

static int allocate(void **state)
{
    *state = malloc(sizeof(struct touches));
    return !*state;
}

static int release(void **state)
{
    free(*state);
    return 0;
}

/* Each of the first `count` elements was touched `times`, and nothing else. */
static void expect_each(const uint32_t touches[BYTES], uint32_t bytes, uint64_t count, uint32_t times)
{
    for (uint64_t i = 0; i < BYTES; i++)
        if (touches[i] != (i % bytes == 0 && i / bytes < count ? times : 0))
            fail_msg("byte %llu: %u touches", (unsigned long long)i, touches[i]);
}

/* Windows of 5 taken every 2, `windows` of them, that cover a place. */
static uint32_t windows_over(uint32_t place, uint32_t windows)
{
    uint32_t over = 0;
    for (uint32_t w = 0; w < windows; w++)
        over += place >= 2 * w && place < 2 * w + 5;
    return over;
}

static void expect_convolution(const uint32_t loads[BYTES], uint32_t images_and_maps, uint32_t side, uint32_t windows,
                               uint32_t output_maps)
{
    for (uint32_t m = 0, at = 0; m < images_and_maps; m++)
        for (uint32_t y = 0; y < side; y++)
            for (uint32_t x = 0; x < side; x++, at += 4)
                assert_int_equal(loads[at], windows_over(x, windows) * windows_over(y, windows) * output_maps);
}

static void nn_reads_each_window_and_each_weight_as_often_as_its_layers_say(void **state)
{
    enum { IMAGES = 3, N1 = 0, W1, N2, W2, N3, W3, N4, W4, N5 };
    struct touches *t = *state;
    struct pw_functional_counts c = run("NN:images=3", t);
    assert_int_equal(c.launches, 4);
    assert_int_equal(c.ctas, IMAGES * (6 + 50 + 100 + 10));
    assert_int_equal(c.warps, IMAGES * (6 * 6 + 50 + 100 + 10));
    expect_convolution(t->loads[N1], IMAGES, 29, 13, 6);
    expect_convolution(t->loads[N2], IMAGES * 6, 13, 5, 50);
    expect_each(t->loads[N3], 4, IMAGES * 1250, 100);
    expect_each(t->loads[N4], 4, IMAGES * 100, 10);
    expect_each(t->loads[W1], 4, 156, 169 * IMAGES);
    for (uint32_t i = 0; i < 7800; i++) /* 5 of each map's 156 are never read */
        assert_int_equal(t->loads[W2][4 * i], i % 156 < 151 ? 25 * IMAGES : 0);
    expect_each(t->loads[W3], 4, 125100, IMAGES);
    expect_each(t->loads[W4], 4, 1010, IMAGES);
    expect_each(t->stores[N2], 4, IMAGES * 1014, 1);
    expect_each(t->stores[N3], 4, IMAGES * 1250, 1);
    expect_each(t->stores[N4], 4, IMAGES * 100, 1);
    expect_each(t->stores[N5], 4, IMAGES * 10, 1);
    struct pw_functional_counts without = run("NN:images=3:values=off", t);
    assert_memory_equal(&c, &without, sizeof c);
}

static void ray_with_a_list_touches_its_picture_only(void **state)
{
    struct touches *t = *state;
    struct pw_functional_counts c = run("RAY:size=ispass:width=37:height=21", t);
    assert_int_equal(c.ctas, 3 * 3);
    expect_each(t->loads[0], 4, 37 * 21, 1);
    expect_each(t->stores[0], 4, 37 * 21, 2);
    for (unsigned array = 1; array < ARRAYS; array++) {
        expect_each(t->loads[array], 4, 0, 0);
        expect_each(t->stores[array], 4, 0, 0);
    }
}

enum { PICTURE, NODE, SPHERE, COLOUR };

/* A node or sphere is reached through its parent only. Returns how often the subtree's root was read; preorder and
 * halves tell where it is. */
static uint32_t visits(const struct touches *t, uint32_t first, uint32_t count, uint32_t at)
{
    if (count == 1)
        return t->loads[SPHERE][16 * first] - t->loads[COLOUR][16 * first]; /* a hit reads both once more */
    uint32_t half = count / 2, here = t->loads[NODE][64 * at];
    for (uint32_t word = 1; word < 4; word++)
        assert_int_equal(t->loads[NODE][64 * at + 16 * word], here);
    assert_in_range(visits(t, first, half, at + 1), 0, here);
    assert_in_range(visits(t, first + half, count - half, at + half), 0, here);
    return here;
}

static void ray_reaches_nodes_and_spheres_through_their_parents_only(void **state)
{
    enum { SPHERES = 700, PIXELS = 40 * 24 };
    struct touches *t = *state;
    run("RAY:width=40:height=24:objects=701", t);
    expect_each(t->loads[PICTURE], 4, PIXELS, 1);
    expect_each(t->stores[PICTURE], 4, PIXELS, 2);
    /* first rays, and for each of up to 5 hits a shadow ray and a mirrored ray */
    assert_in_range(visits(t, 0, SPHERES, 0), PIXELS, PIXELS * (1 + 2 * 5));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < SPHERES; i++)
        seen += t->loads[COLOUR][16 * i] > 0;
    assert_in_range(seen, 50, SPHERES); /* balls lie beside the picture, too, and behind others */
    for (unsigned array = COLOUR + 1; array < ARRAYS; array++)
        expect_each(t->loads[array], 4, 0, 0);
}

/* With one substring per query and no suffix link, a query is read letter by letter up to the first that does not
 * match; it is stored if that was the zero behind it. */
static void mum_reads_a_query_once_and_no_farther_than_it_matches(void **state)
{
    enum { TEXT, NODES, CHILDREN, QUERIES, ADDRESSES, LENGTHS, MATCHES, COUNT = 300, LENGTH = 25 };
    struct touches *t = *state;
    struct pw_functional_counts c = run("MUM:reference=5000:queries=300:length=25:minimum=25", t);
    assert_int_equal(c.ctas, 2);
    expect_each(t->loads[ADDRESSES], 4, COUNT, 1);
    expect_each(t->loads[LENGTHS], 4, COUNT, 1);
    uint32_t whole = 0;
    for (uint32_t q = 0; q < COUNT; q++) {
        const uint32_t *letters = &t->loads[QUERIES][q * (LENGTH + 2)];
        assert_int_equal(letters[0], 0);
        for (uint32_t i = 1; i <= LENGTH + 1; i++)
            assert_in_range(letters[i], 0, i == 1 ? 1 : letters[i - 1]);
        assert_int_equal(letters[1], 1);
        assert_int_equal(t->stores[MATCHES][8 * q], letters[LENGTH + 1]);
        whole += letters[LENGTH + 1];
    }
    /* no letter of 25 is wrong with probability 0.74, since an error may pick the right letter: 223 expected,
     * standard deviation 8 */
    assert_in_range(whole, 190, 255);
    assert_int_equal(t->loads[CHILDREN][0], 0);
    assert_int_equal(t->loads[CHILDREN][16], COUNT); /* the root */
    assert_int_equal(t->loads[TEXT][0], 0);
}

/* A letter of the text is compared to carry a query's match farther, at most once per letter of the query, or ends a
 * substring; what the last substring has matched is skipped. */
static void mum_does_not_compare_again_what_suffix_links_carry_over(void **state)
{
    enum { TEXT, COUNT = 300, LENGTH = 60, MINIMUM = 10 };
    struct touches *t = *state;
    run("MUM:reference=5000:queries=300:length=60:minimum=10", t);
    uint32_t compared = 0;
    for (uint32_t i = 0; i < BYTES; i++)
        compared += t->loads[TEXT][i];
    assert_in_range(compared, COUNT * LENGTH / 2, COUNT * (LENGTH + LENGTH - MINIMUM + 1));
}

static void addresses_of_rays_and_matches_follow_from_the_seed_alone(void **state)
{
    struct touches *t = *state;
    static const char *const texts[] = {"RAY:width=40:height=24:objects=701", "MUM:reference=5000:queries=300"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pw_program p;
        struct pw_error err;
        struct pw_functional_counts other;
        uint64_t hash = run(texts[i], t).address_hash;
        assert_int_equal(hash, run(texts[i], t).address_hash);
        assert_int_equal(pw_program_parse(texts[i], &p, &err), PW_OK);
        assert_int_equal(pw_functional_run(&p, 2, false, NULL, NULL, &other, &err), PW_OK);
        assert_int_not_equal(hash, other.address_hash);
        pw_program_release(&p);
    }
}

static void impossible_sizes_are_user_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {"NN:images=60000:scale=2", "RAY:objects=4000000:scale=2",
                                        "RAY:objects=10:scale=0.01", "MUM:length=10:minimum=11",
                                        "MUM:reference=10:queries=100000000:length=100"};
    expect_user_errors(texts, sizeof texts / sizeof texts[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nn_reads_each_window_and_each_weight_as_often_as_its_layers_say),
        cmocka_unit_test(ray_with_a_list_touches_its_picture_only),
        cmocka_unit_test(ray_reaches_nodes_and_spheres_through_their_parents_only),
        cmocka_unit_test(mum_reads_a_query_once_and_no_farther_than_it_matches),
        cmocka_unit_test(mum_does_not_compare_again_what_suffix_links_carry_over),
        cmocka_unit_test(addresses_of_rays_and_matches_follow_from_the_seed_alone),
        cmocka_unit_test(impossible_sizes_are_user_errors),
    };
    return cmocka_run_group_tests(tests, allocate, release);
}
