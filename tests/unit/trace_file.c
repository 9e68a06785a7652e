/* Files of traces: every flipped byte and every truncation is refused, as are newer versions and what is no trace, each
 * in one line; a file appears when it is complete and not before. */
#include "trace_fixture.h"

#include "trace/format.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CTAS = 5, WARPS = 2 };

static struct traced_op load(uint64_t address)
{
    return (struct traced_op){.op = {.kind = PW_OP_LOAD,
                                     .form = PW_FORM_AFFINE,
                                     .bytes = 4,
                                     .loads_in_flight = PW_ANY_IN_FLIGHT,
                                     .count_or_mask = PW_ALL_LANES},
                              .words = {address, 4}};
}

static void write_some(struct pw_trace_writer *w, unsigned ops)
{
    pw_trace_writer_set_origin(
        w, &(struct pw_trace_origin){
               .recorder = "test", .program = "nothing", .device = "none", .cta_sample = 3, .seed = 7});
    pw_trace_write_event(
        w,
        &(struct pw_trace_event){
            .kind = PW_TRACE_ALLOC, .memory = PW_TRACE_MANAGED, .address = 1 << 20, .bytes = 1 << 16, .name = "array"});
    for (unsigned launch = 0; launch < 2; launch++) {
        pw_trace_write_launch(w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                          .name = "kernel",
                                                          .grid = {CTAS, 1, 1},
                                                          .block = {32 * WARPS, 1, 1},
                                                          .shared_bytes = 48,
                                                          .registers = 32});
        for (uint32_t i = 0; i < ops; i++) {
            struct traced_op t = load((1 << 20) + i * UINT64_C(0x9e3779b9) % (1 << 15));
            assert_true(pw_trace_write_op(w, i % CTAS, i / CTAS % WARPS, &t.op, t.words));
        }
    }
}

struct image {
    uint8_t *bytes;
    size_t size;
};

/* The bytes of a small trace with several blocks. */
static struct image make_image(void)
{
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    pw_trace_writer_bound(w, 1 << 20, 64, 1);
    write_some(w, 150);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    struct image image = {.size = pw_trace_file_bytes(t)};
    image.bytes = malloc(image.size);
    assert_int_equal(pread(t->fd, image.bytes, image.size, 0), image.size);
    pw_trace_close(t);
    return image;
}

/* Opens an image and reads all of it; what the first part that is refused says. */
static enum pw_status read_image(const uint8_t *bytes, size_t size, struct pw_error *err)
{
    struct pw_trace *t;
    int file = memfd_create("trace", MFD_CLOEXEC);
    assert_int_equal(write(file, bytes, size), size);
    enum pw_status status = pw_trace_open_file(file, "trace.pwt", &t, err);
    if (status != PW_OK)
        return status;
    status = pw_trace_verify(t, err);
    pw_trace_close(t);
    return status;
}

static void assert_refused(const uint8_t *bytes, size_t size, const char *message)
{
    struct pw_error err = {0};
    assert_int_equal(read_image(bytes, size, &err), PW_USER_ERROR);
    assert_int_equal(strncmp(err.message, "trace.pwt: ", 11), 0);
    assert_null(strchr(err.message, '\n'));
    if (message)
        assert_string_equal(err.message + 11, message);
}

static void every_flipped_byte_is_refused(void **state)
{
    (void)state;
    struct image image = make_image();
    struct pw_error err;
    assert_ok(read_image(image.bytes, image.size, &err), &err);
    assert_in_range(image.size, 500, 20000);
    for (size_t i = 0; i < image.size; i++) {
        static const uint8_t flips[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < sizeof flips; k++) {
            image.bytes[i] ^= flips[k];
            assert_refused(image.bytes, image.size, NULL);
            image.bytes[i] ^= flips[k];
        }
    }
    free(image.bytes);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct image image = make_image();
    for (size_t size = 0; size < image.size; size++)
        assert_refused(image.bytes, size, NULL);
    assert_refused(image.bytes, 7, "is not a trace of pagewalk (.pwt)");
    assert_refused(image.bytes, 20, "is truncated");
    assert_refused(image.bytes, 30, "is truncated");
    assert_refused(image.bytes, image.size - 1, "is truncated: it does not end as a trace does");
    uint8_t *longer = calloc(1, image.size + 1);
    memcpy(longer, image.bytes, image.size);
    assert_refused(longer, image.size + 1, NULL);
    free(longer);
    free(image.bytes);
}

