/* The coalescer under random instructions, against sets of bytes kept lane by lane. */
#include "gpu/access_coalescing.h"
#include "sim/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SECTOR_BYTES = 32, SECTORS = PW_LINE_BYTES / SECTOR_BYTES };

struct line {
    uint64_t number;
    bool bytes[PW_LINE_BYTES];
};

/* Lines in the order in which lanes, from the lowest, and their bytes, from the lowest, come to them. */
struct model {
    unsigned count;
    struct line lines[PW_MAX_LINES];
};

static void touch(struct model *m, uint64_t address)
{
    uint64_t number = address / PW_LINE_BYTES;
    unsigned i = 0;
    while (i < m->count && m->lines[i].number != number)
        i++;
    if (i == m->count) {
        assert_true(m->count < PW_MAX_LINES);
        memset(&m->lines[m->count], 0, sizeof(m->lines[0]));
        m->lines[m->count++].number = number;
    }
    m->lines[i].bytes[address % PW_LINE_BYTES] = true;
}

static struct pw_line_access summary_of(const struct line *line)
{
    struct pw_line_access access = {.line = line->number};
    for (unsigned sector = 0; sector < SECTORS; sector++) {
        unsigned touched = 0;
        for (unsigned i = 0; i < SECTOR_BYTES; i++)
            touched += line->bytes[sector * SECTOR_BYTES + i];
        access.sectors |= (uint8_t)((touched > 0) << sector);
        access.full |= (uint8_t)((touched == SECTOR_BYTES) << sector);
    }
    return access;
}

static void check(const struct pw_op *op, const uint64_t *words, unsigned page_shift)
{
    static struct model m;
    m.count = 0;
    const uint64_t *next = words;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        if (!(op->count_or_mask >> lane & 1))
            continue;
        uint64_t address = op->form == PW_FORM_LANES ? *next++ : words[0] + lane * words[1];
        for (uint32_t i = 0; i < op->bytes; i++)
            touch(&m, address + i);
    }
    struct pw_line_access out[PW_MAX_LINES];
    unsigned count = pw_coalesce_accesses(op, words, page_shift, out), at = 0;
    assert_int_equal(count, m.count);
    bool done[PW_MAX_LINES] = {0};
    for (unsigned i = 0; i < m.count; i++)
        for (unsigned k = i; k < m.count && !done[i]; k++) {
            if (done[k] || m.lines[k].number >> page_shift != m.lines[i].number >> page_shift)
                continue;
            struct pw_line_access expected = summary_of(&m.lines[k]);
            assert_int_equal(out[at].line, expected.line);
            assert_int_equal(out[at].sectors, expected.sectors);
            if (op->kind == PW_OP_STORE)
                assert_int_equal(out[at].full, expected.full);
            at++;
            if (k > i)
                done[k] = true;
        }
    assert_int_equal(at, count);
}

static uint32_t random_mask(struct pw_random *r)
{
    uint32_t mask;
    switch (pw_random_below(r, 5)) {
    case 0:
        mask = PW_ALL_LANES;
        break;
    case 1:
        mask = 1U << pw_random_below(r, 32);
        break;
    case 2:
        mask = PW_ALL_LANES >> pw_random_below(r, 32) << pw_random_below(r, 32);
        break;
    case 3:
        mask = (uint32_t)(pw_random_next(r) & pw_random_next(r));
        break;
    default:
        mask = (uint32_t)(pw_random_next(r) | pw_random_next(r));
        break;
    }
    return mask ? mask : 1;
}

static int64_t random_stride(struct pw_random *r, uint32_t bytes)
{
    static const int64_t special[] = {0, 1, 2, 4, 8, 16, 24, 32, 64, 120, 128, 132, 4096, 4160, 65536, 2 << 20};
    int64_t stride;
    switch (pw_random_below(r, 3)) {
    case 0:
        stride = bytes;
        break;
    case 1:
        stride = special[pw_random_below(r, sizeof(special) / sizeof(*special))];
        break;
    default:
        stride = (int64_t)pw_random_below(r, 300);
        break;
    }
    return pw_random_below(r, 4) ? stride : -stride;
}

static void instructions_agree_with_sets_of_bytes(void **state)
{
    (void)state;
    static const unsigned page_shifts[] = {5, 9, 14};
    struct pw_random r;
    pw_random_init(&r, 1, "coalesce");
    for (unsigned i = 0; i < 60000; i++) {
        struct pw_op op = {.kind = (uint8_t)(PW_OP_LOAD + pw_random_below(&r, 4)),
                           .form = (uint8_t)(PW_FORM_AFFINE + pw_random_below(&r, 2)),
                           .bytes = (uint8_t)(1U << pw_random_below(&r, 5)),
                           .count_or_mask = random_mask(&r)};
        uint64_t align = pw_random_below(&r, 2) ? op.bytes : 1;
        uint64_t base = (1ULL << 32) + pw_random_below(&r, 1ULL << 47) / align * align, words[PW_WARP_LANES];
        if (op.form == PW_FORM_AFFINE) {
            words[0] = base;
            words[1] = (uint64_t)random_stride(&r, op.bytes);
        } else {
            /* From one line to many pages, so that lanes meet in lines and in pages. */
            uint64_t spread = 128ULL << pw_random_below(&r, 16);
            bool runs = pw_random_below(&r, 2); /* of lanes that go on where the one before ended, or repeat it */
            for (unsigned lane = 0; lane < PW_WARP_LANES; lane++) {
                words[lane] = base + pw_random_below(&r, spread) / align * align;
                if (runs && lane && pw_random_below(&r, 8))
                    words[lane] = words[lane - 1] + (pw_random_below(&r, 8) ? op.bytes : 0);
            }
        }
        check(&op, words, page_shifts[pw_random_below(&r, 3)]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_agree_with_sets_of_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
