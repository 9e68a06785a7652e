/* Files that are no .tracez although they begin like one: every number in them is checked, nothing is read twice, and
 * what a small file stands for costs time alone, which the watch can end. */
#include "import_fixture.h"
#include "tracez_fixture.h"

#include <sys/resource.h>

#define HEAD                                                                                                           \
    "-kernel name = k\n-grid dim = (2,1,1)\n-block dim = (40,1,1)\n-accelsim tracer version = 6\n\n#traces format = "  \
    "…\n"
#define ADD "0010 %s 1 R4 IADD3 1 R5 0 0 0 NoVal\n"
#define LOAD "0020 %s 1 R6 LDG.E 2 R2 UR4 4 1 0x10000 4 0 0 NoVal\n"
#define EXIT "0030 %s 0 EXIT 0 0 0 0 NoVal\n"

/* Two blocks of two warps of three lines. */
static char *small_text(void)
{
    static const char *const lines[] = {ADD, LOAD, EXIT};
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    fputs(HEAD, to);
    for (unsigned cta = 0; cta < 2; cta++) {
        fprintf(to, "#BEGIN_TB\nthread block = %u,0,0\ncluster id = 0,0,0\ncluster cta = %u,0,0\ncluster rank = %u\n",
                cta, cta, cta);
        for (unsigned warp = 0; warp < 2; warp++) {
            fprintf(to, "warp = %u\ninsts = 3\n", warp);
            for (unsigned i = 0; i < 3; i++) {
                const char *mask = strstr(lines[i], "%s");
                fprintf(to, "%.*s%s%s", (int)(mask - lines[i]), lines[i], warp ? "000000ff" : "ffffffff", mask + 2);
            }
        }
        fputs("#END_TB\n", to);
    }
    fclose(to);
    return text;
}

static struct tracez_bytes small(void)
{
    char *text = small_text();
    struct tracez_bytes made = tracez_of(text, 2, false);
    free(text);
    return made;
}

static void put(struct tracez_bytes *made, size_t at, uint32_t number)
{
    number = htole32(number);
    assert_true(at + sizeof number <= made->size);
    memcpy(made->bytes + at, &number, sizeof number);
}

/* Of the index: the first block begins behind the count, its first warp behind eleven numbers. */
enum { BLOCK = 4, WARPS = BLOCK + 40, WARP = WARPS + 4, CHUNKS = WARP + 4, OFFSET = CHUNKS + 4, LINES = OFFSET + 8 };

