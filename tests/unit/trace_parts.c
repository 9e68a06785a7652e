/* Parts of traces that are whole but make no sense are refused, each for one thing that is wrong in it; and parts are
 * packed no further than a reader allows. */
#include "trace_fixture.h"

#include "trace/format.h"
#include "trace/ranges.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct bytes {
    uint8_t bytes[96];
    size_t count;
};

/* From hexadecimal. */
static struct bytes bytes_of(const char *text)
{
    struct bytes b = {.count = 0};
    unsigned byte;
    int length;
    for (; sscanf(text, " %2x%n", &byte, &length) == 1; text += length) {
        assert_true(b.count < sizeof b.bytes);
        b.bytes[b.count++] = (uint8_t)byte;
    }
    return b;
}

struct sample {
    const char *what, *hex;
    bool sound;
};

static void a_directory_fits_its_block(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"one segment of two bytes", "01  00 00 05 00  aa aa", true},
        {"no segment", "00", true},
        {"bytes behind the segments", "01  00 00 05 00  aa aa aa", false},
        {"bytes that are missing", "01  00 00 05 00  aa", false},
        {"a segment of no bytes", "02  00 00 05 00  00 01 00  aa aa", false},
        {"the last CTA and warp", "01  09 03 04  aa aa", true},
        {"a CTA too many", "01  0a 03 04  aa aa", false},
        {"a warp too many", "01  09 04 04  aa aa", false},
        {"warps that add up to too many", "02  01 02 02  00 02 02  aa aa", false},
        {"CTAs that add up to too many", "02  09 00 02  01 00 02  aa aa", false},
        {"an origin that is missing", "01  00 00 05", false},
        {"more segments than there is room for", "7f  00 00 05 00  aa aa", false},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct bytes b = bytes_of(samples[i].hex);
        struct pw_segment segments[32];
        uint32_t count = pw_directory_count(b.bytes, b.count);
        assert_in_range(count, 0, 31);
        bool sound = pw_directory_read(b.bytes, b.count, 10, 4, count, segments);
        if (sound != samples[i].sound)
            fail_msg("%s", samples[i].what);
    }
    uint8_t large[PW_SEGMENT_MOST + 8] = {1, 0, 0, (PW_SEGMENT_MOST << 1 & 0x7f) | 0x80, PW_SEGMENT_MOST >> 6};
    struct pw_segment segment;
    assert_true(pw_directory_read(large, PW_SEGMENT_MOST + 5, 1, 1, 1, &segment));
    assert_int_equal(segment.at, 5);
    large[3] += 2;
    assert_false(pw_directory_read(large, PW_SEGMENT_MOST + 6, 1, 1, 1, &segment));
}

static void a_table_fits_its_launch(void **state)
{
    (void)state;
    /* Ten CTAs, and two blocks of five bytes that take 26 with their seals, from byte 100 to 126. */
    static const struct sample samples[] = {
        {"two ranges", "02  04 0f 04 0f  02  08 00 00  08 00 02", true},
        {"a range that its block has no room for", "02  04 0f 04 0e  02  08 00 00  08 00 02", false},
        {"one CTA in both", "02  04 00 04 00  02  00 00 00  01 02", true},
        {"it twice in the same block", "02  04 00 04 00  02  00 00 00  01 00", false},
        {"it in its blocks backwards", "02  04 00 04 00  02  00 00 02  01 01", false},
        {"further of nothing", "02  04 00 04 00  01  01 00", false},
        {"further of a range", "02  04 03 04 03  02  02 00 00  01 02", false},
        {"a range that is further", "02  04 03 04 03  02  00 00 00  03 02", false},
        {"a block that is none", "02  04 00 04 00  01  00 00 04", false},
        {"a block before the first", "02  04 00 04 00  01  00 00 01", false},
        {"a CTA too many", "02  04 28 04 00  01  14 00 00", false},
        {"a CTA behind the last", "02  04 00 04 00  01  00 0a 00", false},
        {"the last CTA", "02  04 00 04 00  01  00 09 00", true},
        {"blocks that are too long", "02  04 00 05 00  00", false},
        {"blocks that are too short", "02  04 00 03 00  00", false},
        {"one block less", "01  04 00  00", false},
        {"raw bytes", "02  04 00 04 fb ff 03  00", true},
        {"more raw bytes than there can be", "02  04 00 04 fc ff 03  00", false},
        {"something behind", "02  04 00 04 00  00 00", false},
        {"blocks that are missing", "7f  04 00 04 00  00", false},
        {"pieces that are missing", "02  04 0f 04 0f  03  08 00 00  08 00 02", false},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct bytes b = bytes_of(samples[i].hex);
        struct pw_table table = {0};
        bool memory, sound = pw_table_read(&table, b.bytes, b.count, 10, 100, 126, &memory);
        pw_table_release(&table);
        if (sound != samples[i].sound)
            fail_msg("%s", samples[i].what);
        assert_false(memory);
    }
}