static void what_is_no_trace_is_told_by_name(void **state)
{
    (void)state;
    assert_refused((const uint8_t *)"", 0, "is not a trace of pagewalk (.pwt)");
    assert_refused((const uint8_t *)"-kernel name = a\n-kernel id = 1\n and so on", 40,
                   "is not a trace of pagewalk (.pwt)");
    struct image image = make_image();
    image.bytes[8] = 3;
    assert_refused(image.bytes, image.size, "is corrupted: the checksum of its header does not fit");
    pw_store_bytes(image.bytes + 16, pw_checksum_bytes(PW_CHECKSUM_START, image.bytes, 16), 8);
    static const char newer[] = "is a trace of version 3; this program reads version 2: use a newer pagewalk";
    assert_refused(image.bytes, image.size, newer);
    assert_refused(image.bytes, PW_TRACE_HEADER_BYTES, newer);
    image.bytes[8] = 1;
    pw_store_bytes(image.bytes + 16, pw_checksum_bytes(PW_CHECKSUM_START, image.bytes, 16), 8);
    assert_refused(image.bytes, image.size, "is a trace of version 1; this program reads version 2: record it again");
    free(image.bytes);

    struct pw_trace *t;
    struct pw_error err;
    assert_int_equal(pw_trace_open("/", &t, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "/: is no regular file");
    assert_int_equal(pw_trace_open("/nowhere/trace.pwt", &t, &err), PW_USER_ERROR);
}

/* As told before the launch's operations or after them; one beyond the bound is refused. */
static void a_launch_keeps_its_pace(void **state)
{
    (void)state;
    static const uint32_t paces[] = {0, 1, 3141, PW_TRACE_MOST_PACE, PW_TRACE_MOST_PACE + 1};
    for (unsigned later = 0; later < 2; later++)
        for (size_t i = 0; i < sizeof paces / sizeof *paces; i++) {
            struct pw_trace_writer *w;
            struct pw_trace *t;
            struct pw_error err;
            assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
            pw_trace_write_launch(w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                              .name = "k",
                                                              .grid = {1, 1, 1},
                                                              .block = {32, 1, 1},
                                                              .pace = later ? 7 : paces[i]});
            if (later)
                pw_trace_write_pace(w, paces[i]);
            enum pw_status status = pw_trace_writer_finish(w, &t, &err);
            if (paces[i] > PW_TRACE_MOST_PACE) {
                assert_int_equal(status, PW_USER_ERROR);
                assert_non_null(strstr(err.message, "its index does not make sense at event 0"));
                continue;
            }
            assert_ok(status, &err);
            size_t count;
            assert_int_equal(pw_trace_events(t, &count)[0].pace, paces[i]);
            pw_trace_close(t);
        }
}

/* A block that is whole but in the place of another is refused as well. */
static void parts_do_not_change_places(void **state)
{
    (void)state;
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_trace_launch *l;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    pw_trace_writer_bound(w, 1 << 20, 64, 1);
    write_some(w, 0);
    for (uint32_t cta = 0; cta < 2; cta++) {
        struct traced_op op = load((1 << 20) + 4096 * cta);
        assert_true(pw_trace_write_op(w, cta, 0, &op.op, op.words));
        pw_trace_write_cta_end(w, cta);
    }
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_ok(pw_trace_launch_open(t, 1, &l, &err), &err);
    struct pw_part a = pw_table_block(&l->table, 0), b = pw_table_block(&l->table, 1);
    assert_int_equal(l->table.block_count, 2);
    assert_true(a.stored == b.stored && a.raw == b.raw);
    size_t size = pw_trace_file_bytes(t), bytes = PW_PART_SEAL + a.stored;
    uint8_t *image = malloc(size), *swapped = malloc(size);
    assert_int_equal(pread(t->fd, image, size, 0), size);
    memcpy(swapped, image, size);
    memcpy(swapped + a.offset, image + b.offset, bytes);
    memcpy(swapped + b.offset, image + a.offset, bytes);
    assert_ok(read_image(image, size, &err), &err);
    assert_refused(swapped, size, "is corrupted: the checksum of a block does not fit");
    free(image);
    free(swapped);
    pw_trace_launch_close(l);
    pw_trace_close(t);
}

/* A block that other writers could make: its first operation becomes an exit. */
static void nothing_follows_an_exit(void **state)
{
    (void)state;
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_trace_launch *l;
    struct pw_block *b;
    struct pw_trace_cursor c;
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    write_some(w, 2);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_ok(pw_trace_launch_open(t, 0, &l, &err), &err);
    assert_ok(pw_trace_launch_block(l, 0, &b, &err), &err);
    b->raw[b->segments[0].at] = PW_OP_EXIT;
    pw_trace_cursor_start(&c, l, b->segments[0].cta, b->segments[0].warp);
    assert_int_equal(pw_trace_cursor_next(&c, &op, words, &err), PW_TRACE_STEP_FAILED);
    assert_non_null(strstr(err.message, "not an operation"));
    pw_trace_launch_close(l);
    pw_trace_close(t);
}