static void every_number_is_checked(void **state)
{
    (void)state;
    static const struct {
        char part; /* h: behind the head, w: the first warp, i: the index, e: from the end */
        size_t at;
        uint32_t number;
        const char *message;
    } rows[] = {
        {'h', 0, 1 << 20, ": is a damaged .tracez: its index does not lie behind its dictionary; was it cut?"},
        {'h', 0, UINT32_MAX, ": is a damaged .tracez: its index does not lie behind its dictionary; was it cut?"},
        {'h', 0, 4, ": is a damaged .tracez: its warps do not lie one behind the other"},
        {'w', 0, 2, ": is a damaged .tracez: its index and a warp differ in their numbers"},
        {'w', 4, 1, ": is a damaged .tracez: its index and a warp differ in their numbers"},
        {'w', 8, UINT32_MAX, ": is a damaged .tracez: its warps end too early"},
        {'w', 8, 0, ": thread block 0,0,0, warp 0, instruction 0: its chunk ends in the middle of a frame"},
        {'w', 8, 20, ": thread block 0,0,0, warp 0, instruction 0: its chunk ends in the middle of a frame"},
        {'w', 12, 0,
         ": thread block 0,0,0, warp 0, instruction 0: its chunk is no frame of zstd with the file's dictionary"},
        {'i', 0, 1, ": has 1 of the grid's 2 thread blocks"},
        {'i', 0, UINT32_MAX, ": has 4294967295 of the grid's 2 thread blocks"},
        {'i', BLOCK, 2, ": is a damaged .tracez: this is not a thread block of the grid of (2,1,1)"},
        {'i', BLOCK + 4, 1, ": is a damaged .tracez: this is not a thread block of the grid of (2,1,1)"},
        {'i', BLOCK, 1, ": is a damaged .tracez: thread block 1,0,0 comes twice"},
        {'i', WARPS, 3, ": thread block 0,0,0 has 3 of its 2 warps"},
        {'i', WARPS, 0, ": thread block 0,0,0 has 0 of its 2 warps"},
        {'i', WARP, 4, ": is a damaged .tracez: its index and a warp differ in their numbers"},
        {'i', CHUNKS, 1, ": is a damaged .tracez: its index and a warp differ in their numbers"},
        {'i', OFFSET, 0, ": is a damaged .tracez: its warps do not lie one behind the other"},
        {'i', OFFSET + 4, 1, ": is a damaged .tracez: its warps do not lie one behind the other"},
        {'i', LINES, 1, ": thread block 0,0,0, warp 0, instruction 2: its chunk has more lines than the index says"},
        {'i', LINES, 0, ": thread block 0,0,0, warp 0, instruction 1: its chunk has more lines than the index says"},
        {'i', LINES, 3, ": thread block 0,0,0, warp 0, instruction 2: its chunk has fewer lines than the index says"},
        {'e', 8, 0, ": is a damaged .tracez: its index does not lie behind its dictionary; was it cut?"},
        {'e', 8, UINT32_MAX, ": is a damaged .tracez: its index does not lie behind its dictionary; was it cut?"},
        {'e', 4, 1, ": is a damaged .tracez: its index does not lie behind its dictionary; was it cut?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tracez_bytes made = small();
        size_t part = rows[i].part == 'h'   ? made.head
                      : rows[i].part == 'w' ? made.warps
                      : rows[i].part == 'i' ? made.index
                                            : made.size - 2 * rows[i].at;
        put(&made, part + rows[i].at, rows[i].number);
        write_bytes("k.tracez", made.bytes, made.size);
        expect_refusal("k.tracez", rows[i].message);
        free(made.bytes);
    }
}

static void a_file_that_was_cut_or_has_more_is_refused(void **state)
{
    (void)state;
    struct tracez_bytes made = small();
    struct pw_trace *t;
    for (size_t size = made.head; size < made.size; size++) {
        struct pw_error err = {0};
        write_bytes("k.tracez", made.bytes, size);
        assert_int_equal(pw_trace_open_any("k.tracez", NULL, &t, &err), PW_USER_ERROR);
        assert_int_equal(strncmp(err.message, "k.tracez: ", 10), 0);
    }
    char *longer = calloc(1, made.size + 4);
    memcpy(longer, made.bytes, made.index); /* four bytes between the index and its offset */
    memcpy(longer + made.index, made.bytes + made.index, made.size - made.index - 8);
    memcpy(longer + made.size - 4, made.bytes + made.size - 8, 8);
    write_bytes("k.tracez", longer, made.size + 4);
    expect_refusal("k.tracez", ": is a damaged .tracez: it has bytes that belong to nothing");
    free(longer);
    free(made.bytes);
}

/* Whatever a bit says, the answer is one line or a trace. */
static void flipped_bits_do_no_harm(void **state)
{
    (void)state;
    struct tracez_bytes made = small();
    for (size_t at = made.head; at < made.size; at++) {
        struct pw_trace *t;
        struct pw_error err = {0};
        made.bytes[at] ^= (char)(1 << at % 8);
        write_bytes("k.tracez", made.bytes, made.size);
        if (pw_trace_open_any("k.tracez", NULL, &t, &err) == PW_OK)
            pw_trace_close(t);
        else
            assert_true(err.status == PW_USER_ERROR && !strncmp(err.message, "k.tracez: ", 10));
        made.bytes[at] ^= (char)(1 << at % 8);
    }
    free(made.bytes);
}

static void a_mistake_is_said_with_its_place(void **state)
{
    (void)state;
    char *text = small_text(), *second = strstr(strstr(text, "thread block = 1"), "warp = 1"),
         *line = strstr(second, "LDG");
    memcpy(line, "L\tG", 3);
    struct tracez_bytes made = tracez_of(text, 2, false);
    write_bytes("k.tracez", made.bytes, made.size);
    expect_refusal("k.tracez",
                   ": thread block 1,0,0, warp 1, instruction 2: the source registers are not a count and R0 to R255");
    free(made.bytes);
    free(text);
}

/* One warp of one block, whose only chunk is this text. */
static void write_one_chunk(const char *text, size_t bytes, uint32_t count, int window)
{
    char *index = NULL, *file = NULL;
    size_t index_bytes, file_bytes;
    struct tracez_writing w = {.out = open_memstream(&file, &file_bytes), .packer = ZSTD_createCCtx()};
    w.index = open_memstream(&index, &index_bytes);
    fputs("-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 6\n", w.out);
    fwrite("\0\0\0\0\0\0\0\0\0", 1, 9, w.out);
    tracez_number(w.index, 1);
    for (unsigned i = 0; i < 11; i++)
        tracez_number(w.index, i == 10);
    tracez_number(w.index, count);
    tracez_number(w.index, 1);
    tracez_offset(w.index, (uint64_t)ftell(w.out));
    tracez_number(w.index, count);
    fclose(w.index);
    tracez_number(w.out, count);
    tracez_number(w.out, 1);
    size_t room = ZSTD_compressBound(bytes);
    void *packed = malloc(room);
    ZSTD_CCtx_setParameter(w.packer, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(w.packer, ZSTD_c_windowLog, window);
    size_t size = ZSTD_compress2(w.packer, packed, room, text, bytes);
    assert_false(ZSTD_isError(size));
    tracez_number(w.out, (uint32_t)size);
    fwrite(packed, 1, size, w.out);
    free(packed);
    uint64_t offset = (uint64_t)ftell(w.out);
    fwrite(index, 1, index_bytes, w.out);
    tracez_offset(w.out, offset);
    fclose(w.out);
    write_bytes("bomb.tracez", file, file_bytes);
    assert_true(file_bytes < 1 << 20);
    ZSTD_freeCCtx(w.packer);
    free(index);
    free(file);
}

static bool count_calls(void *context, uint64_t bytes_read, uint64_t bytes_in_all)
{
    assert_true(bytes_read <= bytes_in_all);
    unsigned *left = context;
    return --*left == 0;
}

static void a_small_file_cannot_ask_for_much(void **state)
{
    (void)state;
    static const char line[] = "0010 ffffffff 1 R4 IADD3 1 R5 0 0 0 NoVal\n";
    static const char copy[] = "0500 ffffffff 0 UTMALDG.2D 0 4 0x400 0 1000000 0 3 1 0x10001 0 0 NoVal\n";
    enum { BYTES = 40 << 20, LENGTH = sizeof line - 1, COUNT = BYTES / LENGTH, COPIES = 40 };
    char *text = malloc(BYTES);
    assert_non_null(text);
    memset(text, 'x', BYTES);
    write_one_chunk(text, 2 << 20, 1, 20);
    expect_refusal("bomb.tracez", ": thread block 0,0,0, warp 0, instruction 0: its line is longer than 1 MiB");
    for (size_t i = 0; i < COUNT; i++)
        memcpy(text + i * LENGTH, line, LENGTH);
    write_one_chunk(text, COUNT * LENGTH, COUNT, 25);
    expect_refusal("bomb.tracez", ": thread block 0,0,0, warp 0, instruction 0: its chunk needs a window of more than "
                                  "16 MiB to be decompressed");
    write_one_chunk(text, COUNT * LENGTH, COUNT, 21);
    unsigned left = 8;
    const struct pw_import_watch watch = {count_calls, &left};
    struct pw_trace *t;
    struct pw_error err = {0};
    assert_int_equal(pw_trace_open_any("bomb.tracez", &watch, &t, &err), PW_INTERRUPTED);
    t = open_trace("bomb.tracez");
    assert_int_equal(instructions_of(t, 0), COUNT + 1); /* with an exit that it has not */
    pw_trace_close(t);
    for (size_t i = 0; i < COPIES; i++) /* of which each byte is an access of a lane */
        memcpy(text + i * (sizeof copy - 1), copy, sizeof copy - 1);
    write_one_chunk(text, COPIES * (sizeof copy - 1), COPIES, 20);
    left = 8;
    assert_int_equal(pw_trace_open_any("bomb.tracez", &watch, &t, &err), PW_INTERRUPTED);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
#ifndef __SANITIZE_ADDRESS__
    assert_true(use.ru_maxrss < 200 << 10);
#endif
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_checked),
        cmocka_unit_test(a_file_that_was_cut_or_has_more_is_refused),
        cmocka_unit_test(flipped_bits_do_no_harm),
        cmocka_unit_test(a_mistake_is_said_with_its_place),
        cmocka_unit_test(a_small_file_cannot_ask_for_much),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