/* Texts "", "a"; recorder, program and device ""; all CTAs, seed 0; then the events. */
#define BEGIN "02 00 00 01 61 00  00 00 00 01 00  "
/* An allocation of 16 bytes, at address 16 and at 32. */
#define AT_16 "00 00 10 10 01  "
#define AT_32 "00 00 20 10 01  "
/* One CTA; no blocks, a table of two bytes. */
#define LAUNCH "06 01 01 01 01 01 01 01 00 00 00 00 00 00 00 02 02 00 00 00 00 00 00 00 00  "

static void an_index_makes_sense(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"nothing happens", BEGIN "00", true},
        {"two allocations side by side", BEGIN "02" AT_16 AT_32, true},
        {"two that overlap", BEGIN "02" AT_16 "00 00 1f 01 01", false},
        {"one around the other", BEGIN "02" AT_32 "00 00 10 40 01", false},
        {"one after the other", BEGIN "03" AT_16 "01 00" AT_16, true},
        {"one of no bytes", BEGIN "01 00 00 10 00 01", false},
        {"of a memory that is none", BEGIN "01 00 04 10 10 01", false},
        {"beyond all addresses", BEGIN "01 00 00 ff ff ff ff ff ff ff ff 01 02 01", false},
        {"at the end of all addresses", BEGIN "01 00 00 ff ff ff ff ff ff ff ff 01 01 01", true},
        {"a name that is none", BEGIN "01 00 00 10 10 02", false},
        {"a free of nothing", BEGIN "01 01 00", false},
        {"two frees", BEGIN "03" AT_16 "01 00 01 00", false},
        {"a free of what is in the place of another", BEGIN "04" AT_16 "01 00" AT_16 "01 00", false},
        {"a copy of all of it", BEGIN "02" AT_16 "02 00 02 10 10", true},
        {"a copy of more", BEGIN "02" AT_16 "02 00 02 10 11", false},
        {"a copy from before it", BEGIN "02" AT_16 "02 00 02 0f 10", false},
        {"a copy behind it", BEGIN "02" AT_16 "02 00 02 20 01", false},
        {"a copy of nothing", BEGIN "02" AT_16 "02 00 02 10 00", false},
        {"a copy to nowhere", BEGIN "02" AT_16 "02 00 03 10 10", false},
        {"a prefetch with flags", BEGIN "02" AT_16 "03 00 01 10 10", false},
        {"advice", BEGIN "02" AT_16 "04 00 0f 10 10", true},
        {"advice that is none", BEGIN "02" AT_16 "04 00 10 10 10", false},
        {"permissions that are none", BEGIN "02" AT_16 "05 00 04 10 10", false},
        {"an event that is none", BEGIN "01 07 00 00 10 10", false},
        {"fewer events", BEGIN "02" AT_16, false},
        {"more events", BEGIN "01" AT_16 AT_32, false},
        {"no sample", "01 00 00  00 00 00 00 00  00", false},
        {"a text that does not end", "01 01 61 61  00 00 00 01 00  00", false},
        {"a text with a zero in it", "01 02 61 00 00  00 00 00 01 00  00", false},
    };
    static const struct sample launches[] = {
        {"a launch", BEGIN "01" LAUNCH, true},
        {"two launches", BEGIN "02" LAUNCH LAUNCH, false},
        {"no CTA", BEGIN "01 06 01 01 00 01 01 01 01 00 00 00 00 00 00 00 02 02 00 00 00 00 00 00 00 00", false},
        {"too many CTAs",
         BEGIN "01 06 01 ff ff 03 ff ff 03 02 01 01 01 00 00 00 00 00 00 00 02 02 00 00 00 00 00 00 00 00", false},
        {"too many threads", BEGIN "01 06 01 01 01 01 81 08 01 01 00 00 00 00 00 00 00 02 02 00 00 00 00 00 00 00 00",
         false},
        {"the largest pace",
         BEGIN "01 06 01 01 01 01 01 01 01 00 00 c0 84 3d 00 00 00 00 02 02 00 00 00 00 00 00 00 00", true},
        {"a larger one", BEGIN "01 06 01 01 01 01 01 01 01 00 00 c1 84 3d 00 00 00 00 02 02 00 00 00 00 00 00 00 00",
         false},
        {"a longer table", BEGIN "01 06 01 01 01 01 01 01 01 00 00 00 00 00 00 00 03 03 00 00 00 00 00 00 00 00",
         false},
        {"a block more", BEGIN "01 06 01 01 01 01 01 01 01 00 00 00 00 00 00 01 02 02 00 00 00 00 00 00 00 00", false},
        {"a table of nothing", BEGIN "01 06 01 01 01 01 01 01 01 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00",
         false},
        {"a table that shrinks", BEGIN "01 06 01 01 01 01 01 01 01 00 00 00 00 00 00 00 02 01 00 00 00 00 00 00 00 00",
         false},
    };
    enum { SAMPLES = sizeof samples / sizeof *samples, LAUNCHES = sizeof launches / sizeof *launches };
    for (size_t i = 0; i < SAMPLES + LAUNCHES; i++) {
        const struct sample *s = i < SAMPLES ? &samples[i] : &launches[i - SAMPLES];
        struct bytes b = bytes_of(s->hex);
        uint8_t *raw = malloc(b.count);
        struct pw_index index;
        struct pw_error err = {0};
        memcpy(raw, b.bytes, b.count);
        uint64_t end = PW_TRACE_HEADER_BYTES + (i < SAMPLES ? 0U : PW_PART_SEAL + 2U);
        enum pw_status status = pw_index_read(&index, raw, b.count, end, "f", &err);
        if ((status == PW_OK) != s->sound)
            fail_msg("%s: %s", s->what, err.message);
        if (status == PW_OK)
            pw_index_release(&index);
        else
            assert_int_equal(status, PW_USER_ERROR);
    }
}

