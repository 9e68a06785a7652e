/* Traces that no writer makes, with every seal in order: names that a terminal would obey, CTAs without end that do
 * nothing, and ranges of CTAs that their block has no room for. */
#include "trace_fixture.h"

#include "trace/checksum.h"
#include "trace/format.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A trace of two CTAs of one warp, stored plain, and where its parts are. */
struct image {
    uint8_t bytes[512];
    size_t size;
    struct pw_part table, index;
};

static void write_small(struct pw_trace_writer *w, const char *name)
{
    pw_trace_write_event(
        w, &(struct pw_trace_event){.kind = PW_TRACE_ALLOC, .address = 1 << 20, .bytes = 4096, .name = name});
    pw_trace_write_launch(
        w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH, .name = "k", .grid = {2, 1, 1}, .block = {32, 1, 1}});
    for (uint32_t cta = 0; cta < 2; cta++) {
        const uint64_t words[] = {(1 << 20) + 128 * cta, 4};
        struct pw_op load = {.kind = PW_OP_LOAD, .bytes = 4, .loads_in_flight = 255, .count_or_mask = PW_ALL_LANES};
        assert_true(pw_trace_write_op(w, cta, 0, &load, words));
    }
}

static struct image make_image(void)
{
    struct image image = {.size = 0};
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    write_small(w, "name");
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    image.size = pw_trace_file_bytes(t);
    assert_true(image.size <= sizeof image.bytes);
    assert_int_equal(pread(t->fd, image.bytes, image.size, 0), image.size);
    image.table = t->index.launches[0].table;
    assert_ok(pw_trace_read_frame(t->fd, "image", image.size, &image.index, &err), &err);
    assert_true(image.table.stored == image.table.raw && image.index.stored == image.index.raw);
    pw_trace_close(t);
    return image;
}

static void seal(struct image *image, const struct pw_part *p)
{
    uint64_t h = pw_checksum_word(PW_CHECKSUM_START, p->offset);
    h = pw_checksum_word(pw_checksum_word(h, p->stored), p->raw);
    h = pw_checksum_bytes(h, image->bytes + p->offset + PW_PART_SEAL, p->stored);
    pw_store_bytes(image->bytes + p->offset, h, PW_PART_SEAL);
}

/* Puts bytes in place of others, which a part has once. */
static void patch(struct image *image, const struct pw_part *p, const char *from, const char *to, size_t bytes)
{
    uint8_t *part = image->bytes + p->offset + PW_PART_SEAL, *at = memmem(part, p->stored, from, bytes);
    assert_non_null(at);
    assert_null(memmem(at + 1, p->stored - (size_t)(at + 1 - part), from, bytes));
    memcpy(at, to, bytes);
    seal(image, p);
}

/* Opens it and its launch; what is said of what cannot be opened. */
static enum pw_status open_image(const struct image *image, struct pw_error *err)
{
    struct pw_trace *t;
    struct pw_trace_launch *l;
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(file, image->bytes, image->size), image->size);
    enum pw_status status = pw_trace_open_file(file, "t", &t, err);
    if (status != PW_OK)
        return status;
    status = pw_trace_launch_open(t, 0, &l, err);
    if (status == PW_OK)
        pw_trace_launch_close(l);
    pw_trace_close(t);
    return status;
}

static void expect_refusal(const struct image *image, const char *message)
{
    struct pw_error err = {0};
    assert_int_equal(open_image(image, &err), PW_USER_ERROR);
    assert_string_equal(err.message, message);
}

static void a_name_with_control_characters_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"n\x1b[m", "na\ae", "n\x7fme", "\xc2\x9bme", "\name", "na\t\r"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct image image = make_image();
        patch(&image, &image.index, "name", names[i], 4);
        expect_refusal(&image, "t: is corrupted: a name in its index has control characters");
    }
    struct image image = make_image();
    struct pw_error err = {0};
    patch(&image, &image.index, "name", "n\xc3\xa4m", 4);
    assert_ok(open_image(&image, &err), &err);
}

static void a_writer_puts_none_into_a_name(void **state)
{
    (void)state;
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    size_t count;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    write_small(w, "n\x1b]0;x\a\xc2\x9b");
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_string_equal(pw_trace_events(t, &count)[0].name, "n?]0;x??\x9b");
    pw_trace_close(t);
}

/* Where every CTA but two is idle. */
static void ctas_without_operations_are_bounded_by_their_warps(void **state)
{
    (void)state;
    struct image image = make_image();
    struct pw_error err = {0};
    patch(&image, &image.index, "\x02\x01\x01\x20\x01\x01", "\x7f\x7f\x7f\x40\x04\x02",
          6); /* grid and block: 16 warps */
    expect_refusal(&image, "t: launch 1 has 2048381 CTAs of 16 warps without any operation; at most 16777216 such "
                           "warps are replayed");
    patch(&image, &image.index, "\x7f\x7f\x7f\x40\x04\x02", "\x7f\x7f\x7f\x40\x04\x01", 6);
    assert_ok(open_image(&image, &err), &err);
}

static void a_writer_refuses_them_as_well(void **state)
{
    (void)state;
    struct pw_trace_writer *w;
    struct pw_error err = {0};
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    pw_trace_write_launch(w, &(struct pw_trace_event){.name = "k", .grid = {1 << 24, 1, 1}, .block = {32, 1, 1}});
    pw_trace_write_launch(w, &(struct pw_trace_event){.name = "k", .grid = {1 << 20, 3, 1}, .block = {193, 1, 1}});
    assert_int_equal(pw_trace_writer_finish(w, NULL, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "launch 2 has 3145728 CTAs of 7 warps without any operation"));
}

static void a_range_has_no_more_ctas_than_its_block_has_room_for(void **state)
{
    (void)state;
    struct image image = make_image();
    struct pw_error err = {0};
    uint8_t *table = image.bytes + image.table.offset + PW_PART_SEAL;
    unsigned most = (table[1] + 1U) / PW_SEGMENT_LEAST; /* a quarter of its raw bytes */
    assert_int_equal(table[4], 2 * (2 - 1));            /* two CTAs */
    patch(&image, &image.index, "\x02\x01\x01\x20", "\x40\x01\x01\x20", 4);
    table[4] = (uint8_t)(2 * (most - 1));
    seal(&image, &image.table);
    assert_ok(open_image(&image, &err), &err);
    table[4] = (uint8_t)(2 * most);
    seal(&image, &image.table);
    expect_refusal(&image, "t: is corrupted: the table of launch 0 does not make sense");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_with_control_characters_is_refused),
        cmocka_unit_test(a_writer_puts_none_into_a_name),
        cmocka_unit_test(ctas_without_operations_are_bounded_by_their_warps),
        cmocka_unit_test(a_writer_refuses_them_as_well),
        cmocka_unit_test(a_range_has_no_more_ctas_than_its_block_has_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