static char *temporary_folder(void)
{
    char *folder = strdup("/tmp/pagewalk-trace-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static unsigned files_in(const char *folder)
{
    char command[128];
    unsigned count = 0;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *out = popen(command, "r");
    assert_int_equal(fscanf(out, "%u", &count), 1);
    pclose(out);
    return count;
}

static void a_file_appears_when_it_is_complete(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[128];
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    snprintf(path, sizeof path, "%s/a.pwt", folder);
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    write_some(w, 1000);
    assert_int_not_equal(access(path, F_OK), 0);
    pw_trace_writer_drop(w);
    assert_int_equal(files_in(folder), 0);

    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    write_some(w, 1000);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_int_equal(files_in(folder), 1);
    assert_string_equal(pw_trace_path(t), path);
    assert_ok(pw_trace_verify(t, &err), &err);
    uint64_t digest = pw_trace_digest(t);
    pw_trace_close(t);
    assert_ok(pw_trace_open(path, &t, &err), &err);
    assert_int_equal(pw_trace_digest(t), digest);
    pw_trace_close(t);

    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    write_some(w, 999);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_int_not_equal(pw_trace_digest(t), digest);
    pw_trace_close(t);
    unlink(path);
    rmdir(folder);
    free(folder);
}

static void a_full_disk_is_one_line_and_no_file(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[128], expected[256];
    struct pw_trace_writer *w;
    struct pw_error err;
    struct rlimit before, low;
    snprintf(path, sizeof path, "%s/a.pwt", folder);
    assert_ok(pw_trace_writer_open(path, &w, &err), &err);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    write_some(w, 1000);
    enum pw_status status = pw_trace_writer_finish(w, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, PW_FAILED);
    snprintf(expected, sizeof expected, "%s: cannot be written: File too large", path);
    assert_string_equal(err.message, expected);
    assert_int_equal(files_in(folder), 0);

    snprintf(path, sizeof path, "%s/nowhere/a.pwt", folder);
    assert_int_equal(pw_trace_writer_open(path, &w, &err), PW_FAILED);
    rmdir(folder);
    free(folder);
}

/* The hexadecimal bytes at the beginning of the lines of the page's last block of text. */
static size_t bytes_of_page(uint8_t *bytes, size_t capacity)
{
    FILE *page = fopen(PW_DOCS "/trace-format.md", "r");
    assert_non_null(page);
    char line[256];
    bool inside = false;
    size_t count = 0;
    while (fgets(line, sizeof line, page)) {
        if (!strncmp(line, "```", 3))
            inside = !strcmp(line, "```text\n");
        unsigned byte;
        int length = 0;
        for (const char *at = line; inside && strspn(at, " 0123456789abcdef") >= 2; at += length) {
            if (sscanf(at, "%2x%n", &byte, &length) != 1 || (at[length] != ' ' && at[length] != '\n'))
                break;
            assert_true(count < capacity);
            bytes[count++] = (uint8_t)byte;
            if (!strncmp(at + length, "   ", 3))
                break;
            length += (int)strspn(at + length, " ");
        }
    }
    fclose(page);
    return count;
}

static void write_example(struct pw_trace_writer *w)
{
    static const struct traced_op wait = {.op = {.kind = PW_OP_COMPUTE, .count_or_mask = 2}};
    static const struct traced_op leave = {.op = {.kind = PW_OP_EXIT, .loads_in_flight = PW_ANY_IN_FLIGHT}};
    pw_trace_writer_set_origin(
        w, &(struct pw_trace_origin){
               .recorder = "pagewalk", .program = "example", .device = "", .cta_sample = 1, .seed = 42});
    pw_trace_write_event(
        w, &(struct pw_trace_event){
               .kind = PW_TRACE_ALLOC, .memory = PW_TRACE_MANAGED, .address = 1 << 20, .bytes = 4096, .name = "a"});
    pw_trace_write_launch(w, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                      .name = "k",
                                                      .grid = {2, 1, 1},
                                                      .block = {64, 1, 1},
                                                      .registers = 16,
                                                      .pace = 2875});
    for (uint32_t cta = 0; cta < 2; cta++) {
        for (unsigned i = 0; i < 2; i++) {
            struct traced_op t = load((1 << 20) + 128 * cta + 256 * i);
            assert_true(pw_trace_write_op(w, cta, 0, &t.op, t.words));
            assert_true(pw_trace_write_op(w, cta, 0, &wait.op, wait.words));
        }
        assert_true(pw_trace_write_op(w, cta, 0, &leave.op, leave.words));
    }
}

static void the_example_of_the_page_is_what_is_written(void **state)
{
    (void)state;
    uint8_t expected[512], written[512];
    size_t size = bytes_of_page(expected, sizeof expected);
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    write_example(w);
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    assert_int_equal(pw_trace_file_bytes(t), size);
    assert_int_equal(pread(t->fd, written, sizeof written, 0), size);
    assert_memory_equal(written, expected, size);
    pw_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_page_is_what_is_written),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(what_is_no_trace_is_told_by_name),
        cmocka_unit_test(a_launch_keeps_its_pace),
        cmocka_unit_test(parts_do_not_change_places),
        cmocka_unit_test(nothing_follows_an_exit),
        cmocka_unit_test(a_file_appears_when_it_is_complete),
        cmocka_unit_test(a_full_disk_is_one_line_and_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