/* A part of a file alone in it, with whatever it claims about itself, sealed. */
static enum pw_status unpack_claimed(const uint8_t *stored, struct pw_part part, struct pw_error *err)
{
    struct pw_unpacker *u;
    uint8_t seal[PW_PART_SEAL], *raw = malloc(part.raw + 1);
    uint64_t h = pw_checksum_word(PW_CHECKSUM_START, part.offset);
    h = pw_checksum_word(pw_checksum_word(h, part.stored), part.raw);
    pw_store_bytes(seal, pw_checksum_bytes(h, stored, part.stored), PW_PART_SEAL);
    int file = memfd_create("part", MFD_CLOEXEC);
    assert_int_equal(write(file, seal, sizeof seal), sizeof seal);
    assert_int_equal(write(file, stored, part.stored), part.stored);
    assert_ok(pw_unpacker_create(file, "f", &u, err), err);
    enum pw_status status = pw_unpack(u, &part, "it", raw, NULL, err);
    pw_unpacker_destroy(u);
    close(file);
    free(raw);
    return status;
}

static void a_part_unpacks_to_what_it_claims(void **state)
{
    (void)state;
    struct pw_packer *p = pw_packer_create();
    static const uint8_t zeros[5000];
    struct pw_part part;
    struct pw_error err;
    size_t bytes;
    const uint8_t *packed = pw_pack(p, 0, zeros, sizeof zeros, 3, &part, &bytes);
    assert_true(part.stored < part.raw && bytes == PW_PART_SEAL + part.stored);
    assert_ok(unpack_claimed(packed + PW_PART_SEAL, part, &err), &err);
    for (int off = -1; off <= 1; off += 2) {
        struct pw_part other = part;
        other.raw += (uint64_t)off;
        assert_int_equal(unpack_claimed(packed + PW_PART_SEAL, other, &err), PW_USER_ERROR);
        assert_string_equal(err.message, "f: is corrupted: it cannot be unpacked");
    }
    struct pw_part shorter = part;
    shorter.stored--;
    assert_int_equal(unpack_claimed(packed + PW_PART_SEAL, shorter, &err), PW_USER_ERROR);
    pw_packer_destroy(p);
}

static void a_short_file_cannot_ask_for_much_memory(void **state)
{
    (void)state;
    struct pw_packer *p = pw_packer_create();
    struct pw_part part;
    size_t bytes;
    enum { LARGE = 3 << 20 };
    uint8_t *zeros = calloc(LARGE, 1);
    assert_non_null(pw_pack(p, 0, zeros, PW_PART_FREE, 3, &part, &bytes));
    assert_true(part.stored < 1000);
    assert_non_null(pw_pack(p, 0, zeros, LARGE, 3, &part, &bytes));
    assert_int_equal(part.stored, LARGE);
    assert_true(pw_part_is_sound(&part));
    part.stored = LARGE / 64;
    assert_true(pw_part_is_sound(&part));
    part.stored--;
    assert_false(pw_part_is_sound(&part));
    free(zeros);
    pw_packer_destroy(p);
}

static void one_flipped_word_changes_a_checksum(void **state)
{
    (void)state;
    struct pw_random r;
    pw_random_init(&r, 1, "checksum");
    uint8_t bytes[64];
    for (unsigned i = 0; i < 64; i++)
        bytes[i] = (uint8_t)pw_random_next(&r);
    for (size_t length = 1; length <= sizeof bytes; length++) {
        uint64_t before = pw_checksum_bytes(PW_CHECKSUM_START, bytes, length);
        for (size_t i = 0; i < length; i++)
            for (unsigned flip = 1; flip < 256; flip++) {
                bytes[i] ^= (uint8_t)flip;
                assert_true(pw_checksum_bytes(PW_CHECKSUM_START, bytes, length) != before);
                bytes[i] ^= (uint8_t)flip;
            }
    }
}

static void ranges_are_found_as_in_a_list(void **state)
{
    (void)state;
    enum { SLOTS = 200, STEPS = 20000 };
    struct pw_random r;
    pw_random_init(&r, 1, "ranges");
    struct pw_ranges ranges = {0};
    uint64_t ends[SLOTS] = {0}; /* of the range that begins at 100 * slot + 1; 0: none */
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t slot = pw_random_below(&r, SLOTS), first = 100 * slot + 1;
        if (ends[slot]) {
            pw_ranges_remove(&ranges, first);
            ends[slot] = 0;
        } else {
            ends[slot] = first + random_between(&r, 1, 100);
            assert_true(pw_ranges_add(&ranges, (struct pw_range){first, ends[slot], step}));
        }
        uint64_t address = pw_random_below(&r, 100 * SLOTS + 100);
        uint64_t from = UINT64_MAX, before = UINT64_MAX;
        for (uint64_t i = 0; i < SLOTS; i++) {
            if (ends[i] > address && from == UINT64_MAX)
                from = 100 * i + 1;
            if (ends[i] && 100 * i + 1 <= address)
                before = 100 * i + 1;
        }
        const struct pw_range *a = pw_ranges_from(&ranges, address), *b = pw_ranges_before(&ranges, address);
        assert_true((a ? a->first : UINT64_MAX) == from && (b ? b->first : UINT64_MAX) == before);
    }
    pw_ranges_release(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_fits_its_block),
        cmocka_unit_test(a_table_fits_its_launch),
        cmocka_unit_test(an_index_makes_sense),
        cmocka_unit_test(a_part_unpacks_to_what_it_claims),
        cmocka_unit_test(a_short_file_cannot_ask_for_much_memory),
        cmocka_unit_test(one_flipped_word_changes_a_checksum),
        cmocka_unit_test(ranges_are_found_as_in_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
